//! Progress of the current point by intervals, taken from existing samples by a thread that exists only for
//! observers.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use archive::PointKey;
use archive::stream::{DeviceRates, OperationSnapshot, Snapshot};
use load::{KindCounts, Progress};

use crate::companion::during;
use crate::context::RunContext;
use crate::observer::Snapshots;
use crate::session_sampler::WaitsSeen;

/// No observer reads faster, however short the intervals of the series are.
const INTERVAL_MIN: Duration = Duration::from_millis(250);

pub(crate) struct Taker<'a> {
    context: &'a RunContext<'a>,
    sink: Snapshots,
    interval: Duration,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    current: Option<Current>,
    is_over: bool,
}

struct Current {
    key: PointKey,
    progress: Arc<Progress>,
    begun: Instant,
    taken: Instant,
    sample: Option<u64>,
    is_measuring: bool,
    /// Names of its kinds of operations, if there are several.
    operations: &'static [&'static str],
}

impl<'a> Taker<'a> {
    pub fn new(context: &'a RunContext<'a>, sink: Snapshots) -> Self {
        Self {
            context,
            sink,
            interval: context.interval.max(INTERVAL_MIN),
            state: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// Runs the thread during the work of a run.
    pub fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        let end = || {
            self.lock().is_over = true;
            self.changed.notify_all();
        };
        // Without the thread a run proceeds unobserved.
        let missing = "nobody can watch this run";
        during("snapshots", missing, || self.take_until_over(), end, work)
    }

    pub fn point_begins(
        &self,
        key: &PointKey,
        operations: &'static [&'static str],
        progress: &Arc<Progress>,
    ) {
        if let Some(waits) = &self.context.waits_seen {
            waits.forget();
        }
        let now = Instant::now();
        self.lock().current = Some(Current {
            key: key.clone(),
            progress: Arc::clone(progress),
            begun: now,
            taken: now,
            sample: None,
            is_measuring: false,
            operations,
        });
    }

    /// Reports the rest, so that nothing of a point is missing.
    pub fn point_ends(&self) {
        let Some(mut current) = self.lock().current.take() else {
            return;
        };
        // A second call settles the latest interval.
        for _ in 0..2 {
            if let Some(snapshot) = self.operations(&mut current) {
                // The point's part of the last interval is unknown here.
                (self.sink)(Snapshot {
                    length_s: 0.0,
                    ..snapshot
                });
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_until_over(&self) {
        let mut state = self.lock();
        let mut next = Instant::now() + self.interval;
        while !state.is_over {
            let pause = next.saturating_duration_since(Instant::now());
            if !pause.is_zero() {
                let waited = self.changed.wait_timeout(state, pause);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
                continue;
            }
            next = Instant::now() + self.interval;
            if let Some(current) = &mut state.current {
                let snapshot = self.snapshot(current);
                (self.sink)(snapshot);
            }
        }
    }

    fn snapshot(&self, current: &mut Current) -> Snapshot {
        let length_s = current.taken.elapsed().as_secs_f64();
        let waits_seen = self.context.waits_seen.as_ref();
        let observed = waits_seen.and_then(WaitsSeen::rate_per_s).map(|per_s| {
            current.taken = Instant::now();
            (per_s * length_s).round() as u64
        });
        let silent = Snapshot {
            at_s: current.begun.elapsed().as_secs_f64(),
            length_s,
            operations: observed.or(current.is_measuring.then_some(0)),
            users: current.key.jobs,
            cores: self.context.hardware_threads,
            ..Snapshot::default()
        };
        let mut snapshot = self.operations(current).unwrap_or(silent);
        if let Some(waits) = waits_seen {
            let waits = waits.take().into_iter();
            snapshot.waits = waits.map(|(class, n)| (class.into(), n)).collect();
        }
        let newest = self.context.samplers[current.key.target as usize].newest();
        if let Some((number, used)) = newest.filter(|(number, _)| current.sample != Some(*number)) {
            current.sample = Some(number);
            snapshot.host = used.samples.first().cloned();
            snapshot.devices = used.devices.iter().map(rates).collect();
        }
        snapshot
    }

    fn operations(&self, current: &mut Current) -> Option<Snapshot> {
        let counts = current.progress.take_intervals()?;
        current.is_measuring = true;
        current.taken = Instant::now();
        let total = counts.total();
        let named = current.operations.iter().zip(&counts.kinds);
        Some(Snapshot {
            at_s: current.begun.elapsed().as_secs_f64(),
            length_s: counts.length.as_secs_f64(),
            operations: Some(total.response.count()),
            errors: Some(total.errors),
            response_ns: total.response.filled().collect(),
            service_ns: total.service.filled().collect(),
            by_operation: named.map(|(name, kind)| of_operation(name, kind)).collect(),
            users: current.key.jobs,
            cores: self.context.hardware_threads,
            ..Snapshot::default()
        })
    }
}

fn of_operation(name: &str, kind: &KindCounts) -> OperationSnapshot {
    OperationSnapshot {
        operation: name.to_owned(),
        operations: kind.response.count(),
        errors: kind.errors,
        response_ns: kind.response.filled().collect(),
        service_ns: kind.service.filled().collect(),
    }
}

fn rates(device: &archive::DeviceUse) -> DeviceRates {
    DeviceRates {
        name: device.name.clone(),
        read_iops: device.read_iops(),
        write_iops: device.write_iops(),
        busy_pct: device.busy_pct,
    }
}
