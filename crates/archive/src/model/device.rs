//! Work of the block devices while a point was measured.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

words! {
    /// Part of a database on a device.
    pub enum Purpose {
        /// Tables, and indexes without a location of their own.
        Data = "data",
        /// Indexes in a separate location.
        Indexes = "indexes",
        /// The write-ahead or redo log.
        Log = "log",
        /// Sorts, hashes and temporary tables that do not fit into memory.
        Temporary = "temporary",
        /// Earlier versions of rows, separate from the data.
        Undo = "undo",
    }
}

/// Requests of one kind, by the kernel's counters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Requests {
    /// Number completed.
    pub count: u64,
    /// 10^6 bytes moved by them.
    pub mb: f64,
    /// Mean time from queueing to completion, ms; null without requests.
    pub await_ms: Option<f64>,
}

impl Requests {
    /// Mean size of one, 10^3 bytes; `None` without requests.
    pub fn kb_mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.mb * 1e3 / self.count as f64)
    }
}

/// Work of a block device while a point was measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceUse {
    /// Kernel name, e.g. "dm-0".
    pub name: String,
    /// Parts of the database that lie on it directly; empty for a device below others.
    pub holds: Vec<Purpose>,
    /// Kernel names of the devices that are built on it.
    pub carries: Vec<String>,
    /// Time that its counters cover, in seconds.
    pub elapsed_s: Option<f64>,
    /// Reads; null if they were not counted.
    pub reads: Option<Requests>,
    /// Writes; null if they were not counted.
    pub writes: Option<Requests>,
    /// Part of the time with a request in flight, in percent.
    pub busy_pct: Option<f64>,
    /// Mean requests in flight.
    pub queue_mean: Option<f64>,
    /// Requests over time, by interval and kind.
    pub samples: Vec<DeviceSample>,
}

impl DeviceUse {
    pub fn read_iops(&self) -> Option<f64> {
        self.per_s(self.reads?.count as f64)
    }

    pub fn write_iops(&self) -> Option<f64> {
        self.per_s(self.writes?.count as f64)
    }

    pub fn read_mb_per_s(&self) -> Option<f64> {
        self.per_s(self.reads?.mb)
    }

    pub fn write_mb_per_s(&self) -> Option<f64> {
        self.per_s(self.writes?.mb)
    }

    pub fn per_s(&self, amount: f64) -> Option<f64> {
        let elapsed_s = self.elapsed_s.filter(|s| *s > 0.0)?;
        Some(amount / elapsed_s)
    }
}

/// Requests of one kind in one interval.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceSample {
    /// End of the interval, in seconds from the start of the point.
    pub at_s: f64,
    /// Kind of request.
    #[schemars(extend("enum" = Self::OPERATIONS))]
    pub operation: String,
    /// Number completed in the interval.
    pub requests: u64,
    /// Mean time of one, µs; null if none was completed.
    pub service_us_mean: Option<f64>,
    /// 99th percentile of the times, µs; null unless the kernel times each request.
    pub service_us_p99: Option<f64>,
    /// Longest time, µs; null unless the kernel times each request.
    pub service_us_max: Option<f64>,
}

impl DeviceSample {
    pub const OPERATIONS: [&'static str; 3] = ["read", "write", "flush"];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_need_a_time_and_sizes_need_requests() {
        let mut device = DeviceUse {
            elapsed_s: Some(2.0),
            reads: Some(Requests {
                count: 100,
                mb: 0.8,
                await_ms: Some(0.2),
            }),
            writes: Some(Requests::default()),
            ..DeviceUse::default()
        };
        assert_eq!(device.read_iops(), Some(50.0));
        assert_eq!(device.read_mb_per_s(), Some(0.4));
        assert_eq!(device.write_iops(), Some(0.0));
        assert_eq!(device.reads.and_then(|reads| reads.kb_mean()), Some(8.0));
        assert_eq!(device.writes.and_then(|writes| writes.kb_mean()), None);
        for unknown in [None, Some(0.0), Some(f64::NAN)] {
            device.elapsed_s = unknown;
            assert_eq!(device.read_iops(), None);
        }
        assert_eq!(DeviceUse::default().write_mb_per_s(), None);
    }
}
