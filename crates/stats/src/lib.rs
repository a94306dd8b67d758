//! Pure numbers, the ground floor of the house: nothing here reads a clock, a file or a database.
//!
//! Every statistic names its formula, its limits and its source in its own doc comment, and a test
//! beside it holds a golden number. A result carries its [`Warning`]s with it; an odd series gives a
//! warning, never a panic.

#![forbid(unsafe_code)]

pub mod autocorrelation;
pub mod changepoint;
pub mod cluster;
pub mod compare;
pub mod distribution;
pub mod forecast;
pub mod histogram;
pub mod interval;
mod law;
mod least_squares;
pub mod multiple;
pub mod permutation;
pub mod ramp;
pub mod random;
pub mod rank;
pub mod ratio;
pub mod scaling;
mod snapshot;
pub mod steady;
pub mod summary;
pub mod usl;
mod verdict;
pub mod warmup;
pub mod warning;
pub mod words;

pub use histogram::{Histogram, HistogramError};
pub use interval::Interval;
pub use snapshot::HistogramSnapshot;
pub use warning::Warning;
