//! The databases under test: one module per engine behind one trait.
//!
//! A [`Target`] is a database, a [`Session`] one connection that does the work of one job. An engine reports
//! what it cannot do as a missing [`Feature`] with the reason; nothing outside this crate tests
//! which engine it is.
//!
//! From the bottom up: errors, URLs, values and the catalogue; the traits; the engines, and the in-memory column store
//! as a service of one of them; the list of all engines, which parses URLs and opens the databases that they name.

mod activity;
mod backup;
mod backup_adapter;
mod capability;
mod catalogue;
pub mod conformance;
mod counted;
mod database_file;
pub mod duckdb;
mod engine;
mod engines;
mod error;
mod file_io;
mod file_snapshot;
mod files;
mod footprint;
mod inspection;
mod level;
mod limit;
pub mod mock;
pub mod mysql;
mod nonblocking;
mod open_sessions;
mod plain;
mod plan_text;
pub mod postgres;
mod process;
mod readable;
mod register;
mod risen;
pub mod server;
mod session;
mod session_settings;
mod snapshot;
pub mod sqlite;
mod statement_text;
mod stream;
mod tied;
mod tls;
mod typed;
mod url;
mod value;
mod verbatim;
mod watch;
mod whereabouts;

pub use activity::{
    Activity, LoadCount, LoadCounts, Look, SessionSeen, TimeInStatements, TimeOnProcessors, Wanted,
};
pub use backup::{BackedUp, BackupMethod, BackupOptions, ProgramUse, Variant};
pub use capability::Feature;
pub use counted::Counted;
pub use engine::{Engine, EngineInfo, Reach};
pub use engines::{
    DEFAULT_ENGINE, backup_methods, engines, executed_settings, find, has_question_mark_operators,
    inspect, open, open_observed, password_places, with_cache, with_sessions,
};
pub use error::{ErrorKind, Result, TargetError};
pub use file_io::FileIo;
pub use footprint::{Footprint, RowBytes};
pub use inspection::{
    ClockOffset, Gap, Inspection, OwnPlace, PlaceState, Protection, Replaced, Right, RoundTrip,
};
pub use nonblocking::{FirstRow, Nonblocking, Replies, Request, Sent};
pub use open_sessions::break_off_all;
pub use register::SCHEMA_MARK;
pub use session::{Backup, Method, OWN_TABLES, Restored, Session, TEXTS_MAX, Target, WEAK_LOGIN};
pub use snapshot::Snapshot;
pub use url::{Address, Password, TargetUrl, UrlError, secrets_in};
pub use value::{
    BulkRow, Cooled, Counters, Fetched, Identities, RowSource, SessionsLeft, Statement, Value,
    cell_digest,
};
pub use verbatim::verbatim;
pub use watch::{ServerCounts, Tally, Transport, WaitClass, Watch};
pub use whereabouts::{data_place, runs_here};

/// Databases as sources: describes their tables and reads them as a whole.
pub mod source {
    pub use crate::catalogue::{
        COLUMNS_MAX, Cell, DIGITS_MAX, Digest, Kind, Misfit, Part, Reader, Source, SourceColumn,
        SourceTable, Space, Stored, TABLES_MAX, Taker, row_hash,
    };
    pub use crate::engines::open_source;
}

/// Tables of another database, loaded into an in-memory column store.
///
/// An engine of this crate holds them; callers see levels, a store to populate, and a target to
/// query. It is a copy: the source does not know about it, and later changes at the source are not in it.
pub mod lifted {
    pub use crate::duckdb::GROUP_ROWS;
    pub use crate::duckdb::lifted::{
        Change, Codec, MEMORY_BYTES_MIN, Replica, SNAPSHOT, Store, Writer, available, urls,
    };
    pub use crate::level::{Encoding, Level};
}

/// Files of dbdyno's own in the format of an engine that reads and writes Parquet, for figures of many systems.
pub mod own_file {
    pub use crate::duckdb::own_file::{Access, Mark, OwnFile, Rows};
    pub use crate::source::Cell;
}

/// Sets up what engines need once per process; to be called before anything else of the process uses
/// one, the archive included.
pub fn before_first_use() {
    sqlite::configure_library();
}

#[cfg(test)]
#[global_allocator]
static MEMORY: testing::Counting = testing::Counting;
