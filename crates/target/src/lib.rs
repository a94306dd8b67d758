//! The databases under test: one module per engine behind one trait.
//!
//! A [`Target`] is a database, a [`Session`] one connection doing one job's work. What an engine
//! cannot do it says as a missing [`Feature`] with the reason; nothing outside this crate asks
//! which engine it is.

mod capability;
pub mod duckdb;
mod engines;
mod error;
mod files;
mod kept;
pub mod lifted;
mod limit;
pub mod mock;
pub mod mysql;
mod nonblocking;
mod plain;
mod plan_text;
pub mod postgres;
mod process;
mod readable;
mod register;
pub mod server;
mod session;
mod session_settings;
mod snapshot;
pub mod source;
pub mod sqlite;
mod stream;
mod url;
mod watch;
mod whereabouts;

pub use capability::Feature;
pub use engines::{Engine, EngineInfo, Reach, engines, find, open, with_cache};
pub use error::{ErrorKind, Result, TargetError};
pub use nonblocking::{FirstRow, Nonblocking, Replies, Request, Sent};
pub use register::{Identities, SCHEMA_MARK};
pub use session::{
    BulkRow, Cooled, Counters, Fetched, OWN_TABLES, RowSource, Session, SessionsLeft, Statement,
    TEXTS_MAX, Target, Value, cell_digest,
};
pub use snapshot::Snapshot;
pub use url::{Address, Password, TargetUrl, UrlError};
pub use watch::{Counted, ServerCounts, Tally, Transport, WaitClass, Watch};
pub use whereabouts::{data_place, runs_here};

/// Sets up what engines need once per process; to be called before anything else of the process uses
/// one, the archive included.
pub fn before_first_use() {
    sqlite::configure_library();
}

#[cfg(test)]
#[global_allocator]
static MEMORY: testing::Counting = testing::Counting;
