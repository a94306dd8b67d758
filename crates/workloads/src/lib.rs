//! The workloads there are, in one list: a new workload is a crate and a line here.

#![forbid(unsafe_code)]

#[cfg(test)]
mod tests;

use backup::Backups;
use columnar::measure::Columnar;
use mixed::Mixed;
use observe::Observations;
use olap::measure::Analytical;
use oltp::measure::OrderEntry;
use workload::{ComponentTests, Library};

/// All workloads, with the component tests of a library.
pub fn registry(library: Library) -> lab::Registry {
    lab::Registry::new(vec![
        Box::new(ComponentTests::new(library)),
        Box::new(OrderEntry),
        Box::new(Analytical),
        Box::new(Columnar),
        Box::new(Mixed),
        Box::new(Backups),
        Box::new(Observations),
    ])
}

#[cfg(test)]
#[global_allocator]
static MEMORY: testing::Counting = testing::Counting;
