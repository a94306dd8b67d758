//! What is written down of an operation, by hand-made times.

use std::sync::mpsc;

use load::Progress;
use load::recorder::{Latencies, Recorder, Timing};

use super::ms;

const MS: u64 = 1_000_000;

fn latencies<'r>(recorder: &'r Recorder) -> &'r Latencies {
    recorder.latencies().unwrap()
}

fn timing(free: u64, intended: u64, start: u64, end: u64) -> Timing {
    Timing {
        free_ns: free * MS,
        intended_ns: intended * MS,
        start_ns: start * MS,
        end_ns: end * MS,
    }
}

/// Free at 10 ms, meant for 30, woken at 33, done at 40: 20 ms of waiting, 3 late, 7 of service, 10 of response.
#[test]
fn an_operation_is_taken_apart() {
    let (sender, _keep) = mpsc::channel();
    let mut recorder = Recorder::new(0, ms(1000), sender, None);
    recorder.completed(&timing(10, 30, 33, 40), 4, 1);
    let sums = *recorder.sums();
    assert_eq!((sums.operations, sums.rows, sums.retries), (1, 4, 1));
    assert_eq!((sums.waited_ns, sums.service_ns), (20 * MS, 7 * MS));
    assert_eq!((sums.late_starts, sums.late_max_ns), (1, 3 * MS));
    assert_eq!(sums.finish_ns, 40 * MS);
    let near = |got: f64, want: f64| (got - want).abs() < want * 0.002;
    assert!(
        near(latencies(&recorder).service.max_us(), 7e3)
            && near(latencies(&recorder).response.max_us(), 10e3)
    );
}

/// A job that comes late because it was busy: the response knows, but the driver is not to blame.
#[test]
fn lateness_of_a_busy_job_is_not_the_drivers() {
    let (sender, _keep) = mpsc::channel();
    let mut recorder = Recorder::new(0, ms(1000), sender, None);
    recorder.completed(&timing(50, 30, 50, 60), 0, 0);
    assert_eq!(
        (recorder.sums().late_starts, recorder.sums().waited_ns),
        (0, 0)
    );
    assert!(
        latencies(&recorder).response.max_us() > 29e3
            && latencies(&recorder).service.max_us() < 11e3
    );
}

/// What happens before the job's measured time is no part of its pauses.
#[test]
fn a_pause_that_began_in_the_ramp_up_counts_from_the_window() {
    let (sender, _keep) = mpsc::channel();
    let mut recorder = Recorder::new(100 * MS, ms(1000), sender, None);
    recorder.begin(60 * MS);
    recorder.completed(&timing(60, 120, 120, 130), 0, 0);
    assert_eq!(recorder.sums().waited_ns, 20 * MS);
    assert_eq!(recorder.sums().begin_ns, 100 * MS);
}

#[test]
fn failures_are_in_the_sums_and_in_no_histogram() {
    let (sender, _keep) = mpsc::channel();
    let progress = Progress::new();
    let mut recorder = Recorder::new(0, ms(1000), sender, Some(&progress));
    recorder.failed(&timing(0, 0, 0, 5), "no".into());
    recorder.failed(&timing(5, 5, 5, 9), "no".into());
    recorder.finish();
    assert_eq!(
        (recorder.sums().errors, recorder.sums().service_ns),
        (2, 9 * MS)
    );
    assert!(latencies(&recorder).service.is_empty() && latencies(&recorder).response.is_empty());
    assert_eq!(recorder.messages(), ["no"]);
    assert_eq!((progress.operations(), progress.errors()), (0, 2));
}

/// An operation belongs to the interval in which it ends; intervals without one are not sent.
#[test]
fn intervals_are_sent_as_they_end() {
    let (sender, receiver) = mpsc::channel();
    let mut recorder = Recorder::new(1000 * MS, ms(100), sender, None);
    for (start, end) in [(1000, 1050), (1050, 1099), (1099, 1100), (1100, 1490)] {
        recorder.completed(&timing(start, start, start, end), 0, 0);
    }
    recorder.finish();
    let sent: Vec<(u64, u64)> = receiver
        .iter()
        .map(|record| (record.index, record.response.count()))
        .collect();
    assert_eq!(sent, [(0, 2), (1, 1), (4, 1)]);
}
