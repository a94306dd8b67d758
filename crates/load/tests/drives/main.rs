//! Whole drives against the programmed target, judged by counts and orders of magnitude: the bounds hold
//! on a noisy machine of two cores and still tell a right driver from a wrong one.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod ends;
mod failures;
mod models;
mod recorder;
mod stall;
mod stations;
mod timetable;

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use load::{Arrivals, Drive, End, Operator, Outcome, RampUp, Schedule, Think};

/// Nobody interrupts.
static GO_ON: AtomicBool = AtomicBool::new(false);

const CLOSED: Schedule = Schedule::Closed { think: Think::None };

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn open(rate_per_s: f64) -> Schedule {
    Schedule::Open {
        rate_per_s,
        arrivals: Arrivals::Constant,
    }
}

/// A drive without ramp-up, with a series of 100 ms.
fn plain(schedule: Schedule, end: End) -> Drive<'static> {
    Drive {
        schedule,
        ramp_up: RampUp::None,
        end,
        interval: ms(100),
        seed: 1,
        stop: &GO_ON,
        progress: None,
    }
}

/// Drives and checks what holds of every drive whatever the machine does meanwhile.
fn run(operators: Vec<Box<dyn Operator + '_>>, how: &Drive) -> Outcome {
    let outcome = load::drive(operators, how);
    check(&outcome);
    outcome
}

/// What holds of every outcome.
fn check(outcome: &Outcome) {
    let of_jobs: u64 = outcome.jobs.iter().map(|job| job.operations).sum();
    let of_series: u64 = outcome.intervals.iter().map(|i| i.operations).sum();
    assert_eq!(outcome.operations, of_jobs);
    assert_eq!(outcome.operations, of_series);
    assert_eq!(outcome.operations, outcome.service.count());
    assert_eq!(outcome.operations, outcome.response.count());
    for job in &outcome.jobs {
        assert!(job.finish <= outcome.elapsed);
        assert!(job.service + job.waited <= job.active + Duration::from_nanos(1));
    }
}
