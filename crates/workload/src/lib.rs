//! Common parts of the workloads that a plan can use, and the first of them: [`ComponentTests`]. Each other workload is a
//! crate of its own; the crate `workloads` lists them.
//!
//! A test is data: a TOML file and SQL under `library/`. It names one of the [`exercise`]s, which prepares the tables,
//! runs the operations of a job and verifies the answers. A user's own SQL is a [`script`], which becomes a test like
//! the others.

#![forbid(unsafe_code)]

mod backoff;
pub mod below;
pub mod bench;
mod component;
pub mod data;
pub mod executor;
pub mod exercise;
pub mod expectation;
pub mod library;
pub mod loading;
pub mod numbers;
pub mod owned;
pub mod room;
pub mod script;
pub mod sql_folder;
pub mod tables;
pub mod transaction_error;
pub mod volume;

pub use bench::{Bench, Meter, Proven};
pub use component::ComponentTests;
pub use exercise::{Exercise, Prepared, exercise_for};
pub use library::{Amount, Library, LibraryError, Sweep, Table, Test};
pub use script::Script;
