//! Waiting users, and the cost of a large population.

use load::mock::Mock;
use load::{Drive, RampUp, Think};

use super::{Log, WAYS, Way, after, logged, ms, plain, run};

#[test]
fn who_waits_is_served_in_the_order_of_asking() {
    for way in WAYS {
        let log = Log::default();
        let mock = Mock::new().latency(ms(1));
        let outcome = logged(way, &mock, 1, Think::None, &plain(20, ms(400)), &log);
        // The one that ends with the window does not count.
        assert_eq!((outcome.operations(), outcome.unfinished), (399, 20));
        let log = log.operations.into_inner().unwrap();
        let turns: Vec<u32> = log.iter().map(|(user, _)| *user).collect();
        assert_eq!(turns.len(), 400);
        assert!(
            turns
                .iter()
                .zip(&turns[20..])
                .all(|(one, next)| one == next),
            "{turns:?}"
        );
        let mut first = turns[..20].to_vec();
        first.sort();
        assert_eq!(first, (0..20).collect::<Vec<_>>());
    }
}

/// Two loops share the one queue: no user is served less because of its connection's thread.
#[test]
fn nobody_starves() {
    let log = Log::default();
    let mock = Mock::new().latency(ms(1));
    let how = Drive {
        threads: 2..=2,
        ..plain(60, ms(1500))
    };
    let outcome = logged(Way::Loop, &mock, 5, Think::None, &how, &log);
    assert_eq!(outcome.driver_threads.unwrap().threads, 2);
    // Five connections of 1000/s for 1.5 s: 125 for each of the 60.
    for user in 0..60 {
        assert_eq!(log.of_user(user).len(), 125, "user {user}");
    }
}

/// With a connection for everyone nobody waits for one, however busy they are.
#[test]
fn with_a_connection_each_nobody_waits() {
    for (way, count) in [(Way::Loop, 6), (Way::Threads, 6), (Way::Loop, 9)] {
        let mock = Mock::new().latency(ms(2));
        let outcome = run(way, &mock, count, Think::None, &plain(6, ms(500)));
        let total = outcome.total();
        // The operation of each that ends with the window does not count.
        assert_eq!((total.completed, outcome.unfinished), (6 * 249, 6));
        assert_eq!(total.waiting.max_us(), 0.0);
        assert_eq!(outcome.in_flight_mean(), Some(6.0));
    }
}

/// 5000 users who pause for five seconds over 64 connections: 999 operations a second, and less than 250 MB.
#[test]
fn five_thousand_users_cost_little() {
    let think = Think::Exponential { mean: ms(5000) };
    let how = after(RampUp::Time(ms(500)), plain(5000, ms(20_000)));
    let mock = Mock::new().latency(ms(5));
    let outcome = run(Way::Loop, &mock, 64, think, &how);
    let per_s = outcome.operations_per_s().unwrap();
    // Golden for the seed; 20 000 at random are 0.7 % more or less.
    assert!((985.0..1015.0).contains(&per_s), "{per_s}/s, not 999");
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    let peak_kib: u64 = peak.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(peak_kib < 250_000_000 / 1024, "{peak}");
}
