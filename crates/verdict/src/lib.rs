//! What the figures of runs mean, from the archive alone.
//!
//! * [`mod@cores`]: cores that a run could do without.
//! * [`mod@difference`]: which settings differ between two runs.
//! * [`metric`]: which figure of which points to evaluate, and its value in each repetition.
//! * [`mod@alternatives`]: several alternatives against each other, in all pairs.
//! * [`mod@compare`]: compares two runs, with ratios, intervals and verdicts.
//! * [`mod@fleet`]: many systems before and after an update.
//! * [`mod@looks`]: studies that were looked at before their end.
//! * [`mod@method`]: laws that the figures of any right measurement keep.
//! * [`mod@price`]: what a platform and its figures cost.
//! * [`mod@ramps`]: compares two ramps of users.
//! * [`mod@screening`]: several settings screened at once, with the effect of each.
//! * [`mod@shift`]: times of I/Os below a database, before and after.
//! * [`sla`]: checks a run against limits.

#![forbid(unsafe_code)]

pub mod alternatives;
#[cfg(test)]
mod by_hand;
pub mod compare;
pub mod cores;
pub mod difference;
pub mod fleet;
pub mod looks;
pub mod method;
pub mod metric;
mod outcome;
pub mod price;
pub mod ramps;
mod rounds;
pub mod screening;
pub mod shift;
pub mod sla;
