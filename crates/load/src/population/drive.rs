//! A population from its common start to the outcome.

use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use super::blocking::{self, SharedState};
use super::pooled_client::{PooledClient, Replacement, Rules};
use super::scheduler::Scheduler;
use super::service::Service;
use super::window_start::announced;
use super::{
    ConnectionPool, KINDS_MAX, PopulationDrive, PopulationModel, Replace, USERS_MAX, UserPopulation,
};
use crate::client::{BlockingClient, NonblockingClient};
use crate::clock::{Clock, Participation, Usage, ns};
use crate::drive::{JOBS_MAX, merged, with_series};
use crate::event_loop::{self, Left, Loops};
use crate::gate::Gate;
use crate::job::{Cancellation, ExitReason};
use crate::outcome::{DriverThreads, Outcome};
use crate::recorder::{INTERVAL_MIN, Recorder};
use crate::schedule::{Schedule, Window};
use crate::series::Series;

/// Drives the users of a population over connections, and returns when the window is over and every operation in
/// hand has ended. `kinds` is the number of kinds of operations. See [`crate::population`] for what is counted.
///
/// The connections are dropped when all of them have left, but for those that are given up.
pub fn drive_population(
    population: &dyn UserPopulation,
    pool: ConnectionPool,
    kinds: usize,
    drive: &PopulationDrive,
) -> Outcome {
    if let Err(message) = check(&pool, kinds, drive) {
        return Outcome::fatal(message);
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
        is_drained: false,
    };
    let asked = (drive.users, drive.model, drive.seed);
    let scheduler = Scheduler::new(population, asked, kinds, window, &cancellation);
    let series = Mutex::new(Series::new(drive.interval.max(INTERVAL_MIN), kinds));
    let context = Context {
        drive,
        scheduler: &scheduler,
        cancellation: &cancellation,
        open: &AtomicUsize::new(pool.len()),
        new_recorder: &|| Recorder::new(kinds, &window, &series, drive.progress),
    };
    let ended = match pool {
        ConnectionPool::Nonblocking { pool, replace } => context.in_loops(pool, replace),
        ConnectionPool::Blocking(blocking) => context.on_threads(blocking),
    };
    let outcome = context.outcome(ended);
    with_series(outcome, series)
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
    new_recorder: &'a (dyn Fn() -> Recorder<'a> + Sync),
}

/// What the connections leave.
struct Ended<'a> {
    recorders: Vec<Recorder<'a>>,
    /// In their order: the connection's service, what its thread used, and why it left.
    connections: Vec<(Service<'a>, Option<Usage>, ExitReason)>,
    origin_ns: Option<u64>,
    driver_threads: Option<DriverThreads>,
}

impl<'a> Context<'a> {
    fn in_loops<'o>(
        &self,
        pool: Vec<Box<dyn NonblockingClient + 'o>>,
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
        let clients = pool.into_iter().enumerate().map(|(number, connection)| {
            PooledClient::new(number, connection, self.scheduler, rules, sender.clone())
        });
        let clients: Vec<PooledClient> = clients.collect();
        drop(sender);
        let loops = Loops {
            threads: first..=*self.drive.threads.end(),
            window: self.scheduler.window(),
            gate: &gate,
            cancellation: self.cancellation,
            clock: &self.drive.clock,
            new_recorder: self.new_recorder,
        };
        let clock = &self.drive.clock;
        let left = announced(self.drive, &gate, self.cancellation, || {
            let part = clock.participate_in_background();
            event_loop::run(clients, &loops, || {
                make_replacements(&wanted, replace, clock, part);
            })
        });
        let Left {
            mut slots,
            used,
            recorders,
        } = left;
        slots.sort_by_key(|slot| slot.work.number);
        let connections = slots.into_iter();
        Ended {
            recorders,
            connections: connections
                .map(|slot| (slot.work.service, None, slot.leaving))
                .collect(),
            origin_ns: gate.common_start_ns(),
            driver_threads: Some(used),
        }
    }

    fn on_threads<'o>(&self, blocking: Vec<Box<dyn BlockingClient + 'o>>) -> Ended<'a> {
        let gate = Gate::new(blocking.len(), &self.drive.clock);
        let recorder = Mutex::new((self.new_recorder)());
        let shared = SharedState {
            scheduler: self.scheduler,
            gate: &gate,
            cancellation: self.cancellation,
            recorder: &recorder,
            limit: self.drive.operation_limit,
            clock: &self.drive.clock,
        };
        let mut left = announced(self.drive, &gate, self.cancellation, || {
            blocking::run(blocking, &shared)
        });
        left.sort_by_key(|connection| connection.number);
        let recorder = recorder.into_inner();
        let mut recorder = recorder.unwrap_or_else(PoisonError::into_inner);
        recorder.finish();
        let connections = left.into_iter();
        Ended {
            recorders: vec![recorder],
            connections: connections
                .map(|left| (left.service, Some(left.usage), left.leaving))
                .collect(),
            origin_ns: gate.common_start_ns(),
            driver_threads: None,
        }
    }

    fn outcome(&self, ended: Ended<'a>) -> Outcome {
        let from_ns = ended
            .origin_ns
            .map(|at| at.saturating_add(ns(self.drive.ramp_up)));
        let leavings = ended.connections.iter().map(|(.., leaving)| *leaving);
        let interrupted = leavings.into_iter().any(|why| why == ExitReason::Stopped);
        let fatal = self.cancellation.fatal.get().cloned();
        let passed_ns = from_ns.map_or(0, |from| self.drive.clock.now_ns().saturating_sub(from));
        let passed = Duration::from_nanos(passed_ns).min(self.drive.window);
        let whole = !interrupted && fatal.is_none();
        let elapsed = if whole { self.drive.window } else { passed };
        let mut recorder = merged(ended.recorders).unwrap_or_else(self.new_recorder);
        recorder.add_unfinished(|tell| {
            if whole {
                let scheduler = self.scheduler;
                scheduler.left_waiting(|arrival| tell(arrival.kind, arrival.due_ns));
            }
        });
        let (kinds, tally, error_messages) = recorder.into_parts();
        let ended_ns = ns(self.drive.ramp_up).saturating_add(ns(elapsed));
        let clients = ended.connections.into_iter();
        let clients = clients.map(|(service, used, _)| service.closed(ended_ns).outcome(used));
        Outcome {
            started: from_ns.map(|at| self.drive.clock.instant_of(at)),
            elapsed,
            clients: clients.collect(),
            kinds,
            intervals: Vec::new(),
            asked: tally.asked,
            unfinished: tally.unfinished,
            unserved: 0,
            late_starts: tally.late_starts,
            late_start_max: Duration::from_nanos(tally.late_max_ns),
            connections_lost: tally.connections_lost,
            error_messages,
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
