//! Shared by the tests in virtual time.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use load::{Clock, Drive, Outcome, RampUp};

pub static GO_ON: AtomicBool = AtomicBool::new(false);
pub const AN_HOUR: Duration = Duration::from_secs(3600);

pub fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

pub fn us(microseconds: u64) -> Duration {
    Duration::from_micros(microseconds)
}

pub fn on<'d>(clock: Clock, drive: Drive<'d>) -> Drive<'d> {
    Drive { clock, ..drive }
}

pub fn after<'d>(ramp_up: RampUp, drive: Drive<'d>) -> Drive<'d> {
    Drive { ramp_up, ..drive }
}

/// The driver took no time, and nothing began late.
pub fn check_driver(outcome: &Outcome) {
    assert_eq!(outcome.driver_time(), Duration::ZERO);
    assert_eq!(outcome.late_starts, 0);
    assert_eq!(outcome.late_start_max, Duration::ZERO);
}

/// Asserts that a latency from a histogram is `want`, to its resolution of three digits.
#[track_caller]
pub fn assert_us(got_us: f64, want: Duration) {
    let off_us = got_us - want.as_nanos() as f64 / 1e3;
    let is_want = off_us.abs() <= want.as_nanos() as f64 / 1e3 * 0.002;
    assert!(is_want, "{got_us} µs, not {want:?}");
}
