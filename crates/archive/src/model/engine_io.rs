//! I/O by an engine's own counters while a point is measured, by the purpose of its files.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Purpose;

/// Direction of I/O.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum IoOperation {
    /// From the file into memory.
    Read,
    /// From memory into the file.
    Write,
}

impl IoOperation {
    pub const ALL: [Self; 2] = [Self::Read, Self::Write];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

/// Why an engine reports no figures of some I/O.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum IoUnknown {
    /// The engine has no counter of it.
    NotCounted,
    /// The counters were reset, or the server was restarted, in the meantime.
    CounterReset,
    /// It is counted, but among the I/O of the data files.
    CountedAsData,
}

impl IoUnknown {
    pub const ALL: [Self; 3] = [Self::NotCounted, Self::CounterReset, Self::CountedAsData];

    pub const fn name(self) -> &'static str {
        match self {
            Self::NotCounted => "not_counted",
            Self::CounterReset => "counter_reset",
            Self::CountedAsData => "counted_as_data",
        }
    }
}

/// I/O of one direction on the files of one purpose, as the engine counts it: whether a request reached a device or
/// ended in the page cache is not known to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EngineIo {
    /// Purpose of the files.
    pub purpose: Purpose,
    /// Direction.
    pub operation: IoOperation,
    /// Requests, as the engine counts them.
    pub count: Option<u64>,
    /// 10^6 bytes moved by them.
    pub mb: Option<f64>,
    /// Total time, in seconds.
    pub time_s: Option<f64>,
    /// Where the engine reports it, e.g. "pg_stat_io"; empty where it does not.
    pub source: String,
    /// Why neither requests nor bytes are known; null where one of them is.
    pub unknown: Option<IoUnknown>,
}

impl EngineIo {
    pub fn blank(purpose: Purpose, operation: IoOperation) -> Self {
        Self {
            purpose,
            operation,
            count: None,
            mb: None,
            time_s: None,
            source: String::new(),
            unknown: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_exports() {
        for operation in IoOperation::ALL {
            assert_eq!(serde_json::to_value(operation).unwrap(), operation.name());
        }
        for unknown in IoUnknown::ALL {
            assert_eq!(serde_json::to_value(unknown).unwrap(), unknown.name());
        }
    }
}
