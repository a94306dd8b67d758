//! What driving a population costs: `cargo bench -p load --bench population`.
//!
//! With a connection for every user and no pauses it is meant to cost no more than stations do; that is
//! compared here, in pairs of which each side comes first in turn. Connections that answer at once show the
//! driver's own time, those behind sockets what is left of the difference in a real loop. Last, a large population.

use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use load::mock::Mock;
use load::{
    ConnectionPool, Done, Drive, End, NextOperation, NonblockingClient, Outcome, PopulationDrive,
    PopulationModel, RampUp, Schedule, Think, Turn, UserPopulation, drive_nonblocking,
    drive_population,
};

const CONNECTIONS: u32 = 16;
const PAIRS: usize = 15;
const BLOCK: Duration = Duration::from_millis(400);

static GO_ON: AtomicBool = AtomicBool::new(false);

/// Answers at once.
struct AtOnce(UnixStream);

impl AtOnce {
    fn new() -> std::io::Result<Self> {
        Ok(Self(UnixStream::pair()?.0))
    }
}

const DONE: Turn = Turn::Finished(Ok(Done {
    rows: 1,
    retries: 0,
    rolled_back: false,
}));

impl NonblockingClient for AtOnce {
    fn descriptor(&self) -> RawFd {
        self.0.as_raw_fd()
    }
    fn begin(&mut self, _request: load::Request) -> Turn {
        DONE
    }
    fn ready(&mut self) -> Turn {
        Turn::Reading
    }
}

/// Users of one kind who pause exponentially, in a way that needs no lock.
struct Flock {
    mean_ns: f64,
    draws: std::sync::atomic::AtomicU64,
}

impl Flock {
    fn new(mean: Duration) -> Self {
        Self {
            mean_ns: mean.as_nanos() as f64,
            draws: std::sync::atomic::AtomicU64::new(1),
        }
    }
}

impl UserPopulation for Flock {
    fn next_operation(&self, _user: u32) -> NextOperation {
        let pause_ns = match self.mean_ns > 0.0 {
            false => 0,
            true => {
                let draw = self
                    .draws
                    .fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                let bits = stats::random::mix(draw);
                stats::random::exponential_of(bits, self.mean_ns) as u64
            }
        };
        NextOperation { kind: 0, pause_ns }
    }
}

fn population(
    counters: Vec<Box<dyn NonblockingClient>>,
    users: u32,
    mean: Duration,
    window: Duration,
) -> Outcome {
    let counters = ConnectionPool::Nonblocking {
        pool: counters,
        replace: None,
    };
    let how = PopulationDrive {
        users,
        model: PopulationModel::Closed,
        ramp_up: Duration::from_millis(50),
        window,
        interval: Duration::from_secs(1),
        operation_limit: None,
        threads: 1..=1,
        seed: 1,
        entering: None,
        stop: &GO_ON,
        progress: None,
        clock: load::Clock::Monotonic,
    };
    drive_population(&Flock::new(mean), counters, 1, &how)
}

/// Driver's processor time of one operation, in nanoseconds.
fn crowd_ns(counters: Vec<Box<dyn NonblockingClient>>, users: u32) -> f64 {
    let outcome = population(counters, users, Duration::ZERO, BLOCK);
    let used = outcome.driver_threads.map_or(0, |used| used.cpu.as_nanos());
    used as f64 / outcome.operations() as f64
}

fn stations_ns(stations: Vec<Box<dyn NonblockingClient>>) -> f64 {
    let how = Drive {
        schedule: Schedule::Closed { think: Think::None },
        ramp_up: RampUp::Time(Duration::from_millis(50)),
        end: End::Time(BLOCK),
        interval: Duration::from_secs(1),
        seed: 1,
        stop: &GO_ON,
        progress: None,
        clock: load::Clock::Monotonic,
    };
    let outcome = drive_nonblocking(stations, 1..=1, &how);
    let used = outcome.driver_threads.map_or(0, |used| used.cpu.as_nanos());
    used as f64 / outcome.operations() as f64
}

/// Prints medians of both sides and of their ratio.
fn pairs(name: &str, one: impl Fn() -> f64, other: impl Fn() -> f64) {
    let (mut ones, mut others, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for pair in 0..PAIRS {
        let (a, b) = match pair % 2 {
            0 => {
                let a = one();
                (a, other())
            }
            _ => {
                let b = other();
                (one(), b)
            }
        };
        ones.push(a);
        others.push(b);
        ratios.push(a / b);
    }
    for values in [&mut ones, &mut others, &mut ratios] {
        values.sort_by(f64::total_cmp);
    }
    let middle = PAIRS / 2;
    println!(
        "{name}: population {:.0} ns, stations {:.0} ns of processor time for each operation; ratio {:.2} (quartiles {:.2} to {:.2})",
        ones[middle],
        others[middle],
        ratios[middle],
        ratios[PAIRS / 4],
        ratios[PAIRS - 1 - PAIRS / 4]
    );
}

fn main() -> std::io::Result<()> {
    let at_once = || AtOnce::new().expect("sixteen sockets are within any limit of descriptors");
    let counters = || -> Vec<Box<dyn NonblockingClient>> {
        (0..CONNECTIONS).map(|_| Box::new(at_once()) as _).collect()
    };
    let stations = || -> Vec<Box<dyn NonblockingClient>> {
        (0..CONNECTIONS).map(|_| Box::new(at_once()) as _).collect()
    };
    pairs(
        "answers at once, 16 users over 16 connections",
        || crowd_ns(counters(), CONNECTIONS),
        || stations_ns(stations()),
    );
    pairs(
        "answers at once, 5000 users over 16 connections",
        || crowd_ns(counters(), 5000),
        || stations_ns(stations()),
    );
    let mock = Mock::new();
    let count = CONNECTIONS as usize;
    pairs(
        "answers from sockets, 16 users over 16 connections",
        || crowd_ns(mock.nonblocking(count).unwrap_or_default(), CONNECTIONS),
        || stations_ns(mock.nonblocking(count).unwrap_or_default()),
    );
    let counters = Mock::new()
        .latency(Duration::from_millis(5))
        .nonblocking(64)?;
    let window = Duration::from_secs(10);
    let outcome = population(counters, 5000, Duration::from_secs(20), window);
    let status = std::fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find(|line| line.starts_with("VmHWM"));
    println!(
        "5000 users who pause for 20 s over 64 connections of 5 ms: {:.0}/s, late starts {:.2} % (at most {:?}), waiting p99 {:.0} us, driver's CPU {:.1} %, {}",
        outcome.operations_per_s().unwrap_or(0.0),
        outcome.late_starts_pct().unwrap_or(100.0),
        outcome.late_start_max,
        outcome.total().waiting.percentile_us(99.0),
        outcome
            .driver_threads
            .map_or(0.0, |used| 100.0 * used.cpu.as_secs_f64()
                / window.as_secs_f64()),
        peak.unwrap_or("VmHWM unknown"),
    );
    Ok(())
}
