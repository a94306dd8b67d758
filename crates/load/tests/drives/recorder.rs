//! Records of operations with hand-made times.

use std::sync::Mutex;

use load::recorder::{Recorder, Timing};
use load::schedule::Window;
use load::series::Series;
use load::{Done, KindOutcome, Progress};

use super::{assert_us, ms};

const MS: u64 = 1_000_000;

fn window(until: u64, is_drained: bool) -> Window {
    Window {
        from_ns: 0,
        until_ns: Some(until * MS),
        is_drained,
    }
}

fn timing(free: u64, intended: u64, start: u64, end: u64) -> Timing {
    Timing {
        free_ns: free * MS,
        intended_ns: intended * MS,
        start_ns: start * MS,
        end_ns: end * MS,
    }
}

fn recorded(
    is_drained: bool,
    done: &[Timing],
    failed: &[Timing],
) -> (KindOutcome, load::recorder::Tally) {
    let series = Mutex::new(Series::new(ms(1000), 1));
    let mut recorder = Recorder::new(1, &window(100, is_drained), &series, None);
    let one = Done {
        rows: 4,
        retries: 1,
        rolled_back: false,
    };
    done.iter().for_each(|t| recorder.completed(0, t, &one));
    failed.iter().for_each(|t| recorder.failed(0, t, "no"));
    recorder.finish();
    (recorder.kinds()[0].clone(), *recorder.tally())
}

/// Free at 10 ms, meant for 30, woken at 33, done at 40: 3 ms late, 7 of service, 10 of response, no waiting.
#[test]
fn an_operation_is_taken_apart() {
    let (kind, tally) = recorded(true, &[timing(10, 30, 33, 40)], &[]);
    assert_eq!((kind.completed, kind.rows, kind.retries), (1, 4, 1));
    assert_eq!((tally.late_starts, tally.late_max_ns), (1, 3 * MS));
    assert_us(kind.service.max_us(), ms(7));
    assert_us(kind.response.max_us(), ms(10));
    assert_eq!(kind.waiting.max_us(), 0.0);
}

/// A client that is late because it was busy: response and waiting include it, but the driver is not to blame.
#[test]
fn lateness_of_a_busy_client_is_not_the_drivers() {
    let (kind, tally) = recorded(true, &[timing(50, 30, 50, 60)], &[]);
    assert_eq!(tally.late_starts, 0);
    assert_us(kind.response.max_us(), ms(30));
    assert_us(kind.waiting.max_us(), ms(20));
    assert_us(kind.service.max_us(), ms(10));
}

#[test]
fn failures_are_counted_and_in_no_histogram() {
    let progress = Progress::new();
    let series = Mutex::new(Series::new(ms(1000), 1));
    let mut recorder = Recorder::new(1, &window(100, true), &series, Some(&progress));
    recorder.failed(0, &timing(0, 0, 0, 5), "no");
    recorder.failed(0, &timing(5, 5, 5, 9), "no");
    recorder.finish();
    let kind = &recorder.kinds()[0];
    assert_eq!((kind.errors, kind.completed), (2, 0));
    assert!(kind.service.is_empty() && kind.response.is_empty());
    assert_eq!(recorder.messages(), [("no".to_owned(), 2)]);
    assert_eq!((progress.operations(), progress.errors()), (0, 2));
}

/// An operation that is due in a drained window and ends after it counts, and is unfinished as well.
#[test]
fn operations_that_end_after_the_window_are_reported() {
    let over = [timing(10, 20, 20, 90), timing(90, 95, 95, 130)];
    let after = [timing(130, 120, 130, 140)];
    let (kind, tally) = recorded(true, &over, &after);
    assert_eq!((kind.completed, kind.errors), (2, 1));
    assert_eq!((tally.due, tally.unfinished), (2, 1));
    let (kind, tally) = recorded(false, &over, &after);
    assert_eq!((kind.completed, kind.errors), (1, 0));
    assert_eq!((tally.due, tally.unfinished), (2, 1));
}

#[test]
fn operations_are_in_the_interval_in_which_they_end() {
    let window = Window {
        from_ns: 1000 * MS,
        ..window(2000, true)
    };
    let series = Mutex::new(Series::new(ms(100), 1));
    let mut recorder = Recorder::new(1, &window, &series, None);
    for (start, end) in [(1000, 1050), (1099, 1100), (1050, 1099), (1100, 1490)] {
        recorder.completed(0, &timing(start, start, start, end), &Done::default());
    }
    recorder.finish();
    let intervals = series.into_inner().unwrap().intervals(ms(500));
    let done: Vec<u64> = intervals.iter().map(|i| i.operations()).collect();
    assert_eq!(done, [2, 1, 0, 0, 1]);
}
