//! What goes wrong is counted or stops the drive; it never hangs it.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use load::mock::Mock;
use load::{Arrivals, Done, Drive, End, Failure, JOBS_MAX, Operator, RampUp, Schedule, Think};

use super::{CLOSED, ms, open, plain, run};

const AN_HOUR: Duration = Duration::from_secs(3600);
/// What "promptly" may mean on a machine that is busy with something else.
const PROMPTLY: Duration = Duration::from_secs(10);

#[test]
fn failed_operations_are_counted_and_the_job_goes_on() {
    let how = plain(CLOSED, End::Operations { per_job: 30 });
    let outcome = run(Mock::new().error_every(10).sessions(2), &how);
    assert_eq!((outcome.operations, outcome.errors), (54, 6));
    assert_eq!(
        outcome.error_messages,
        ["the mock fails every 10th operation"]
    );
    assert!(outcome.fatal.is_none());
}

/// Every operation fails with another text.
struct Chatty;

impl Operator for Chatty {
    fn operate(&mut self, index: u64) -> Result<Done, Failure> {
        Err(Failure::Operation(format!("failure {index}")))
    }
}

#[test]
fn messages_are_few() {
    let how = plain(CLOSED, End::Operations { per_job: 1000 });
    let outcome = run(vec![Box::new(Chatty), Box::new(Chatty)], &how);
    assert_eq!((outcome.errors, outcome.error_messages.len()), (2000, 5));
}

/// Ramped up or measuring, by a verdict or by a panic: the drive stops, says why, and nobody waits.
#[test]
fn a_fatal_failure_stops_every_job() {
    let ramp_ups = [RampUp::None, RampUp::Operations { per_job: 100 }];
    for (ramp_up, panics) in ramp_ups.into_iter().flat_map(|r| [(r, false), (r, true)]) {
        let mut operators = Mock::new().latency(ms(1)).sessions(3);
        operators.extend(match panics {
            true => Mock::new().panic_at(10).sessions(1),
            false => Mock::new().fatal_at(10).sessions(1),
        });
        let how = Drive {
            ramp_up,
            ..plain(CLOSED, End::Time(AN_HOUR))
        };
        let begin = Instant::now();
        let outcome = run(operators, &how);
        let why = outcome.fatal.expect("the drive failed");
        assert!(
            why.contains(if panics {
                "job 3 panicked"
            } else {
                "told to give up"
            }),
            "{why}"
        );
        assert!(begin.elapsed() < PROMPTLY && !outcome.interrupted);
    }
}

/// Stops a drive after 200 ms and says how long it took from then.
fn interrupted(schedule: Schedule, ramp_up: RampUp, mock: &Mock) -> (load::Outcome, Duration) {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let stopper = scope.spawn(|| {
            std::thread::sleep(ms(200));
            stop.store(true, Relaxed);
            Instant::now()
        });
        let how = Drive {
            ramp_up,
            stop: &stop,
            ..plain(schedule, End::Time(AN_HOUR))
        };
        let outcome = run(mock.sessions(3), &how);
        (
            outcome,
            stopper.join().expect("the stopper only sleeps").elapsed(),
        )
    })
}

#[test]
fn an_interrupt_ends_working_and_waiting_jobs() {
    let thinking = Schedule::Closed {
        think: Think::Constant(AN_HOUR),
    };
    let quick = Mock::new().latency(ms(1));
    for schedule in [CLOSED, thinking, open(0.001)] {
        let (outcome, took) = interrupted(schedule, RampUp::None, &quick);
        assert!(outcome.interrupted && outcome.fatal.is_none());
        assert!(took < PROMPTLY, "{schedule:?}: {took:?}");
        assert!(outcome.operations >= 1 && outcome.elapsed < PROMPTLY);
    }
    let endless = RampUp::Operations { per_job: u64::MAX };
    let (outcome, took) = interrupted(CLOSED, endless, &quick);
    assert!(outcome.interrupted && outcome.operations == 0 && took < PROMPTLY);
}

#[test]
fn impossible_drives_are_refused_in_one_sentence() {
    for rate in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e12] {
        let outcome = run(
            Mock::new().sessions(1),
            &plain(open(rate), End::Time(ms(1))),
        );
        assert!(
            outcome.fatal.unwrap().contains("cannot be scheduled"),
            "{rate}"
        );
    }
    let empty = Schedule::SemiOpen {
        sessions_per_s: 1.0,
        arrivals: Arrivals::Poisson,
        operations_per_session: 0,
        think: Think::None,
    };
    assert!(
        empty
            .check()
            .unwrap_err()
            .to_string()
            .contains("at least one")
    );
    let crowd = Mock::new().sessions(JOBS_MAX + 1);
    let outcome = run(crowd, &plain(CLOSED, End::Time(ms(1))));
    assert!(outcome.fatal.unwrap().contains("use at most 4096"));
}
