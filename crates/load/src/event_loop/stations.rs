//! Stations in event loops: the counterpart of [`crate::drive()`] with the same models of load, the same
//! records and the same outcome.

use std::ops::RangeInclusive;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, OnceLock};
use std::time::Instant;

use super::client::Client;
use super::crew::{Left, Loops, run};
use crate::account::Account;
use crate::client::NonblockingClient;
use crate::drive::{Drive, Ended, JOBS_MAX, merged, summarise, with_series};
use crate::gate::Gate;
use crate::job::Cancellation;
use crate::outcome::Outcome;
use crate::recorder::{INTERVAL_MIN, Recorder};
use crate::schedule::Timetable;
use crate::series::Series;

/// Drives one client per station and returns when all of them have left.
///
/// It begins with as many threads as the lower end of `threads` says (at least one, at most one per station);
/// a thread that is on a processor nearly all of its time hands half of its clients to a new one, up to the
/// upper end. The stations are dropped after the last client has left.
pub fn drive_nonblocking(
    stations: Vec<Box<dyn NonblockingClient + '_>>,
    threads: RangeInclusive<usize>,
    drive: &Drive,
) -> Outcome {
    let count = stations.len();
    if count > JOBS_MAX {
        return Outcome::fatal(format!(
            "{count} jobs are more than one driver can hold: use at most {JOBS_MAX}"
        ));
    }
    let table = match Timetable::new(drive.schedule, drive.ramp_up, drive.end, count, drive.seed) {
        Ok(table) => table,
        Err(error) => return Outcome::fatal(error.to_string()),
    };
    let cancellation = Cancellation {
        stop: drive.stop,
        fatal: OnceLock::new(),
        failed: AtomicBool::new(false),
    };
    let first = (*threads.start()).clamp(1, count.max(1));
    let gate = Gate::new(first, &drive.clock);
    let window = table.window();
    let series = Mutex::new(Series::new(drive.interval.max(INTERVAL_MIN), 1));
    let loops = Loops {
        threads: first..=*threads.end(),
        window,
        gate: &gate,
        cancellation: &cancellation,
        clock: &drive.clock,
        new_recorder: &|| Recorder::new(1, &window, &series, drive.progress),
    };
    let clients = clients(stations, drive.ramp_up.operations(), &table);
    let left = run(clients, &loops, || {});
    let origin_ns = gate.common_start_ns().filter(|_| count > 0);
    let started = origin_ns.map(|at| drive.clock.instant_of(at.saturating_add(table.from_ns())));
    let fatal = cancellation.fatal.get().cloned();
    let outcome = summary(left, &table, started, fatal);
    with_series(outcome, series)
}

fn clients<'a, 'o>(
    stations: Vec<Box<dyn NonblockingClient + 'o>>,
    ramp_up: u64,
    table: &'a Timetable,
) -> Vec<Client<'a, 'o>> {
    let account = Account::new(&table.window());
    let entered = table.from_ns() == 0;
    let clients = (0u64..).zip(stations).map(|(number, station)| {
        let pacer = table.pacer(number);
        Client::new(number, station, account, pacer, ramp_up, entered)
    });
    clients.collect()
}

fn summary(
    mut left: Left<Client>,
    table: &Timetable,
    started: Option<Instant>,
    fatal: Option<String>,
) -> Outcome {
    left.slots.sort_by_key(|slot| slot.work.number);
    let ended = left.slots.iter().map(|slot| Ended {
        account: slot.work.account,
        thread: None,
        unserved: slot.work.unserved,
        leaving: slot.leaving,
    });
    let ended: Vec<Ended> = ended.collect();
    Outcome {
        driver_threads: Some(left.used),
        ..summarise(&ended, merged(left.recorders), table, started, fatal)
    }
}
