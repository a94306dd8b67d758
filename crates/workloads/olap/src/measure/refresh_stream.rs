//! Stream of refreshes during the queries of several users.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use ::load::{BlockingClient, Failure, Request};
use archive::Remark;
use workload::Meter;

use crate::work::Work;
use crate::{Function, OlapError};

/// Refresh functions, one after the other, while users run queries; possibly none.
pub(super) struct RefreshStream<'s> {
    client: Option<Box<dyn BlockingClient + 's>>,
    functions: u64,
}

#[derive(Default)]
pub(super) struct Refreshed {
    pub took: Duration,
    pub failure: Option<Remark>,
    pub fatal: Option<String>,
}

impl<'s> RefreshStream<'s> {
    pub fn new(
        functions: &[(Function, u32)],
        work: &Work,
        meter: &Arc<Meter>,
        stop: &'s AtomicBool,
    ) -> Result<Self, OlapError> {
        Ok(Self {
            functions: functions.len() as u64,
            client: if functions.is_empty() {
                None
            } else {
                Some(work.refresher(functions.to_vec(), meter, stop)?)
            },
        })
    }

    pub fn carry_out(&mut self) -> Refreshed {
        let mut refreshed = Refreshed::default();
        let Some(client) = &mut self.client else {
            return refreshed;
        };
        let begun = Instant::now();
        for index in 0..self.functions {
            match client.operate(Request::of_job(0, index)) {
                Ok(_) => {}
                Err(Failure::Operation(what)) => {
                    refreshed.failure = Some(Remark::RefreshStreamFailed { error: what });
                    break;
                }
                Err(Failure::Fatal(what)) => {
                    refreshed.fatal = Some(what);
                    break;
                }
                Err(Failure::Exhausted) => break,
            }
        }
        refreshed.took = begun.elapsed();
        // The session closes within the measured time, so that its counters are included.
        self.client = None;
        refreshed
    }
}
