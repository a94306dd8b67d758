//! The models of load: closed with think time, open, semi-open.

use load::mock::Mock;
use load::{Arrivals, Drive, End, Progress, RampUp, Schedule, Think};

use super::{CLOSED, GO_ON, ms, open, plain, run};

/// Ten operations of 2 ms with nine pauses of 20 ms between them: no less than 200 ms, of which 180 are pauses.
#[test]
fn a_closed_loop_thinks_between_operations() {
    let schedule = Schedule::Closed {
        think: Think::Constant(ms(20)),
    };
    let end = End::Operations { per_job: 10 };
    let outcome = run(
        Mock::new().latency(ms(2)).sessions(3),
        &plain(schedule, end),
    );
    assert_eq!(outcome.operations, 30);
    for job in &outcome.jobs {
        assert_eq!(
            job.waited,
            ms(180),
            "pauses are counted as meant, waking late is the driver's"
        );
        assert!(job.service >= ms(20) && job.finish >= ms(200), "{job:?}");
    }
    // Response counts from the end of the pause: not a single pause is in it.
    assert!(outcome.response.percentile_us(50.0) < 20e3);
}

#[test]
fn exponential_think_time_is_drawn_per_job() {
    let schedule = Schedule::Closed {
        think: Think::Exponential { mean: ms(5) },
    };
    let end = End::Operations { per_job: 20 };
    let outcome = run(Mock::new().sessions(2), &plain(schedule, end));
    let waited: Vec<_> = outcome.jobs.iter().map(|job| job.waited).collect();
    assert_ne!(waited[0], waited[1]);
    assert!(
        waited.iter().all(|w| (ms(30)..ms(300)).contains(w)),
        "{waited:?}, not about 95 ms"
    );
}

/// The rate is the schedule's and not the target's, and the count is exact, for both kinds of arrivals.
#[test]
fn an_open_schedule_keeps_its_rate() {
    let end = End::Time(ms(1000));
    let even = run(Mock::new().sessions(2), &plain(open(500.0), end));
    assert_eq!(even.operations, 500);
    assert!(
        even.elapsed >= ms(1000),
        "the window is observed to its end"
    );
    let schedule = Schedule::Open {
        rate_per_s: 500.0,
        arrivals: Arrivals::Poisson,
    };
    let [first, again] = [1, 2].map(|jobs| run(Mock::new().sessions(jobs), &plain(schedule, end)));
    assert!(
        (400..600).contains(&first.operations),
        "{}",
        first.operations
    );
    assert_eq!(
        first.operations, again.operations,
        "arrivals do not depend on the jobs"
    );
}

/// A rate of twice what the target can do: every tick is carried out all the same, later and later.
#[test]
fn an_overloaded_target_serves_every_tick_late() {
    let mock = Mock::new().latency(ms(10));
    let outcome = run(mock.sessions(1), &plain(open(200.0), End::Time(ms(500))));
    assert_eq!((outcome.operations, outcome.unserved), (100, 0));
    assert!(
        outcome.elapsed >= ms(1000),
        "100 operations of 10 ms in one job"
    );
    assert!(
        outcome.response.max_us() > 450e3,
        "the last tick waited half a second"
    );
    assert!(outcome.service.percentile_us(50.0) < 100e3);
    assert_eq!(
        outcome.late_starts, 0,
        "the job was never free, so the driver was never late"
    );
}

/// Beyond the bound for draining (2 s for a window of 0.1 s) overdue ticks are given up, and counted.
#[test]
fn what_cannot_be_drained_is_counted() {
    let mock = Mock::new().latency(ms(100));
    let outcome = run(mock.sessions(1), &plain(open(1000.0), End::Time(ms(100))));
    assert_eq!(outcome.operations + outcome.unserved, 100);
    assert!(
        (10..=22).contains(&outcome.operations),
        "{}",
        outcome.operations
    );
    assert_eq!(outcome.errors, outcome.unserved);
    assert!(outcome.error_messages[0].contains("were due but not begun"));
}

/// Four sessions a second for two and a half, each of three operations with pauses between them.
#[test]
fn semi_open_sessions_arrive_by_rate_and_go_on_by_themselves() {
    let schedule = Schedule::SemiOpen {
        sessions_per_s: 4.0,
        arrivals: Arrivals::Constant,
        operations_per_session: 3,
        think: Think::Constant(ms(1)),
    };
    let end = End::Time(ms(2500));
    let outcome = run(Mock::new().sessions(4), &plain(schedule, end));
    // The last session arrives 250 ms before the end; if it is held up so long, it is cut at the end.
    assert!(
        (28..=30).contains(&outcome.operations),
        "{}",
        outcome.operations
    );
    let fixed = plain(schedule, End::Operations { per_job: 6 });
    assert_eq!(run(Mock::new().sessions(2), &fixed).operations, 12);
}

/// Little's law on a target of 5 ms: what the driver adds is a few per cent even where every wake-up is late.
#[test]
fn the_driver_accounts_for_all_of_its_time() {
    let progress = Progress::new();
    let how = Drive {
        schedule: CLOSED,
        ramp_up: RampUp::None,
        end: End::Operations { per_job: 100 },
        interval: ms(100),
        seed: 1,
        stop: &GO_ON,
        progress: Some(&progress),
    };
    let outcome = run(Mock::new().latency(ms(5)).sessions(4), &how);
    let error = outcome.little_error_pct().unwrap();
    assert!(error < 5.0, "Little's law is missed by {error} %");
    let in_flight = outcome.in_flight_mean().unwrap();
    assert!((3.0..=4.0).contains(&in_flight), "{in_flight} of 4 jobs");
    assert!(outcome.driver_time() < outcome.elapsed / 5);
    assert_eq!((progress.operations(), progress.errors()), (400, 0));
    assert!(outcome.started.unwrap().elapsed() >= outcome.elapsed);
}
