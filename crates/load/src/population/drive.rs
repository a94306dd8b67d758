//! A population from its common start to the outcome.

use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use super::blocking::{self, SharedState};
use super::ledger::Ledger;
use super::outcome::PopulationOutcome;
use super::pooled_client::{PooledClient, Replacement, Rules};
use super::scheduler::Scheduler;
use super::window_start::announced;
use super::{
    BlockingConnection, ConnectionPool, KINDS_MAX, NonblockingConnection, PopulationDrive,
    PopulationModel, Replace, USERS_MAX, UserPopulation,
};
use crate::clock::{Clock, Participation, ns};
use crate::drive::JOBS_MAX;
use crate::event_loop::{self, Left, Loops};
use crate::gate::Gate;
use crate::job::{Cancellation, ExitReason};
use crate::outcome::DriverThreads;
use crate::recorder::INTERVAL_MIN;
use crate::schedule::{Schedule, Window};

/// Drives the users of a population over connections, and returns when the window is over and every operation in
/// hand has ended. `kinds` is the number of kinds of operations. See [`crate::population`] for what is counted.
///
/// The connections are dropped when all of them have left, but for those that are given up.
pub fn drive_population(
    population: &dyn UserPopulation,
    pool: ConnectionPool,
    kinds: usize,
    drive: &PopulationDrive,
) -> PopulationOutcome {
    if let Err(message) = check(&pool, kinds, drive) {
        return PopulationOutcome::fatal(message);
    }
    let cancellation = Cancellation {
        stop: drive.stop,
        fatal: OnceLock::new(),
        failed: AtomicBool::new(false),
    };
    let from_ns = ns(drive.ramp_up);
    let window = Window {
        from_ns,
        until_ns: Some(from_ns.saturating_add(ns(drive.window))),
    };
    let asked = (drive.users, drive.model, drive.seed);
    let scheduler = Scheduler::new(population, asked, kinds, window, &cancellation);
    let new_ledger = || {
        let interval = drive.interval.max(INTERVAL_MIN);
        Ledger::new(kinds, window, interval, drive.progress)
    };
    let connections = pool.len();
    let context = Context {
        drive,
        scheduler: &scheduler,
        cancellation: &cancellation,
        open: &AtomicUsize::new(connections),
        new_ledger: &new_ledger,
    };
    let ended = match pool {
        ConnectionPool::Nonblocking { pool, replace } => context.in_loops(pool, replace),
        ConnectionPool::Blocking(blocking) => context.on_threads(blocking),
    };
    PopulationOutcome {
        connections,
        ..context.outcome(ended)
    }
}

/// Whether a drive can be done at all; if not, why.
fn check(pool: &ConnectionPool, kinds: usize, drive: &PopulationDrive) -> Result<(), String> {
    let connections = pool.len();
    if connections == 0 || connections > JOBS_MAX {
        return Err(format!(
            "users cannot be served over {connections} connections: use 1 to {JOBS_MAX}"
        ));
    }
    if drive.users == 0 || drive.users > USERS_MAX {
        return Err(format!(
            "a population of {} users cannot be driven: use 1 to {USERS_MAX}",
            drive.users
        ));
    }
    if kinds == 0 || kinds > KINDS_MAX {
        return Err(format!(
            "{kinds} kinds of operations cannot be told apart: use 1 to {KINDS_MAX}"
        ));
    }
    if drive.window.is_zero() {
        return Err("a measured window of no length measures nothing: give it a length".into());
    }
    let PopulationModel::Open {
        rate_per_s,
        arrivals,
    } = drive.model
    else {
        return Ok(());
    };
    let schedule = Schedule::Open {
        rate_per_s,
        arrivals,
    };
    schedule.check().map_err(|error| error.to_string())
}

/// What every way of driving needs.
struct Context<'a> {
    drive: &'a PopulationDrive<'a>,
    scheduler: &'a Scheduler<'a>,
    cancellation: &'a Cancellation<'a>,
    /// Connections that there are.
    open: &'a AtomicUsize,
    new_ledger: &'a (dyn Fn() -> Ledger<'a> + Sync),
}

/// What the connections leave.
struct Ended<'a> {
    ledgers: Vec<Ledger<'a>>,
    leavings: Vec<ExitReason>,
    origin_ns: Option<u64>,
    driver_threads: Option<DriverThreads>,
}

impl<'a> Context<'a> {
    fn in_loops<'o>(
        &self,
        pool: Vec<Box<dyn NonblockingConnection + 'o>>,
        replace: Option<Replace<'o>>,
    ) -> Ended<'a> {
        let first = (*self.drive.threads.start()).clamp(1, pool.len());
        let gate = Gate::new(first, &self.drive.clock);
        let rules = Rules {
            limit: self.drive.operation_limit,
            open: self.open,
            until_ns: self.scheduler.window().until_ns.unwrap_or(u64::MAX),
            clock: &self.drive.clock,
        };
        let (sender, wanted) = channel();
        let sender = replace.is_some().then_some(sender);
        let clerks: Vec<PooledClient> = pool
            .into_iter()
            .map(|connection| PooledClient::new(connection, self.scheduler, rules, sender.clone()))
            .collect();
        drop(sender);
        let loops = Loops {
            threads: first..=*self.drive.threads.end(),
            window: self.scheduler.window(),
            gate: &gate,
            cancellation: self.cancellation,
            clock: &self.drive.clock,
            new_book: self.new_ledger,
        };
        let clock = &self.drive.clock;
        let Left { slots, used, books } = announced(self.drive, &gate, self.cancellation, || {
            let part = clock.participate_in_background();
            event_loop::run(clerks, &loops, || {
                make_replacements(&wanted, replace, clock, part);
            })
        });
        Ended {
            ledgers: books,
            leavings: slots.iter().map(|slot| slot.leaving).collect(),
            origin_ns: gate.common_start_ns(),
            driver_threads: Some(used),
        }
    }

    fn on_threads<'o>(&self, blocking: Vec<Box<dyn BlockingConnection + 'o>>) -> Ended<'a> {
        let gate = Gate::new(blocking.len(), &self.drive.clock);
        let ledger = Mutex::new((self.new_ledger)());
        let shared = SharedState {
            scheduler: self.scheduler,
            gate: &gate,
            cancellation: self.cancellation,
            ledger: &ledger,
            limit: self.drive.operation_limit,
            clock: &self.drive.clock,
        };
        let leavings = announced(self.drive, &gate, self.cancellation, || {
            blocking::run(blocking, &shared)
        });
        let ledger = ledger.into_inner();
        Ended {
            ledgers: vec![ledger.unwrap_or_else(PoisonError::into_inner)],
            leavings,
            origin_ns: gate.common_start_ns(),
            driver_threads: None,
        }
    }

    fn outcome(&self, ended: Ended) -> PopulationOutcome {
        let mut ledger = (self.new_ledger)();
        for mut one in ended.ledgers {
            one.tell_progress();
            ledger.merge(one);
        }
        let from_ns = ended
            .origin_ns
            .map(|at| at.saturating_add(ns(self.drive.ramp_up)));
        let interrupted = ended.leavings.contains(&ExitReason::Stopped);
        let fatal = self.cancellation.fatal.get().cloned();
        let passed_ns = from_ns.map_or(0, |from| self.drive.clock.now_ns().saturating_sub(from));
        let passed = Duration::from_nanos(passed_ns).min(self.drive.window);
        let whole = !interrupted && fatal.is_none();
        let elapsed = if whole { self.drive.window } else { passed };
        ledger.add_unfinished(|tell| {
            if whole {
                let scheduler = self.scheduler;
                scheduler.left_waiting(|arrival| tell(arrival.kind, arrival.due_ns));
            }
        });
        let kinds = ledger.take_kinds();
        PopulationOutcome {
            started: from_ns.map(|at| self.drive.clock.instant_of(at)),
            elapsed,
            users: self.drive.users,
            connections: 0,
            intervals: ledger.series.intervals(elapsed),
            asked: ledger.tally.asked,
            unfinished: ledger.tally.unfinished,
            late_starts: ledger.tally.late_starts,
            late_start_max: Duration::from_nanos(ledger.tally.late_max_ns),
            driver_delay: Duration::from_nanos(ledger.tally.driver_ns),
            connections_lost: ledger.tally.connections_lost,
            kinds,
            error_messages: ledger.messages,
            fatal,
            interrupted,
            driver_threads: ended.driver_threads,
        }
    }
}

/// Makes connections for those that were given up, until no connection can ask any more.
fn make_replacements<'o>(
    wanted: &Receiver<Sender<Replacement<'o>>>,
    replace: Option<Replace<'o>>,
    clock: &Clock,
    part: Participation,
) {
    let Some(mut replace) = replace else {
        return;
    };
    part.enter();
    while let Ok(place) = clock.receive(wanted, None) {
        // Who asked may have left meanwhile: then the connection is closed again.
        let _ = place.send(replace());
    }
}
