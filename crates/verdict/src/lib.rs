//! What the figures of runs say, from the archive alone.
//!
//! * [`mod@difference`]: what is configured differently in two runs.
//! * [`metric`]: which figure of which points is looked at, and its value in each repetition.
//! * [`mod@compare`]: two runs set against each other, with ratios, intervals and verdicts.
//! * [`mod@ramps`]: two ramps of users set against each other.
//! * [`mod@shift`]: times of I/Os below a database, before and after.
//! * [`sla`]: a run held against limits.

#![forbid(unsafe_code)]

pub mod compare;
pub mod difference;
pub mod metric;
mod outcome;
pub mod ramps;
pub mod shift;
pub mod sla;
