//! Lifting tables into memory by columns, and what that is worth.
//!
//! * [`chosen`]: which tables and columns.
//! * [`mod@lift`]: streams them from a source into a store, and proves that they arrived.
//! * [`mod@follow`]: brings what was lifted up to its source.
//! * [`memory`]: what that may take of it, and took.
//! * [`step`] and [`mod@measure`]: what a plan says of it, and the points of it.
//! * [`mod@size`]: what it would take, from a sample.

pub mod chosen;
mod copies;
pub mod follow;
pub mod lift;
pub mod measure;
pub mod memory;
pub mod size;
pub mod step;
mod unfit;
mod watch;

pub use chosen::{Chosen, LeftOut, Unfit};
pub use follow::{Changed, Follower, Lag, differing, follow};
pub use lift::{LiftOptions, Lifted, LiftedTable, lift};
pub use target::lifted::{Level, available};

use archive::Remark;
use target::source::SourceTable;

/// Most sessions that read a source at the same time.
pub const JOBS_MAX: u32 = 64;

/// What a source says of a table.
fn table_told(table: &SourceTable) -> Option<Remark> {
    let what = table.note?.to_owned();
    Some(Remark::TableTold { what })
}

pub type Result<T> = std::result::Result<T, ColumnarError>;

/// What can go wrong with lifted tables.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ColumnarError {
    #[error(transparent)]
    Target(#[from] target::TargetError),
    /// A name of --tables or --columns is none.
    #[error("{0}")]
    Unknown(String),
    /// Columns have types or values that no level can hold.
    #[error("no level can hold these columns: {columns}; leave them out, or keep them as text")]
    Unholdable {
        /// Each with its type and why.
        columns: String,
        flags: String,
    },
    /// The data do not fit.
    #[error(
        "the tables take {disk} on disk and may take {expected} at level {level}, more than the {memory} of memory \
         for them; allow more memory, choose a level that compresses more, or choose fewer tables"
    )]
    TooLarge {
        disk: String,
        expected: String,
        level: Level,
        /// What there is for them.
        memory: String,
    },
    /// No sample can stand for a table.
    #[error("the size of {table} cannot be estimated: {why}")]
    Unsized { table: String, why: String },
    /// The user asked to stop.
    #[error("interrupted; no populated table is kept")]
    Interrupted,
}
