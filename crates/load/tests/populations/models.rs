//! The two models of load, and their counts.

use load::mock::Mock;
use load::schedule::Ticks;
use load::{Arrivals, Clock, Drive, Outcome, Progress, RampUp, Schedule, Think};

use super::{Log, WAYS, Way, after, assert_us, logged, ms, plain, run};

fn open(rate_per_s: f64) -> Schedule {
    Schedule::Open {
        rate_per_s,
        arrivals: Arrivals::Constant,
    }
}

/// N = X · (R + Z): users are served, wait, or pause, whatever the number of connections. With 2 connections of 5 ms
/// the target gives 400/s: each of the 40 users is due every 100 ms, of which it pauses 20 and waits 75; 32 always
/// wait or are served.
#[test]
fn littles_law_holds_of_the_users() {
    for (way, count) in [
        (Way::Loop, 40),
        (Way::Loop, 2),
        (Way::Threads, 40),
        (Way::Threads, 2),
    ] {
        let mock = Mock::new().latency(ms(5));
        let how = after(RampUp::Time(ms(300)), plain(40, ms(2000)));
        let outcome = run(way, &mock, count, Think::Constant(ms(20)), &how);
        let total = outcome.total();
        let (per_s, waited) = match count {
            2 => (400.0, ms(75)),
            _ => (1600.0, ms(0)),
        };
        assert_eq!(outcome.operations_per_s(), Some(per_s), "{way:?} {count}");
        assert_eq!(outcome.elapsed, ms(2000));
        assert_eq!(outcome.in_flight_mean(), Some(per_s * 0.005));
        assert_us(total.waiting.percentile_us(50.0), waited);
        assert_us(total.response.mean_us(), waited + ms(5));
        if count == 2 {
            assert_eq!(outcome.unfinished, 32);
        }
    }
}

/// A target of 1 ms that stands still from 300 to 900 ms is in the response times of all that came meanwhile: 120
/// operations, every 5 ms, of which four were in progress and end at 901. From then on four end every millisecond:
/// number k of the stall after 601 + ⌊k/4⌋ − 5k ms, all but 1 ms of it waited for a connection.
#[test]
fn an_open_rate_shows_the_whole_stall() {
    for way in WAYS {
        let mock = Mock::new().latency(ms(1)).stall(ms(300), ms(600));
        let how = Drive {
            schedule: open(200.0),
            ..plain(10, ms(2000))
        };
        let outcome = run(way, &mock, 4, Think::Constant(ms(900)), &how);
        let total = outcome.total();
        assert_eq!((total.completed, outcome.unfinished), (400, 0));
        assert_eq!(total.response.count_above_us(100.5e3), 106);
        assert_eq!(total.waiting.count_above_us(99.5e3), 102);
        assert_eq!(total.service.count_above_us(1.1e3), 4);
        assert_us(total.response.max_us(), ms(601));
        let done = outcome.intervals.iter().map(|i| i.total().response.count());
        let done: Vec<u64> = done.collect();
        assert_eq!(done[2..10], [20, 0, 0, 0, 0, 0, 0, 140]);
    }
}

/// A target that cannot keep up shows it: 100 arrivals in half a second, of which 10 ms each allow 50; the last of
/// them ends with the window and is not in it.
#[test]
fn unfinished_operations_are_reported() {
    for way in WAYS {
        let how = Drive {
            schedule: open(200.0),
            ..plain(5, ms(500))
        };
        let outcome = run(way, &Mock::new().latency(ms(10)), 1, Think::None, &how);
        assert_eq!((outcome.operations(), outcome.unfinished), (49, 51));
        assert_eq!(outcome.due, 100);
        let total = outcome.total();
        // The one in progress is awaited. The other 50 have waited for 250 ms at most, no longer than the completed
        // ones.
        assert_eq!((total.service.count(), total.response.count()), (50, 50));
        assert_us(total.response.max_us(), ms(255));
        assert_eq!(
            outcome.elapsed,
            ms(500),
            "what is in hand is awaited, not counted"
        );
    }
}

/// A target that stands still from 3 s on, for 20: nothing is completed in the last five seconds of a window of 8,
/// and the whole stall is still in the histograms. Two connections have an operation in progress when it comes.
#[test]
fn a_stall_beyond_the_end_of_the_window_is_in_the_histograms() {
    for way in WAYS {
        let mock = Mock::new().latency(ms(1)).stall(ms(3000), ms(20_000));
        let closed = run(way, &mock, 2, Think::None, &plain(2, ms(8000)));
        let total = closed.total();
        assert_eq!((total.completed, closed.unfinished), (2 * 2999, 2));
        assert_eq!(total.response.count(), 2 * 3000);
        assert_us(total.response.max_us(), ms(20_001));
        assert_eq!(total.service.count_above_us(1.1e3), 2);

        // Arrivals every 10 ms: 498 of the 500 that came meanwhile wait when the window ends, up to 4.98 s.
        let how = Drive {
            schedule: open(100.0),
            ..plain(2, ms(8000))
        };
        let at_rate = run(way, &mock, 2, Think::None, &how);
        let total = at_rate.total();
        assert_eq!((total.completed, at_rate.unfinished), (300, 500));
        assert_eq!((total.response.count(), at_rate.due), (800, 800));
        assert_us(total.response.max_us(), ms(20_001));
        assert_eq!(total.response.count_above_us(1e6), 400);
        assert_us(total.waiting.percentile_us(99.9), ms(4980));
    }
}

/// An operation that began before the window and outlasts it counts as a stall in it.
#[test]
fn a_stall_as_long_as_the_window_is_in_the_histograms() {
    for way in WAYS {
        let mock = Mock::new().latency(ms(1)).stall(ms(100), ms(20_000));
        let how = after(RampUp::Time(ms(500)), plain(2, ms(8000)));
        let outcome = run(way, &mock, 2, Think::None, &how);
        assert_eq!((outcome.operations(), outcome.due), (0, 0));
        assert_eq!(outcome.unfinished, 2);
        assert_us(outcome.total().response.min_us(), ms(20_001));
    }
}

/// Poisson arrivals of one seed are the same on any connection, and are dealt to all users.
#[test]
fn arrivals_are_dealt_to_users_by_lot() {
    let served = |way, count| {
        let log = Log::default();
        let how = Drive {
            schedule: Schedule::Open {
                rate_per_s: 700.0,
                arrivals: Arrivals::Poisson,
            },
            ..plain(7, ms(500))
        };
        let mock = Mock::new().latency(ms(1));
        let outcome = logged(way, &mock, count, Think::None, &how, &log);
        let of_users: Vec<usize> = (0..7).map(|user| log.of_user(user).len()).collect();
        (of_users, outcome.operations() + outcome.unfinished)
    };
    let ticks = Ticks::new(700.0, Arrivals::Poisson, 1);
    let due = std::iter::repeat_with(|| ticks.take_ns()).take_while(|tick| *tick < 500_000_000);
    let (in_loop, all) = served(Way::Loop, 64);
    assert_eq!(all, due.count() as u64);
    assert!(in_loop.iter().all(|n| (25..80).contains(n)), "{in_loop:?}");
    assert_eq!((in_loop, all), served(Way::Threads, 16));
}

/// Kinds have separate figures, and a user's operations follow only from its own deck.
#[test]
fn kinds_are_separate_and_dealt_alike() {
    let latencies = [ms(1), ms(30), ms(1)];
    let mock = Mock::new()
        .latencies_of_kinds(&latencies)
        .rolled_back_every(10)
        .error_every(25);
    let mut decks: Vec<Vec<Vec<u8>>> = Vec::new();
    for (way, count, threads) in [(Way::Loop, 3, 1), (Way::Loop, 6, 2), (Way::Threads, 3, 1)] {
        let log = Log::default();
        let how = Drive {
            threads: threads..=threads,
            ..plain(12, ms(900))
        };
        let outcome = logged(way, &mock, count, Think::None, &how, &log);
        let [quick, slow, other] = &outcome.kinds[..] else {
            panic!("three kinds")
        };
        for (kind, latency) in [(quick, ms(1)), (slow, ms(30)), (other, ms(1))] {
            assert_us(kind.service.min_us(), latency);
            assert_us(kind.service.max_us(), latency);
            assert!(kind.completed > 5);
        }
        let total = outcome.total();
        assert!(total.rolled_back > 0 && total.errors > 0, "{total:?}");
        assert!(total.errors * 15 < total.completed);
        assert_eq!(
            outcome.error_texts(),
            ["the mock fails every 25th operation"]
        );
        decks.push((0..12).map(|user| log.of_user(user)).collect());
    }
    for user in 0..12 {
        let common = decks.iter().map(|deck| deck[user].len()).min().unwrap();
        assert!(common >= 3, "user {user} was served {common} times");
        assert!(
            decks
                .iter()
                .all(|deck| deck[user][..common] == decks[0][user][..common])
        );
    }
}

/// Slow answers before the window begins do not count; operations that end in the window do.
#[test]
fn a_ramp_up_leaves_no_trace() {
    for way in WAYS {
        let mock = Mock::new().latency(ms(1)).slow_start(1, ms(200));
        let progress = Progress::new();
        let how = Drive {
            ramp_up: RampUp::Time(ms(1500)),
            progress: Some(&progress),
            ..plain(4, ms(300))
        };
        let outcome = run(way, &mock, 2, Think::None, &how);
        assert_us(outcome.total().service.max_us(), ms(1));
        assert_eq!(outcome.operations(), 600);
        assert_eq!(progress.operations(), outcome.operations());
    }
}

fn four_users_over_two(way: Way, mock: &Mock, log: &Log, how: &Drive<'_>) -> Outcome {
    let flock = super::Flock::new(4, Think::None);
    let pool = super::connections(way, mock, 2, log);
    let outcome = super::drive_population(&flock, pool, super::KINDS, how);
    super::check_virtual(&outcome);
    outcome
}

/// The observer is called once, at the beginning of the measured window and not of the ramp-up.
#[test]
fn the_window_is_announced_once() {
    for way in WAYS {
        let (clock, _) = Clock::new_virtual();
        let calls = std::sync::Mutex::new(Vec::new());
        let entering = || calls.lock().unwrap().push(clock.instant_of(clock.now_ns()));
        let log = Log::default();
        let mock = Mock::new().on(&clock).latency(ms(2));
        let how = Drive {
            ramp_up: RampUp::Time(ms(300)),
            entering: Some(&entering),
            clock: clock.clone(),
            ..plain(4, ms(200))
        };
        let outcome = four_users_over_two(way, &mock, &log, &how);
        let calls = calls.lock().unwrap();
        assert_eq!(*calls, [outcome.started.unwrap()], "{way:?}");
    }
}

/// The observer of the sessions is called once, after the window, and before any of them is closed.
#[test]
fn leaving_is_announced_while_all_sessions_are_open() {
    for way in WAYS {
        let (clock, _) = Clock::new_virtual();
        let log = Log::default();
        let calls = std::sync::Mutex::new(Vec::new());
        let leaving = || {
            let closed = log.closed.load(std::sync::atomic::Ordering::Relaxed);
            calls.lock().unwrap().push((clock.now_ns(), closed));
        };
        let mock = Mock::new().on(&clock).latency(ms(2));
        let how = Drive {
            leaving: Some(&leaving),
            clock: clock.clone(),
            ..plain(4, ms(200))
        };
        let outcome = four_users_over_two(way, &mock, &log, &how);
        let [(at_ns, closed)] = calls.lock().unwrap()[..] else {
            panic!("not called once: {way:?}")
        };
        assert_eq!(closed, 0, "{way:?}");
        let ended = outcome.started.unwrap() + outcome.elapsed;
        assert!(clock.instant_of(at_ns) >= ended, "{way:?}");
        assert_eq!(log.closed.load(std::sync::atomic::Ordering::Relaxed), 2);
    }
}

/// A drive that is stopped in the ramp-up never announces a window.
#[test]
fn a_window_that_does_not_come_is_not_announced() {
    for way in WAYS {
        let (clock, time) = Clock::new_virtual();
        let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let pulled = std::sync::Arc::clone(&stop);
        time.at(ms(100), move || {
            pulled.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        let entering = || panic!("there was no window");
        let leaving = || panic!("it was stopped");
        let log = Log::default();
        let mock = Mock::new().on(&clock).latency(ms(2));
        let how = Drive {
            ramp_up: RampUp::Time(ms(300)),
            entering: Some(&entering),
            leaving: Some(&leaving),
            stop: &stop,
            clock,
            ..plain(4, ms(200))
        };
        let flock = super::Flock::new(4, Think::None);
        let pool = super::connections(way, &mock, 2, &log);
        let outcome = super::drive_population(&flock, pool, super::KINDS, &how);
        assert!(outcome.interrupted && outcome.fatal.is_none());
        assert_eq!(outcome.operations(), 0);
    }
}
