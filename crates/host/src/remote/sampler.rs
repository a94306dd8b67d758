//! Samples another machine through one long-lived ssh process.
//!
//! Every snapshot is requested by number: by a thread on the schedule of the interval, and at the start and the end
//! of a window. A request does not wait, so that the start of a point is not late by a network round trip; the answer
//! carries the time at which it was taken, on the other machine's own clock.

use std::collections::{HashSet, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{ChildStdin, ChildStdout};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use archive::Remark;

use super::RemoteError;
use super::address::SshAddress;
use super::client::Client;
use super::sample::{END, MARK, Reader, Snapshot, script};
use crate::clock::{monotonic_ns, sleep_until};
use crate::counters::{Counters, InterfaceCounters};
use crate::interfaces;
use crate::sampler::{HostUse, SAMPLES_MAX, Schedule, Tick};
use crate::stack::Stack;

/// Interval at which the thread checks for a stop or a new mark.
const SLICE: Duration = Duration::from_millis(100);
/// Longest wait for the snapshot at the end of a window; a broken connection is noticed earlier.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(30);
/// Most unanswered requests before the schedule leaves ticks out.
const OUTSTANDING_MAX: u64 = 16;
/// Longest line and most lines of a snapshot; a thousand interfaces need less.
const LINE_BYTES_MAX: u64 = 4096;
const LINES_MAX: usize = 8192;

#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub address: SshAddress,
    /// Empty without figures of devices.
    pub devices: Stack,
    pub interfaces: Vec<String>,
    pub interval: Duration,
}

/// The start of a window: a snapshot of a connection.
#[derive(Debug)]
pub struct RemoteMark {
    connection: Result<Arc<Shared>, String>,
    number: u64,
    late: u64,
}

#[derive(Debug)]
pub struct RemoteSampler {
    plan: Plan,
    io_reason: Option<Remark>,
    connection: Mutex<Connection>,
}

#[derive(Debug)]
struct Connection {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    stop: AtomicBool,
    /// Time of the last mark: the schedule counts from there.
    anchor_ns: AtomicU64,
    late: AtomicU64,
    state: Mutex<State>,
    answered: Condvar,
}

#[derive(Debug, Default)]
struct State {
    input: Option<ChildStdin>,
    requested: u64,
    answered: u64,
    samples: VecDeque<(u64, Snapshot)>,
    /// Numbers of unanswered snapshots that start or end a window: only these store their interfaces.
    boundaries: HashSet<u64>,
    lost: Option<String>,
    /// It ends with the connection, so that nobody waits for a silent client.
    client: Option<Client>,
    first: Option<Snapshot>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Boundary,
    Series,
}

struct Window {
    samples: Vec<Counters>,
    /// Number of snapshots within the window that are no longer stored.
    lost: u64,
    interfaces: [Vec<InterfaceCounters>; 2],
}

impl RemoteSampler {
    /// Connects and starts sampling; returns after the first snapshot.
    pub(super) fn start(plan: Plan, io_reason: Option<Remark>) -> Result<Self, RemoteError> {
        let connection = Connection::open(&plan)?;
        let number = connection.shared.ask(Wanted::Boundary);
        let first = number.and_then(|number| connection.shared.wait_for(number));
        let first = first.map_err(|cause| RemoteError::Unreachable {
            address: plan.address.clone(),
            cause,
        })?;
        if first.counters.cpu.is_none() {
            return Err(RemoteError::NoCounters(plan.address));
        }
        let unseen = (plan.devices.first())
            .filter(|_| first.counters.disks.get(0).is_none())
            .map(|name| Remark::RemoteDeviceUncounted {
                address: plan.address.to_string(),
                device: name.to_owned(),
            });
        Ok(Self {
            plan,
            io_reason: io_reason.or(unseen),
            connection: Mutex::new(connection),
        })
    }

    /// Begins a window without waiting.
    pub fn mark(&self) -> RemoteMark {
        let shared = Arc::clone(&lock(&self.connection).shared);
        shared.anchor_ns.store(monotonic_ns(), Ordering::Release);
        let late = shared.late.load(Ordering::Acquire);
        match shared.ask(Wanted::Boundary) {
            Ok(number) => RemoteMark {
                connection: Ok(shared),
                number,
                late,
            },
            Err(reason) => RemoteMark {
                connection: Err(reason),
                number: 0,
                late: 0,
            },
        }
    }

    /// Ends the window that `mark` began. If the connection was lost in between, the figures are unknown, with the
    /// reason, and a new connection is made for the next window.
    pub fn finish(&self, mark: RemoteMark) -> HostUse {
        let RemoteMark {
            connection,
            number,
            late,
        } = mark;
        let window = connection.and_then(|shared| {
            let end = shared.ask(Wanted::Boundary)?;
            shared.wait_for(end)?;
            let cost_pct = shared.cost_pct();
            Ok((shared.window(number, end)?, shared, cost_pct))
        });
        match window {
            Ok((window, shared, cost_pct)) => {
                let interval_ns = self.plan.interval.as_nanos() as u64;
                let mut used = HostUse::of_window(&window.samples, interval_ns, &self.plan.devices);
                let [start, end] = &window.interfaces;
                let physical = &self.plan.interfaces;
                used.interfaces = interfaces::between(start, end, physical, used.rates.elapsed_s);
                used.samples_lost = window.lost;
                used.late_samples = shared.late.load(Ordering::Acquire).saturating_sub(late);
                used.io_reason = self.io_reason.clone();
                used.remark = Some(Remark::SampledRemotely {
                    address: self.plan.address.to_string(),
                    cost_pct,
                });
                used
            }
            Err(reason) => {
                self.connect_again();
                HostUse {
                    unknown: Some(Remark::RemoteUnknown {
                        address: self.plan.address.to_string(),
                        why: reason,
                    }),
                    ..HostUse::default()
                }
            }
        }
    }

    /// Processor time of the sampling on the machine so far, in percent of one processor.
    pub fn cost_pct(&self) -> Option<f64> {
        lock(&self.connection).shared.cost_pct()
    }

    /// A failure shows in the next window, whose figures are then unknown as well.
    fn connect_again(&self) {
        if let Ok(fresh) = Connection::open(&self.plan) {
            *lock(&self.connection) = fresh;
        }
    }
}

impl Connection {
    fn open(plan: &Plan) -> Result<Self, RemoteError> {
        let (client, pipes) = Client::start(&plan.address, &script(&plan.devices.names()))?;
        let shared = Arc::new(Shared {
            stop: AtomicBool::new(false),
            anchor_ns: AtomicU64::new(monotonic_ns()),
            late: AtomicU64::new(0),
            state: Mutex::new(State {
                input: Some(pipes.input),
                client: Some(client),
                ..State::default()
            }),
            answered: Condvar::new(),
        });
        let mut connection = Self {
            shared: Arc::clone(&shared),
            threads: Vec::new(),
        };
        let reader = Reader::new(plan.devices.names_summed(), &plan.interfaces);
        let output = pipes.output;
        connection.spawn("ssh samples", {
            let shared = Arc::clone(&shared);
            move || {
                let reason = read_samples(&shared, output, reader);
                shared.lose(reason);
            }
        })?;
        let interval_ns = plan.interval.as_nanos() as u64;
        connection.spawn("ssh schedule", move || {
            ask_on_schedule(&shared, interval_ns)
        })?;
        Ok(connection)
    }

    fn spawn(
        &mut self,
        name: &str,
        work: impl FnOnce() + Send + 'static,
    ) -> Result<(), RemoteError> {
        let thread = std::thread::Builder::new().name(name.into()).spawn(work);
        self.threads
            .push(thread.map_err(|cause| RemoteError::NoClient {
                program: "ssh".into(),
                cause,
            })?);
        Ok(())
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        self.shared.lose("the sampling was stopped".into());
        for thread in self.threads.drain(..) {
            // A panic of a thread has been printed; it costs samples, not the measurement.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn ask(&self, wanted: Wanted) -> Result<u64, String> {
        let mut state = lock(&self.state);
        if let Some(reason) = &state.lost {
            return Err(reason.clone());
        }
        let number = state.requested + 1;
        let Some(input) = state.input.as_mut() else {
            return Err("the connection is closed".into());
        };
        // So few bytes, with few requests outstanding, always fit into the pipe.
        if writeln!(input, "{number}").is_err() {
            state.input = None;
            drop(state);
            self.lose("the connection was lost".into());
            let state = lock(&self.state);
            return Err(state.lost.clone().unwrap_or_default());
        }
        state.requested = number;
        if wanted == Wanted::Boundary {
            state.boundaries.insert(number);
        }
        Ok(number)
    }

    fn wait_for(&self, number: u64) -> Result<Snapshot, String> {
        let until = Instant::now() + ANSWER_TIME_MAX;
        let mut state = lock(&self.state);
        loop {
            if state.answered >= number {
                let found = state.samples.iter().find(|(n, _)| *n == number);
                let odd =
                    || "the host printed no counters; dbdyno needs a Linux /proc on it".to_owned();
                return found.map(|(_, snapshot)| snapshot.clone()).ok_or_else(odd);
            }
            if let Some(reason) = &state.lost {
                return Err(reason.clone());
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(format!("no answer in {} s", ANSWER_TIME_MAX.as_secs()));
            }
            state = self
                .answered
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    fn window(&self, first: u64, last: u64) -> Result<Window, String> {
        let state = lock(&self.state);
        let inside: Vec<&(u64, Snapshot)> = state
            .samples
            .iter()
            .filter(|(n, _)| (first..=last).contains(n))
            .collect();
        match inside[..] {
            [(number, start), .., (_, end)] if *number == first => Ok(Window {
                samples: inside.iter().map(|(_, s)| s.counters).collect(),
                lost: last - first + 1 - inside.len() as u64,
                interfaces: [start, end].map(|boundary| boundary.interfaces.clone()),
            }),
            _ => Err("the point was too long: its first snapshot is no longer stored".into()),
        }
    }

    fn cost_pct(&self) -> Option<f64> {
        let state = lock(&self.state);
        let (first, (_, last)) = (state.first.as_ref()?, state.samples.back()?);
        let elapsed_ns = last.counters.at_ns.checked_sub(first.counters.at_ns)?;
        let cost_s = last.cost_s? - first.cost_s?;
        (elapsed_ns > 0).then(|| 100.0 * cost_s / (elapsed_ns as f64 / 1e9))
    }

    fn lose(&self, reason: String) {
        let (client, input) = {
            let mut state = lock(&self.state);
            let ended = (state.client.take(), state.input.take());
            if state.lost.is_none() && ended.0.is_none() {
                state.lost = Some(reason.clone());
            }
            ended
        };
        drop(input);
        if let Some(mut client) = client {
            let words = client.last_words();
            lock(&self.state).lost = Some(format!("{reason} ({words})"));
        }
        self.answered.notify_all();
    }
}

fn read_samples(shared: &Shared, output: ChildStdout, mut reader: Reader) -> String {
    let mut output = BufReader::new(output);
    let mut lines: Vec<String> = Vec::new();
    let mut begun = false;
    loop {
        let mut bytes = Vec::new();
        match output
            .by_ref()
            .take(LINE_BYTES_MAX)
            .read_until(b'\n', &mut bytes)
        {
            Ok(0) => return "the connection was closed".into(),
            Ok(_) => {}
            Err(error) => return format!("the connection was lost: {error}"),
        }
        let line = String::from_utf8_lossy(&bytes);
        let line = line.trim_end_matches('\n');
        let end = line
            .strip_prefix(END)
            .and_then(|number| number.parse().ok());
        match end {
            _ if !begun => begun = line == MARK,
            Some(number) => {
                shared.keep(number, reader.read(&lines));
                lines.clear();
            }
            None if lines.len() < LINES_MAX => lines.push(line.to_owned()),
            None => return "the host printed more than counters".into(),
        }
    }
}

impl Shared {
    fn keep(&self, number: u64, snapshot: Option<Snapshot>) {
        let mut state = lock(&self.state);
        let is_boundary = state.boundaries.remove(&number);
        if let Some(mut snapshot) = snapshot {
            if !is_boundary {
                snapshot.interfaces = Vec::new();
            }
            state.first.get_or_insert_with(|| snapshot.clone());
            if state.samples.len() == SAMPLES_MAX {
                state.samples.pop_front();
            }
            state.samples.push_back((number, snapshot));
        }
        state.answered = number;
        drop(state);
        self.answered.notify_all();
    }
}

fn ask_on_schedule(shared: &Shared, interval_ns: u64) {
    let mut schedule = Schedule::new(shared.anchor_ns.load(Ordering::Acquire), interval_ns);
    while !shared.stop.load(Ordering::Acquire) {
        schedule.follow(shared.anchor_ns.load(Ordering::Acquire));
        match schedule.poll(monotonic_ns()) {
            Tick::Wait { until_ns } => {
                let slice_end_ns = monotonic_ns() + SLICE.as_nanos() as u64;
                sleep_until(until_ns.min(slice_end_ns));
            }
            Tick::Due { late } => {
                let outstanding = {
                    let state = lock(&shared.state);
                    state.requested - state.answered.min(state.requested)
                };
                let is_slow = outstanding >= OUTSTANDING_MAX;
                shared
                    .late
                    .fetch_add(late + u64::from(is_slow), Ordering::AcqRel);
                if !is_slow && shared.ask(Wanted::Series).is_err() {
                    return;
                }
            }
        }
    }
}

/// Locks despite a panic elsewhere: every value is consistent at any time.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
