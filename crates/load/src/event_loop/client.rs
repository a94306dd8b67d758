//! A station in an event loop: its way through the timetable and what is written down of it.

use std::os::fd::RawFd;

use super::{Next, Work};
use crate::account::Account;
use crate::job::{Cancellation, ExitReason};
use crate::recorder::{Recorder, Timing};
use crate::schedule::{Pacer, Step};
use crate::{Done, Failure, NonblockingClient, Request, Turn};

/// A station and its job.
pub struct Client<'a, 'o> {
    /// Its number in the drive, from 0.
    pub number: u64,
    /// Where its time went.
    pub account: Account,
    /// Ticks it had to give up.
    pub unserved: u64,
    station: Box<dyn NonblockingClient + 'o>,
    pacer: Pacer<'a>,
    step: Step,
    /// The operation that is begun next.
    request: Request,
    free_ns: u64,
    started_ns: u64,
    /// Operations before the common start that are still to be done, as fast as it can.
    ramp_up: u64,
    /// Whether it has come to the common start.
    parked: bool,
    /// Whether the operation in hand is one of the ramp-up.
    ramping: bool,
    entered: bool,
}

impl<'a, 'o> Client<'a, 'o> {
    /// A client that begins with `ramp_up` operations. `entered` when the measured window begins with the
    /// common start.
    pub fn new(
        number: u64,
        station: Box<dyn NonblockingClient + 'o>,
        account: Account,
        pacer: Pacer<'a>,
        ramp_up: u64,
        entered: bool,
    ) -> Self {
        Self {
            number,
            account,
            unserved: 0,
            station,
            pacer,
            step: Step {
                intended_ns: 0,
                measured: false,
            },
            request: Request::of_job(number as u32, 0),
            free_ns: 0,
            started_ns: 0,
            ramp_up,
            parked: false,
            ramping: false,
            entered,
        }
    }

    /// What it does before the common start.
    fn warm_up(&mut self) -> Next {
        self.ramping = self.ramp_up > 0;
        self.parked = !self.ramping;
        match self.ramping {
            true => Next::At(0),
            false => Next::Park,
        }
    }
}

impl Work for Client<'_, '_> {
    fn descriptor(&self) -> RawFd {
        self.station.descriptor()
    }

    #[inline]
    fn next(&mut self) -> Next {
        if !self.parked {
            return self.warm_up();
        }
        let Some(step) = self.pacer.next(self.free_ns) else {
            self.unserved = self.pacer.unserved();
            return Next::Leave(ExitReason::Over);
        };
        if step.measured && !self.entered {
            self.entered = true;
            self.account.begin(self.free_ns);
            self.station.measurement_begins();
        }
        self.step = step;
        Next::At(step.intended_ns)
    }

    #[inline]
    fn begin(&mut self, now_ns: u64) -> Turn {
        self.started_ns = now_ns;
        self.station.begin(self.request.next())
    }

    #[inline]
    fn ready(&mut self) -> Turn {
        self.station.ready()
    }

    #[inline]
    fn await_ready(&mut self) -> Option<Turn> {
        self.station.await_ready()
    }

    #[inline]
    fn end(
        &mut self,
        now_ns: u64,
        result: Result<Done, Failure>,
        recorder: &mut Recorder,
        cancellation: &Cancellation,
    ) -> Option<ExitReason> {
        let measured = !self.ramping && self.step.measured;
        let timing = Timing {
            free_ns: self.free_ns,
            intended_ns: self.step.intended_ns,
            start_ns: self.started_ns,
            end_ns: now_ns,
        };
        match self.ramping {
            true => self.ramp_up -= 1,
            false => self.free_ns = now_ns,
        }
        match result {
            Ok(done) if measured => {
                self.account.completed(&timing, done.rows);
                recorder.completed(0, &timing, &done);
            }
            Err(Failure::Operation(message)) if measured => {
                self.account.failed(&timing);
                recorder.failed(0, &timing, &message);
            }
            Ok(_) | Err(Failure::Operation(_)) => {}
            Err(Failure::Exhausted) => return Some(ExitReason::Exhausted),
            Err(Failure::Fatal(message)) => {
                cancellation.fail(message);
                return Some(ExitReason::Failed);
            }
        }
        None
    }

    fn measurement_begins(&mut self) {
        self.station.measurement_begins();
    }
}
