//! Clients whose calls block: a thread for each, and with a limit on operations, a thread that watches for stuck
//! calls.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::cancellation::{Cancellation, ExitReason, panic_message};
use crate::clock::{self, Clock, SLEEP_SLICE, Usage, ns};
use crate::recorder::{Recorder, Timing};
use crate::schedule::Window;
use crate::service::{Completion, Due, Service};
use crate::start_barrier::{Participant, StartBarrier};
use crate::{BlockingClient, Done, Failure, Interrupt};

/// Most operations that a thread buffers before it writes them into a common recorder.
const BUFFERED_MAX: usize = 64;
/// Longest time of buffering, so that the progress is published.
const BUFFERED_NS_MAX: u64 = 100_000_000;
/// Stands for "no call" in the start time of a call.
const IDLE: u64 = 0;

pub struct Shared<'r, 'a> {
    pub window: Window,
    /// Barrier for as many threads as there are.
    pub barrier: &'r StartBarrier,
    pub cancellation: &'r Cancellation<'r>,
    /// Recorder that all share if one for each would be too much: a hundred clients would take a hundred times
    /// fifteen histograms for five kinds.
    pub recorder: Option<&'r Mutex<Recorder<'a>>>,
    pub new_recorder: &'r (dyn Fn() -> Recorder<'a> + Sync),
    pub limit: Option<Duration>,
    pub clock: &'r Clock,
}

pub struct ThreadOutcome<'a, 'o> {
    /// Dropped after the last thread has ended, so that closing one session does not disturb the measurement of
    /// another.
    pub client: Box<dyn BlockingClient + 'o>,
    pub number: usize,
    pub leaving: ExitReason,
    pub service: Service<'a>,
    pub usage: Usage,
    pub recorder: Option<Recorder<'a>>,
}

pub fn run<'a, 'o>(
    clients: Vec<(Box<dyn BlockingClient + 'o>, Service<'a>)>,
    shared: &Shared<'_, 'a>,
) -> Vec<ThreadOutcome<'a, 'o>> {
    let calls: Vec<AtomicU64> = match shared.limit {
        Some(_) => clients.iter().map(|_| AtomicU64::new(IDLE)).collect(),
        None => Vec::new(),
    };
    let interrupts = clients.iter().map(|(client, _)| client.interrupt());
    let interrupts: Vec<_> = interrupts.collect();
    let (leavings, left) = channel();
    // All participations exist before the first thread begins, so that none runs ahead in virtual time.
    let watcher = shared.clock.participate_in_background();
    let parts: Vec<_> = clients.iter().map(|_| shared.clock.participate()).collect();
    std::thread::scope(|scope| {
        for (number, ((client, service), part)) in clients.into_iter().zip(parts).enumerate() {
            let (participant, leavings) = (shared.barrier.participant(), leavings.clone());
            let worker = Worker {
                client,
                call: calls.get(number),
                shared,
                service,
                book: match shared.recorder {
                    Some(recorder) => Book::Common {
                        recorder,
                        buffered: Vec::with_capacity(BUFFERED_MAX),
                        buffered_until_ns: 0,
                    },
                    None => Book::Own(Box::new((shared.new_recorder)())),
                },
                usage: Usage::default(),
            };
            let thread = std::thread::Builder::new().name(format!("client-{number}"));
            let spawned = thread.spawn_scoped(scope, move || {
                part.enter();
                worker.run(number, participant, &leavings);
                drop(leavings);
                drop(part);
            });
            if let Err(error) = spawned {
                shared.cancellation.fail(format!(
                    "a thread for every job or connection cannot be started ({error}): use fewer of them, or raise the \
                     limit of processes"
                ));
            }
        }
        drop(leavings);
        watcher.enter();
        let left = watch(&left, shared, &calls, &interrupts);
        drop(watcher);
        left
    })
}

/// Collects the clients that leave, and interrupts calls that take longer than the limit, each once.
fn watch<'a, 'o>(
    left: &Receiver<ThreadOutcome<'a, 'o>>,
    shared: &Shared,
    calls: &[AtomicU64],
    interrupts: &[Option<Interrupt>],
) -> Vec<ThreadOutcome<'a, 'o>> {
    let limit_ns = shared.limit.map_or(u64::MAX, ns);
    let mut interrupted = vec![IDLE; calls.len()];
    let mut leavings = Vec::new();
    loop {
        let until_ns = shared
            .limit
            .map(|_| shared.clock.now_ns() + ns(SLEEP_SLICE));
        match shared.clock.receive(left, until_ns) {
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

struct Worker<'r, 'a, 'o> {
    client: Box<dyn BlockingClient + 'o>,
    /// Start of the call in progress, on the clock; only with a limit on operations.
    call: Option<&'r AtomicU64>,
    shared: &'r Shared<'r, 'a>,
    service: Service<'a>,
    book: Book<'r, 'a>,
    usage: Usage,
}

enum Book<'r, 'a> {
    Own(Box<Recorder<'a>>),
    Common {
        recorder: &'r Mutex<Recorder<'a>>,
        buffered: Vec<Entry>,
        buffered_until_ns: u64,
    },
}

struct Entry {
    kind: u8,
    timing: Timing,
    result: Result<Done, OperationError>,
}

enum OperationError {
    Failed(String),
    TimedOut,
}

impl<'a, 'o> Worker<'_, 'a, 'o> {
    /// A panic of the client becomes the drive's fatal failure; it never leaves the others waiting, because the
    /// participant is dropped.
    fn run(
        mut self,
        number: usize,
        participant: Participant,
        leavings: &Sender<ThreadOutcome<'a, 'o>>,
    ) {
        clock::sharpen_timers();
        let work = AssertUnwindSafe(|| self.work(participant));
        let leaving = catch_unwind(work).unwrap_or_else(|panic| {
            let message = panic_message(panic.as_ref());
            self.shared.cancellation.fail(format!(
                "client {number} panicked, which is a bug in dbdyno: {message}"
            ));
            ExitReason::Failed
        });
        let limit = self.shared.limit.unwrap_or(Duration::MAX);
        // Without a receiver the drive is being torn down.
        let _ = leavings.send(ThreadOutcome {
            client: self.client,
            number,
            leaving,
            service: self.service,
            usage: self.usage,
            recorder: self.book.finished(limit),
        });
    }

    fn work(&mut self, participant: Participant) -> ExitReason {
        let Shared {
            window,
            cancellation,
            clock,
            ..
        } = *self.shared;
        let halted = || cancellation.pulled();
        while self.service.ramps_up() {
            if halted() {
                return cancellation.stopped();
            }
            if let Some(leaving) = self.operate(0, 0) {
                return leaving;
            }
        }
        if window.from_ns == 0 {
            self.client.measurement_begins();
        }
        let first = self.service.first();
        let meter = clock.usage_meter();
        let mut before = meter.read();
        let common_start = participant.wait(halted);
        let Some(origin_ns) = common_start.filter(|at| clock.sleep_until(*at, halted).is_some())
        else {
            return cancellation.stopped();
        };
        let leaving = self.follow(first, origin_ns, || before = meter.read());
        self.usage = meter.read().since(&before);
        match window.until_ns {
            // The window lasts to its end, so that the rate may be divided by all of it.
            Some(until) if leaving == ExitReason::Over => {
                match clock.sleep_until(origin_ns + until, halted) {
                    Some(_) => leaving,
                    None => cancellation.stopped(),
                }
            }
            _ => leaving,
        }
    }

    /// Executes operations from the common start on. `entering` is called before the first measured one.
    fn follow(
        &mut self,
        first: Option<Option<Due>>,
        origin_ns: u64,
        mut entering: impl FnMut(),
    ) -> ExitReason {
        let Shared {
            cancellation,
            clock,
            ..
        } = *self.shared;
        let halted = || cancellation.pulled();
        let mut next = match first {
            Some(first) => first,
            None => self.service.next(),
        };
        while let Some(due) = next {
            if halted() {
                return cancellation.stopped();
            }
            if due.enters {
                self.client.measurement_begins();
                entering();
            }
            let due_ns = origin_ns.saturating_add(due.at_ns);
            let Some(now) = clock.sleep_until(due_ns, halted) else {
                return cancellation.stopped();
            };
            if let Some(leaving) = self.operate(now, origin_ns) {
                return leaving;
            }
            next = self.service.next();
        }
        ExitReason::Over
    }

    /// Executes an operation; returns the reason if the thread leaves.
    #[inline]
    fn operate(&mut self, now: u64, origin_ns: u64) -> Option<ExitReason> {
        let request = self.service.begin(now - origin_ns);
        if let Some(call) = self.call {
            call.store(now, Relaxed);
        }
        let result = self.client.operate(request);
        let (ended_ns, counts) = self.shared.clock.ended_ns(now);
        if let Some(call) = self.call {
            call.store(IDLE, Relaxed);
        }
        let (kind, timing) = match self
            .service
            .end(ended_ns - origin_ns, counts, result.is_ok())
        {
            Completion::Measured(kind, timing) => (kind, timing),
            Completion::Unmeasured => {
                return self
                    .service
                    .give_up(result.err()?, self.shared.cancellation);
            }
        };
        let is_late = self.call.is_some() && {
            let limit_ns = self.shared.limit.map_or(u64::MAX, ns);
            ended_ns - now > limit_ns
        };
        let result = match result {
            Err(failure @ (Failure::Fatal(_) | Failure::Exhausted)) => {
                return self.service.give_up(failure, self.shared.cancellation);
            }
            _ if is_late => Err(OperationError::TimedOut),
            Ok(done) => Ok(done),
            Err(Failure::Operation(message)) => Err(OperationError::Failed(message)),
        };
        match &result {
            Ok(done) => self.service.account().completed(&timing, done.rows),
            Err(_) => self.service.account().failed(&timing),
        }
        let limit = self.shared.limit.unwrap_or(Duration::MAX);
        self.book.add(
            Entry {
                kind,
                timing,
                result,
            },
            limit,
        );
        None
    }
}

impl<'a> Book<'_, 'a> {
    #[inline]
    fn add(&mut self, entry: Entry, limit: Duration) {
        match self {
            Book::Own(recorder) => entry.write_into(recorder, limit),
            Book::Common {
                recorder,
                buffered,
                buffered_until_ns,
            } => {
                let end_ns = entry.timing.end_ns;
                buffered.push(entry);
                if buffered.len() == BUFFERED_MAX || end_ns >= *buffered_until_ns {
                    *buffered_until_ns = end_ns + BUFFERED_NS_MAX;
                    write_down(buffered, recorder, limit);
                }
            }
        }
    }

    /// Writes all operations; returns the thread's own recorder, if it has one.
    fn finished(self, limit: Duration) -> Option<Recorder<'a>> {
        match self {
            Book::Own(mut recorder) => {
                recorder.finish();
                Some(*recorder)
            }
            Book::Common {
                recorder,
                mut buffered,
                ..
            } => {
                write_down(&mut buffered, recorder, limit);
                None
            }
        }
    }
}

fn write_down(buffered: &mut Vec<Entry>, recorder: &Mutex<Recorder>, limit: Duration) {
    let mut recorder = recorder.lock().unwrap_or_else(PoisonError::into_inner);
    for entry in buffered.drain(..) {
        entry.write_into(&mut recorder, limit);
    }
}

impl Entry {
    #[inline]
    fn write_into(&self, recorder: &mut Recorder, limit: Duration) {
        match &self.result {
            Ok(done) => recorder.completed(self.kind, &self.timing, done),
            Err(OperationError::Failed(message)) => {
                recorder.failed(self.kind, &self.timing, message)
            }
            Err(OperationError::TimedOut) => recorder.timed_out(self.kind, &self.timing, limit),
        }
    }
}
