//! I/O by an engine's own counters while a point is measured, by the purpose of its files.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Purpose;

words! {
    /// Direction of I/O.
    pub enum IoOperation {
        /// From the file into memory.
        Read = "read",
        /// From memory into the file.
        Write = "write",
    }
}

words! {
    /// Why an engine reports no figures of some I/O.
    pub enum IoUnknown {
        /// The engine has no counter of it.
        NotCounted = "not_counted",
        /// The counters were reset, or the server was restarted, in the meantime.
        CounterReset = "counter_reset",
        /// It is counted, but among the I/O of the data files.
        CountedAsData = "counted_as_data",
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
