//! What each kind of transaction did, where a script has several.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use load::clock::now_ns;
use load::coarse::Coarse;

/// The service times of each kind of transaction, of all jobs.
#[derive(Debug, Default)]
pub struct Tallies(Mutex<Vec<Coarse>>);

impl Tallies {
    /// One sentence for each kind, in the order of the names; none where there is but one kind.
    pub fn notes(&self, names: &[&str], elapsed: Duration) -> Vec<String> {
        let tallies = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let elapsed_s = elapsed.as_secs_f64();
        let each = names.iter().zip(tallies.iter());
        each.map(|(name, times)| {
            let count = times.count();
            let ms = |percentile| {
                let time = times.percentile(percentile);
                time.map_or("–".to_owned(), |t| format!("{:.3}", t.as_secs_f64() * 1e3))
            };
            format!(
                "transaction \"{name}\": {count} completed, {:.1}/s, service time p50 {} ms, p99 {} ms (to 3 %)",
                count as f64 / elapsed_s.max(f64::MIN_POSITIVE),
                ms(50.0),
                ms(99.0)
            )
        })
        .collect()
    }
}

/// One job's share; it costs two readings of the clock for each transaction, and nothing where there is but
/// one kind.
#[derive(Debug)]
pub struct Tally {
    kinds: Vec<Coarse>,
    began_ns: u64,
    measured: bool,
    of_all: Arc<Tallies>,
}

impl Tally {
    /// A share for so many kinds.
    pub fn new(kinds: usize, of_all: &Arc<Tallies>) -> Self {
        let kept = if kinds > 1 { kinds } else { 0 };
        Self {
            kinds: vec![Coarse::default(); kept],
            began_ns: 0,
            measured: false,
            of_all: Arc::clone(of_all),
        }
    }

    /// The ramp-up is over.
    pub fn measurement_begins(&mut self) {
        self.measured = true;
    }

    /// A transaction begins.
    #[inline]
    pub fn begin(&mut self) {
        if !self.kinds.is_empty() {
            self.began_ns = now_ns();
        }
    }

    /// It was completed.
    #[inline]
    pub fn end(&mut self, kind: usize) {
        if let Some(times) = self.kinds.get_mut(kind).filter(|_| self.measured) {
            times.record_ns(now_ns().saturating_sub(self.began_ns));
        }
    }
}

impl Drop for Tally {
    fn drop(&mut self) {
        let mut all = self.of_all.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() < self.kinds.len() {
            all.resize_with(self.kinds.len(), Coarse::default);
        }
        for (sum, mine) in all.iter_mut().zip(&self.kinds) {
            sum.merge(mine);
        }
    }
}
