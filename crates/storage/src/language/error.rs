//! Errors in a parameter file or in the command that names it.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

pub type Result<T> = std::result::Result<T, LanguageError>;

/// Position in a file; line 0 without a file for defaults.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Position {
    pub file: Arc<str>,
    pub line: u32,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// Reason why parameters cannot be carried out.
#[derive(Debug, thiserror::Error)]
pub enum LanguageError {
    #[error("{place}: {what}")]
    At { place: Position, what: String },
    #[error("{0}")]
    Command(String),
    /// An error that may follow from an accidental comment.
    #[error("{error}\n{hint}")]
    Hinted {
        error: Box<LanguageError>,
        hint: String,
    },
    #[error("the parameter file {} cannot be read: {reason}", path.display())]
    Unreadable { path: PathBuf, reason: io::Error },
}

impl Position {
    pub(super) fn new(file: impl Into<Arc<str>>, line: u32) -> Self {
        let file = file.into();
        Self { file, line }
    }

    pub(super) fn wrong(&self, what: impl Into<String>) -> LanguageError {
        let (place, what) = (self.clone(), what.into());
        LanguageError::At { place, what }
    }
}
