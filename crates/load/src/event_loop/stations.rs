//! Stations in event loops: the counterpart of [`crate::drive()`] with the same models of load, the same
//! records and the same outcome.

use std::ops::RangeInclusive;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc;
use std::time::Instant;

use super::client::Client;
use super::crew::{Left, Loops, run};
use crate::clock::Usage;
use crate::drive::{Drive, Ended, JOBS_MAX, summarise};
use crate::gate::Gate;
use crate::job::Cancellation;
use crate::outcome::Outcome;
use crate::recorder::{INTERVAL_MIN, Latencies, Recorder};
use crate::schedule::{RampUp, Timetable};
use crate::series::Series;
use crate::station::NonblockingClient;

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
    let loops = Loops {
        threads: first..=*threads.end(),
        window: table.window(),
        gate: &gate,
        cancellation: &cancellation,
        clock: &drive.clock,
        new_book: &Latencies::default,
    };
    let (left, series) = drive_clients(stations, drive, &table, &loops);
    let origin_ns = gate.common_start_ns().filter(|_| count > 0);
    let started = origin_ns.map(|at| drive.clock.instant_of(at.saturating_add(table.from_ns())));
    summary(
        left,
        &series,
        &table,
        started,
        cancellation.fatal.get().cloned(),
    )
}

/// Runs the loops, and gathers the intervals of their clients on the calling thread meanwhile.
fn drive_clients<'a, 'o>(
    stations: Vec<Box<dyn NonblockingClient + 'o>>,
    drive: &Drive<'a>,
    table: &'a Timetable,
    loops: &Loops<'_, Latencies>,
) -> (Left<Client<'a, 'o>>, Series) {
    let interval = drive.interval.max(INTERVAL_MIN);
    let mut series = Series::new(interval);
    let (sender, intervals) = mpsc::channel();
    let ramp_up = match drive.ramp_up {
        RampUp::Operations { per_job } => per_job,
        RampUp::None | RampUp::Time(_) => 0,
    };
    let mut clients = Vec::with_capacity(stations.len());
    for (number, station) in (0u64..).zip(stations) {
        let recorder =
            Recorder::without_latencies(table.from_ns(), interval, sender.clone(), drive.progress);
        let entered = table.from_ns() == 0;
        let pacer = table.pacer(number);
        clients.push(Client::new(
            number, station, recorder, pacer, ramp_up, entered,
        ));
    }
    drop(sender);
    let left = run(clients, loops, || {
        for record in intervals {
            series.add(&record);
        }
    });
    (left, series)
}

fn summary(
    mut left: Left<Client>,
    series: &Series,
    table: &Timetable,
    started: Option<Instant>,
    fatal: Option<String>,
) -> Outcome {
    left.slots.sort_by_key(|slot| slot.work.number);
    let ended: Vec<Ended> = left
        .slots
        .iter()
        .map(|slot| Ended {
            recorder: &slot.work.recorder,
            usage: Usage::default(),
            unserved: slot.work.unserved,
            leaving: slot.leaving,
        })
        .collect();
    let mut outcome = summarise(&ended, series, table, started, fatal);
    for latencies in &left.books {
        outcome.service.merge(&latencies.service);
        outcome.response.merge(&latencies.response);
    }
    let used = left.used;
    // No client has processor time of its own: each gets an equal share of the threads'.
    let equal = u32::try_from(outcome.jobs.len().max(1)).unwrap_or(u32::MAX);
    for job in &mut outcome.jobs {
        job.cpu = used.cpu / equal;
        job.run_queue = used.run_queue.map(|all| all / equal);
    }
    outcome.driver_threads = Some(used);
    outcome
}
