//! What can be wrong with a parameter file or the command that names it.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// Result of everything that reads parameters.
pub type Result<T> = std::result::Result<T, LanguageError>;

/// Where something stands; line 0 of no file, where nobody wrote it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Position {
    /// File, as it was named.
    pub file: Arc<str>,
    /// Line, from 1.
    pub line: u32,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// Why the parameters cannot be carried out.
#[derive(Debug, thiserror::Error)]
pub enum LanguageError {
    #[error("{place}: {what}")]
    At {
        place: Position,
        /// What is wrong and what would be right.
        what: String,
    },
    /// Something on the command line, or in all files together.
    #[error("{0}")]
    Command(String),
    /// Something that may follow from a comment that was not meant as one.
    #[error("{error}\n{hint}")]
    Hinted {
        error: Box<LanguageError>,
        /// Which comment, and what to do.
        hint: String,
    },
    /// A file cannot be read.
    #[error("the parameter file {} cannot be read: {reason}", path.display())]
    Unreadable { path: PathBuf, reason: io::Error },
}

impl Position {
    /// An error at this place.
    pub(super) fn wrong(&self, what: impl Into<String>) -> LanguageError {
        LanguageError::At {
            place: self.clone(),
            what: what.into(),
        }
    }
}
