//! Base of all clients: a session with counters, and the mapping of errors to failures.

use std::sync::Arc;

use engine::{Counters, ErrorKind, Result, Session};
use load::{BlockingClient, Done, Failure, Request};

use crate::backoff::Backoff;
use crate::bench::Meter;
pub use crate::transaction_error::failure;

/// Retries of a transaction before it counts as failed.
const RETRIES_MAX: u32 = 1000;

/// Session of a job, which hands over its counters when the job is over.
pub struct Worker {
    pub session: Box<dyn Session>,
    pub changed: u64,
    pub sum: u64,
    meter: Arc<Meter>,
    before: Counters,
    backoff: Backoff,
}

impl Worker {
    pub fn new(session: Box<dyn Session>, meter: &Arc<Meter>) -> Self {
        Self {
            session,
            changed: 0,
            sum: 0,
            meter: Arc::clone(meter),
            before: Counters::default(),
            backoff: Backoff::new(),
        }
    }

    /// Excludes everything so far from the counters.
    pub fn measurement_begins(&mut self) {
        self.before = self.session.counters();
    }

    /// Client whose operations are done by this worker.
    pub fn client<'c>(
        self,
        operate: impl FnMut(&mut Self, Request) -> Operated + Send + 'c,
    ) -> Box<dyn BlockingClient + 'c> {
        let worker = self;
        Box::new(Client { worker, operate })
    }

    /// Runs `work` in one transaction; returns its result and the number of retries.
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
                    // The first error is the cause: a server whose disk is full may also be unable to roll back.
                    session.rollback().map_err(|rollback| match error.kind {
                        ErrorKind::Full => failure(error.clone()),
                        _ => failure(rollback),
                    })?;
                    if !error.is_conflict() || retries == RETRIES_MAX {
                        return Err(failure(error));
                    }
                    std::thread::sleep(self.backoff.pause(retries + 1));
                }
            }
        }
        Err(Failure::Operation(format!(
            "gave up after {RETRIES_MAX} retries"
        )))
    }
}

/// Result of one operation.
pub type Operated = std::result::Result<Done, Failure>;

/// Refuses every operation but the first one.
pub(super) fn once(request: Request) -> std::result::Result<(), Failure> {
    match request.index {
        0 => Ok(()),
        _ => Err(Failure::Exhausted),
    }
}

struct Client<F> {
    worker: Worker,
    operate: F,
}

impl<F: FnMut(&mut Worker, Request) -> Operated + Send> BlockingClient for Client<F> {
    fn operate(&mut self, request: Request) -> Operated {
        (self.operate)(&mut self.worker, request)
    }

    fn measurement_begins(&mut self) {
        self.worker.measurement_begins();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let counters = self.session.counters().since(self.before);
        self.meter.add(counters, self.changed, self.sum);
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use engine::TargetError;

    use super::*;

    #[test]
    fn a_transaction_is_retried_after_pauses() {
        engines::before_first_use();
        let url = engines::parse("sqlite:").unwrap();
        let target = engines::open(&url).unwrap();
        let mut worker = Worker::new(target.open_session().unwrap(), &Arc::default());
        let (began, mut tries) = (Instant::now(), 0);
        let done = worker.transact(|_| {
            tries += 1;
            match tries {
                ..=100 => Err(TargetError::new(ErrorKind::Conflict, "again")),
                _ => Ok(tries),
            }
        });
        assert_eq!(done, Ok((101, 100)));
        // 0.95 s on average, give or take 0.06.
        assert!(began.elapsed() > Duration::from_millis(500));
    }
}
