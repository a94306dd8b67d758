//! The workload `script`: the user's own SQL, described by a TOML file (docs/SCRIPT.md).
//!
//! A script becomes a test of the library with the code `S-NAME`. Its jobs run in an event loop where the
//! engine can be asked without waiting, and on threads where its calls block: the same transactions, the same
//! values, the same retries.

pub(crate) mod definition;
pub(crate) mod draw;
mod draw_file;
pub(crate) mod file;
mod names;
pub(crate) mod sql;
mod table;
#[cfg(test)]
mod tests;

pub use file::{PerEngine, Pipeline, Script, Statement, Transaction, When};
