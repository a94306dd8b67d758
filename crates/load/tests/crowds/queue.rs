//! Who waits, how long, and what a large crowd costs.

use load::mock::{Floor, Mock};
use load::{CrowdDrive, Think};

use super::{Flock, KINDS, Log, WAYS, Way, check, connections, ms, plain, run};

/// With one connection and no pauses the users are served in turn, for ever.
#[test]
fn who_waits_is_served_in_the_order_of_asking() {
    for way in WAYS {
        let (log, flock) = (Log::default(), Flock::new(20, Think::None));
        let mock = Mock::new().latency(ms(1));
        let how = plain(20, ms(400));
        let outcome = load::drive_crowd(&flock, connections(way, &mock, 1, &log), KINDS, &how);
        check(&outcome);
        let log = log.0.into_inner().unwrap();
        assert!(log.len() > 60, "{way:?}: {}", log.len());
        let turns: Vec<u32> = log.iter().map(|(user, _)| *user).collect();
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

/// Two loops share the one queue: nobody is served less because of the thread its connection belongs to.
#[test]
fn nobody_starves() {
    let (log, flock) = (Log::default(), Flock::new(60, Think::None));
    let mock = Mock::new().latency(ms(1));
    let how = CrowdDrive {
        threads: 2..=2,
        ..plain(60, ms(1500))
    };
    let counters = connections(Way::Loop, &mock, 5, &log);
    let outcome = load::drive_crowd(&flock, counters, KINDS, &how);
    check(&outcome);
    assert_eq!(outcome.driver_threads.unwrap().threads, 2);
    let served: Vec<usize> = (0..60).map(|user| log.of_user(user).len()).collect();
    let (least, most) = (served.iter().min().unwrap(), served.iter().max().unwrap());
    // On a quiet machine they differ by two at most; one that is put aside on the way loses some.
    assert!(*least > 5 && most - least <= 10 + most / 10, "{served:?}");
}

/// A connection for everyone: nobody waits for one, however little time there is.
#[test]
fn with_a_connection_each_nobody_waits() {
    for (way, count) in [(Way::Loop, 6), (Way::Threads, 6), (Way::Loop, 9)] {
        let outcome = run(
            way,
            &Mock::new().latency(ms(2)),
            count,
            Think::None,
            &plain(6, ms(500)),
        );
        let total = outcome.total();
        assert!(total.completed > 60, "{}", total.completed);
        assert_eq!(total.waiting.max_us(), 0.0);
        assert!(outcome.connections_busy_mean().unwrap() <= 6.1);
    }
}

/// 5000 users who pause for five seconds over 64 connections: less than 250 MB, and hardly a late start that a thread
/// which only waits does not have as well.
#[test]
fn five_thousand_users_cost_little() {
    let think = Think::Exponential { mean: ms(5000) };
    let how = CrowdDrive {
        ramp_up: ms(500),
        ..plain(5000, ms(2000))
    };
    let mut late_pct = Vec::new();
    while late_pct.len() < 3 && late_pct.last().is_none_or(|pct| *pct >= 1.0) {
        let mock = Mock::new().latency(ms(5));
        let floor = Floor::watch();
        let outcome = run(Way::Loop, &mock, 64, think, &how);
        let floor_pct = floor.end().late_pct();
        let per_s = outcome.completed_per_s().unwrap();
        assert!((800.0..1200.0).contains(&per_s), "{per_s}/s, not 1000");
        let own_pct = outcome.own_late_starts_pct().unwrap();
        println!("late starts of its own {own_pct:.2} %, of a thread that waits {floor_pct:.2} %");
        late_pct.push(own_pct - floor_pct);
    }
    assert!(
        late_pct.iter().any(|pct| *pct < 1.0),
        "late starts of its own beyond the floor in %: {late_pct:?}"
    );
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    let peak_kib: u64 = peak.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(peak_kib < 250_000_000 / 1024, "{peak}");
}
