//! Error of a page.

use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
#[error("{} cannot be written: {reason}", path.display())]
pub struct PagesError {
    pub path: PathBuf,
    pub reason: io::Error,
}
