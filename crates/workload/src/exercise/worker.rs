//! What all clients share: a session whose counters are kept, and the way errors become failures.

use std::sync::Arc;

use load::Failure;
use target::{Counters, ErrorKind, Result, Session};

use crate::bench::Meter;
pub use crate::transaction_error::failure;

/// Times a transaction is begun anew before it counts as failed.
const RETRIES_MAX: u32 = 1000;

/// A job's session, which leaves its counters behind when the job is over.
pub struct Worker {
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
                    // What went wrong first is the cause: a server whose disk is full may be unable to roll back as well.
                    session.rollback().map_err(|rollback| match error.kind {
                        ErrorKind::Full => failure(error.clone()),
                        _ => failure(rollback),
                    })?;
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
        let counters = self.session.counters().since(self.before);
        self.meter.add(counters, self.changed, self.sum);
    }
}
