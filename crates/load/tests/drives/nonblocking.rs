//! The event loop against the programmed target over sockets: its outcome equals that of threads.

use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use load::mock::Mock;
use load::{
    Arrivals, Clock, Done, Drive, End, Failure, JOBS_MAX, NonblockingClient, Outcome, RampUp,
    Schedule, Think, Turn, VirtualClock,
};

use super::{
    AN_HOUR, CLOSED, after, assert_us, check_virtual, in_loops, ms, nonblocking, on, open, plain,
    run, run_nonblocking, sessions, us,
};

/// All figures of an outcome in which the two ways of driving agree to the nanosecond.
fn figures(outcome: &Outcome) -> impl PartialEq + std::fmt::Debug {
    let buckets = |of: &stats::Histogram| of.buckets_us().collect::<Vec<_>>();
    (
        (outcome.operations(), outcome.rows(), outcome.retries()),
        (outcome.errors(), outcome.unserved, outcome.interrupted),
        (outcome.clients.len(), outcome.error_messages.clone()),
        (
            buckets(&outcome.total().service),
            buckets(&outcome.total().response),
        ),
        (outcome.elapsed, outcome.intervals.clone()),
    )
}

#[test]
fn the_loop_agrees_with_threads() {
    let closed = |think| Schedule::Closed { think };
    let semi_open = Schedule::SemiOpen {
        sessions_per_s: 400.0,
        arrivals: Arrivals::Poisson,
        operations_per_session: 3,
        think: Think::Constant(ms(1)),
    };
    let poisson = Schedule::Open {
        rate_per_s: 800.0,
        arrivals: Arrivals::Poisson,
    };
    let work = End::Operations { per_job: 30 };
    let time = End::Time(ms(250));
    let ramp_up = RampUp::Operations { per_job: 7 };
    let timed = RampUp::Time(ms(100));
    let pauses = closed(Think::Constant(ms(2)));
    let fast = Mock::new().latency(us(200));
    let cases = [
        (fast.clone(), 5, CLOSED, work, RampUp::None),
        (fast.clone(), 5, CLOSED, work, ramp_up),
        (fast.clone(), 5, CLOSED, time, timed),
        (fast.clone(), 3, pauses, work, RampUp::None),
        (fast.clone(), 3, pauses, time, timed),
        (fast.clone(), 4, open(800.0), work, timed),
        (fast.clone(), 4, open(800.0), time, timed),
        (fast.clone(), 4, poisson, time, RampUp::None),
        (fast.clone(), 6, semi_open, work, RampUp::None),
        (fast.clone().error_every(10), 3, CLOSED, work, RampUp::None),
        (
            fast.clone().exhausted_after(11),
            3,
            CLOSED,
            work,
            RampUp::None,
        ),
        (fast.clone().exhausted_after(5), 3, CLOSED, work, ramp_up),
        (fast.latency(ms(30)), 2, open(200.0), time, RampUp::None),
    ];
    for (case, (mock, count, schedule, end, ramp_up)) in cases.into_iter().enumerate() {
        let how = after(ramp_up, plain(schedule, end));
        let threads = run(&how, sessions(mock.clone(), count));
        let in_loop = run_nonblocking(&how, nonblocking(mock, count));
        assert_eq!(figures(&threads), figures(&in_loop), "case {case}");
        for (one, other) in threads.clients.iter().zip(&in_loop.clients) {
            if matches!(schedule, Schedule::Closed { .. }) {
                assert_eq!(one.operations, other.operations, "case {case}");
                assert_eq!(one.idle, other.idle, "case {case}");
                assert_eq!(one.service, other.service, "case {case}");
                assert_eq!(one.finish, other.finish, "case {case}");
            }
        }
    }
}

/// Service and response times of the loop are those of the target: of ticks every 10 ms those from 200 to 490 ms fall
/// into a stall of 300 ms, and the two clients each have one in progress.
#[test]
fn a_stall_is_in_the_response_times_of_all_it_met() {
    let mock = Mock::new().latency(ms(1)).stall(ms(200), ms(300));
    let outcome = run_nonblocking(
        &plain(open(100.0), End::Time(ms(1000))),
        nonblocking(mock, 2),
    );
    assert_eq!(outcome.operations(), 100);
    assert_us(outcome.total().response.max_us(), ms(301));
    assert_eq!(outcome.total().service.count_above_us(1.1e3), 2);
    // Two are done every millisecond from 501 ms on: number k of them after 301 + ⌊k/2⌋ − 10k ms.
    assert_eq!(outcome.total().response.count_above_us(50e3), 27);
}

/// Arrivals every 50 ms of an operation of 5; the flag is set 200 ms after the clock began, 198.98 into the drive.
#[test]
fn the_stop_flag_ends_waiting_and_working_clients() {
    let (clock, time) = Clock::new_virtual();
    let stop = Arc::new(AtomicBool::new(false));
    let pulled = Arc::clone(&stop);
    time.at(ms(200), move || pulled.store(true, Relaxed));
    let nonblocking = Mock::new()
        .on(&clock)
        .latency(ms(5))
        .nonblocking(3)
        .unwrap();
    let how = Drive {
        stop: &stop,
        clock,
        ..plain(open(20.0), End::Time(AN_HOUR))
    };
    let outcome = in_loops(nonblocking, 1..=1, &how);
    assert!(outcome.interrupted && outcome.fatal.is_none());
    assert_eq!(outcome.operations(), 4);
    assert_eq!(time.elapsed(), ms(200), "an event wakes the loop");
}

#[test]
fn a_fatal_failure_stops_all_clients() {
    let outcome = run_nonblocking(&plain(CLOSED, End::Time(AN_HOUR)), |clock| {
        let mock = Mock::new().on(clock).latency(ms(1));
        let mut all = mock.nonblocking(3).unwrap();
        all.extend(mock.fatal_at(4).nonblocking(1).unwrap());
        all
    });
    assert_eq!(
        outcome.fatal.as_deref(),
        Some("the mock gives up at operation 4")
    );
    // It fails after 4 ms; the operations of the others then end with the fifth.
    assert_eq!(outcome.elapsed, ms(5));
}

/// The end of a server is noticed at once, also without an operation in progress.
#[test]
fn a_connection_that_breaks_while_its_client_thinks_is_noticed() {
    let schedule = Schedule::Closed {
        think: Think::Constant(AN_HOUR / 2),
    };
    let (clock, time) = Clock::new_virtual();
    let mut all: Vec<Box<dyn NonblockingClient>> = vec![Box::new(Breaks::after(ms(50), &time))];
    all.extend(Mock::new().on(&clock).nonblocking(1).unwrap());
    let how = on(clock, plain(schedule, End::Time(AN_HOUR)));
    let outcome = in_loops(all, 1..=1, &how);
    assert_eq!(outcome.fatal.as_deref(), Some("the server has gone"));
    assert_eq!(time.elapsed(), ms(50));
}

/// Answers at once; its server closes the connection at a time of the clock.
struct Breaks(UnixStream);

impl Breaks {
    fn after(elapsed: std::time::Duration, time: &VirtualClock) -> Self {
        let (near, far) = UnixStream::pair().unwrap();
        time.at(elapsed, move || drop(far));
        Self(near)
    }
}

impl NonblockingClient for Breaks {
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

struct Unconnected;

impl NonblockingClient for Unconnected {
    fn descriptor(&self) -> i32 {
        -1
    }

    fn begin(&mut self, _request: load::Request) -> Turn {
        panic!("the drive was to be refused")
    }

    fn ready(&mut self) -> Turn {
        panic!("the drive was to be refused")
    }
}

/// Pauses twice in each operation; meanwhile its server sends data at once.
struct Pauses {
    near: UnixStream,
    far: UnixStream,
    left: u32,
}

impl NonblockingClient for Pauses {
    fn descriptor(&self) -> i32 {
        self.near.as_raw_fd()
    }

    fn begin(&mut self, _request: load::Request) -> Turn {
        self.left = 1;
        self.far.write_all(b"x").unwrap();
        Turn::Pausing(ms(3))
    }

    fn ready(&mut self) -> Turn {
        match std::mem::take(&mut self.left) {
            0 => Turn::Finished(Ok(Done::default())),
            _ => Turn::Pausing(ms(4)),
        }
    }
}

/// A pause lasts its time whatever comes from the server, and others work meanwhile.
#[test]
fn an_operation_pauses_as_long_as_it_says() {
    let pauses = || -> Box<dyn NonblockingClient> {
        let (near, far) = UnixStream::pair().unwrap();
        Box::new(Pauses { near, far, left: 0 })
    };
    for others in [0, 1] {
        let (clock, _) = Clock::new_virtual();
        let mut all = vec![pauses()];
        let other = Mock::new().on(&clock).latency(ms(1));
        all.extend(other.nonblocking(others).unwrap());
        let how = Drive {
            clock,
            ramp_up: RampUp::Operations { per_job: 2 },
            ..plain(CLOSED, End::Time(ms(70)))
        };
        let outcome = in_loops(all, 1..=1, &how);
        super::check(&outcome);
        assert_eq!(outcome.clients[0].operations, 10);
        let others: Vec<u64> = outcome.clients[1..].iter().map(|c| c.operations).collect();
        assert_eq!(others, vec![70; others.len()]);
    }
}

/// Takes a microsecond on the loop's own thread, and fails every other time.
struct AtOnce(UnixStream, Arc<VirtualClock>);

impl NonblockingClient for AtOnce {
    fn descriptor(&self) -> i32 {
        self.0.as_raw_fd()
    }

    fn begin(&mut self, request: load::Request) -> Turn {
        let index = request.index;
        self.1.work(us(1));
        Turn::Finished(match index % 2 {
            0 => Err(Failure::Operation("odd".into())),
            _ => Ok(Done::default()),
        })
    }

    fn ready(&mut self) -> Turn {
        Turn::Reading
    }
}

/// Operations that are over at once must not starve the others, nor hide the end.
#[test]
fn operations_that_end_at_once_leave_the_others_their_turn() {
    let (near, _far) = UnixStream::pair().unwrap();
    let (clock, time) = Clock::new_virtual();
    let mut all: Vec<Box<dyn NonblockingClient>> = vec![Box::new(AtOnce(near, time))];
    all.extend(
        Mock::new()
            .on(&clock)
            .latency(ms(1))
            .nonblocking(1)
            .unwrap(),
    );
    let how = on(clock, plain(CLOSED, End::Time(ms(300))));
    let outcome = in_loops(all, 1..=1, &how);
    super::check(&outcome);
    assert_eq!(outcome.errors(), 150_000);
    assert_eq!(outcome.clients[0].operations, 150_000);
    // The answer of the other may wait for the operation in progress, of a microsecond.
    assert_eq!(outcome.clients[1].operations, 300);
    assert!(outcome.total().response.max_us() < 1.01e3);
}

#[test]
fn several_threads_on_request() {
    let (clock, _) = Clock::new_virtual();
    let nonblocking = Mock::new()
        .on(&clock)
        .latency(ms(1))
        .nonblocking(5)
        .unwrap();
    let how = Drive {
        ramp_up: RampUp::Operations { per_job: 3 },
        clock,
        ..plain(CLOSED, End::Operations { per_job: 50 })
    };
    let outcome = in_loops(nonblocking, 3..=3, &how);
    check_virtual(&outcome);
    assert_eq!((outcome.operations(), outcome.elapsed), (250, ms(50)));
    assert_eq!(outcome.driver_threads.unwrap().threads, 3);
    assert!(outcome.clients.iter().all(|job| job.operations == 50));
}

#[test]
fn what_cannot_be_driven_is_refused_or_done_at_once() {
    let nobody = run_nonblocking(&plain(CLOSED, End::Time(AN_HOUR)), |_| Vec::new());
    assert!(nobody.operations() == 0 && nobody.started.is_none() && nobody.fatal.is_none());
    let nothing = plain(CLOSED, End::Operations { per_job: 0 });
    assert_eq!(
        run_nonblocking(&nothing, nonblocking(Mock::new(), 2)).operations(),
        0
    );
    let bad = run_nonblocking(&plain(open(-1.0), End::Time(AN_HOUR)), |_| Vec::new());
    assert!(bad.fatal.unwrap().contains("cannot be scheduled"));
    let many = run_nonblocking(&plain(CLOSED, End::Time(AN_HOUR)), |_| {
        let one = |_| Box::new(Unconnected) as _;
        (0..=JOBS_MAX).map(one).collect()
    });
    assert!(many.fatal.unwrap().contains("at most"));
}

#[test]
fn a_panic_stops_the_drive_and_hangs_nobody() {
    struct Panics(UnixStream);
    impl NonblockingClient for Panics {
        fn descriptor(&self) -> i32 {
            self.0.as_raw_fd()
        }
        fn begin(&mut self, _request: load::Request) -> Turn {
            panic!("on purpose")
        }
        fn ready(&mut self) -> Turn {
            Turn::Reading
        }
    }
    let (near, _far) = UnixStream::pair().unwrap();
    let (clock, time) = Clock::new_virtual();
    let mut all: Vec<Box<dyn NonblockingClient>> = vec![Box::new(Panics(near))];
    all.extend(
        Mock::new()
            .on(&clock)
            .latency(ms(1))
            .nonblocking(1)
            .unwrap(),
    );
    let how = on(clock, plain(CLOSED, End::Time(AN_HOUR)));
    let outcome = in_loops(all, 2..=2, &how);
    assert!(outcome.fatal.unwrap().contains("on purpose"));
    assert!(time.elapsed() < ms(10), "{time:?}");
}
