//! A thread that samples the counters on a schedule, and windows of its samples.
//!
//! The averages of a window come from two snapshots taken at its boundaries and are exact whatever the thread did;
//! peaks, percentiles and the series come from the thread's samples.

mod host_use;
mod schedule;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use archive::Remark;

use crate::block::RequestLog;
use crate::clock::{monotonic_ns, sleep_until};
use crate::counters::{Counters, InterfaceCounters, Reader};
use crate::interfaces;
use crate::stack::Stack;
use crate::thread_time::thread_cpu_ns;

pub use host_use::HostUse;
pub(crate) use schedule::{Schedule, Tick};

/// Most samples that are stored: nine hours at one a second, 12 MB. A longer window loses its oldest.
pub(crate) const SAMPLES_MAX: usize = 1 << 15;

/// Interval at which the thread checks for a stop or a new mark.
const SLICE: Duration = Duration::from_millis(100);

const INTERVAL_MIN: Duration = Duration::from_millis(10);
const INTERVAL_MAX: Duration = Duration::from_secs(3600);

#[derive(Debug, Clone)]
pub struct SamplerOptions {
    pub interval: Duration,
    /// Block devices of the target; empty if they are unknown.
    pub devices: Stack,
    /// Timer of their requests; the samples cut it into intervals.
    pub requests: Option<Arc<RequestLog>>,
    pub root: PathBuf,
}

impl Default for SamplerOptions {
    fn default() -> Self {
        Self {
            interval: Duration::from_secs(1),
            devices: Stack::default(),
            requests: None,
            root: PathBuf::from("/"),
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum SamplerError {
    #[error("a sampling interval of {0:?} is not possible; choose 10 ms to 1 hour")]
    Interval(Duration),
    #[error("{} does not contain the processor counters; dbdyno needs a Linux /proc", .0.display())]
    NoCounters(PathBuf),
    #[error("the sampler's thread cannot be started ({0}); raise the limit of processes")]
    Thread(std::io::Error),
}

#[derive(Debug, Clone)]
pub struct Mark {
    counters: Counters,
    interfaces: Vec<InterfaceCounters>,
    taken: u64,
    late: u64,
    cpu_ns: u64,
}

#[derive(Debug)]
pub struct Sampler {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    interval_ns: u64,
    devices: Stack,
    requests: Option<Arc<RequestLog>>,
    io_reason: Option<Remark>,
    stop: AtomicBool,
    /// Time of the last mark: the schedule counts from there.
    anchor_ns: AtomicU64,
    /// Ticks that came more than half an interval late, or not at all.
    late: AtomicU64,
    cpu_ns: AtomicU64,
    reader: Mutex<Reader>,
    buffer: Mutex<SampleBuffer>,
}

#[derive(Debug, Default)]
struct SampleBuffer {
    samples: VecDeque<Counters>,
    /// Number of all samples taken, including those no longer stored.
    taken: u64,
}

impl Sampler {
    /// Starts the thread. Fails if the interval is out of bounds, there is no `/proc`, or the thread cannot be
    /// started.
    pub fn start(options: SamplerOptions) -> Result<Self, SamplerError> {
        let SamplerOptions {
            interval,
            devices,
            requests,
            root,
        } = options;
        if !(INTERVAL_MIN..=INTERVAL_MAX).contains(&interval) {
            return Err(SamplerError::Interval(interval));
        }
        let mut reader = Reader::with_devices(&root, devices.names_summed());
        let first = reader.snapshot();
        if first.cpu.is_none() {
            return Err(SamplerError::NoCounters(root.join("proc/stat")));
        }
        let shared = Arc::new(Shared {
            interval_ns: interval.as_nanos() as u64,
            io_reason: io_reason(&devices, &first),
            devices,
            requests,
            stop: AtomicBool::new(false),
            anchor_ns: AtomicU64::new(first.at_ns),
            late: AtomicU64::new(0),
            cpu_ns: AtomicU64::new(0),
            reader: Mutex::new(reader),
            buffer: Mutex::new(SampleBuffer::default()),
        });
        let thread = std::thread::Builder::new().name("sampler".into()).spawn({
            let shared = Arc::clone(&shared);
            move || sample_until_stopped(&shared)
        });
        let thread = thread.map_err(SamplerError::Thread)?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// Begins a window: takes a snapshot now and makes the schedule count from it, so that the first whole interval
    /// of the window begins with it. Windows may overlap; then each new mark leaves one interval of odd length in the
    /// others, which does not count for their peaks.
    pub fn mark(&self) -> Mark {
        // The count comes first: a sample that the thread takes meanwhile then belongs to the window.
        let taken = lock(&self.shared.buffer).taken;
        let (counters, interfaces) = {
            let mut reader = lock(&self.shared.reader);
            (reader.snapshot(), reader.interfaces())
        };
        self.shared
            .anchor_ns
            .store(counters.at_ns, Ordering::Release);
        Mark {
            counters,
            interfaces,
            taken,
            late: self.shared.late.load(Ordering::Acquire),
            cpu_ns: self.shared.cpu_ns.load(Ordering::Acquire),
        }
    }

    pub fn finish(&self, mark: Mark) -> HostUse {
        let (end, interfaces) = {
            let mut reader = lock(&self.shared.reader);
            let (end, now) = (reader.snapshot(), reader.interfaces());
            let elapsed_s = end.at_ns.saturating_sub(mark.counters.at_ns) as f64 / 1e9;
            let physical = reader.physical_interfaces();
            let used = interfaces::between(&mark.interfaces, &now, physical, elapsed_s);
            (end, used)
        };
        let (mut boundaries, samples_lost) = self.samples_since(&mark);
        boundaries.retain(|sample| sample.at_ns > mark.counters.at_ns && sample.at_ns < end.at_ns);
        boundaries.insert(0, mark.counters);
        boundaries.push(end);
        let mut used =
            HostUse::of_window(&boundaries, self.shared.interval_ns, &self.shared.devices);
        used.interfaces = interfaces;
        used.samples_lost = samples_lost;
        used.io_reason = used.io_reason.or(self.shared.io_reason.clone());
        used.sampler_cpu_s = self
            .shared
            .cpu_ns
            .load(Ordering::Acquire)
            .saturating_sub(mark.cpu_ns) as f64
            / 1e9;
        used.late_samples = self
            .shared
            .late
            .load(Ordering::Acquire)
            .saturating_sub(mark.late);
        used
    }

    /// Bytes that the devices have read so far; `None` if unknown.
    pub fn device_read_bytes(&self) -> Option<u64> {
        lock(&self.shared.reader).device_read_bytes()
    }

    /// Figures of the newest interval, and its number; `None` before the second sample.
    pub fn newest(&self) -> Option<(u64, HostUse)> {
        let (number, pair) = {
            let buffer = lock(&self.shared.buffer);
            let before = buffer.samples.len().checked_sub(2)?;
            (
                buffer.taken,
                [buffer.samples[before], buffer.samples[before + 1]],
            )
        };
        let used = HostUse::of_window(&pair, self.shared.interval_ns, &self.shared.devices);
        Some((number, used))
    }

    /// The samples taken since a mark, and the number of those that are no longer stored.
    fn samples_since(&self, mark: &Mark) -> (Vec<Counters>, u64) {
        let buffer = lock(&self.shared.buffer);
        let taken = buffer.taken.saturating_sub(mark.taken);
        let there = taken.min(buffer.samples.len() as u64);
        let first = buffer.samples.len() - there as usize;
        (
            buffer.samples.range(first..).copied().collect(),
            taken - there,
        )
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been printed; it costs samples, not the measurement.
            let _ = thread.join();
        }
    }
}

/// Locks despite a panic elsewhere: every value is consistent at any time.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn io_reason(devices: &Stack, first: &Counters) -> Option<Remark> {
    let names = devices.names_summed();
    let mut counted = names.iter().enumerate().filter(|(_, (_, is))| *is);
    match counted.find(|(index, _)| first.disks.get(*index).is_none()) {
        None if names.is_empty() => Some(Remark::NoDevice),
        None => None,
        Some((_, (device, _))) => Some(Remark::DeviceUncounted {
            device: device.clone(),
        }),
    }
}

fn sample_until_stopped(shared: &Shared) {
    let mut schedule = Schedule::new(shared.anchor_ns.load(Ordering::Acquire), shared.interval_ns);
    while !shared.stop.load(Ordering::Acquire) {
        schedule.follow(shared.anchor_ns.load(Ordering::Acquire));
        match schedule.poll(monotonic_ns()) {
            Tick::Wait { until_ns } => {
                let slice_end_ns = monotonic_ns() + SLICE.as_nanos() as u64;
                sleep_until(until_ns.min(slice_end_ns));
            }
            Tick::Due { late } => {
                shared.late.fetch_add(late, Ordering::AcqRel);
                let counters = lock(&shared.reader).snapshot();
                lock(&shared.buffer).push(counters);
                if let Some(requests) = &shared.requests {
                    requests.tick();
                }
                shared.cpu_ns.store(thread_cpu_ns(), Ordering::Release);
            }
        }
    }
}

impl SampleBuffer {
    fn push(&mut self, counters: Counters) {
        if self.samples.len() == SAMPLES_MAX {
            self.samples.pop_front();
        }
        self.samples.push_back(counters);
        self.taken += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_samples_go_first_and_are_counted() {
        let mut buffer = SampleBuffer::default();
        for at_ns in 0..SAMPLES_MAX as u64 + 3 {
            buffer.push(Counters {
                at_ns,
                ..Counters::default()
            });
        }
        assert_eq!(
            (buffer.samples.len(), buffer.taken),
            (SAMPLES_MAX, SAMPLES_MAX as u64 + 3)
        );
        assert_eq!(buffer.samples.front().map(|sample| sample.at_ns), Some(3));
    }

    #[test]
    fn bad_options_are_refused_with_a_sentence() {
        let too_short = SamplerOptions {
            interval: Duration::ZERO,
            ..SamplerOptions::default()
        };
        let error = Sampler::start(too_short).unwrap_err().to_string();
        assert!(error.contains("0ns") && error.contains("10 ms"), "{error}");
        let empty = tempfile::tempdir().unwrap();
        let nowhere = SamplerOptions {
            root: empty.path().into(),
            ..SamplerOptions::default()
        };
        let error = Sampler::start(nowhere).unwrap_err().to_string();
        assert!(error.contains("proc/stat"), "{error}");
    }
}
