use std::io;
use std::path::PathBuf;

/// Page that cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("{} cannot be written: {reason}", path.display())]
pub struct PagesError {
    /// Path of the page or folder.
    pub path: PathBuf,
    pub reason: io::Error,
}
