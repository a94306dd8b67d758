//! Whole drives against the programmed target, in virtual time, so that assertions are exact. Properties of the
//! machine's clock are in [`real_time`].

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

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

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use load::mock::Mock;
use load::{
    Arrivals, BlockingClient, Clients, Clock, Drive, End, NonblockingClient, Outcome, Schedule,
    Think,
};

static GO_ON: AtomicBool = AtomicBool::new(false);

const CLOSED: Schedule = Schedule::Closed { think: Think::None };
const AN_HOUR: Duration = Duration::from_secs(3600);

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn us(microseconds: u64) -> Duration {
    Duration::from_micros(microseconds)
}

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
    let outcome = on_threads(
        clients,
        &Drive {
            clock,
            ..how.clone()
        },
    );
    check_virtual(&outcome);
    outcome
}

fn run_nonblocking<'o>(
    how: &Drive,
    nonblocking: impl FnOnce(&Clock) -> Vec<Box<dyn NonblockingClient + 'o>>,
) -> Outcome {
    let (clock, _) = Clock::new_virtual();
    let nonblocking = nonblocking(&clock);
    let outcome = in_loops(
        nonblocking,
        1..=1,
        &Drive {
            clock,
            ..how.clone()
        },
    );
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
    assert_eq!(outcome.driver_time(), Duration::ZERO);
    assert_eq!(
        (outcome.late_starts, outcome.late_start_max),
        (0, Duration::ZERO)
    );
}

/// Asserts that a latency from a histogram is `want`, to its resolution of three digits.
#[track_caller]
fn assert_us(got_us: f64, want: Duration) {
    let want_us = want.as_nanos() as f64 / 1e3;
    assert!(
        (got_us - want_us).abs() <= want_us * 0.002,
        "{got_us} µs, not {want:?}"
    );
}
