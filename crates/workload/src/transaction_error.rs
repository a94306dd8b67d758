//! What ends a transaction of a script or of order entry, and what the driver does about it.

use load::Failure;
use target::{ErrorKind, TargetError};

/// Why a transaction did not come to its end.
#[derive(Debug)]
pub enum TransactionError {
    Target(TargetError),
    /// What it did is not what was expected.
    Effect(String),
}

impl TransactionError {
    /// Whether the transaction may be tried again.
    pub fn is_conflict(&self) -> bool {
        matches!(self, TransactionError::Target(error) if error.is_conflict())
    }

    /// Whether nobody will ever say what became of it.
    pub fn is_lost(&self) -> bool {
        matches!(self, TransactionError::Target(error) if error.kind == ErrorKind::Unreachable)
    }

    /// What the driver does about it, after `retries` retries.
    #[cold]
    pub fn into_failure(self, retries: u32) -> Failure {
        match self {
            TransactionError::Effect(message) => Failure::Operation(message),
            TransactionError::Target(error) if error.is_conflict() => Failure::Operation(format!(
                "gave up after {retries} retries: {}",
                error.message
            )),
            TransactionError::Target(error) => failure(error),
        }
    }
}

/// What the driver does about an error: a database that is gone stops everything, a statement that
/// failed counts.
pub fn failure(error: TargetError) -> Failure {
    match error.kind {
        ErrorKind::Unreachable | ErrorKind::Full | ErrorKind::Damaged | ErrorKind::NotInstalled => {
            Failure::Fatal(error.message)
        }
        ErrorKind::Conflict
        | ErrorKind::Foreign
        | ErrorKind::Statement
        | ErrorKind::Untranslatable
        | ErrorKind::Unfit(_) => Failure::Operation(error.message),
    }
}
