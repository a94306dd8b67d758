//! Coordinated omission: a stall of two seconds in a correct measurement.

use load::mock::Mock;
use load::{End, Outcome, Schedule};

use super::{CLOSED, assert_us, ms, nonblocking, open, plain, run, run_nonblocking, sessions};

const JOBS: usize = 4;

/// A target of 1 ms that stands still from 1 s to 3 s of four, on threads and in an event loop.
fn stalled(schedule: Schedule) -> [Outcome; 2] {
    let mock = Mock::new().latency(ms(1)).stall(ms(1000), ms(2000));
    let how = plain(schedule, End::Time(ms(4000)));
    [
        run(&how, sessions(mock.clone(), JOBS)),
        run_nonblocking(&how, nonblocking(mock, JOBS)),
    ]
}

/// At 200/s the ticks of 1000, 1005 … 2995 ms fall into the stall: the first four are under way and end at 3001, from
/// then on four end every millisecond. Tick number *k* of the stall ends after 2001 + ⌊k/4⌋ − 5k ms: of these 211 are
/// above 1 s, 316 above 0.5 s, and the eight slowest of all 800 are above p99: 2001 + 2 − 40 ms.
#[test]
fn an_open_schedule_shows_the_whole_stall() {
    for outcome in stalled(open(200.0)) {
        assert_eq!(outcome.operations(), 800, "no tick is skipped");
        assert_eq!((outcome.errors(), outcome.unserved), (0, 0));
        assert_eq!(outcome.total().response.count_above_us(1e6), 211);
        assert_eq!(outcome.total().response.count_above_us(500e3), 316);
        assert_us(outcome.total().response.percentile_us(99.0), ms(1963));
        assert_us(outcome.total().response.max_us(), ms(2001));
        // The service times include it once per job.
        assert_eq!(outcome.total().service.count_above_us(1.1e3), JOBS as u64);
        assert_us(outcome.total().service.percentile_us(99.0), ms(1));
    }
}

/// The same stall in a closed loop: one slow operation per job, and percentiles that look healthy.
#[test]
fn a_closed_loop_shows_it_once_per_job() {
    for outcome in stalled(CLOSED) {
        assert_eq!(outcome.total().response.count_above_us(1.1e3), JOBS as u64);
        // The operation that would have ended with the stall's first moment is met by it.
        assert_eq!(outcome.operations(), JOBS as u64 * 2000);
        assert_us(outcome.total().response.percentile_us(99.0), ms(1));
        assert_us(outcome.total().response.max_us(), ms(2001));
    }
}

/// In the series the stall is a row of zeros followed by a crest of late answers.
#[test]
fn the_series_shows_when_it_was() {
    for outcome in stalled(open(200.0)) {
        let operations: Vec<u64> = outcome.intervals.iter().map(|i| i.operations()).collect();
        assert_eq!(operations[..11], [[20; 10].as_slice(), &[0]].concat());
        assert_eq!(operations[11..30], [0; 19]);
        // 400 that waited, four every millisecond from 3001 on, and meanwhile 20 new ones.
        assert_eq!(operations[30], 396);
        assert_eq!(outcome.intervals[30].at, ms(3000));
        assert!(outcome.intervals[30].response_p99() > Some(ms(1000)));
    }
}
