//! The two models of load, and what is counted.

use load::mock::Mock;
use load::{Arrivals, CrowdDrive, CrowdModel, Progress, Think};

use super::{Flock, KINDS, Log, WAYS, Way, check, connections, ms, plain, run};

fn open(rate_per_s: f64) -> CrowdModel {
    CrowdModel::Open {
        rate_per_s,
        arrivals: Arrivals::Constant,
    }
}

/// N = X · (R + Z): users are either being served (or waiting to be) or pausing, whatever the number of
/// connections. With 2 connections of 5 ms the target gives 400/s; the rest of the 40 users waits.
#[test]
fn littles_law_holds_of_the_users() {
    let pause_ms = 20;
    for (way, count) in [
        (Way::Loop, 12),
        (Way::Loop, 2),
        (Way::Threads, 12),
        (Way::Threads, 2),
    ] {
        let mock = Mock::new().latency(ms(5));
        let think = Think::Constant(ms(pause_ms));
        let how = CrowdDrive {
            ramp_up: ms(300),
            ..plain(40, ms(2000))
        };
        let outcome = run(way, &mock, count, think, &how);
        let total = outcome.total();
        let cycle_s = total.response.mean_us() / 1e6 + pause_ms as f64 / 1e3;
        let users = outcome.completed_per_s().unwrap() * cycle_s;
        assert!(
            (36.0..44.0).contains(&users),
            "{users} of 40, {way:?} {count}"
        );
        assert_eq!(outcome.elapsed, ms(2000));
        let busy = outcome.connections_busy_mean().unwrap();
        assert!(busy <= count as f64 * 1.02, "{busy} of {count} at work");
        let waited_ms = total.waiting.percentile_us(50.0) / 1e3;
        let served_ms = total.service.percentile_us(50.0) / 1e3;
        let felt_ms = total.response.percentile_us(50.0) / 1e3;
        if count == 2 {
            assert!(busy > 1.5, "{busy} of 2 at work");
            assert!(waited_ms > 40.0, "{waited_ms} ms, 75 at best");
            assert!(felt_ms > waited_ms && felt_ms < waited_ms + 4.0 * served_ms);
            assert!(outcome.unfinished > 20, "{} wait", outcome.unfinished);
        }
        assert_eq!(outcome.late_starts == 0, outcome.late_start_max.is_zero());
    }
}

/// A target that stands still for 600 ms is in the response times of all that came meanwhile: of 400 in two
/// seconds 120 came, four of them were in hand, the others waited for a connection.
#[test]
fn an_open_rate_shows_the_whole_stall() {
    for way in WAYS {
        let mock = Mock::new().latency(ms(1)).stall(ms(300), ms(600));
        let how = CrowdDrive {
            model: open(200.0),
            ..plain(10, ms(2000))
        };
        let outcome = run(way, &mock, 4, Think::Constant(ms(900)), &how);
        let total = outcome.total();
        assert_eq!(
            total.completed + outcome.unfinished,
            400,
            "no arrival is lost"
        );
        assert!(total.completed >= 300, "{}", total.completed);
        let met = total.response.count_above_us(100e3);
        assert!((95..=180).contains(&met), "{met} above 0.1 s, not 100");
        assert!(total.response.percentile_us(99.0) > 250e3);
        assert!(total.waiting.percentile_us(99.0) > 200e3);
        let waited = total.waiting.count_above_us(100e3);
        // Four were in hand; some waited just below the mark and took the rest of it.
        assert!(
            waited + 10 >= met,
            "{waited} of {met} waited for a connection"
        );
        let stalled = total.service.count_above_us(200e3);
        assert!((1..=4).contains(&stalled), "{stalled} were in hand");
        let empty = outcome
            .intervals
            .iter()
            .filter(|i| i.total().response.count() == 0);
        assert!((4..=7).contains(&empty.count()));
    }
}

/// A target that cannot keep up says so: 100 arrivals in half a second, of which 10 ms each allow 50.
#[test]
fn what_is_not_done_in_the_window_is_told() {
    for way in WAYS {
        let how = CrowdDrive {
            model: open(200.0),
            ..plain(5, ms(500))
        };
        let outcome = run(way, &Mock::new().latency(ms(10)), 1, Think::None, &how);
        assert_eq!(outcome.completed() + outcome.unfinished, 100);
        assert!(outcome.unfinished >= 50, "{}", outcome.unfinished);
        assert_eq!(
            outcome.elapsed,
            ms(500),
            "what is in hand is awaited, not counted"
        );
        assert_eq!(outcome.late_starts, 0, "no connection was free");
    }
}

/// Poisson arrivals of one seed are the same whoever serves them, and are dealt to all users.
#[test]
fn arrivals_are_dealt_to_users_by_lot() {
    let served = |way, count| {
        let (log, flock) = (Log::default(), Flock::new(7, Think::None));
        let how = CrowdDrive {
            model: CrowdModel::Open {
                rate_per_s: 700.0,
                arrivals: Arrivals::Poisson,
            },
            ..plain(7, ms(500))
        };
        let mock = Mock::new().latency(ms(1));
        let outcome = load::drive_crowd(&flock, connections(way, &mock, count, &log), KINDS, &how);
        check(&outcome);
        let of_users: Vec<u64> = (0..7).map(|user| log.of_user(user).len() as u64).collect();
        (of_users, outcome.completed() + outcome.unfinished)
    };
    let (in_loop, all) = served(Way::Loop, 64);
    assert!((250..450).contains(&all), "{all}, not about 350");
    assert!(in_loop.iter().all(|n| (25..80).contains(n)), "{in_loop:?}");
    // What arrives at the end may be served or not, but what arrives is the same.
    assert_eq!(all, served(Way::Threads, 16).1);
}

/// Kinds have figures of their own, and what a user does follows from its own deck alone.
#[test]
fn kinds_are_told_apart_and_dealt_alike() {
    let latencies = [ms(1), ms(30), ms(1)];
    let mock = Mock::new()
        .latencies_of_kinds(&latencies)
        .rolled_back_every(10)
        .error_every(25);
    let mut decks: Vec<Vec<Vec<u8>>> = Vec::new();
    for (way, count, threads) in [(Way::Loop, 3, 1), (Way::Loop, 6, 2), (Way::Threads, 3, 1)] {
        let (log, flock) = (Log::default(), Flock::new(12, Think::None));
        let how = CrowdDrive {
            threads: threads..=threads,
            ..plain(12, ms(900))
        };
        let outcome = load::drive_crowd(&flock, connections(way, &mock, count, &log), KINDS, &how);
        check(&outcome);
        let [quick, slow, other] = &outcome.kinds[..] else {
            panic!("three kinds")
        };
        assert!(slow.service.min_us() > 29.9e3 && quick.service.min_us() < 29e3);
        assert!(other.completed > 5 && other.service.min_us() < 29e3);
        let total = outcome.total();
        assert!(total.rolled_back > 0 && total.errors > 0, "{total:?}");
        assert!(total.errors * 15 < total.completed);
        assert_eq!(
            outcome.error_messages,
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

/// Slow answers before the window begins are in nothing; what ends in the window counts.
#[test]
fn a_ramp_up_leaves_no_trace() {
    for way in WAYS {
        let mock = Mock::new().latency(ms(1)).slow_start(1, ms(200));
        let progress = Progress::new();
        let how = CrowdDrive {
            ramp_up: ms(1500),
            progress: Some(&progress),
            ..plain(4, ms(300))
        };
        let outcome = run(way, &mock, 2, Think::None, &how);
        assert!(outcome.total().service.max_us() < 200e3);
        assert!(outcome.completed() > 50, "{}", outcome.completed());
        assert_eq!(progress.operations(), outcome.completed());
        assert!(outcome.started.unwrap().elapsed() >= ms(300));
    }
}

/// Whoever watches the machine is told once, when the measured window begins and not when the ramp-up does.
#[test]
fn the_window_is_announced_once() {
    for way in [Way::Loop, Way::Threads] {
        let told = std::sync::Mutex::new(Vec::new());
        let entering = || told.lock().unwrap().push(std::time::Instant::now());
        let how = CrowdDrive {
            ramp_up: ms(300),
            entering: Some(&entering),
            ..plain(4, ms(200))
        };
        let mock = Mock::new().latency(ms(2));
        let outcome = run(way, &mock, 2, Think::None, &how);
        let told = told.lock().unwrap();
        let started = outcome.started.unwrap();
        assert_eq!(told.len(), 1, "{way:?}");
        let late = told[0].saturating_duration_since(started);
        assert!(told[0] + ms(1) >= started && late < ms(200), "{late:?}");
    }
}
