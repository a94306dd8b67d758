//! One job on its own thread: the loop for engines whose calls block.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::account::Account;
use crate::clock::{self, Clock, Usage};
use crate::gate::Ticket;
use crate::recorder::{Recorder, Timing};
use crate::schedule::Timetable;
use crate::{BlockingClient, Done, Failure, Request};

/// What stops a drive before its end.
#[derive(Debug)]
pub struct Cancellation<'a> {
    /// Somebody outside wants the drive to stop.
    pub stop: &'a AtomicBool,
    /// A job cannot go on, and why; the first one counts.
    pub fatal: OnceLock<String>,
    /// Set with `fatal`: one relaxed load is all that an operation pays for it.
    pub failed: AtomicBool,
}

impl Cancellation<'_> {
    /// Whether jobs must stop now.
    #[inline]
    pub fn pulled(&self) -> bool {
        self.stop.load(Relaxed) || self.failed.load(Relaxed)
    }

    /// Stops the drive for good.
    pub fn fail(&self, message: String) {
        // A second failure is as a rule the echo of the first.
        let _ = self.fatal.set(message);
        self.failed.store(true, Relaxed);
    }
}

/// Why a job ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitReason {
    /// The timetable had nothing more for it.
    Over,
    /// Its client had no work left.
    Exhausted,
    /// Its connection was given up, and there is no other.
    Lost,
    /// The drive was stopped from outside.
    Stopped,
    /// The drive failed, here or elsewhere.
    Failed,
}

/// A job before and after its work.
pub struct Job<'a, 'o> {
    /// Its number, from 0.
    pub number: u64,
    /// Does the work.
    pub client: Box<dyn BlockingClient + 'o>,
    /// Writes down the work.
    pub recorder: Recorder<'a>,
    /// Where its time went.
    pub account: Account,
    /// What the thread used while it was measured.
    pub usage: Usage,
    /// Ticks it had to give up.
    pub unserved: u64,
    /// Why it ended.
    pub leaving: ExitReason,
    /// Its next operation.
    pub request: Request,
    /// What it lives by.
    pub clock: Clock,
}

impl Job<'_, '_> {
    /// Ramps up, waits for the others, and works until the timetable ends. A panic of the client
    /// becomes the drive's fatal failure; it never leaves the others waiting, because the ticket is
    /// given up on the way out.
    pub fn run(
        &mut self,
        ticket: Ticket,
        table: &Timetable,
        ramp_up: u64,
        cancellation: &Cancellation,
    ) {
        clock::sharpen_timers();
        let work = AssertUnwindSafe(|| self.work(ticket, table, ramp_up, cancellation));
        self.leaving = catch_unwind(work).unwrap_or_else(|panic| {
            let message = panic_message(panic.as_ref());
            cancellation.fail(format!(
                "job {} panicked, which is a defect of the program: {message}",
                self.number
            ));
            ExitReason::Failed
        });
        self.recorder.finish();
    }

    fn work(
        &mut self,
        ticket: Ticket,
        table: &Timetable,
        ramp_up: u64,
        cancellation: &Cancellation,
    ) -> ExitReason {
        for _ in 0..ramp_up {
            if cancellation.pulled() {
                return stopped(cancellation);
            }
            match self.operate() {
                Err(Failure::Fatal(message)) => return self.fail(cancellation, message),
                Err(Failure::Exhausted) => return ExitReason::Exhausted,
                Ok(_) | Err(Failure::Operation(_)) => {}
            }
        }
        // With a timed ramp-up the job tells its client when it enters the measured window instead.
        if table.from_ns() == 0 {
            self.client.measurement_begins();
        }
        let meter = self.clock.usage_meter();
        let mut before = meter.read();
        let halted = || cancellation.pulled();
        let common_start = ticket.wait(halted);
        let started = |at: &u64| self.clock.sleep_until(*at, halted).is_some();
        let Some(origin_ns) = common_start.filter(started) else {
            return stopped(cancellation);
        };
        let leaving = self.follow(table, origin_ns, cancellation, || before = meter.read());
        self.usage = meter.read().since(&before);
        leaving
    }

    /// Follows the timetable from the common start. `entering` is called before the first measured operation.
    fn follow(
        &mut self,
        table: &Timetable,
        origin_ns: u64,
        cancellation: &Cancellation,
        mut entering: impl FnMut(),
    ) -> ExitReason {
        let mut pacer = table.pacer(self.number);
        // Without a timed ramp-up the usage counts from the gate, so that the wait for a processor is in it.
        let mut entered = table.from_ns() == 0;
        let mut free_ns = 0;
        let halted = || cancellation.pulled();
        loop {
            if cancellation.pulled() {
                return stopped(cancellation);
            }
            let Some(step) = pacer.next(free_ns) else {
                break;
            };
            if step.measured && !entered {
                entered = true;
                self.account.begin(free_ns);
                self.client.measurement_begins();
                entering();
            }
            let due_ns = origin_ns.saturating_add(step.intended_ns);
            let Some(started_ns) = self.clock.sleep_until(due_ns, halted) else {
                return stopped(cancellation);
            };
            let result = self.operate();
            let timing = Timing {
                free_ns,
                intended_ns: step.intended_ns,
                start_ns: started_ns - origin_ns,
                end_ns: self.clock.now_ns() - origin_ns,
            };
            free_ns = timing.end_ns;
            match result {
                Ok(done) if step.measured => {
                    self.account.completed(&timing, done.rows);
                    self.recorder.completed(0, &timing, &done);
                }
                Err(Failure::Operation(message)) if step.measured => {
                    self.account.failed(&timing);
                    self.recorder.failed(0, &timing, &message);
                }
                Ok(_) | Err(Failure::Operation(_)) => {}
                Err(Failure::Exhausted) => return ExitReason::Exhausted,
                Err(Failure::Fatal(message)) => return self.fail(cancellation, message),
            }
        }
        self.unserved = pacer.unserved();
        // The window is observed to its end, so that the rate may be divided by all of it.
        match table.until_ns() {
            Some(until) if self.clock.sleep_until(origin_ns + until, halted).is_none() => {
                stopped(cancellation)
            }
            _ => ExitReason::Over,
        }
    }

    #[inline]
    fn operate(&mut self) -> Result<Done, Failure> {
        self.client.operate(self.request.next())
    }

    fn fail(&self, cancellation: &Cancellation, message: String) -> ExitReason {
        cancellation.fail(message);
        ExitReason::Failed
    }
}

/// Why a job leaves when the cancellation was pulled.
pub fn stopped(cancellation: &Cancellation) -> ExitReason {
    if cancellation.failed.load(Relaxed) {
        ExitReason::Failed
    } else {
        ExitReason::Stopped
    }
}

/// The text of a panic, which is a string unless somebody took pains.
pub fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    let borrowed = panic.downcast_ref::<&str>().copied();
    owned.or(borrowed).unwrap_or("no message was given")
}
