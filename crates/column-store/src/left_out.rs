//! Rows of a table's files that newer ones stand for.

use std::ops::Range;

#[derive(Debug, Clone, Default)]
pub(super) struct LeftOut {
    pub key: String,
    pub ranges: Vec<Range<u64>>,
}

/// The table for newer rows than those of a table's files.
pub fn beside(table: &str) -> String {
    format!("dbdyno_newer_{table}")
}
