//! Drives that are stopped or refused.

use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use load::mock::Mock;
use load::{
    Arrivals, BlockingClient, Clients, Clock, Done, Drive, End, Failure, NextOperation,
    NonblockingClient, RampUp, Schedule, Think, Turn, UserPopulation,
};

use super::{
    AN_HOUR, Flock, KINDS, Log, WAYS, Way, after, check_virtual, connections, drive_population, ms,
    on, plain, us,
};
use testing::Says;

/// The flag is set 300 ms after the clock began. Three connections of 2 ms have executed 150 operations each when
/// those in progress end; the lead before the common start is 1 ms and 20 µs a thread. Waiting threads check every
/// 100 ms.
#[test]
fn the_stop_flag_ends_who_waits_and_who_works() {
    for (way, think, completed, elapsed, ended) in [
        (Way::Loop, Think::None, 450, ms(300), us(301_020)),
        (Way::Threads, Think::None, 450, ms(300), us(301_060)),
        (Way::Loop, Think::Constant(AN_HOUR), 0, us(298_980), ms(300)),
        (
            Way::Threads,
            Think::Constant(AN_HOUR),
            0,
            ms(300),
            us(301_060),
        ),
    ] {
        let (clock, time) = Clock::new_virtual();
        let stop = Arc::new(AtomicBool::new(false));
        let pulled = Arc::clone(&stop);
        time.at(ms(300), move || pulled.store(true, Relaxed));
        let log = Log::default();
        let mock = Mock::new().on(&clock).latency(ms(2));
        let how = Drive {
            stop: &stop,
            clock,
            ..plain(30, AN_HOUR)
        };
        let flock = Flock::new(30, think);
        let outcome = drive_population(&flock, connections(way, &mock, 3, &log), KINDS, &how);
        check_virtual(&outcome);
        assert!(outcome.interrupted && outcome.fatal.is_none());
        assert_eq!(outcome.operations(), completed, "{way:?}, {think:?}");
        assert_eq!(outcome.elapsed, elapsed, "{way:?}, {think:?}");
        assert_eq!(time.elapsed(), ended, "{way:?}, {think:?}");
    }
}

#[test]
fn a_fatal_failure_stops_everyone() {
    for (way, ended) in [(Way::Loop, us(22_020)), (Way::Threads, us(22_060))] {
        let (clock, time) = Clock::new_virtual();
        let log = Log::default();
        let mock = Mock::new().on(&clock).latency(ms(1));
        let flock = Flock::new(9, Think::None);
        let pool = connections(way, &mock.fatal_at(20), 3, &log);
        let how = on(clock, plain(9, AN_HOUR));
        let outcome = drive_population(&flock, pool, KINDS, &how);
        let why = outcome.fatal.unwrap();
        assert_eq!(why, "the mock gives up at operation 20");
        assert!(!outcome.interrupted);
        assert!(time.elapsed() <= ended, "{way:?}: {time:?}");
    }
}

#[test]
fn a_panic_stops_the_drive_and_hangs_nobody() {
    let (log, flock) = (Log::default(), Flock::new(9, Think::None));
    let (clock, _) = Clock::new_virtual();
    let mock = Mock::new().on(&clock).latency(ms(1)).panic_at(20);
    let blocking = connections(Way::Threads, &mock, 3, &log);
    let how = on(clock, plain(9, AN_HOUR));
    let outcome = drive_population(&flock, blocking, KINDS, &how);
    assert!(outcome.fatal.unwrap().contains("panics at"));
}

/// A server that ends without an operation in progress.
struct Gone(UnixStream);

impl NonblockingClient for Gone {
    fn descriptor(&self) -> i32 {
        self.0.as_raw_fd()
    }
    fn begin(&mut self, _request: load::Request) -> Turn {
        Turn::Finished(Ok(Done::default()))
    }
    fn ready(&mut self) -> Turn {
        Turn::Finished(Err(Failure::Fatal("the server has gone".into())))
    }
}

#[test]
fn a_server_that_ends_while_all_pause_is_noticed() {
    let (near, far) = UnixStream::pair().unwrap();
    let pool = Clients::Nonblocking {
        clients: vec![Box::new(Gone(near))],
        replace: None,
    };
    let (clock, time) = Clock::new_virtual();
    time.at(ms(200), move || drop(far));
    let flock = Flock::new(3, Think::Constant(AN_HOUR));
    let how = on(clock, plain(3, AN_HOUR));
    let outcome = drive_population(&flock, pool, KINDS, &how);
    assert_eq!(outcome.fatal.as_deref(), Some("the server has gone"));
    assert_eq!(time.elapsed(), ms(200));
}

struct Thrice<'a>(&'a [AtomicU64]);

impl BlockingClient for Thrice<'_> {
    fn operate(&mut self, request: load::Request) -> Result<Done, Failure> {
        match self.0[request.user as usize].fetch_add(1, Relaxed) {
            0..3 => Ok(Done::default()),
            _ => Err(Failure::Exhausted),
        }
    }
}

#[test]
fn users_without_work_leave_and_the_window_is_kept() {
    let served: Vec<AtomicU64> = (0..10).map(|_| AtomicU64::new(0)).collect();
    let blocking = (0..4).map(|_| Box::new(Thrice(&served)) as Box<dyn BlockingClient>);
    let flock = Flock::new(10, Think::Constant(ms(5)));
    let pool = Clients::Blocking(blocking.collect());
    let how = on(Clock::new_virtual().0, plain(10, ms(600)));
    let outcome = drive_population(&flock, pool, KINDS, &how);
    assert_eq!((outcome.operations(), outcome.errors()), (30, 0));
    assert!(served.iter().all(|times| times.load(Relaxed) == 4));
    assert_eq!((outcome.elapsed, outcome.unfinished), (ms(600), 0));
}

struct Astray;

impl UserPopulation for Astray {
    fn next_operation(&self, user: u32) -> NextOperation {
        NextOperation {
            kind: KINDS as u8 + u8::from(user == 0) - 1,
            pause_ns: 0,
        }
    }
}

#[test]
fn what_cannot_be_driven_is_refused_in_one_sentence() {
    let log = Log::default();
    let refusal = |count, kinds, how: &Drive| {
        let pool = connections(Way::Threads, &Mock::new(), count, &log);
        let outcome = drive_population(&Flock::new(1, Think::None), pool, kinds, how);
        outcome.fatal.unwrap()
    };
    let good = plain(1, AN_HOUR);
    assert!(refusal(0, 1, &good).contains("over 0 connections"));
    assert!(refusal(1, 0, &good).contains("0 kinds"));
    assert!(refusal(1, 99, &good).contains("99 kinds"));
    assert!(refusal(1, 1, &plain(0, AN_HOUR)).contains("a population of 0 users"));
    assert!(refusal(1, 1, &plain(2_000_000, AN_HOUR)).contains("2000000 users"));
    assert!(refusal(1, 1, &plain(1, Duration::ZERO)).contains("no length"));
    let of_work = Drive {
        end: End::Operations { per_job: 5 },
        ..good.clone()
    };
    assert!(refusal(1, 1, &of_work).contains("a duration, not an amount of work"));
    let thinking = Drive {
        schedule: Schedule::Closed {
            think: Think::Constant(ms(1)),
        },
        ..good.clone()
    };
    assert!(refusal(1, 1, &thinking).contains("their own pauses"));
    let impossible = Drive {
        schedule: Schedule::Open {
            rate_per_s: f64::NAN,
            arrivals: Arrivals::Poisson,
        },
        ..good
    };
    assert!(refusal(1, 1, &impossible).contains("cannot be scheduled"));
    for way in WAYS {
        let (clock, _) = Clock::new_virtual();
        let mock = Mock::new().on(&clock).latency(ms(1));
        let how = on(clock, plain(5, AN_HOUR));
        let outcome = drive_population(&Astray, connections(way, &mock, 2, &log), KINDS, &how);
        outcome.fatal.unwrap().says("operation 3 of kinds 0 to 2");
    }
}

/// Twenty-one operations of a connection and a part of one lie in the window: the rate is that of connections without pauses.
#[test]
fn a_short_window_has_the_rate_of_its_connections() {
    for took in [us(16_200), us(17_200), us(140_000)] {
        for ramp_up in [RampUp::None, RampUp::Time(ms(37))] {
            let how = after(ramp_up, plain(4, ms(350)));
            let mock = Mock::new().latency(took);
            let outcome = super::run(Way::Loop, &mock, 4, Think::None, &how);
            let (per_s, own) = (
                outcome.operations_per_s().unwrap(),
                4.0 / took.as_secs_f64(),
            );
            assert!((per_s / own - 1.0).abs() < 1e-6, "{took:?}: {per_s} {own}");
        }
    }
}

/// A connection that stalls at the end of the window is awaited for 20 s, and the rate is still that of the window.
#[test]
fn a_stall_at_the_end_is_not_divided_by() {
    let mock = Mock::new().latency(ms(10)).stall(ms(950), ms(20_000));
    let how = after(RampUp::Time(ms(100)), plain(2, ms(1000)));
    let outcome = super::run(Way::Loop, &mock, 2, Think::None, &how);
    assert!(outcome.total().service.max_us() > 15e6);
    let (per_s, done) = (
        outcome.operations_per_s().unwrap(),
        outcome.operations() as f64,
    );
    assert_eq!(outcome.elapsed, ms(1000));
    assert!((per_s - done).abs() <= 2.0, "{per_s} {done}");
}
