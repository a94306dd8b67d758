//! DuckDB: embedded column store, over the official library loaded at run time through its C API.
//!
//! The library is not linked, so that dbdyno builds and runs without it; `locate` says where it is
//! looked for. A library of another version than [`VERSION_TESTED`] is accepted, because comparing
//! versions is one of the things dbdyno is for: its own version stands in every record, and one
//! that lacks a function of the C API is refused.

pub mod appender;
mod backup;
mod capi;
mod cells;
mod claim;
pub mod explain;
mod features;
pub mod handle;
mod inspect;
pub mod instance;
pub mod library;
mod locate;
pub mod own_file;
mod read;
mod redo;
mod scheme;
mod session;
pub mod set_up;
pub mod source;
pub mod target;
#[cfg(test)]
mod tests;
mod texts;

pub use appender::GROUP_ROWS;
pub use scheme::{DuckDb, ENGINES};

/// The version that the tests run with and that `scripts/get-duckdb.sh` fetches.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub const VERSION_TESTED: &str = "1.5.6";
/// The version that `scripts/get-duckdb.sh` fetches for this platform.
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
pub const VERSION_TESTED: &str = "1.5.5";
