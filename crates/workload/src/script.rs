//! The workload `script`: the user's own SQL, described by a TOML file (docs/SCRIPT.md).
//!
//! A script becomes a test of the library with the code `S-NAME`. Its jobs run in an event loop where the
//! engine can be asked without waiting, and on threads where its calls block: the same transactions, the same
//! values, the same retries.

mod draw;
mod draw_file;
mod exercise;
mod file;
mod hand;
mod names;
mod operator;
mod plan;
pub(crate) mod sql;
mod station;
mod table;
mod tally;
#[cfg(test)]
mod tests;

pub use exercise::Scripted;
pub use file::{PerEngine, Pipeline, Script, Statement, Transaction, When};
pub(crate) use hand::Wrong;
