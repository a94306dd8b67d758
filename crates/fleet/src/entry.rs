//! One histogram of one kind of I/O of one system in one window of time.

use verdict::fleet::{Mix, Operation, Side};

pub const BUCKETS_MAX: usize = 65_536;
pub const COUNT_MAX: u64 = 1_000_000_000_000_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    pub system: String,
    /// Beginning of its window, µs since 1970 in UTC.
    pub began_us: i64,
    pub side: Side,
    pub operation: Operation,
}

/// I/Os that took at least `low_us` and less than `high_us`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bucket {
    pub low_us: f64,
    /// `None` for the last one, without an upper end.
    pub high_us: Option<f64>,
    pub count: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub key: Key,
    pub mix: Mix,
    /// Line of the file at which it begins, or the repetition of a run.
    pub line: u64,
    pub buckets: Vec<Bucket>,
}

impl Entry {
    pub fn is_empty(&self) -> bool {
        self.buckets.iter().all(|bucket| bucket.count == 0)
    }
}
