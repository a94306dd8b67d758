//! One line of figures.

use jiff::Timestamp;

use super::columns::{Cpu, Sums};
use crate::engine::Cell;

pub(super) struct Line<'a> {
    pub name: &'a str,
    pub cells: &'a [Cell],
    pub seconds: f64,
    pub cpu: Option<Cpu>,
    /// Median and 99th percentile, if there is a distribution.
    pub percentiles_ms: Option<[f64; 2]>,
    pub now: Timestamp,
}

impl Line<'_> {
    pub fn sums(&self, wanted: impl Fn(&Cell) -> bool) -> Sums {
        Sums::of(self.cells, self.seconds, self.cpu, wanted)
    }
}
