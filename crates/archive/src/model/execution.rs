//! Single executions of statements.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One execution of a statement.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Execution {
    /// Round over all statements of the point, from 1.
    pub round: u32,
    /// Code of the statement, e.g. "Q14".
    pub statement: String,
    /// Time until its last row arrived, µs; null if it failed.
    pub elapsed_us: Option<u64>,
    /// Fingerprint of its plan, without numbers that change from one execution to the next.
    pub plan: Option<String>,
    /// Bytes that the block devices under the database read meanwhile, for any program.
    pub device_read_bytes: Option<u64>,
    /// Pages requested from the engine's own cache.
    pub buffer_gets: Option<u64>,
    /// Of these, pages that the cache did not have.
    pub pages_read: Option<u64>,
}

impl Execution {
    /// Pages that the engine's own cache had, in percent of those requested.
    pub fn buffer_hit_pct(&self) -> Option<f64> {
        let (gets, read) = (self.buffer_gets?, self.pages_read?);
        (gets > 0 && read <= gets).then(|| 100.0 * (gets - read) as f64 / gets as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hits_are_pages_requested_and_not_read() {
        let hits = |buffer_gets, pages_read| {
            let execution = Execution {
                buffer_gets,
                pages_read,
                ..Execution::default()
            };
            execution.buffer_hit_pct()
        };
        assert_eq!(hits(Some(200), Some(50)), Some(75.0));
        assert_eq!(hits(Some(200), Some(0)), Some(100.0));
        // Nothing requested, more read than requested (read ahead), unknown.
        for unknown in [
            (Some(0), Some(0)),
            (Some(1), Some(2)),
            (None, Some(1)),
            (Some(1), None),
        ] {
            assert_eq!(hits(unknown.0, unknown.1), None);
        }
    }
}
