//! Counts of a device's requests by time.

use stats::Histogram;

use super::buckets::{BUCKETS, middle_ns};
use super::program::VALUES;
use super::{CLASSES, OPERATIONS, SIZES, TIMES};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Read = 0,
    Write = 1,
    /// Writes without data, which make the device's cache durable. Only their whole time is known; it includes their
    /// wait for each other.
    Flush = 2,
    Discard = 3,
}

impl Operation {
    pub const ALL: [Self; OPERATIONS] = [Self::Read, Self::Write, Self::Flush, Self::Discard];

    pub const fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Flush => "flush",
            Self::Discard => "discard",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// From insertion to completion, as `/proc/diskstats` counts it.
    Whole = 0,
    /// From insertion to the issue to the device. Not every kernel and device reports it.
    Queue = 1,
    /// From the issue to completion. Not every kernel and device reports it.
    Device = 2,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Times {
    values: Vec<u64>,
}

impl Times {
    fn empty() -> Self {
        Self {
            values: vec![0; VALUES],
        }
    }

    pub fn count(&self) -> u64 {
        self.values[..BUCKETS].iter().sum()
    }

    pub fn sum_ns(&self) -> u64 {
        self.values[BUCKETS]
    }

    pub fn mean_us(&self) -> Option<f64> {
        let count = self.count();
        (count > 0).then(|| self.sum_ns() as f64 / count as f64 / 1e3)
    }

    /// Requests by time: the middle of each filled bucket, in ns, and their number.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> {
        let counts = self.values[..BUCKETS].iter().enumerate();
        counts
            .filter(|(_, count)| **count > 0)
            .map(|(bucket, count)| (middle_ns(bucket), *count))
    }

    pub fn histogram(&self) -> Histogram {
        let mut histogram = Histogram::new();
        for (ns, count) in self.buckets() {
            histogram.record_many_ns(ns, count);
        }
        histogram
    }

    fn add(&mut self, other: &[u64]) {
        for (sum, value) in self.values.iter_mut().zip(other) {
            *sum += value;
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceTimes {
    pub device: String,
    entries: Vec<u64>,
}

impl DeviceTimes {
    pub(super) fn empty(device: &str) -> Self {
        Self {
            device: device.to_owned(),
            entries: vec![0; OPERATIONS * CLASSES * TIMES * VALUES],
        }
    }

    pub(super) fn entries_mut(&mut self) -> impl Iterator<Item = &mut [u64]> {
        self.entries.chunks_exact_mut(TIMES * VALUES)
    }

    pub fn since(&self, earlier: &Self) -> Self {
        let pairs = self.entries.iter().zip(&earlier.entries);
        Self {
            device: self.device.clone(),
            entries: pairs.map(|(now, then)| now.saturating_sub(*then)).collect(),
        }
    }

    pub fn add(&mut self, other: &Self) {
        for (all, more) in self.entries.iter_mut().zip(&other.entries) {
            *all = all.saturating_add(*more);
        }
    }

    /// Upper ends of the classes of sizes in bytes; the last class has none.
    pub fn sizes() -> impl Iterator<Item = Option<u32>> {
        SIZES.into_iter().map(Some).chain([None])
    }

    /// Requests of an operation in this class of sizes, counted from 0.
    ///
    /// # Panics
    /// If there is no such class.
    pub fn of_class(&self, operation: Operation, class: usize, phase: Phase) -> Times {
        assert!(class < CLASSES, "there are {CLASSES} classes of sizes");
        let mut times = Times::empty();
        times.add(self.entry(operation, class, phase));
        times
    }

    pub fn of(&self, operation: Operation, phase: Phase) -> Times {
        let mut times = Times::empty();
        for class in 0..CLASSES {
            times.add(self.entry(operation, class, phase));
        }
        times
    }

    /// 99th percentile of the whole times of an operation's requests at these devices, in ms; `None` without requests.
    pub fn p99_ms<'t>(
        devices: impl IntoIterator<Item = &'t Self>,
        operation: Operation,
    ) -> Option<f64> {
        let mut all = Times::empty();
        for device in devices {
            all.add(&device.of(operation, Phase::Whole).values);
        }
        (all.count() > 0).then(|| all.histogram().percentile_us(99.0) / 1e3)
    }

    fn entry(&self, operation: Operation, class: usize, phase: Phase) -> &[u64] {
        let index = (operation as usize * CLASSES + class) * TIMES + phase as usize;
        &self.entries[index * VALUES..][..VALUES]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_that_of_all_devices_together() {
        let device = |name: &str, bucket: usize, requests: u64| {
            let mut times = DeviceTimes::empty(name);
            times.entries[bucket] = requests;
            times
        };
        let (fast, slow) = (device("vda", 300, 98), device("vdb", 400, 2));
        let ms = |bucket: usize| middle_ns(bucket) as f64 / 1e6;
        let p99 = |devices: &[&DeviceTimes]| {
            DeviceTimes::p99_ms(devices.iter().copied(), Operation::Read)
        };
        let near = |found: Option<f64>, golden: f64| (found.unwrap() / golden - 1.0).abs() < 0.01;
        assert!(near(p99(&[&fast]), ms(300)));
        assert!(
            near(p99(&[&fast, &slow]), ms(400)),
            "the last two of a hundred"
        );
        assert_eq!(p99(&[]), None);
        assert_eq!(DeviceTimes::p99_ms([&fast], Operation::Write), None);
    }
}
