//! What can be wrong with telemetry and with the file that keeps it.

use std::io;
use std::path::PathBuf;

use archive::ArchiveError;
use target::TargetError;

/// Why a fleet is not imported, read or exported.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// A line of a CSV file; the sentence says what is wrong and what would be right.
    #[error("{}: line {line}: {what}", file.display())]
    Line {
        file: PathBuf,
        /// From 1, the head.
        line: u64,
        what: String,
    },
    /// A file as a whole.
    #[error("{}: {what}", file.display())]
    File { file: PathBuf, what: String },
    /// A file cannot be read.
    #[error("{} cannot be read", file.display())]
    Unreadable {
        file: PathBuf,
        #[source]
        source: io::Error,
    },
    /// An archive cannot be read.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    #[error("{} contains no file that ends in .csv or .dbdyno", .0.display())]
    NoFiles(PathBuf),
    /// More files than are read.
    #[error("{have} files are too many: the limit is {limit}; join CSV files")]
    TooManyFiles { have: usize, limit: usize },
    #[error(transparent)]
    Target(#[from] TargetError),
    /// Something is in the way of an export.
    #[error("{} exists; choose another file", .0.display())]
    Exists(PathBuf),
}
