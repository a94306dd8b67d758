//! What stops a drive, and what is refused.

use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use load::mock::Mock;
use load::{
    Arrivals, Counter, Counters, Crowd, CrowdDrive, CrowdModel, Done, Errand, Failure, Teller,
    Think, Turn, drive_crowd,
};

use super::{AN_HOUR, Flock, KINDS, Log, PROMPTLY, WAYS, Way, connections, ms, plain, run};

#[test]
fn the_stop_flag_ends_who_waits_and_who_works() {
    for way in WAYS {
        for think in [Think::None, Think::Constant(AN_HOUR)] {
            let stop = AtomicBool::new(false);
            let how = CrowdDrive {
                stop: &stop,
                ..plain(30, AN_HOUR)
            };
            let begin = Instant::now();
            let outcome = std::thread::scope(|scope| {
                scope.spawn(|| {
                    std::thread::sleep(ms(300));
                    stop.store(true, Relaxed);
                });
                run(way, &Mock::new().latency(ms(2)), 3, think, &how)
            });
            assert!(outcome.interrupted && outcome.fatal.is_none());
            assert!(begin.elapsed() < PROMPTLY && outcome.elapsed < PROMPTLY);
            assert!(outcome.elapsed >= ms(100), "{:?}", outcome.elapsed);
            assert_eq!(outcome.completed() > 0, think == Think::None);
        }
    }
}

#[test]
fn a_fatal_failure_stops_everyone() {
    for way in WAYS {
        let begin = Instant::now();
        let log = Log::default();
        let mock = Mock::new().latency(ms(1)).fatal_at(20);
        let flock = Flock::new(9, Think::None);
        let counters = connections(way, &mock, 3, &log);
        let outcome = drive_crowd(&flock, counters, KINDS, &plain(9, AN_HOUR));
        let why = outcome.fatal.unwrap();
        assert_eq!(why, "the mock was told to give up at operation 20");
        assert!(begin.elapsed() < PROMPTLY && !outcome.interrupted);
    }
}

#[test]
fn a_panic_stops_the_drive_and_hangs_nobody() {
    let (log, flock) = (Log::default(), Flock::new(9, Think::None));
    let mock = Mock::new().latency(ms(1)).panic_at(20);
    let tellers = connections(Way::Threads, &mock, 3, &log);
    let outcome = drive_crowd(&flock, tellers, KINDS, &plain(9, AN_HOUR));
    assert!(outcome.fatal.unwrap().contains("told to panic"));
}

/// A server that ends while nothing is asked of it.
struct Gone(UnixStream);

impl Counter for Gone {
    fn descriptor(&self) -> i32 {
        self.0.as_raw_fd()
    }
    fn begin(&mut self, _user: u32, _kind: u8) -> Turn {
        Turn::Finished(Ok(Done::default()))
    }
    fn ready(&mut self) -> Turn {
        Turn::Finished(Err(Failure::Fatal("the server has gone".into())))
    }
}

#[test]
fn a_server_that_ends_while_all_pause_is_noticed() {
    let (near, far) = UnixStream::pair().unwrap();
    let counters = Counters::Nonblocking {
        counters: vec![Box::new(Gone(near))],
        replace: None,
    };
    let begin = Instant::now();
    let outcome = std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(ms(200));
            drop(far);
        });
        let flock = Flock::new(3, Think::Constant(AN_HOUR));
        drive_crowd(&flock, counters, KINDS, &plain(3, AN_HOUR))
    });
    assert_eq!(outcome.fatal.as_deref(), Some("the server has gone"));
    assert!(begin.elapsed() < PROMPTLY);
}

/// Serves every user three times.
struct Thrice<'a>(&'a [AtomicU64]);

impl Teller for Thrice<'_> {
    fn serve(&mut self, user: u32, _kind: u8) -> Result<Done, Failure> {
        match self.0[user as usize].fetch_add(1, Relaxed) {
            0..3 => Ok(Done::default()),
            _ => Err(Failure::Exhausted),
        }
    }
}

#[test]
fn users_without_work_leave_and_the_window_is_kept() {
    let served: Vec<AtomicU64> = (0..10).map(|_| AtomicU64::new(0)).collect();
    let tellers = (0..4).map(|_| Box::new(Thrice(&served)) as Box<dyn Teller>);
    let flock = Flock::new(10, Think::Constant(ms(5)));
    let counters = Counters::Blocking(tellers.collect());
    let outcome = drive_crowd(&flock, counters, KINDS, &plain(10, ms(600)));
    assert_eq!((outcome.completed(), outcome.errors()), (30, 0));
    assert!(served.iter().all(|times| times.load(Relaxed) == 4));
    assert_eq!((outcome.elapsed, outcome.unfinished), (ms(600), 0));
}

/// Asks for a kind that there is not.
struct Astray;

impl Crowd for Astray {
    fn errand(&self, user: u32) -> Errand {
        Errand {
            kind: KINDS as u8 + u8::from(user == 0) - 1,
            pause_ns: 0,
        }
    }
}

#[test]
fn what_cannot_be_driven_is_refused_in_one_sentence() {
    let log = Log::default();
    let refusal = |count, kinds, how: &CrowdDrive| {
        let counters = connections(Way::Threads, &Mock::new(), count, &log);
        let outcome = drive_crowd(&Flock::new(1, Think::None), counters, kinds, how);
        outcome.fatal.unwrap()
    };
    let good = plain(1, AN_HOUR);
    assert!(refusal(0, 1, &good).contains("over 0 connections"));
    assert!(refusal(1, 0, &good).contains("0 kinds"));
    assert!(refusal(1, 99, &good).contains("99 kinds"));
    assert!(refusal(1, 1, &plain(0, AN_HOUR)).contains("a crowd of 0 users"));
    assert!(refusal(1, 1, &plain(2_000_000, AN_HOUR)).contains("2000000 users"));
    assert!(refusal(1, 1, &plain(1, Duration::ZERO)).contains("no length"));
    let impossible = CrowdDrive {
        model: CrowdModel::Open {
            rate_per_s: f64::NAN,
            arrivals: Arrivals::Poisson,
        },
        ..good
    };
    assert!(refusal(1, 1, &impossible).contains("cannot be scheduled"));
    for way in WAYS {
        let counters = connections(way, &Mock::new().latency(ms(1)), 2, &log);
        let outcome = drive_crowd(&Astray, counters, KINDS, &plain(5, AN_HOUR));
        assert!(
            outcome
                .fatal
                .unwrap()
                .contains("operation 3 of kinds 0 to 2")
        );
    }
}
