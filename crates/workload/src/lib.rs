//! Workloads that a plan can use, each a [`lab::Workload`] listed by [`registry`]: component tests of a library, order
//! entry ([`oltp`]), analytical queries ([`olap`]), both at once ([`mixed`]), tables in an in-memory column store
//! ([`columnar`]), backups with their restores ([`backup`]), and the observation of a database under someone else's
//! load ([`observe`]).
//!
//! A test is data: a TOML file and SQL under `library/`. It names one of the [`exercise`]s, which prepares the tables,
//! runs the operations of a job and verifies the answers. A user's own SQL is a [`script`], which becomes a test like
//! the others.

#![forbid(unsafe_code)]

mod backoff;
pub mod backup;
pub mod below;
pub mod bench;
pub mod columnar;
mod component;
pub mod data;
mod executor;
pub mod exercise;
pub mod expectation;
pub mod library;
pub mod loading;
pub mod mixed;
pub mod observe;
pub mod olap;
pub mod oltp;
mod owned;
mod room;
pub mod script;
mod sql_folder;
pub mod tables;
#[cfg(test)]
mod tests;
mod transaction_error;
pub mod twin;
pub mod volume;

pub use bench::{Bench, Meter, Proven};
pub use exercise::{Exercise, Prepared, exercise_for};
pub use library::{Amount, Library, LibraryError, Sweep, Table, Test};
pub use script::Script;

use backup::Backups;
use columnar::measure::Columnar;
use component::ComponentTests;
use mixed::Mixed;
use observe::Observations;
use olap::measure::Analytical;
use oltp::measure::OrderEntry;

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
