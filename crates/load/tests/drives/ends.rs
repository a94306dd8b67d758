//! Where measuring begins and ends.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use load::mock::Mock;
use load::{Done, Drive, End, Failure, Operator, RampUp};

use super::{CLOSED, ms, open, plain, run};

/// The first five operations of every session take 300 ms, the others none: after a ramp-up of five
/// operations nothing of it is left, neither in the histograms nor in the series nor in the elapsed time.
#[test]
fn a_ramp_up_of_operations_leaves_no_trace() {
    let how = Drive {
        ramp_up: RampUp::Operations { per_job: 5 },
        ..plain(CLOSED, End::Operations { per_job: 50 })
    };
    let outcome = run(Mock::new().slow_start(5, ms(300)).sessions(3), &how);
    assert_eq!(outcome.operations, 150);
    assert!(
        outcome.response.max_us() < 300e3,
        "{}",
        outcome.response.max_us()
    );
    assert!(
        outcome.elapsed < ms(1000),
        "five slow operations would take 1.5 s"
    );
}

/// Without the ramp-up the same drive shows all of it: the test above can fail.
#[test]
fn without_ramp_up_the_slow_start_is_measured() {
    let how = plain(CLOSED, End::Operations { per_job: 50 });
    let outcome = run(Mock::new().slow_start(5, ms(50)).sessions(3), &how);
    assert_eq!(outcome.response.count_above_us(49e3), 15);
}

/// A timed ramp-up runs the schedule itself; only what is meant to start after it counts.
#[test]
fn a_timed_ramp_up_leaves_no_trace() {
    for schedule in [CLOSED, open(100.0)] {
        let how = Drive {
            ramp_up: RampUp::Time(ms(500)),
            ..plain(schedule, End::Time(ms(300)))
        };
        let mock = Mock::new().latency(ms(1)).slow_start(1, ms(200));
        let outcome = run(mock.sessions(2), &how);
        assert!(
            outcome.response.max_us() < 200e3,
            "{}",
            outcome.response.max_us()
        );
        assert!(outcome.elapsed >= ms(300) && outcome.elapsed < ms(800));
        match schedule {
            CLOSED => assert!(outcome.operations > 30),
            _ => assert_eq!(outcome.operations, 30),
        }
    }
}

/// Each job's own pace is kept: the first finish tells of the fast one, elapsed of the slow one.
#[test]
fn fixed_work_keeps_the_first_and_the_last_finish() {
    let mut operators = Mock::new().latency(ms(1)).sessions(1);
    operators.extend(Mock::new().latency(ms(40)).sessions(1));
    let outcome = run(operators, &plain(CLOSED, End::Operations { per_job: 10 }));
    assert_eq!(outcome.elapsed, outcome.jobs[1].finish);
    assert_eq!(outcome.first_finish(), Some(outcome.jobs[0].finish));
    assert!(outcome.elapsed >= ms(400) && outcome.jobs[0].finish < ms(300));
    assert_eq!(outcome.jobs[0].operations, outcome.jobs[1].operations);
}

/// A session without work left ends well, and the others go on.
#[test]
fn exhausted_jobs_end_well() {
    let mut operators = Mock::new().exhausted_after(7).sessions(1);
    operators.extend(Mock::new().sessions(1));
    let outcome = run(operators, &plain(CLOSED, End::Operations { per_job: 20 }));
    assert_eq!((outcome.operations, outcome.errors), (27, 0));
    assert!(outcome.fatal.is_none() && !outcome.interrupted);

    let all = Mock::new().exhausted_after(7).sessions(2);
    let outcome = run(all, &plain(CLOSED, End::Time(Duration::from_secs(3600))));
    assert_eq!(outcome.operations, 14);
    assert!(
        outcome.elapsed < Duration::from_secs(60),
        "no work left, nothing to wait for"
    );
}

/// Keeps the indices it was given.
struct Witness<'a>(&'a Mutex<Vec<u64>>);

impl Operator for Witness<'_> {
    fn operate(&mut self, index: u64) -> Result<Done, Failure> {
        self.0.lock().expect("no witness panics").push(index);
        Ok(Done {
            rows: 3,
            retries: 2,
            ..Done::default()
        })
    }
}

#[test]
fn indices_never_repeat_over_ramp_up_and_measurement() {
    let seen = Mutex::new(Vec::new());
    let how = Drive {
        ramp_up: RampUp::Operations { per_job: 4 },
        ..plain(CLOSED, End::Operations { per_job: 6 })
    };
    let outcome = run(vec![Box::new(Witness(&seen))], &how);
    assert_eq!((outcome.rows, outcome.retries), (18, 12));
    assert_eq!(outcome.jobs[0].rows, 18);
    let seen = seen.into_inner().unwrap();
    assert_eq!(seen, (0..10).collect::<Vec<_>>());
    assert_eq!(seen.iter().collect::<HashSet<_>>().len(), 10);
}

#[test]
fn nothing_to_do_is_done_at_once() {
    let nobody = run(
        Vec::new(),
        &plain(CLOSED, End::Time(Duration::from_secs(3600))),
    );
    assert!(nobody.operations == 0 && nobody.started.is_none() && nobody.fatal.is_none());
    let nothing = plain(CLOSED, End::Operations { per_job: 0 });
    let outcome = run(Mock::new().sessions(2), &nothing);
    assert_eq!((outcome.operations, outcome.in_flight_mean()), (0, None));
}

/// Counts its operations until it is told that the measurement begins.
struct Told<'a> {
    before: u64,
    told: &'a AtomicU64,
}

impl Operator for Told<'_> {
    fn operate(&mut self, _index: u64) -> Result<Done, Failure> {
        self.before += 1;
        std::thread::sleep(ms(1));
        Ok(Done::default())
    }

    fn measurement_begins(&mut self) {
        self.told.store(self.before, Relaxed);
    }
}

#[test]
fn an_operator_is_told_once_when_its_ramp_up_is_over() {
    let told = AtomicU64::new(u64::MAX);
    let how = Drive {
        ramp_up: RampUp::Operations { per_job: 7 },
        ..plain(CLOSED, End::Operations { per_job: 5 })
    };
    run(
        vec![Box::new(Told {
            before: 0,
            told: &told,
        })],
        &how,
    );
    assert_eq!(told.load(Relaxed), 7);
    let how = Drive {
        ramp_up: RampUp::Time(ms(60)),
        ..plain(CLOSED, End::Time(ms(60)))
    };
    run(
        vec![Box::new(Told {
            before: 0,
            told: &told,
        })],
        &how,
    );
    // About 60 of 1 ms; an operator that is told at the very start or end would say 0 or 120.
    assert!((3..=60).contains(&told.load(Relaxed)), "{told:?}");
}
