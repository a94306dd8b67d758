//! Cost of driving a population: `cargo bench -p load --bench population`.
//!
//! With a connection for every user and no pauses it must cost no more than jobs do; the pairs compared here
//! alternate the order of the sides. Connections that answer at once show the driver's own time, those over sockets
//! the rest of the difference in a real loop. The last case is a large population.

use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use load::mock::Mock;
use load::{
    Clients, Done, Drive, End, NextOperation, NonblockingClient, Outcome, RampUp, Turn,
    UserPopulation, Users, drive,
};

const CONNECTIONS: u32 = 16;
const PAIRS: usize = 15;
const BLOCK: Duration = Duration::from_millis(400);

static GO_ON: AtomicBool = AtomicBool::new(false);

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

/// Users of one kind with exponential pauses, drawn without a lock.
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
        let pause_ns = if self.mean_ns > 0.0 {
            let draw = self
                .draws
                .fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let bits = stats::random::mix(draw);
            stats::random::exponential_of(bits, self.mean_ns) as u64
        } else {
            0
        };
        NextOperation { kind: 0, pause_ns }
    }
}

fn population(
    clients: Vec<Box<dyn NonblockingClient>>,
    users: u32,
    mean: Duration,
    window: Duration,
) -> Outcome {
    let population = Flock::new(mean);
    let how = Drive {
        users: Users::Population {
            count: users,
            kinds: 1,
            population: &population,
        },
        ramp_up: RampUp::Time(Duration::from_millis(50)),
        ..Drive::of_jobs(End::Time(window), &GO_ON)
    };
    drive(Clients::nonblocking(clients), &how)
}

fn cpu_ns(outcome: &Outcome) -> f64 {
    let used = outcome.driver_threads.map_or(0, |used| used.cpu.as_nanos());
    used as f64 / outcome.operations() as f64
}

fn population_ns(clients: Vec<Box<dyn NonblockingClient>>, users: u32) -> f64 {
    cpu_ns(&population(clients, users, Duration::ZERO, BLOCK))
}

fn jobs_ns(clients: Vec<Box<dyn NonblockingClient>>) -> f64 {
    let how = Drive {
        ramp_up: RampUp::Time(Duration::from_millis(50)),
        ..Drive::of_jobs(End::Time(BLOCK), &GO_ON)
    };
    cpu_ns(&drive(Clients::nonblocking(clients), &how))
}

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
        "{name}: population {:.0} ns, jobs {:.0} ns of processor time for each operation; ratio {:.2} (quartiles {:.2} to {:.2})",
        ones[middle],
        others[middle],
        ratios[middle],
        ratios[PAIRS / 4],
        ratios[PAIRS - 1 - PAIRS / 4]
    );
}

fn main() -> std::io::Result<()> {
    let at_once = || AtOnce::new().expect("sixteen sockets are within any limit of descriptors");
    let clients = || -> Vec<Box<dyn NonblockingClient>> {
        (0..CONNECTIONS).map(|_| Box::new(at_once()) as _).collect()
    };
    pairs(
        "answers at once, 16 users over 16 connections",
        || population_ns(clients(), CONNECTIONS),
        || jobs_ns(clients()),
    );
    pairs(
        "answers at once, 5000 users over 16 connections",
        || population_ns(clients(), 5000),
        || jobs_ns(clients()),
    );
    let mock = Mock::new();
    let count = CONNECTIONS as usize;
    pairs(
        "answers from sockets, 16 users over 16 connections",
        || population_ns(mock.nonblocking(count).unwrap_or_default(), CONNECTIONS),
        || jobs_ns(mock.nonblocking(count).unwrap_or_default()),
    );
    let clients = Mock::new()
        .latency(Duration::from_millis(5))
        .nonblocking(64)?;
    let window = Duration::from_secs(10);
    let outcome = population(clients, 5000, Duration::from_secs(20), window);
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
