//! Populating a column store in memory with tables, and the benefit.
//!
//! * [`chosen`]: selection of tables and columns.
//! * [`mod@lift`]: streams tables from a source into a store and verifies them.
//! * [`mod@follow`]: applies changes of the source to the copy.
//! * [`memory`]: memory limit and use.
//! * [`step`] and [`mod@measure`]: the plan's table and the points.
//! * [`mod@size`]: estimated size, from a sample.

#![forbid(unsafe_code)]

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
pub use column_store::{Level, available};
pub use follow::{Changed, Follower, Lag, differing, follow};
pub use lift::{LiftOptions, Lifted, LiftedTable, lift};

use archive::Remark;
use engine::source::SourceTable;

/// Limit of the sessions that read a source in parallel.
pub const JOBS_MAX: u32 = 64;

fn table_note(table: &SourceTable) -> Option<Remark> {
    let what = table.note?.to_owned();
    Some(Remark::TableReported { what })
}

pub type Result<T> = std::result::Result<T, ColumnarError>;

#[derive(Debug, Clone, thiserror::Error)]
pub enum ColumnarError {
    #[error(transparent)]
    Target(#[from] engine::TargetError),
    /// Unknown name of a table or column.
    #[error("{0}")]
    Unknown(String),
    /// Columns whose types or values no level supports.
    #[error("no level can hold these columns: {columns}; leave them out, or keep them as text")]
    Unholdable {
        /// Each column with type and reason.
        columns: String,
        flags: String,
    },
    #[error(
        "the tables take {disk} on disk and may take {expected} at level {level}, more than the {memory} of memory \
         for them; allow more memory, choose a level that compresses more, or choose fewer tables"
    )]
    TooLarge {
        disk: String,
        expected: String,
        level: Level,
        memory: String,
    },
    /// No sample represents the table.
    #[error("the size of {table} cannot be estimated: {why}")]
    Unsized { table: String, why: String },
    #[error("interrupted; no populated table is kept")]
    Interrupted,
}
