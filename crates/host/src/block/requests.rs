//! Requests of some devices over time: in a window, and in each interval of it.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use archive::DeviceSample;

use super::{BlockError, BlockWatch, DeviceTimes, Operation, Phase};
use crate::clock::monotonic_ns;

/// Shortest interval. Reading all buckets of a device takes some hundred system calls, each of which copies the
/// buckets of every processor: ten times a second, that would take noticeable processor time from a database.
const INTERVAL_NS: u64 = 1_000_000_000;
/// A tick that is early by at most this ends an interval all the same.
const EARLY_NS: u64 = INTERVAL_NS / 10;
/// Most intervals that are stored: nine hours.
const INTERVALS_MAX: usize = 1 << 15;
const OPERATIONS: [Operation; 3] = [Operation::Read, Operation::Write, Operation::Flush];

/// Counts the requests of some devices, and cuts them into intervals at ticks.
#[derive(Debug)]
pub struct RequestLog {
    watch: BlockWatch,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Begin of the current interval, and the counts then.
    since_ns: u64,
    before: Vec<DeviceTimes>,
    intervals: VecDeque<Interval>,
    /// Number of all intervals that ended, including those no longer stored.
    ended: u64,
}

#[derive(Debug, Clone)]
struct Interval {
    end_ns: u64,
    devices: Vec<[Brief; OPERATIONS.len()]>,
}

/// The requests of one operation in three numbers: histograms of every second would fill the memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Brief {
    count: u64,
    sum_ns: u64,
    p99_ns: u64,
    max_ns: u64,
}

#[derive(Debug)]
pub struct RequestMark {
    at_ns: u64,
    before: Vec<DeviceTimes>,
    ended: u64,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct WindowRequests {
    pub times: Vec<DeviceTimes>,
    pub samples: Vec<Vec<DeviceSample>>,
}

impl RequestLog {
    /// Starts counting the requests of devices by their kernel names.
    pub fn open(devices: &[&str]) -> Result<Self, BlockError> {
        let watch = BlockWatch::open(devices)?;
        let state = State {
            since_ns: monotonic_ns(),
            before: watch.read()?,
            ..State::default()
        };
        Ok(Self {
            watch,
            state: Mutex::new(state),
        })
    }

    pub fn watch(&self) -> &BlockWatch {
        &self.watch
    }

    pub(crate) fn tick(&self) {
        let now_ns = monotonic_ns();
        let mut state = self.state();
        if now_ns.saturating_sub(state.since_ns) + EARLY_NS < INTERVAL_NS {
            return;
        }
        // Requests that cannot be read now are in the next interval.
        if let Ok(now) = self.watch.read() {
            state.end_interval(now_ns, now);
        }
    }

    pub(crate) fn mark(&self) -> Result<RequestMark, BlockError> {
        let mut state = self.state();
        let before = self.watch.read()?;
        let at_ns = monotonic_ns();
        (state.since_ns, state.before) = (at_ns, before.clone());
        Ok(RequestMark {
            at_ns,
            before,
            ended: state.ended,
        })
    }

    pub(crate) fn finish(&self, mark: RequestMark) -> Result<WindowRequests, BlockError> {
        let mut state = self.state();
        let now = self.watch.read()?;
        let now_ns = monotonic_ns();
        let times: Vec<_> = (now.iter().zip(&mark.before))
            .map(|(now, before)| now.since(before))
            .collect();
        // The last interval counts however short it is: together they have all requests of the window.
        state.end_interval(now_ns, now);
        let ended = state.ended.saturating_sub(mark.ended);
        let there =
            usize::try_from(ended).map_or(state.intervals.len(), |n| n.min(state.intervals.len()));
        let first = state.intervals.len() - there;
        let mut samples = vec![Vec::new(); times.len()];
        for interval in state.intervals.range(first..) {
            let at_s = interval.end_ns.saturating_sub(mark.at_ns) as f64 / 1e9;
            for (samples, device) in samples.iter_mut().zip(&interval.devices) {
                let of_operations = device.iter().zip(OPERATIONS);
                samples.extend(
                    of_operations.map(|(brief, operation)| brief.sample(at_s, operation.word())),
                );
            }
        }
        Ok(WindowRequests { times, samples })
    }

    /// The state is consistent at any time, so a panic elsewhere does not matter.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn end_interval(&mut self, now_ns: u64, now: Vec<DeviceTimes>) {
        let devices = now.iter().zip(&self.before).map(|(now, before)| {
            let during = now.since(before);
            OPERATIONS.map(|operation| Brief::of(&during, operation))
        });
        let interval = Interval {
            end_ns: now_ns,
            devices: devices.collect(),
        };
        if self.intervals.len() == INTERVALS_MAX {
            self.intervals.pop_front();
        }
        self.intervals.push_back(interval);
        self.ended += 1;
        (self.since_ns, self.before) = (now_ns, now);
    }
}

impl Brief {
    fn of(during: &DeviceTimes, operation: Operation) -> Self {
        let times = during.of(operation, Phase::Whole);
        let count = times.count();
        let rank = (count * 99).div_ceil(100);
        let mut brief = Self {
            count,
            sum_ns: times.sum_ns(),
            ..Self::default()
        };
        let mut so_far = 0;
        for (ns, requests) in times.buckets() {
            if so_far < rank {
                brief.p99_ns = ns;
            }
            so_far += requests;
            brief.max_ns = ns;
        }
        brief
    }

    fn sample(&self, at_s: f64, operation: &str) -> DeviceSample {
        let us = |ns: u64| (self.count > 0).then(|| ns as f64 / 1e3);
        DeviceSample {
            at_s,
            operation: operation.to_owned(),
            requests: self.count,
            service_us_mean: (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64 / 1e3),
            service_us_p99: us(self.p99_ns),
            service_us_max: us(self.max_ns),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::buckets::BUCKETS;
    use super::*;

    /// Reads so far: `short` of 10 ns, and `long` of 15 ns.
    fn reads(short: u64, long: u64) -> Vec<DeviceTimes> {
        let mut times = DeviceTimes::empty("vda");
        let entry = times.entries_mut().next().unwrap();
        (entry[10], entry[15]) = (short, long);
        entry[BUCKETS] = 10 * short + 15 * long;
        vec![times]
    }

    #[test]
    fn an_interval_holds_what_came_after_the_one_before() {
        let mut state = State {
            before: reads(0, 0),
            ..State::default()
        };
        state.end_interval(1_000, reads(99, 1));
        state.end_interval(2_000, reads(99, 4));
        state.end_interval(3_000, reads(99, 4));
        let [first, second, third] = [0, 1, 2].map(|n| state.intervals[n].devices[0][0]);
        let golden = Brief {
            count: 100,
            sum_ns: 1005,
            p99_ns: 10,
            max_ns: 15,
        };
        assert_eq!(first, golden);
        assert_eq!((second.count, second.p99_ns, second.max_ns), (3, 15, 15));
        assert_eq!(third, Brief::default());
        let sample = first.sample(0.5, "read");
        assert_eq!(sample.service_us_mean, Some(0.01005));
        assert_eq!(sample.service_us_p99, Some(0.010));
        assert_eq!(third.sample(2.5, "read").service_us_max, None);
    }

    #[test]
    fn the_oldest_intervals_go_first() {
        let mut state = State::default();
        for n in 0..INTERVALS_MAX as u64 + 2 {
            state.end_interval(n, Vec::new());
        }
        assert_eq!(state.intervals.len(), INTERVALS_MAX);
        assert_eq!(state.intervals.front().map(|first| first.end_ns), Some(2));
        assert_eq!(state.ended, INTERVALS_MAX as u64 + 2);
    }
}
