//! Errors of a database, by what its user can do.

/// Result of everything that talks to a target.
pub type Result<T> = std::result::Result<T, TargetError>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// Another transaction was in the way: roll back and try again.
    Conflict,
    /// The target cannot be reached, or its file cannot be opened or written.
    Unreachable,
    Full,
    /// The database says that its file is damaged.
    Damaged,
    /// The target holds something that is not ours.
    Foreign,
    /// The engine itself is not installed.
    NotInstalled,
    Statement,
    /// A text has bytes that mean nothing in its encoding, or nothing in UTF-8.
    Untranslatable,
    /// A row that is read holds a value that its column's type has no place for; the column's place, from 0.
    Unfit(usize),
}

/// An error of a target: one sentence for the user and what kind it is.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct TargetError {
    pub kind: ErrorKind,
    /// One sentence, without secrets.
    pub message: String,
}

impl TargetError {
    /// An error of `kind` with its sentence.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }

    /// The request is wrong in itself, or the engine cannot do it.
    pub fn statement(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Statement, message)
    }

    /// The target cannot be reached, or does not let us in.
    pub fn unreachable(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unreachable, message)
    }

    /// The target holds something that is not ours.
    pub fn foreign(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Foreign, message)
    }

    /// True when trying the transaction again may help.
    pub fn is_conflict(&self) -> bool {
        self.kind == ErrorKind::Conflict
    }
}

/// Turns an error of the operating system into the user's sentence.
pub fn failed(what: &str, error: &std::io::Error) -> TargetError {
    let kind = match error.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => ErrorKind::Full,
        _ => ErrorKind::Unreachable,
    };
    TargetError::new(kind, format!("{what}: {error}"))
}

/// A statement in a message, cut to a length that can be read.
pub fn shortened(statement: &str) -> String {
    const CHARACTERS_MAX: usize = 200;
    match statement.char_indices().nth(CHARACTERS_MAX) {
        None => statement.to_owned(),
        Some((end, _)) => format!("{}…", &statement[..end]),
    }
}
