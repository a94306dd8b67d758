//! Operations that hang: they are counted, their users continue, and the drive ends in time.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use load::mock::Mock;
use load::{Clients, Clock, Drive, Outcome, Think};

use super::{
    AN_HOUR, Flock, KINDS, Log, Way, assert_us, check_virtual, drive_population, ms, on, plain, run,
};

const HANG: Duration = Duration::from_secs(60);

fn limited(users: u32, window: Duration) -> Drive<'static> {
    Drive {
        operation_limit: Some(ms(400)),
        ..plain(users, window)
    }
}

/// The fifth operation of every connection hangs; its replacements do not.
#[test]
fn a_hanging_connection_is_replaced_and_its_user_goes_on() {
    let (clock, _) = Clock::new_virtual();
    let sound = Mock::new().on(&clock).latency(ms(2));
    let mock = sound.clone().hang_at(4, HANG);
    let made = AtomicU64::new(0);
    let pool = Clients::Nonblocking {
        clients: mock.nonblocking(3).unwrap(),
        replace: Some(Box::new(|| {
            made.fetch_add(1, Relaxed);
            Ok(sound.nonblocking(1).unwrap().remove(0))
        })),
    };
    let how = on(clock, limited(10, ms(3000)));
    let outcome = drive_population(&Flock::new(10, Think::None), pool, KINDS, &how);
    check_virtual(&outcome);
    let total = outcome.total();
    assert_eq!((total.timeouts, total.errors), (3, 3));
    assert_eq!((outcome.connections_lost, made.load(Relaxed)), (3, 3));
    assert_eq!(
        outcome.error_texts(),
        ["an operation took longer than its limit of 0.4 s"]
    );
    assert_eq!(outcome.fatal, None);
    // The three hang from 8 ms on. The loop checks every 200 ms, at 608 for the first time after the limit, and takes
    // the new connections at 808: 12 operations before, three every 2 ms from then on up to the end.
    assert_eq!(total.completed, 12 + 3 * 1095);
    assert_us(total.waiting.max_us(), ms(804));
}

/// Without a replacement the drive continues with the remaining connections, for all users.
#[test]
fn without_a_replacement_the_others_serve_all() {
    let (clock, _) = Clock::new_virtual();
    let sound = Mock::new().on(&clock).latency(ms(2));
    let hangs = sound.clone().hang_at(4, HANG);
    let log = Log::default();
    let mut pool = sound.nonblocking(2).unwrap();
    pool.extend(hangs.nonblocking(1).unwrap());
    let pool = pool.into_iter().map(|inner| {
        Box::new(super::LoggedConnection { inner, log: &log }) as Box<dyn load::NonblockingClient>
    });
    let pool = Clients::Nonblocking {
        clients: pool.collect(),
        replace: None,
    };
    // Three users, three connections: the one whose connection is lost has to find another.
    let flock = Flock::new(3, Think::None);
    let how = on(clock, limited(3, ms(2500)));
    let outcome = drive_population(&flock, pool, KINDS, &how);
    check_virtual(&outcome);
    assert_eq!((outcome.total().timeouts, outcome.connections_lost), (1, 1));
    assert_eq!(outcome.fatal, None);
    let served: Vec<usize> = (0..3).map(|user| log.of_user(user).len()).collect();
    // Two connections of 500 operations a second for 2.5 s, and the four of the third and the one that hung. Users
    // who are due at the same moment are taken by their number, so that the first one never waits.
    assert_eq!(served, [1250, 775, 480]);
}

#[test]
fn the_last_connection_to_be_lost_ends_the_drive() {
    let refuse: [fn() -> Option<load::Replace<'static>>; 2] = [
        || None,
        || {
            Some(Box::new(|| {
                Err("the server takes no more connections".into())
            }))
        },
    ];
    for (replace, why) in refuse
        .into_iter()
        .zip(["do not answer", "no more connections"])
    {
        let (clock, time) = Clock::new_virtual();
        let mock = Mock::new().on(&clock).latency(ms(2)).hang_at(4, HANG);
        let pool = Clients::Nonblocking {
            clients: mock.nonblocking(2).unwrap(),
            replace: replace(),
        };
        let flock = Flock::new(5, Think::None);
        let how = on(clock, limited(5, AN_HOUR));
        let outcome = drive_population(&flock, pool, KINDS, &how);
        let fatal = outcome.fatal.unwrap();
        assert!(
            fatal.starts_with("no connection is left") && fatal.contains(why),
            "{fatal}"
        );
        assert!(time.elapsed() < ms(1000), "{time:?}");
    }
}

/// An operation that hangs when the window ends is given up all the same.
#[test]
fn a_drive_ends_although_an_operation_hangs() {
    for way in [Way::Loop, Way::Threads] {
        let mock = Mock::new().hang_at(3, HANG);
        let outcome = match way {
            Way::Loop => run(way, &mock, 2, Think::Constant(ms(50)), &limited(2, ms(300))),
            Way::Threads => interruptible(&mock, ms(300)),
        };
        assert_eq!((outcome.errors(), outcome.elapsed), (0, ms(300)), "{way:?}");
    }
}

/// A blocking call is interrupted, and the connection continues.
#[test]
fn a_blocking_call_is_interrupted() {
    let outcome = interruptible(&Mock::new().latency(ms(2)).hang_at(4, HANG), ms(2500));
    let total = outcome.total();
    assert_eq!((total.timeouts, total.errors), (2, 2));
    assert!(total.completed > 1000, "{}", total.completed);
    assert_eq!(outcome.connections_lost, 0);
}

fn interruptible(mock: &Mock, window: Duration) -> Outcome {
    let (clock, _) = Clock::new_virtual();
    let pool = Clients::Blocking(mock.clone().on(&clock).sessions(2));
    let flock = Flock::new(6, Think::Constant(ms(10)));
    let how = on(clock, limited(6, window));
    let outcome = drive_population(&flock, pool, KINDS, &how);
    check_virtual(&outcome);
    outcome
}

#[test]
fn a_limit_that_is_kept_is_not_noticed() {
    let how = Drive {
        operation_limit: Some(HANG),
        ..plain(4, ms(600))
    };
    for way in [Way::Loop, Way::Threads] {
        let outcome = run(way, &Mock::new().latency(ms(2)), 2, Think::None, &how);
        assert_eq!((outcome.operations(), outcome.errors()), (2 * 299, 0));
    }
}
