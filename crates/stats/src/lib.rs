//! Pure numbers, the ground floor of the house: nothing here reads a clock, a file or a database.
//!
//! Every statistic names its formula, its limits and its source in its own doc comment, and a test
//! beside it holds a golden number.

pub mod histogram;
pub mod scaling;
pub mod steady;
pub mod summary;

pub use histogram::{Histogram, HistogramError};
