//! What is run against a target: the library of component tests, the order-entry database ([`oltp`]), the
//! analytical one ([`olap`]), and tables lifted into memory ([`columnar`]).
//!
//! A test is data: a TOML file and SQL under `library/`. It names one of the [`exercise`]s, which
//! knows how to prepare the tables, do the operations of a job and prove the answers right. A user's own SQL
//! is a [`script`], which becomes a test like the others.

pub mod bench;
pub mod columnar;
pub mod data;
pub mod exercise;
pub mod expectation;
pub mod library;
pub mod loading;
pub mod olap;
pub mod oltp;
mod owned;
pub mod script;
mod sql_folder;
pub mod tables;
pub mod volume;

pub use bench::{Bench, Meter, Proven};
pub use exercise::{Exercise, Prepared, exercise_for};
pub use library::{Amount, Library, LibraryError, Sweep, Table, Test};
pub use script::Script;
