//! One histogram of one kind of I/O of one system in one window of time.

use verdict::fleet::{Mix, Operation, Side};

/// Most buckets of a histogram.
pub const BUCKETS_MAX: usize = 65_536;
/// Most I/Os of a histogram.
pub const COUNT_MAX: u64 = 1_000_000_000_000_000;

/// What makes a histogram unique in a fleet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    pub system: String,
    /// When its window began, µs since 1970 in UTC.
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

/// A histogram as it is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub key: Key,
    pub mix: Mix,
    /// Line of the file at which it begins; the repetition of a run.
    pub line: u64,
    pub buckets: Vec<Bucket>,
}

impl Entry {
    /// Whether it holds any I/O.
    pub fn is_empty(&self) -> bool {
        self.buckets.iter().all(|bucket| bucket.count == 0)
    }
}
