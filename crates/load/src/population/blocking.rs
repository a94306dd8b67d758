//! Connections whose calls block: a thread for each, and one that looks whether any of them is stuck.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::scheduler::Scheduler;
use super::service::Service;
use crate::clock::{self, Clock, SLEEP_SLICE, Usage, ns};
use crate::gate::{Gate, Ticket};
use crate::job::{Cancellation, ExitReason, panic_message, stopped};
use crate::recorder::{Recorder, Timing};
use crate::{BlockingClient, Done, Failure, Interrupt};

/// Operations that a thread keeps before it writes them into the common recorder; with a recorder for each, a
/// hundred connections would take a hundred times fifteen histograms.
const KEPT_MAX: usize = 64;
/// Nor does it keep them for longer than this, so that the progress is told.
const KEPT_NS_MAX: u64 = 100_000_000;
/// What stands for "no call" where the start of a call is told.
const IDLE: u64 = 0;

/// What the threads share.
pub struct SharedState<'r, 'a> {
    pub scheduler: &'a Scheduler<'a>,
    pub gate: &'r Gate,
    pub cancellation: &'r Cancellation<'r>,
    pub recorder: &'r Mutex<Recorder<'a>>,
    pub limit: Option<Duration>,
    pub clock: &'r Clock,
}

/// What a connection leaves.
pub struct LeftConnection<'a> {
    pub number: usize,
    pub leaving: ExitReason,
    pub service: Service<'a>,
    /// What its thread used in the measured window.
    pub usage: Usage,
}

/// Runs a thread for each connection until all of them have left.
pub fn run<'a, 'o>(
    blocking: Vec<Box<dyn BlockingClient + 'o>>,
    shared: &SharedState<'_, 'a>,
) -> Vec<LeftConnection<'a>> {
    let calls: Vec<AtomicU64> = blocking.iter().map(|_| AtomicU64::new(IDLE)).collect();
    let interrupts: Vec<_> = blocking
        .iter()
        .map(|connection| connection.interrupt())
        .collect();
    let (leavings, left) = channel();
    // All of them before the first thread begins, so that none runs ahead in virtual time.
    let watcher = shared.clock.participate_in_background();
    let parts: Vec<_> = calls.iter().map(|_| shared.clock.participate()).collect();
    std::thread::scope(|scope| {
        let connections = blocking.into_iter().zip(&calls).zip(parts);
        for (number, ((connection, call), part)) in connections.enumerate() {
            let (ticket, leavings) = (shared.gate.ticket(), leavings.clone());
            let worker = Worker {
                connection,
                call,
                shared,
                service: Service::new(shared.scheduler),
                kept: Vec::with_capacity(KEPT_MAX),
                kept_until_ns: 0,
                usage: Usage::default(),
            };
            let thread = std::thread::Builder::new().name(format!("teller-{number}"));
            let spawned = thread.spawn_scoped(scope, move || {
                part.enter();
                worker.run(number, ticket, &leavings);
                drop(leavings);
                drop(part);
            });
            if let Err(error) = spawned {
                shared.cancellation.fail(format!(
                    "a thread for every connection cannot be had ({error}): use fewer connections, or raise the limit of processes"
                ));
            }
        }
        drop(leavings);
        watcher.enter();
        let leavings = watch(&left, shared, &calls, &interrupts);
        drop(watcher);
        leavings
    })
}

/// Gathers what the threads leave, and interrupts calls that take longer than the limit, each once.
fn watch<'a>(
    left: &Receiver<LeftConnection<'a>>,
    shared: &SharedState,
    calls: &[AtomicU64],
    interrupts: &[Option<Interrupt>],
) -> Vec<LeftConnection<'a>> {
    let limit_ns = shared.limit.map_or(u64::MAX, ns);
    let mut interrupted = vec![IDLE; calls.len()];
    let mut leavings = Vec::new();
    loop {
        let until_ns = shared.clock.now_ns() + ns(SLEEP_SLICE);
        match shared.clock.receive(left, Some(until_ns)) {
            Ok(leaving) => leavings.push(leaving),
            Err(RecvTimeoutError::Disconnected) => return leavings,
            Err(RecvTimeoutError::Timeout) => {}
        }
        let now = shared.clock.now_ns();
        for ((call, interrupt), known) in calls.iter().zip(interrupts).zip(&mut interrupted) {
            let started = call.load(Relaxed);
            let stuck = started != IDLE && now.saturating_sub(started) > limit_ns;
            if stuck && started != *known {
                *known = started;
                if let Some(interrupt) = interrupt {
                    interrupt();
                }
            }
        }
    }
}

/// One thread.
struct Worker<'r, 'a, 'o> {
    connection: Box<dyn BlockingClient + 'o>,
    /// When the call in hand began, on the clock.
    call: &'r AtomicU64,
    shared: &'r SharedState<'r, 'a>,
    service: Service<'a>,
    kept: Vec<Entry>,
    kept_until_ns: u64,
    usage: Usage,
}

/// An operation that is still to be written down.
struct Entry {
    kind: u8,
    timing: Timing,
    result: Result<Done, Wrong>,
}

enum Wrong {
    Failed(String),
    TimedOut,
}

impl<'a> Worker<'_, 'a, '_> {
    fn run(mut self, number: usize, ticket: Ticket, leavings: &Sender<LeftConnection<'a>>) {
        clock::sharpen_timers();
        let work = AssertUnwindSafe(|| self.work(ticket));
        let leaving = catch_unwind(work).unwrap_or_else(|panic| {
            let message = panic_message(panic.as_ref());
            self.shared.cancellation.fail(format!(
                "connection {number} panicked, which is a defect of the program: {message}"
            ));
            ExitReason::Failed
        });
        self.write_down();
        // Nobody listening means that the drive is being torn down.
        let _ = leavings.send(LeftConnection {
            number,
            leaving,
            service: self.service,
            usage: self.usage,
        });
    }

    fn work(&mut self, ticket: Ticket) -> ExitReason {
        let SharedState {
            scheduler,
            cancellation,
            clock,
            ..
        } = *self.shared;
        let halted = || cancellation.pulled();
        // Before the common start: a thread that wakes late there would find that others took its user up.
        let next = self.service.next();
        let meter = clock.usage_meter();
        let mut before = meter.read();
        let common_start = ticket.wait(halted);
        let Some(origin_ns) = common_start.filter(|at| clock.sleep_until(*at, halted).is_some())
        else {
            return stopped(cancellation);
        };
        let leaving = self.follow(next, origin_ns, || before = meter.read());
        self.usage = meter.read().since(&before);
        match scheduler.window().until_ns {
            // The window is observed to its end, so that the rate may be divided by all of it.
            Some(until) if leaving == ExitReason::Over => {
                match clock.sleep_until(origin_ns + until, halted) {
                    Some(_) => leaving,
                    None => stopped(cancellation),
                }
            }
            _ => leaving,
        }
    }

    /// Serves users from the common start on. `entering` is called before the first operation in the window.
    fn follow(
        &mut self,
        mut next: Option<u64>,
        origin_ns: u64,
        mut entering: impl FnMut(),
    ) -> ExitReason {
        let SharedState {
            scheduler,
            cancellation,
            clock,
            ..
        } = *self.shared;
        let halted = || cancellation.pulled();
        // Without a ramp-up the usage counts from the gate, so that the wait for a processor is in it.
        let from_ns = scheduler.window().from_ns;
        let mut entered = from_ns == 0;
        while let Some(due_ns) = next {
            let due_ns = origin_ns.saturating_add(due_ns);
            let Some(now) = clock.sleep_until(due_ns, halted).filter(|_| !halted()) else {
                return stopped(cancellation);
            };
            if !entered && now - origin_ns >= from_ns {
                entered = true;
                entering();
            }
            if let Some(leaving) = self.serve(now, origin_ns) {
                return leaving;
            }
            next = self.service.next();
        }
        ExitReason::Over
    }

    /// Does an operation; why the thread leaves, if it does.
    fn serve(&mut self, now: u64, origin_ns: u64) -> Option<ExitReason> {
        let request = self.service.begin(now - origin_ns);
        self.call.store(now, Relaxed);
        let result = self.connection.operate(request);
        let ended = self.shared.clock.now_ns();
        self.call.store(IDLE, Relaxed);
        let (kind, timing) = self.service.end(ended - origin_ns);
        let limit_ns = self.shared.limit.map_or(u64::MAX, ns);
        let result = match result {
            Err(Failure::Fatal(message)) => {
                self.shared.cancellation.fail(message);
                return Some(ExitReason::Failed);
            }
            Err(Failure::Exhausted) => {
                self.service.dismiss();
                return None;
            }
            _ if ended - now > limit_ns => Err(Wrong::TimedOut),
            Ok(done) => Ok(done),
            Err(Failure::Operation(message)) => Err(Wrong::Failed(message)),
        };
        match &result {
            Ok(done) => self.service.account.completed(&timing, done.rows),
            Err(_) => self.service.account.failed(&timing),
        }
        self.kept.push(Entry {
            kind,
            timing,
            result,
        });
        if self.kept.len() == KEPT_MAX || timing.end_ns >= self.kept_until_ns {
            self.kept_until_ns = timing.end_ns + KEPT_NS_MAX;
            self.write_down();
        }
        None
    }

    fn write_down(&mut self) {
        let recorder = self.shared.recorder.lock();
        let mut recorder = recorder.unwrap_or_else(PoisonError::into_inner);
        let limit = self.shared.limit.unwrap_or(Duration::MAX);
        for entry in self.kept.drain(..) {
            match &entry.result {
                Ok(done) => recorder.completed(entry.kind, &entry.timing, done),
                Err(Wrong::Failed(message)) => recorder.failed(entry.kind, &entry.timing, message),
                Err(Wrong::TimedOut) => recorder.timed_out(entry.kind, &entry.timing, limit),
            }
        }
    }
}
