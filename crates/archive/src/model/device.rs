//! What each block device did while a point was measured, and what of the database lies on it.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What of a database lies on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Purpose {
    /// Tables, and indexes that have no place of their own.
    Data,
    /// Indexes, where they lie apart from their tables.
    Indexes,
    /// The write-ahead or redo log.
    Log,
    /// Sorts, hashes and temporary tables that do not fit into memory.
    Temporary,
    /// Earlier versions of rows, kept apart from the data.
    Undo,
}

impl Purpose {
    /// All purposes in the order of tables.
    pub const ALL: [Self; 5] = [
        Self::Data,
        Self::Indexes,
        Self::Log,
        Self::Temporary,
        Self::Undo,
    ];

    /// Word used in tables, the archive and exports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Indexes => "indexes",
            Self::Log => "log",
            Self::Temporary => "temporary",
            Self::Undo => "undo",
        }
    }
}

/// A word that names no [`Purpose`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown purpose \"{0}\"")]
pub struct UnknownPurpose(String);

impl FromStr for Purpose {
    type Err = UnknownPurpose;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|purpose| purpose.name() == word);
        known.ok_or_else(|| UnknownPurpose(word.to_owned()))
    }
}

/// Requests of one kind, by the kernel's counters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Requests {
    /// How many were completed.
    pub count: u64,
    /// What they moved, 10^6 bytes.
    pub mb: f64,
    /// Mean time from when the kernel took one to its completion, ms; `None` without requests.
    pub await_ms: Option<f64>,
}

impl Requests {
    /// Mean size of one, 10^3 bytes; `None` without requests.
    pub fn kb_mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.mb * 1e3 / self.count as f64)
    }
}

/// What one block device did while a point was measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeviceUse {
    /// The kernel's name, e.g. "dm-0".
    pub name: String,
    /// What of the database lies on it directly; empty for a device that lies below others.
    pub holds: Vec<Purpose>,
    /// Names of the devices that are built on it (dm, md, loop).
    pub carries: Vec<String>,
    /// Time that its counters cover, in seconds.
    pub elapsed_s: Option<f64>,
    /// Reads; `None` where nobody counted.
    pub reads: Option<Requests>,
    /// Writes; `None` where nobody counted.
    pub writes: Option<Requests>,
    /// Part of the time in which at least one request was in flight, in percent.
    pub busy_pct: Option<f64>,
    /// Requests in flight on average.
    pub queue_mean: Option<f64>,
    /// Requests over time, interval by interval and kind by kind.
    pub samples: Vec<DeviceSample>,
}

impl DeviceUse {
    /// Reads per second.
    pub fn read_iops(&self) -> Option<f64> {
        self.per_s(self.reads?.count as f64)
    }

    /// Writes per second.
    pub fn write_iops(&self) -> Option<f64> {
        self.per_s(self.writes?.count as f64)
    }

    /// Reads in 10^6 bytes per second.
    pub fn read_mb_per_s(&self) -> Option<f64> {
        self.per_s(self.reads?.mb)
    }

    /// Writes in 10^6 bytes per second.
    pub fn write_mb_per_s(&self) -> Option<f64> {
        self.per_s(self.writes?.mb)
    }

    /// So much of something as a rate over the time that the counters cover.
    pub fn per_s(&self, amount: f64) -> Option<f64> {
        let elapsed_s = self.elapsed_s.filter(|s| *s > 0.0)?;
        Some(amount / elapsed_s)
    }
}

/// Requests of one kind in one interval.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeviceSample {
    /// End of the interval, in seconds from the start of the point.
    pub at_s: f64,
    /// One of [`DeviceSample::OPERATIONS`].
    pub operation: String,
    /// How many were completed.
    pub requests: u64,
    /// Mean time of one, µs; `None` where none was completed.
    pub service_us_mean: Option<f64>,
    /// 99th percentile of the times, µs; `None` unless the kernel times each request.
    pub service_us_p99: Option<f64>,
    /// Longest time, µs; `None` unless the kernel times each request.
    pub service_us_max: Option<f64>,
}

impl DeviceSample {
    /// Kinds of requests that are told apart.
    pub const OPERATIONS: [&'static str; 3] = ["read", "write", "flush"];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_purposes_are_those_of_exports() {
        for purpose in Purpose::ALL {
            assert_eq!(purpose.name().parse(), Ok(purpose));
            assert_eq!(serde_json::to_value(purpose).unwrap(), purpose.name());
        }
        let unknown = "redo".parse::<Purpose>().unwrap_err();
        assert_eq!(unknown.to_string(), "unknown purpose \"redo\"");
    }

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
