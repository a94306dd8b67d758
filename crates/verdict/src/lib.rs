//! What the figures of runs say, from the archive alone.
//!
//! * [`metric`]: which figure of which points is looked at, and its value in each repetition.
//! * [`mod@compare`]: two runs set against each other, with ratios, intervals and verdicts.

pub mod metric;
