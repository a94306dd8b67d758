//! What all operators share: a session whose counters are kept, and the way errors become failures.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use load::Failure;
use target::{Counters, ErrorKind, Result, Session, TargetError};

/// Times a transaction is begun anew before it counts as failed.
const RETRIES_MAX: u32 = 1000;

/// Collects what the sessions of a point counted.
#[derive(Debug, Default)]
pub struct Meter {
    counters: Mutex<Option<Counters>>,
    /// Rows changed by committed transactions, ramp-up included.
    changed: AtomicU64,
    /// Sum over something the operators keep for the proof.
    sum: AtomicU64,
}

impl Meter {
    /// Sum of the sessions' counters in the measured window; `None` before any session ended.
    pub fn counters(&self) -> Option<Counters> {
        *self.counters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Rows changed by committed transactions, ramp-up included.
    pub fn changed(&self) -> u64 {
        self.changed.load(Ordering::Relaxed)
    }

    /// The sum that the operators kept for the proof.
    pub fn sum(&self) -> u64 {
        self.sum.load(Ordering::Relaxed)
    }

    fn add(&self, counters: Counters) {
        let mut total = self.counters.lock().unwrap_or_else(PoisonError::into_inner);
        *total = Some(total.map_or(counters, |sum| sum.plus(counters)));
    }
}

/// A job's session, which leaves its counters behind when the job is over.
pub struct Worker {
    /// The session.
    pub session: Box<dyn Session>,
    /// Rows changed by committed transactions.
    pub changed: u64,
    /// Sum kept for the proof.
    pub sum: u64,
    meter: Arc<Meter>,
    before: Counters,
}

impl Worker {
    pub fn new(session: Box<dyn Session>, meter: &Arc<Meter>) -> Self {
        Self {
            session,
            changed: 0,
            sum: 0,
            meter: Arc::clone(meter),
            before: Counters::default(),
        }
    }

    /// Leaves everything up to now out of the counters.
    pub fn measurement_begins(&mut self) {
        self.before = self.session.counters();
    }

    /// Does `work` in one transaction; gives its result and how often it was begun anew.
    ///
    /// # Errors
    /// A failure for the driver, after a rollback.
    pub fn transact<T>(
        &mut self,
        mut work: impl FnMut(&mut dyn Session) -> Result<T>,
    ) -> std::result::Result<(T, u32), Failure> {
        for retries in 0..=RETRIES_MAX {
            let session = self.session.as_mut();
            let attempt = session
                .begin()
                .and_then(|()| work(session))
                .and_then(|value| session.commit().map(|()| value));
            match attempt {
                Ok(value) => return Ok((value, retries)),
                Err(error) => {
                    session.rollback().map_err(failure)?;
                    if !error.is_conflict() || retries == RETRIES_MAX {
                        return Err(failure(error));
                    }
                }
            }
        }
        Err(Failure::Operation(format!(
            "gave up after {RETRIES_MAX} retries"
        )))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.meter.add(self.session.counters().since(self.before));
        self.meter
            .changed
            .fetch_add(self.changed, Ordering::Relaxed);
        self.meter.sum.fetch_add(self.sum, Ordering::Relaxed);
    }
}

/// What the driver does about an error: a database that is gone stops everything, a statement that
/// failed counts.
pub fn failure(error: TargetError) -> Failure {
    match error.kind {
        ErrorKind::Unreachable | ErrorKind::Full | ErrorKind::Damaged | ErrorKind::NotInstalled => {
            Failure::Fatal(error.message)
        }
        ErrorKind::Conflict | ErrorKind::Foreign | ErrorKind::Statement => {
            Failure::Operation(error.message)
        }
    }
}
