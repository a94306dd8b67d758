//! Workload `script`: the user's own SQL, described by a TOML file (docs/SCRIPT.md).
//!
//! A script becomes a test of the library with the code `S-NAME`. Its jobs run in an event loop if the engine supports
//! it, and otherwise on threads: the same transactions, values and retries.

pub(crate) mod definition;
pub(crate) mod draw;
mod draw_file;
pub(crate) mod file;
mod names;
pub mod sql;
mod table;
#[cfg(test)]
mod tests;

pub use file::{PerEngine, Pipeline, Script, Statement, Transaction, When};
