//! The models of load: closed with think time, open, semi-open.

use load::mock::Mock;
use load::schedule::Ticks;
use load::{Arrivals, Drive, End, Progress, Schedule, Think};

use super::{CLOSED, assert_us, ms, open, plain, run, sessions};

/// Ten operations of 2 ms with nine pauses of 20 ms between them.
#[test]
fn a_closed_loop_thinks_between_operations() {
    let schedule = Schedule::Closed {
        think: Think::Constant(ms(20)),
    };
    let how = plain(schedule, End::Operations { per_job: 10 });
    let outcome = run(&how, sessions(Mock::new().latency(ms(2)), 3));
    assert_eq!(outcome.operations(), 30);
    for job in &outcome.clients {
        assert_eq!(job.idle, ms(180));
        assert_eq!(job.service, ms(20));
        assert_eq!(job.finish, ms(200));
    }
    // Response counts from the end of the pause: no pause is in it.
    assert_us(outcome.total().response.max_us(), ms(2));
}

#[test]
fn exponential_think_time_is_drawn_per_job() {
    let schedule = Schedule::Closed {
        think: Think::Exponential { mean: ms(5) },
    };
    let how = plain(schedule, End::Operations { per_job: 20 });
    let twice = [(), ()].map(|()| run(&how, sessions(Mock::new(), 2)));
    let waited = twice.map(|outcome| {
        outcome
            .clients
            .iter()
            .map(|job| job.idle)
            .collect::<Vec<_>>()
    });
    assert_eq!(waited[0], waited[1], "the seed decides");
    assert_ne!(waited[0][0], waited[0][1]);
    // Golden for the seed: 19 pauses of 5 ms on average are 95.
    assert!(
        waited[0].iter().all(|w| (ms(50)..ms(150)).contains(w)),
        "{waited:?}, not about 95 ms"
    );
}

/// The first moment of a drive for a time is like any other: 200 jobs that pause for 100 ms execute 2000 operations a
/// second from the beginning, and not one more each. The bound is four standard deviations; the seed decides.
#[test]
fn jobs_with_think_time_begin_within_a_pause() {
    let operations = |think, window| {
        let how = plain(Schedule::Closed { think }, End::Time(window));
        run(&how, sessions(Mock::new(), 200)).operations()
    };
    let exponential = Think::Exponential { mean: ms(100) };
    let done = operations(exponential, ms(200));
    assert!((320..=480).contains(&done), "{done}, not about 400");
    let done = operations(Think::Constant(ms(100)), ms(150));
    assert!((272..=328).contains(&done), "{done}, not about 300");
}

/// The rate is the schedule's and not the target's, and the count is exact, for both kinds of arrivals.
#[test]
fn an_open_schedule_keeps_its_rate() {
    let end = End::Time(ms(1000));
    let even = run(&plain(open(500.0), end), sessions(Mock::new(), 2));
    assert_eq!((even.operations(), even.elapsed), (500, ms(1000)));
    let schedule = Schedule::Open {
        rate_per_s: 500.0,
        arrivals: Arrivals::Poisson,
    };
    let ticks = Ticks::new(500.0, Arrivals::Poisson, 1);
    let due = std::iter::repeat_with(|| ticks.take_ns()).take_while(|tick| *tick < 1_000_000_000);
    let due = due.count() as u64;
    for jobs in [1, 2] {
        let outcome = run(&plain(schedule, end), sessions(Mock::new(), jobs));
        assert_eq!(
            outcome.operations(),
            due,
            "arrivals do not depend on the jobs"
        );
    }
}

/// A rate of twice the target's maximum: every tick is still executed, later and later.
#[test]
fn an_overloaded_target_serves_every_tick_late() {
    let how = plain(open(200.0), End::Time(ms(500)));
    let outcome = run(&how, sessions(Mock::new().latency(ms(10)), 1));
    assert_eq!((outcome.operations(), outcome.unserved), (100, 0));
    assert_eq!(outcome.elapsed, ms(1000));
    // The last tick, of 495 ms, is done at 1000.
    assert_us(outcome.total().response.max_us(), ms(505));
    assert_us(outcome.total().service.max_us(), ms(10));
}

/// Beyond the bound for draining (2 s for a window of 0.1 s) overdue ticks are given up, and counted: one operation
/// of 100 ms begins at 0, 100 … 2000 ms.
#[test]
fn what_cannot_be_drained_is_counted() {
    let how = plain(open(1000.0), End::Time(ms(100)));
    let outcome = run(&how, sessions(Mock::new().latency(ms(100)), 1));
    assert_eq!((outcome.operations(), outcome.unserved), (21, 79));
    assert_eq!(outcome.errors(), 79);
    assert!(outcome.error_texts()[0].contains("were due but not started"));
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
    let timed = plain(schedule, End::Time(ms(2500)));
    assert_eq!(run(&timed, sessions(Mock::new(), 4)).operations(), 30);
    let fixed = plain(schedule, End::Operations { per_job: 6 });
    assert_eq!(run(&fixed, sessions(Mock::new(), 2)).operations(), 12);
}

/// Little's law: four jobs without pauses have four operations in flight, and all time is accounted for.
#[test]
fn the_driver_accounts_for_all_of_its_time() {
    let progress = Progress::new();
    let how = Drive {
        progress: Some(&progress),
        ..plain(CLOSED, End::Operations { per_job: 100 })
    };
    let outcome = run(&how, sessions(Mock::new().latency(ms(5)), 4));
    assert_eq!(outcome.little_error_pct(), Some(0.0));
    assert_eq!(outcome.in_flight_mean(), Some(4.0));
    assert_eq!(outcome.operations_per_s(), Some(800.0));
    assert_eq!((progress.operations(), progress.errors()), (400, 0));
    let rates = outcome.interval_rates_per_s();
    // An operation that ends with an interval belongs to the next one.
    assert_eq!(rates, [760.0, 800.0, 800.0, 800.0, 800.0]);
}
