//! The event loop against the programmed target behind sockets: what it gives is what threads give.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use load::mock::{Floor, Mock};
use load::{
    Arrivals, Done, Drive, End, Failure, JOBS_MAX, Outcome, RampUp, Schedule, Station, Think, Turn,
    drive_stations,
};

use super::{CLOSED, check, ms, open, plain, run};

const AN_HOUR: Duration = Duration::from_secs(3600);
const PROMPTLY: Duration = Duration::from_secs(10);

fn run_stations(mock: &Mock, count: usize, how: &Drive) -> Outcome {
    let outcome = drive_stations(mock.stations(count).unwrap(), 1..=1, how);
    check(&outcome);
    let used = outcome.driver_threads.unwrap();
    assert!(used.threads == 1 && used.cpu > Duration::ZERO && used.cpu == used.cpu_busiest);
    outcome
}

/// Everything of an outcome that does not depend on the clock.
fn counts(outcome: &Outcome) -> (u64, u64, u64, u64, u64, bool, usize, Vec<String>) {
    (
        outcome.operations,
        outcome.rows,
        outcome.retries,
        outcome.errors,
        outcome.unserved,
        outcome.interrupted,
        outcome.jobs.len(),
        outcome.error_messages.clone(),
    )
}

/// Every model, end and ramp-up that has a definite amount of work gives the same counts on threads and in the
/// loop.
#[test]
fn the_loop_agrees_with_threads() {
    let closed = |think| Schedule::Closed { think };
    let semi_open = Schedule::SemiOpen {
        sessions_per_s: 400.0,
        arrivals: Arrivals::Poisson,
        operations_per_session: 3,
        think: Think::Exponential { mean: ms(1) },
    };
    let poisson = Schedule::Open {
        rate_per_s: 800.0,
        arrivals: Arrivals::Poisson,
    };
    let work = End::Operations { per_job: 30 };
    let time = End::Time(ms(250));
    let fast = Mock::new().latency(Duration::from_micros(200));
    let cases = [
        (fast.clone(), 5, CLOSED, work, RampUp::None),
        (
            fast.clone(),
            5,
            CLOSED,
            work,
            RampUp::Operations { per_job: 7 },
        ),
        (
            fast.clone(),
            3,
            closed(Think::Constant(ms(2))),
            work,
            RampUp::None,
        ),
        (fast.clone(), 4, open(800.0), work, RampUp::Time(ms(100))),
        (fast.clone(), 4, open(800.0), time, RampUp::Time(ms(100))),
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
        (
            fast.clone().exhausted_after(5),
            3,
            CLOSED,
            work,
            RampUp::Operations { per_job: 9 },
        ),
        (fast.latency(ms(30)), 2, open(200.0), time, RampUp::None),
    ];
    for (case, (mock, count, schedule, end, ramp_up)) in cases.into_iter().enumerate() {
        let how = Drive {
            ramp_up,
            ..plain(schedule, end)
        };
        let threads = run(mock.sessions(count), &how);
        let in_loop = run_stations(&mock, count, &how);
        assert_eq!(counts(&threads), counts(&in_loop), "case {case}");
        for (one, other) in threads.jobs.iter().zip(&in_loop.jobs) {
            if matches!(schedule, Schedule::Closed { .. }) {
                assert_eq!(
                    (one.operations, one.waited),
                    (other.operations, other.waited),
                    "case {case}"
                );
            }
        }
    }
}

#[test]
fn think_times_wake_on_time() {
    let schedule = Schedule::Closed {
        think: Think::Constant(ms(20)),
    };
    let floor = Floor::watch();
    let outcome = run_stations(
        &Mock::new().latency(ms(2)),
        8,
        &plain(schedule, End::Operations { per_job: 10 }),
    );
    // Each operation of 2 ms has one wake-up before it; the error is its lateness beside them.
    let floor_pct = 100.0 * floor.end().lateness_ms_mean() / 2.0;
    for job in &outcome.jobs {
        assert_eq!(job.waited, ms(180));
        assert!(job.finish >= ms(200) && job.service >= ms(20), "{job:?}");
    }
    assert!(
        outcome.response.percentile_us(50.0) < 20e3,
        "no pause is in it"
    );
    let error_pct = outcome.little_error_pct().unwrap();
    assert!(
        error_pct < 20.0 + 2.0 * floor_pct,
        "{error_pct} %, {floor_pct} % of a thread that only waits"
    );
    // Eight clients that sleep are no work.
    assert!(outcome.driver_threads.unwrap().cpu < outcome.elapsed / 2);
}

/// Service and response times of the loop are those of the target: a stall of 300 ms is seen by whoever was
/// meant to start in it, and only there.
#[test]
fn a_stall_is_in_the_response_times_of_all_it_met() {
    let mock = Mock::new().latency(ms(1)).stall(ms(200), ms(300));
    let outcome = run_stations(&mock, 2, &plain(open(100.0), End::Time(ms(1000))));
    assert_eq!(outcome.operations, 100);
    assert!(outcome.service.max_us() >= 250e3);
    let met = outcome.response.count_above_us(50e3);
    assert!(
        (20..=45).contains(&met),
        "{met} of 100 waited, about 26 were meant to"
    );
    assert!(
        outcome.service.count_above_us(50e3) <= 4,
        "one of each client was under way"
    );
}

#[test]
fn the_stop_flag_ends_waiting_and_working_clients() {
    static STOP: AtomicBool = AtomicBool::new(false);
    let how = Drive {
        stop: &STOP,
        ..plain(open(20.0), End::Time(AN_HOUR))
    };
    let begin = Instant::now();
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(ms(200));
            STOP.store(true, Relaxed);
        });
        drive_stations(Mock::new().latency(ms(5)).stations(3).unwrap(), 1..=1, &how)
    });
    assert!(outcome.interrupted && outcome.fatal.is_none());
    assert!(
        (1..=40).contains(&outcome.operations),
        "{}",
        outcome.operations
    );
    assert!(begin.elapsed() < PROMPTLY);
}

#[test]
fn a_fatal_failure_stops_all_clients() {
    let begin = Instant::now();
    let mut stations = Mock::new().latency(ms(1)).stations(3).unwrap();
    stations.extend(Mock::new().fatal_at(4).stations(1).unwrap());
    let outcome = drive_stations(stations, 1..=1, &plain(CLOSED, End::Time(AN_HOUR)));
    assert_eq!(
        outcome.fatal.as_deref(),
        Some("the mock was told to give up at operation 4")
    );
    assert!(begin.elapsed() < PROMPTLY);
}

/// A server that ends while no operation is in hand is noticed at once.
#[test]
fn a_connection_that_breaks_while_its_client_thinks_is_noticed() {
    let schedule = Schedule::Closed {
        think: Think::Constant(AN_HOUR / 2),
    };
    let begin = Instant::now();
    let mut stations: Vec<Box<dyn Station>> = vec![Box::new(Breaks::new())];
    stations.extend(Mock::new().stations(1).unwrap());
    let outcome = drive_stations(stations, 1..=1, &plain(schedule, End::Time(AN_HOUR)));
    assert_eq!(outcome.fatal.as_deref(), Some("the server has gone"));
    assert!(begin.elapsed() < PROMPTLY);
}

/// Answers once, then its server closes the connection after a while.
struct Breaks {
    near: std::os::unix::net::UnixStream,
    far: Option<std::os::unix::net::UnixStream>,
}

impl Breaks {
    fn new() -> Self {
        let (near, far) = std::os::unix::net::UnixStream::pair().unwrap();
        Self {
            near,
            far: Some(far),
        }
    }
}

impl Station for Breaks {
    fn descriptor(&self) -> i32 {
        std::os::fd::AsRawFd::as_raw_fd(&self.near)
    }

    fn begin(&mut self, _index: u64) -> Turn {
        let far = self.far.take().expect("it is begun once");
        std::thread::spawn(move || {
            std::thread::sleep(ms(50));
            drop(far);
        });
        Turn::Finished(Ok(Done::default()))
    }

    fn ready(&mut self) -> Turn {
        Turn::Finished(Err(Failure::Fatal("the server has gone".into())))
    }
}

/// Operations that are over on the spot are no reason to starve the others, nor to overlook the end.
#[test]
fn operations_that_end_at_once_leave_the_others_their_turn() {
    struct AtOnce(std::os::unix::net::UnixStream);
    impl Station for AtOnce {
        fn descriptor(&self) -> i32 {
            std::os::fd::AsRawFd::as_raw_fd(&self.0)
        }
        fn begin(&mut self, index: u64) -> Turn {
            Turn::Finished(match index % 2 {
                0 => Err(Failure::Operation("odd".into())),
                _ => Ok(Done {
                    rows: 1,
                    retries: 0,
                    ..Done::default()
                }),
            })
        }
        fn ready(&mut self) -> Turn {
            Turn::Reading
        }
    }
    let (near, _far) = std::os::unix::net::UnixStream::pair().unwrap();
    let mut stations: Vec<Box<dyn Station>> = vec![Box::new(AtOnce(near))];
    stations.extend(Mock::new().latency(ms(1)).stations(1).unwrap());
    let outcome = drive_stations(stations, 1..=1, &plain(CLOSED, End::Time(ms(300))));
    check(&outcome);
    assert!(outcome.errors > 100 && outcome.jobs[0].operations > 100);
    assert!(outcome.jobs[1].operations > 10, "{:?}", outcome.jobs[1]);
}

/// A client that keeps its thread busy; when it is one of several, help comes, and nobody is lost.
struct Burns<'a> {
    socket: std::os::unix::net::UnixStream,
    begun: &'a AtomicU64,
}

impl Station for Burns<'_> {
    fn descriptor(&self) -> i32 {
        std::os::fd::AsRawFd::as_raw_fd(&self.socket)
    }

    fn begin(&mut self, _index: u64) -> Turn {
        let until = Instant::now() + Duration::from_micros(200);
        while Instant::now() < until {}
        self.begun.fetch_add(1, Relaxed);
        Turn::Finished(Ok(Done {
            rows: 1,
            retries: 0,
            ..Done::default()
        }))
    }

    fn ready(&mut self) -> Turn {
        Turn::Reading
    }
}

#[test]
fn a_saturated_thread_hands_half_of_its_clients_to_another() {
    let begun = AtomicU64::new(0);
    let drive = |most: usize, seconds: u64| {
        let mut far = Vec::new();
        let stations = (0..6).map(|_| {
            let (near, other) = std::os::unix::net::UnixStream::pair().unwrap();
            far.push(other);
            Box::new(Burns {
                socket: near,
                begun: &begun,
            }) as Box<dyn Station + '_>
        });
        let stations = stations.collect();
        let outcome = drive_stations(
            stations,
            1..=most,
            &plain(CLOSED, End::Time(ms(1000 * seconds))),
        );
        check(&outcome);
        assert_eq!(begun.swap(0, Relaxed), outcome.operations + outcome.errors);
        assert!(outcome.jobs.iter().all(|job| job.operations > 10));
        outcome.driver_threads.unwrap().threads
    };
    assert_eq!(drive(1, 1), 1, "nobody may help");
    // On a machine whose processors are all taken a thread may never look saturated for long.
    let threads = (0..20).map(|_| drive(2, 2)).find(|threads| *threads == 2);
    assert_eq!(threads, Some(2));
}

#[test]
fn several_threads_when_asked() {
    let stations = Mock::new().stations(5).unwrap();
    let how = Drive {
        ramp_up: RampUp::Operations { per_job: 3 },
        ..plain(CLOSED, End::Operations { per_job: 50 })
    };
    let outcome = drive_stations(stations, 3..=3, &how);
    check(&outcome);
    assert_eq!(outcome.operations, 250);
    assert_eq!(outcome.driver_threads.unwrap().threads, 3);
    assert!(outcome.jobs.iter().all(|job| job.operations == 50));
}

#[test]
fn what_cannot_be_driven_is_refused_or_done_at_once() {
    let nobody = drive_stations(Vec::new(), 1..=1, &plain(CLOSED, End::Time(AN_HOUR)));
    assert!(nobody.operations == 0 && nobody.started.is_none() && nobody.fatal.is_none());
    let nothing = plain(CLOSED, End::Operations { per_job: 0 });
    assert_eq!(run_stations(&Mock::new(), 2, &nothing).operations, 0);
    let bad = drive_stations(Vec::new(), 1..=1, &plain(open(-1.0), End::Time(AN_HOUR)));
    assert!(bad.fatal.unwrap().contains("cannot be scheduled"));
    let most: Vec<Box<dyn Station>> = (0..=JOBS_MAX)
        .map(|_| Box::new(Breaks::new()) as _)
        .collect();
    let many = drive_stations(most, 1..=1, &plain(CLOSED, End::Time(AN_HOUR)));
    assert!(many.fatal.unwrap().contains("at most"));
}

#[test]
fn a_panic_stops_the_drive_and_hangs_nobody() {
    struct Panics(std::os::unix::net::UnixStream);
    impl Station for Panics {
        fn descriptor(&self) -> i32 {
            std::os::fd::AsRawFd::as_raw_fd(&self.0)
        }
        fn begin(&mut self, _index: u64) -> Turn {
            panic!("told to")
        }
        fn ready(&mut self) -> Turn {
            Turn::Reading
        }
    }
    let (near, _far) = std::os::unix::net::UnixStream::pair().unwrap();
    let mut stations: Vec<Box<dyn Station>> = vec![Box::new(Panics(near))];
    stations.extend(Mock::new().stations(1).unwrap());
    let outcome = drive_stations(stations, 2..=2, &plain(CLOSED, End::Time(AN_HOUR)));
    assert!(outcome.fatal.unwrap().contains("told to"));
}
