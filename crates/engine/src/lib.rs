//! The interface between databases under test and everything that measures them.
//!
//! An [`Engine`] opens a [`Target`], which is a database; a [`Session`] is one connection that does the work of one job.
//! An engine reports what it cannot do as a missing [`Feature`] with the reason; nothing outside the engines' crates tests
//! which engine it is. [`Engines`] is a list of engines, which reads URLs and opens the databases that they name.
//!
//! The modules below are what engines share; those who only measure need the types of this level, [`source`] and
//! [`conformance`].

pub mod activity;
pub mod backup;
pub mod backup_adapter;
mod capability;
pub mod catalogue;
pub mod conformance;
mod counted;
pub mod database_file;
mod engine;
mod engines;
mod error;
mod file_io;
pub mod file_snapshot;
pub mod files;
mod footprint;
pub mod inspection;
pub mod limit;
pub mod nonblocking;
pub mod open_sessions;
pub mod placeholders;
pub mod plain;
pub mod plan_text;
pub mod process;
pub mod register;
pub mod risen;
pub mod session;
pub mod session_settings;
mod snapshot;
pub mod statement_text;
pub mod tied;
pub mod url;
pub mod value;
mod verbatim;
mod watch;

pub use activity::{
    Activity, LoadCount, LoadCounts, Look, SessionSeen, TimeInStatements, TimeOnProcessors, Wanted,
};
pub use backup::{BackedUp, BackupMethod, BackupOptions, ProgramUse, Variant};
pub use capability::Feature;
pub use counted::Counted;
pub use engine::{Engine, EngineInfo, Incomplete, Reach, Tried, TypeNames};
pub use engines::Engines;
pub use error::{ErrorKind, Result, TargetError, failed, shortened};
pub use file_io::FileIo;
pub use footprint::{Footprint, RowBytes};
pub use inspection::{
    ClockOffset, Gap, Inspection, OwnPlace, PlaceState, Protection, Replaced, Right, RoundTrip,
};
pub use nonblocking::{FirstRow, Nonblocking, Replies, Request, Sent};
pub use open_sessions::break_off_all;
pub use register::SCHEMA_MARK;
pub use session::{
    Backup, Method, OWN_TABLES, RestoreOptions, Restored, Session, TEXTS_MAX, Target, WEAK_LOGIN,
};
pub use snapshot::Snapshot;
pub use url::{Address, Password, TargetUrl, UrlError, secrets_in};
pub use value::{
    BulkRow, Cooled, Counters, Fetched, Identities, RowSource, SessionsLeft, Statement, Value,
    cell_digest,
};
pub use verbatim::verbatim;
pub use watch::{ServerCounts, Tally, Transport, WaitClass, Watch};

/// Databases as sources: describes their tables and reads them as a whole.
pub mod source {
    pub use crate::catalogue::{
        COLUMNS_MAX, Cell, DIGITS_MAX, Digest, Kind, Misfit, Part, Reader, Source, SourceColumn,
        SourceTable, Space, Stored, TABLES_MAX, Taker, row_hash,
    };
}
