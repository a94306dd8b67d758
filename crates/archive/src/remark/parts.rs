//! Types of the fields of remarks.

use serde::{Deserialize, Serialize};

/// A limit of validity that a plan changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LimitChanged {
    /// Its key in a plan.
    pub key: String,
    pub limit: f64,
    /// Without the plan.
    pub usual: f64,
}

/// A rate that a search tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RateTried {
    pub rate_per_s: f64,
    /// Measurements in which it held.
    pub held: u64,
    pub of: u64,
}

/// One kind of acknowledged change, checked against the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reconciled {
    pub acknowledged: u64,
    /// Acknowledged, and not in the tables.
    pub missing: u64,
    /// In the tables, and not acknowledged; below 0 when some are missing.
    pub unacknowledged: i64,
    /// As many may have been in flight.
    pub unacknowledged_max: u64,
}

/// A condition of consistency that is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Broken {
    /// Its number in the specification; 0 for the count of rows.
    pub condition: u32,
    /// Places where it is.
    pub count: u64,
}

/// Blocks whose write was pending when an execution ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingWrites {
    /// All of them.
    pub count: u64,
    /// They hold the new data.
    pub new: u64,
    /// They hold the old data.
    pub old: u64,
    /// Their first write did not get there, and their earlier content is unknown.
    pub first: u64,
    /// They were not checked, because pending writes were to be ignored.
    pub ignored: u64,
}

/// Side whose steadiness ends the rounds of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoundsRole {
    /// Its own.
    Alone,
    /// Its own, for all that take turns with it.
    ForAll,
    /// That of others with which it takes turns.
    Other,
}

/// The last rounds of a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RoundsWindow {
    pub rounds: u64,
    /// Mean of what is judged.
    pub mean: f64,
    pub range_pct: f64,
    pub range_pct_max: f64,
    pub slope_pct: f64,
    pub slope_pct_max: f64,
}

/// One end of the bracket of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BracketEnd {
    pub rate_per_s: f64,
    pub seen: Vec<BracketMeasured>,
}

/// One measurement of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BracketMeasured {
    /// The percentile that is judged.
    pub response_ms: f64,
    /// I/Os that counted.
    pub ios: u64,
    /// I/Os that were due.
    pub not_begun: u64,
}
