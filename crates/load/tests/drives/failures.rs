//! Failures are counted or stop the drive; they never hang it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use load::mock::Mock;
use load::{
    Arrivals, BlockingClient, Clock, Done, Drive, End, Failure, JOBS_MAX, RampUp, Schedule, Think,
};

use super::{AN_HOUR, CLOSED, ms, on_threads, open, plain, run, sessions, us};
use testing::Says;

#[test]
fn failed_operations_are_counted_and_the_job_goes_on() {
    let how = plain(CLOSED, End::Operations { per_job: 30 });
    let outcome = run(&how, sessions(Mock::new().error_every(10), 2));
    assert_eq!((outcome.operations(), outcome.errors()), (54, 6));
    assert_eq!(
        outcome.error_messages,
        [("the mock fails every 10th operation".to_owned(), 6)]
    );
    assert!(outcome.fatal.is_none());
}

struct Chatty;

impl BlockingClient for Chatty {
    fn operate(&mut self, request: load::Request) -> Result<Done, Failure> {
        let index = request.index;
        Err(Failure::Operation(format!("failure {index}")))
    }
}

#[test]
fn messages_are_few() {
    let how = plain(CLOSED, End::Operations { per_job: 1000 });
    let outcome = run(&how, |_| vec![Box::new(Chatty), Box::new(Chatty)]);
    assert_eq!((outcome.errors(), outcome.error_messages.len()), (2000, 5));
}

/// A fatal failure or a panic, in the ramp-up or later: the drive stops, says why, and nobody waits.
#[test]
fn a_fatal_failure_stops_every_job() {
    let ramp_ups = [RampUp::None, RampUp::Operations { per_job: 100 }];
    for (ramp_up, panics) in ramp_ups.into_iter().flat_map(|r| [(r, false), (r, true)]) {
        let (clock, time) = Clock::new_virtual();
        let mock = Mock::new().on(&clock).latency(ms(1));
        let mut clients = mock.sessions(3);
        clients.extend(if panics {
            mock.panic_at(10).sessions(1)
        } else {
            mock.fatal_at(10).sessions(1)
        });
        let how = Drive {
            ramp_up,
            clock,
            ..plain(CLOSED, End::Time(AN_HOUR))
        };
        let outcome = on_threads(clients, &how);
        let why = outcome.fatal.expect("the drive failed");
        assert!(
            why.contains(if panics {
                "client 3 panicked"
            } else {
                "gives up"
            }),
            "{why}"
        );
        assert!(!outcome.interrupted);
        // Ten operations, and one that the others have in progress then; before them the lead of four jobs.
        let lead = if ramp_up == RampUp::None {
            us(1080)
        } else {
            us(0)
        };
        let ended = time.elapsed() - lead;
        assert!(ended == ms(10) || ended == ms(11), "{ended:?}");
    }
}

/// Stops a drive of three jobs after 200 ms; returns its outcome and its end.
fn interrupted(schedule: Schedule, ramp_up: RampUp) -> (load::Outcome, Duration) {
    let (clock, time) = Clock::new_virtual();
    let stop = Arc::new(AtomicBool::new(false));
    let pulled = Arc::clone(&stop);
    time.at(ms(200), move || pulled.store(true, Relaxed));
    let how = Drive {
        ramp_up,
        stop: &stop,
        clock: clock.clone(),
        ..plain(schedule, End::Time(AN_HOUR))
    };
    let mock = Mock::new().on(&clock).latency(ms(1));
    let outcome = on_threads(mock.sessions(3), &how);
    assert!(outcome.interrupted && outcome.fatal.is_none());
    (outcome, time.elapsed())
}

/// A working job ends with the operation in progress, a waiting one at its next check, 100 ms apart. The lead before
/// the common start is 1.06 ms.
#[test]
fn an_interrupt_ends_working_and_waiting_jobs() {
    let (working, ended) = interrupted(CLOSED, RampUp::None);
    assert_eq!((working.operations(), ended), (3 * 199, us(200_060)));
    assert_eq!(working.elapsed, ms(199));
    let thinking = Schedule::Closed {
        think: Think::Constant(AN_HOUR),
    };
    let (waiting, ended) = interrupted(thinking, RampUp::None);
    assert_eq!((waiting.operations(), ended), (0, us(201_060)));
    // One job has executed the only arrival, the others never had one.
    let (waiting, ended) = interrupted(open(0.001), RampUp::None);
    assert_eq!((waiting.operations(), ended), (1, us(202_060)));
    let endless = RampUp::Operations { per_job: u64::MAX };
    let (ramping, ended) = interrupted(CLOSED, endless);
    assert_eq!((ramping.operations(), ended), (0, ms(200)));
}

#[test]
fn impossible_drives_are_refused_in_one_sentence() {
    for rate in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e12] {
        let how = plain(open(rate), End::Time(ms(1)));
        let outcome = run(&how, sessions(Mock::new(), 1));
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
    empty.check().unwrap_err().to_string().says("at least one");
    let how = plain(CLOSED, End::Time(ms(1)));
    let outcome = run(&how, sessions(Mock::new(), JOBS_MAX + 1));
    assert!(outcome.fatal.unwrap().contains("use at most 8192"));
}
