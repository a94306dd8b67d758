//! Errors of imports, of the fleet's file and of exports.

use std::io;
use std::path::PathBuf;

use archive::ArchiveError;
use engine::TargetError;

#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// A line of a CSV file; the sentence names the mistake and its correction.
    #[error("{}: line {line}: {what}", file.display())]
    Line {
        file: PathBuf,
        /// Number from 1, the head.
        line: u64,
        what: String,
    },
    #[error("{}: {what}", file.display())]
    File { file: PathBuf, what: String },
    #[error("{} cannot be read", file.display())]
    Unreadable {
        file: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    #[error("{} contains no file that ends in .csv or .dbdyno", .0.display())]
    NoFiles(PathBuf),
    #[error("{have} files are too many: the limit is {limit}; join CSV files")]
    TooManyFiles { have: usize, limit: usize },
    #[error(transparent)]
    Target(#[from] TargetError),
    #[error("{} exists; choose another file", .0.display())]
    Exists(PathBuf),
}
