//! Pure numbers, below all other crates: nothing in this crate reads a clock, a file or a database.
//!
//! Every statistic documents its formula, its limits and its source, and has a test with a golden
//! number. A result includes its [`Warning`]s; an odd series causes a warning, never a panic.

#![forbid(unsafe_code)]

pub mod analyses;
pub mod autocorrelation;
pub mod bootstrap;
pub mod censored;
pub mod cluster;
pub mod compare;
pub mod components;
pub mod contrast;
pub mod distribution;
pub mod drift;
pub mod factorial;
pub mod forecast;
pub mod histogram;
pub mod interval;
mod law;
mod least_squares;
pub mod multiple;
pub mod ramp;
pub mod random;
pub mod rank;
pub mod ratio;
pub mod scaling;
mod snapshot;
pub mod steady;
pub mod summary;
pub mod trend;
pub mod usl;
mod verdict;
pub mod warning;
pub mod words;

pub use histogram::{Histogram, HistogramError};
pub use interval::Interval;
pub use snapshot::HistogramSnapshot;
pub use warning::Warning;
