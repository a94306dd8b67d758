//! A page that cannot be written.

use std::io;
use std::path::PathBuf;

/// A page that cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("{} cannot be written: {reason}", path.display())]
pub struct PagesError {
    /// The page, or the folder.
    pub path: PathBuf,
    pub reason: io::Error,
}
