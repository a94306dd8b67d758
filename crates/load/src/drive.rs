//! A drive: users, the clients that execute their operations, and a schedule, from the ramp-up to the outcome.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::cancellation::{Cancellation, ExitReason};
use crate::client::{BlockingClient, NonblockingClient};
use crate::clock::{Clock, Participation, Usage};
use crate::event_loop::{self, Client, LoopOutcome, Loops, Replacement, Rules};
use crate::outcome::{DriverThreads, Outcome};
use crate::population::{KINDS_MAX, USERS_MAX, UserPopulation};
use crate::recorder::{INTERVAL_MIN, Progress, Recorder};
use crate::schedule::{End, RampUp, Schedule, Think, Timetable, Window};
use crate::scheduler::Scheduler;
use crate::series::Series;
use crate::service::Service;
use crate::start_barrier::StartBarrier;
use crate::threads;
use crate::window_start::announced;

pub const JOBS_MAX: usize = 8192;

#[derive(Clone, Copy)]
pub enum Users<'a> {
    /// Jobs: each client has its own user, whose pauses are in the schedule.
    Jobs,
    Population {
        count: u32,
        kinds: usize,
        population: &'a dyn UserPopulation,
    },
}

pub enum Clients<'o> {
    Blocking(Vec<Box<dyn BlockingClient + 'o>>),
    Nonblocking {
        clients: Vec<Box<dyn NonblockingClient + 'o>>,
        /// Makes a replacement for a client that was given up, or says in a sentence why there is none. Called on the
        /// thread of the drive, while the others continue.
        replace: Option<Replace<'o>>,
    },
}

pub type Replace<'o> = Box<dyn FnMut() -> Replacement<'o> + 'o>;

impl<'o> Clients<'o> {
    /// Clients of event loops, none of which is ever replaced.
    pub fn nonblocking(clients: Vec<Box<dyn NonblockingClient + 'o>>) -> Self {
        Self::Nonblocking {
            clients,
            replace: None,
        }
    }

    pub fn len(&self) -> usize {
        match self {
            Clients::Nonblocking { clients, .. } => clients.len(),
            Clients::Blocking(clients) => clients.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[derive(Clone)]
pub struct Drive<'a> {
    pub users: Users<'a>,
    pub schedule: Schedule,
    pub ramp_up: RampUp,
    pub end: End,
    /// Length of the intervals of the series, at least [`INTERVAL_MIN`].
    pub interval: Duration,
    pub operation_limit: Option<Duration>,
    /// Threads of the event loop: initial number (at least one, at most one for each client), and maximum: a thread
    /// that is on a processor nearly all of its time hands half of its clients to a new one.
    pub threads: RangeInclusive<usize>,
    /// Seed of arrivals, think times, first pauses and the deal of the users.
    pub seed: u64,
    /// Called once when the measured window begins, from a dedicated thread: for a mark on the counters of the
    /// machine.
    pub entering: Option<&'a (dyn Fn() + Sync)>,
    /// Called once when all clients have left and none of them is closed yet, unless the drive was stopped: for
    /// observations of their sessions, and for a mark before these are closed.
    pub leaving: Option<&'a (dyn Fn() + Sync)>,
    /// External stop flag: it stops waiting clients at once, working ones after the operation in progress.
    pub stop: &'a AtomicBool,
    pub progress: Option<&'a Progress>,
    pub clock: Clock,
}

impl<'a> Drive<'a> {
    /// Jobs that do this much work, one operation after another, without pauses, ramp-up or limits, with a series of
    /// one second.
    pub fn of_jobs(end: End, stop: &'a AtomicBool) -> Self {
        Self {
            users: Users::Jobs,
            schedule: Schedule::Closed { think: Think::None },
            ramp_up: RampUp::None,
            end,
            interval: Duration::from_secs(1),
            operation_limit: None,
            threads: 1..=1,
            seed: 1,
            entering: None,
            leaving: None,
            stop,
            progress: None,
            clock: Clock::Monotonic,
        }
    }
}

/// Drives until the end of the schedule and of all operations in progress. The clients are dropped after the last of
/// them has left, except for those that are given up.
pub fn drive(clients: Clients, how: &Drive) -> Outcome {
    let count = clients.len();
    if let Err(message) = check(count, how) {
        return Outcome::fatal(message);
    }
    let table = match Timetable::new(how.schedule, how.ramp_up, how.end, count, how.seed) {
        Ok(table) => table,
        Err(error) => return Outcome::fatal(error.to_string()),
    };
    let cancellation = Cancellation::new(how.stop);
    let window = Window {
        is_drained: matches!(how.users, Users::Jobs),
        ..table.window()
    };
    let (kinds, scheduler) = match how.users {
        Users::Jobs => (1, None),
        Users::Population {
            count,
            kinds,
            population,
        } => {
            let scheduler = Scheduler::new(
                population,
                count,
                kinds,
                how.schedule,
                how.seed,
                window,
                &cancellation,
            );
            (kinds, Some(scheduler))
        }
    };
    let series = Mutex::new(Series::new(how.interval.max(INTERVAL_MIN), kinds));
    let context = Context {
        how,
        window,
        table: &table,
        scheduler: scheduler.as_ref(),
        cancellation: &cancellation,
        open: &AtomicUsize::new(count),
        new_recorder: &|| Recorder::new(kinds, &window, &series, how.progress),
    };
    let ended = match clients {
        Clients::Nonblocking { clients, replace } => context.in_loops(clients, replace),
        Clients::Blocking(clients) => context.on_threads(clients),
    };
    let outcome = context.outcome(ended);
    let series = series.into_inner().unwrap_or_else(PoisonError::into_inner);
    Outcome {
        intervals: series.intervals(outcome.elapsed),
        ..outcome
    }
}

fn check(clients: usize, how: &Drive) -> Result<(), String> {
    let Users::Population { count, kinds, .. } = how.users else {
        return if clients > JOBS_MAX {
            Err(format!(
                "{clients} jobs are too many for one driver: use at most {JOBS_MAX}"
            ))
        } else {
            Ok(())
        };
    };
    if clients == 0 || clients > JOBS_MAX {
        return Err(format!(
            "users cannot be served over {clients} connections: use 1 to {JOBS_MAX}"
        ));
    }
    if count == 0 || count > USERS_MAX {
        return Err(format!(
            "a population of {count} users cannot be driven: use 1 to {USERS_MAX}"
        ));
    }
    if kinds == 0 || kinds > KINDS_MAX {
        return Err(format!(
            "{kinds} kinds of operations cannot be distinguished: use 1 to {KINDS_MAX}"
        ));
    }
    let has_own_pauses = matches!(how.schedule, Schedule::Closed { think: Think::None });
    if !has_own_pauses && !matches!(how.schedule, Schedule::Open { .. }) {
        return Err("users who share connections have their own pauses: use a closed schedule without think time, or an \
                    open one".into());
    }
    match (how.end, how.ramp_up) {
        (End::Operations { .. }, _) | (_, RampUp::Operations { .. }) => {
            Err("users who share connections need a duration, not an amount of work".into())
        }
        (End::Time(time), _) if time.is_zero() => {
            Err("the measured window has no length: set a length above 0".into())
        }
        _ => Ok(()),
    }
}

struct Context<'a> {
    how: &'a Drive<'a>,
    window: Window,
    table: &'a Timetable,
    scheduler: Option<&'a Scheduler<'a>>,
    cancellation: &'a Cancellation<'a>,
    open: &'a AtomicUsize,
    new_recorder: &'a (dyn Fn() -> Recorder<'a> + Sync),
}

struct DriveParts<'a> {
    recorders: Vec<Recorder<'a>>,
    /// In their order: service, usage of the thread, and reason for leaving of each.
    clients: Vec<(Service<'a>, Option<Usage>, ExitReason)>,
    origin_ns: Option<u64>,
    driver_threads: Option<DriverThreads>,
}

impl<'a> Context<'a> {
    fn service(&self, number: usize) -> Service<'a> {
        let counts = self.how.clock.counts_at_start();
        match self.scheduler {
            Some(scheduler) => Service::of_users(scheduler, self.window, counts),
            None => {
                let (pacer, ramp_up) = (self.table.pacer(number as u64), self.how.ramp_up);
                Service::of_job(number, pacer, self.window, counts, ramp_up.operations())
            }
        }
    }

    fn in_loops<'o>(
        &self,
        clients: Vec<Box<dyn NonblockingClient + 'o>>,
        replace: Option<Replace<'o>>,
    ) -> DriveParts<'a> {
        let clock = &self.how.clock;
        let first = (*self.how.threads.start()).clamp(1, clients.len().max(1));
        let barrier = StartBarrier::new(first, clock);
        let rules = Rules {
            limit: self.how.operation_limit,
            open: self.open,
            until_ns: self.window.ends_ns(),
            clock,
        };
        let (sender, wanted) = channel();
        let sender = replace.is_some().then_some(sender);
        let clients = clients.into_iter().enumerate().map(|(number, client)| {
            Client::new(number, client, self.service(number), rules, sender.clone())
        });
        let clients: Vec<Client> = clients.collect();
        drop(sender);
        let loops = Loops {
            threads: first..=*self.how.threads.end(),
            window: self.window,
            barrier: &barrier,
            cancellation: self.cancellation,
            clock,
            new_recorder: self.new_recorder,
        };
        let left = self.announced(&barrier, || {
            let part = replace.is_some().then(|| clock.participate_in_background());
            event_loop::run(clients, &loops, || {
                if let Some((replace, part)) = replace.zip(part) {
                    make_replacements(&wanted, replace, clock, part);
                }
            })
        });
        self.announce_leaving();
        let LoopOutcome {
            mut slots,
            used,
            recorders,
        } = left;
        slots.sort_by_key(|slot| slot.work.number);
        let clients = slots.into_iter();
        DriveParts {
            recorders,
            clients: clients
                .map(|slot| (slot.work.service, None, slot.leaving))
                .collect(),
            origin_ns: barrier.common_start_ns(),
            driver_threads: Some(used),
        }
    }

    fn on_threads<'o>(&self, clients: Vec<Box<dyn BlockingClient + 'o>>) -> DriveParts<'a> {
        let barrier = StartBarrier::new(clients.len(), &self.how.clock);
        let common = self.scheduler.map(|_| Mutex::new((self.new_recorder)()));
        let shared = threads::Shared {
            window: self.window,
            barrier: &barrier,
            cancellation: self.cancellation,
            recorder: common.as_ref(),
            new_recorder: self.new_recorder,
            limit: self.how.operation_limit,
            clock: &self.how.clock,
        };
        let clients = clients.into_iter().enumerate();
        let clients = clients.map(|(number, client)| (client, self.service(number)));
        let clients = clients.collect();
        let mut left = self.announced(&barrier, || threads::run(clients, &shared));
        self.announce_leaving();
        left.sort_by_key(|thread| thread.number);
        let mut ended = DriveParts {
            recorders: Vec::new(),
            clients: Vec::new(),
            origin_ns: barrier.common_start_ns(),
            driver_threads: None,
        };
        let mut sessions = Vec::with_capacity(left.len());
        for thread in left {
            sessions.push(thread.client);
            let client = (thread.service, Some(thread.usage), thread.leaving);
            ended.clients.push(client);
            ended.recorders.extend(thread.recorder);
        }
        if let Some(common) = common {
            let mut common = common.into_inner().unwrap_or_else(PoisonError::into_inner);
            common.finish();
            ended.recorders.push(common);
        }
        ended
    }

    fn announced<T>(&self, barrier: &StartBarrier, drive: impl FnOnce() -> T) -> T {
        let how = self.how;
        let begins = (self.window.from_ns, &how.clock);
        announced(how.entering, begins, barrier, self.cancellation, drive)
    }

    /// All have left, and keep their sessions open during the call.
    fn announce_leaving(&self) {
        if let Some(leaving) = self.how.leaving.filter(|_| !self.cancellation.pulled()) {
            leaving();
        }
    }

    fn outcome(&self, ended: DriveParts<'a>) -> Outcome {
        let from_ns = self.window.from_ns;
        let origin_ns = ended.origin_ns.filter(|_| !ended.clients.is_empty());
        let started_ns = origin_ns.map(|at| at.saturating_add(from_ns));
        let left = |why: ExitReason| ended.clients.iter().any(|(.., leaving)| *leaving == why);
        let gave_out = left(ExitReason::Failed) || left(ExitReason::Lost);
        let is_stopped = self.how.stop.load(Relaxed);
        let interrupted = left(ExitReason::Stopped) || is_stopped && gave_out;
        let left_over = left(ExitReason::Over);
        let fatal = self.cancellation.fatal.get().cloned();
        let whole = !interrupted && fatal.is_none();
        let now_ns = self.how.clock.now_ns();
        let passed_ns = started_ns.map_or(0, |at| now_ns.saturating_sub(at));
        let unserved: u64 = ended.clients.iter().map(|(s, ..)| s.unserved()).sum();
        let clients = ended.clients.into_iter();
        let ended_ns = from_ns.saturating_add(passed_ns).min(self.window.ends_ns());
        let clients = clients.map(|(service, used, _)| service.closed(ended_ns).outcome(used));
        let clients: Vec<_> = clients.collect();
        let length = self.window.until_ns;
        let length = length.map(|until_ns| Duration::from_nanos(until_ns - from_ns));
        let elapsed = match (self.window.is_drained, length) {
            (false, Some(length)) if whole => length,
            (false, length) => Duration::from_nanos(passed_ns).min(length.unwrap_or(Duration::MAX)),
            (true, length) => {
                let last = clients.iter().map(|client| client.finish).max();
                last.max(length.filter(|_| whole && left_over))
                    .unwrap_or_default()
            }
        };
        let mut recorder = self.recorder(ended.recorders);
        if let Some(scheduler) = self.scheduler {
            recorder.add_unfinished(|add| {
                if whole {
                    scheduler.left_waiting(|arrival| add(arrival.kind, arrival.due_ns));
                }
            });
        }
        if unserved > 0 {
            let message = format!(
                "{unserved} operations were due but not started within the time allowed for draining: the target is \
                 slower than the rate"
            );
            recorder.add_message(&message, 0);
        }
        let (kinds, tally, error_messages) = recorder.into_parts();
        let outcome = Outcome {
            started: started_ns.map(|at| self.how.clock.instant_of(at)),
            elapsed,
            rate_time: None,
            clients,
            kinds,
            intervals: Vec::new(),
            due: tally.due + unserved,
            unfinished: tally.unfinished + unserved,
            unserved,
            late_starts: tally.late_starts,
            late_start_max: Duration::from_nanos(tally.late_max_ns),
            connections_lost: tally.connections_lost,
            error_messages,
            fatal,
            interrupted,
            driver_threads: ended.driver_threads,
        };
        let is_timed = self.window.until_ns.is_some() || !self.how.clock.counts_at_start();
        let rate_time = is_timed.then(|| outcome.rate_time_by_clients()).flatten();
        Outcome {
            rate_time,
            ..outcome
        }
    }

    fn recorder(&self, recorders: Vec<Recorder<'a>>) -> Recorder<'a> {
        let all = recorders.into_iter().reduce(|mut all, one| {
            all.merge(one);
            all
        });
        all.unwrap_or_else(self.new_recorder)
    }
}

/// Makes connections for those that were given up, until no client can request any more.
fn make_replacements<'o>(
    wanted: &Receiver<Sender<Replacement<'o>>>,
    mut replace: Replace<'o>,
    clock: &Clock,
    part: Participation,
) {
    part.enter();
    while let Ok(reply) = clock.receive(wanted, None) {
        // The requesting client may have left meanwhile: then the connection is closed again.
        let _ = reply.send(replace());
    }
}
