//! One line of figures.

use jiff::Timestamp;

use super::columns::{Cpu, Sums};
use crate::engine::Cell;

/// What one line of figures is made of.
pub(super) struct Line<'a> {
    /// Number of the interval, or `avg_…`.
    pub name: &'a str,
    pub cells: &'a [Cell],
    pub seconds: f64,
    pub cpu: Option<Cpu>,
    /// Median and 99th, where there is a distribution.
    pub percentiles_ms: Option<[f64; 2]>,
    pub now: Timestamp,
}

impl Line<'_> {
    pub fn sums(&self, wanted: impl Fn(&Cell) -> bool) -> Sums {
        Sums::of(self.cells, self.seconds, self.cpu, wanted)
    }
}
