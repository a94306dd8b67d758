//! Whole drives against the programmed target, in virtual time, so that assertions are exact. Properties of the
//! machine's clock are in [`real_time`].

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

#[path = "../shared/mod.rs"]
mod shared;

mod alternating;
mod ends;
mod failures;
mod models;
mod nonblocking;
mod real_time;
mod recorder;
mod relief;
mod stall;
mod timetable;

use std::time::Duration;

use load::mock::Mock;
use load::{
    Arrivals, BlockingClient, Clients, Clock, Drive, End, NonblockingClient, Outcome, Schedule,
    Think,
};

use shared::{AN_HOUR, GO_ON, after, assert_us, check_driver, ms, on, us};

const CLOSED: Schedule = Schedule::Closed { think: Think::None };

fn open(rate_per_s: f64) -> Schedule {
    Schedule::Open {
        rate_per_s,
        arrivals: Arrivals::Constant,
    }
}

fn plain(schedule: Schedule, end: End) -> Drive<'static> {
    Drive {
        schedule,
        interval: ms(100),
        ..Drive::of_jobs(end, &GO_ON)
    }
}

fn on_threads(clients: Vec<Box<dyn BlockingClient + '_>>, how: &Drive) -> Outcome {
    load::drive(Clients::Blocking(clients), how)
}

fn in_loops(
    clients: Vec<Box<dyn NonblockingClient + '_>>,
    threads: std::ops::RangeInclusive<usize>,
    how: &Drive,
) -> Outcome {
    let threads = Drive {
        threads,
        ..how.clone()
    };
    load::drive(Clients::nonblocking(clients), &threads)
}

fn run<'o>(
    how: &Drive,
    clients: impl FnOnce(&Clock) -> Vec<Box<dyn BlockingClient + 'o>>,
) -> Outcome {
    let (clock, _) = Clock::new_virtual();
    let clients = clients(&clock);
    let outcome = on_threads(clients, &on(clock, how.clone()));
    check_virtual(&outcome);
    outcome
}

fn run_nonblocking<'o>(
    how: &Drive,
    nonblocking: impl FnOnce(&Clock) -> Vec<Box<dyn NonblockingClient + 'o>>,
) -> Outcome {
    let (clock, _) = Clock::new_virtual();
    let nonblocking = nonblocking(&clock);
    let outcome = in_loops(nonblocking, 1..=1, &on(clock, how.clone()));
    check_virtual(&outcome);
    outcome
}

fn sessions(mock: Mock, count: usize) -> impl FnOnce(&Clock) -> Vec<Box<dyn BlockingClient>> {
    move |clock| mock.on(clock).sessions(count)
}

fn nonblocking(mock: Mock, count: usize) -> impl FnOnce(&Clock) -> Vec<Box<dyn NonblockingClient>> {
    move |clock| mock.on(clock).nonblocking(count).unwrap()
}

fn check(outcome: &Outcome) {
    let of_jobs: u64 = outcome.clients.iter().map(|job| job.operations).sum();
    let of_series: u64 = outcome.intervals.iter().map(|i| i.operations()).sum();
    assert_eq!(outcome.operations(), of_jobs);
    assert_eq!(outcome.operations(), of_series);
    let rows: u64 = outcome.kinds.iter().map(|kind| kind.rows).sum();
    assert_eq!(outcome.rows(), rows);
    assert_eq!(outcome.operations(), outcome.total().service.count());
    assert_eq!(outcome.operations(), outcome.total().response.count());
    for job in &outcome.clients {
        assert!(job.finish <= outcome.elapsed);
        assert!(job.service + job.idle <= job.active);
    }
}

fn check_virtual(outcome: &Outcome) {
    check(outcome);
    check_driver(outcome);
}
