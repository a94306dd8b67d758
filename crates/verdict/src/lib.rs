//! Evaluation of runs from the archive alone.
//!
//! * [`mod@cores`]: cores that a run does not need.
//! * [`mod@difference`]: settings that differ between two runs.
//! * [`metric`]: figures of points, and their value in each repetition.
//! * [`mod@compare`]: comparison of two runs, with ratios, intervals and verdicts.
//! * [`mod@contrasts`]: studies of more than two sides: settings screened at once, alternatives in all pairs.
//! * [`mod@fleet`]: many systems before and after an update.
//! * [`mod@analyses`]: studies with interim analyses.
//! * [`mod@method`]: invariants of every correct measurement.
//! * [`mod@price`]: prices of a platform and of its figures.
//! * [`mod@ramps`]: comparison of two ramps of users.
//! * [`mod@shift`]: times of I/Os below a database, before and after.
//! * [`sla`]: checks of a run against limits.

#![forbid(unsafe_code)]

pub mod analyses;
#[cfg(test)]
mod by_hand;
pub mod compare;
pub mod contrasts;
pub mod cores;
pub mod difference;
pub mod fleet;
pub mod method;
pub mod metric;
mod outcome;
pub mod price;
pub mod ramps;
pub mod shift;
pub mod sla;
