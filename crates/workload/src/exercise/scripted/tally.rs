//! Results by kind of transaction, for scripts with several.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use archive::{Remark, TransactionKind};
use load::clock::now_ns;
use load::fine::Fine;

/// Results by kind of transaction, of all jobs.
#[derive(Debug, Default)]
pub struct Tallies(Mutex<Vec<Kind>>);

#[derive(Debug, Default, Clone)]
struct Kind {
    completed: u64,
    rows: u64,
    /// Service times; `None` if there is only one kind, whose times are the point's.
    times: Option<Fine>,
}

impl Kind {
    fn merge(&mut self, other: &Kind) {
        self.completed += other.completed;
        self.rows += other.rows;
        if let Some(times) = &other.times {
            self.times.get_or_insert_default().merge(times);
        }
    }
}

impl Tallies {
    /// One remark per kind, in the order of the names; none if there is only one kind.
    pub fn notes(&self, names: &[&str], elapsed: Duration) -> Vec<Remark> {
        let tallies = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let elapsed_s = elapsed.as_secs_f64();
        let each = names.iter().zip(tallies.iter());
        let timed = each.filter_map(|(name, kind)| Some((name, kind.times.as_ref()?)));
        timed
            .map(|(name, times)| {
                let count = times.count();
                let ms = |percentile| Some(times.percentile(percentile)?.as_secs_f64() * 1e3);
                Remark::TransactionTimes {
                    name: (*name).to_owned(),
                    completed: count,
                    per_s: count as f64 / elapsed_s.max(f64::MIN_POSITIVE),
                    service_p50_ms: ms(50.0),
                    service_p99_ms: ms(99.0),
                }
            })
            .collect()
    }

    /// Completed transactions and rows of each kind.
    pub fn kinds(&self, names: &[&str]) -> Vec<TransactionKind> {
        let tallies = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let each = names.iter().zip(tallies.iter());
        let kinds = each.map(|(name, kind)| TransactionKind {
            name: (*name).to_owned(),
            completed: kind.completed,
            rows: kind.rows,
        });
        kinds.collect()
    }
}

/// Share of one job. It reads the clock twice per transaction, but not at all if there is only one kind.
#[derive(Debug)]
pub struct Tally {
    kinds: Vec<Kind>,
    began_ns: u64,
    measured: bool,
    of_all: Arc<Tallies>,
}

impl Tally {
    pub fn new(kinds: usize, of_all: &Arc<Tallies>) -> Self {
        let kind = Kind {
            times: (kinds > 1).then(Fine::default),
            ..Kind::default()
        };
        Self {
            kinds: vec![kind; kinds],
            began_ns: 0,
            measured: false,
            of_all: Arc::clone(of_all),
        }
    }

    pub fn measurement_begins(&mut self) {
        self.measured = true;
    }

    #[inline]
    pub fn begin(&mut self) {
        if self.kinds.len() > 1 {
            self.began_ns = now_ns();
        }
    }

    #[inline]
    pub fn end(&mut self, kind: usize, rows: u64) {
        if let Some(kind) = self.kinds.get_mut(kind).filter(|_| self.measured) {
            kind.completed += 1;
            kind.rows += rows;
            if let Some(times) = &mut kind.times {
                times.record_ns(now_ns().saturating_sub(self.began_ns));
            }
        }
    }
}

impl Drop for Tally {
    fn drop(&mut self) {
        let mut all = self.of_all.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() < self.kinds.len() {
            all.resize_with(self.kinds.len(), Kind::default);
        }
        for (sum, mine) in all.iter_mut().zip(&self.kinds) {
            sum.merge(mine);
        }
    }
}
