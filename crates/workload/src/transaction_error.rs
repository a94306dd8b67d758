//! Errors of a transaction of a script or of order entry, and the driver's reaction.

use engine::{ErrorKind, TargetError};
use load::Failure;

#[derive(Debug)]
pub enum TransactionError {
    Target(TargetError),
    /// The result differs from the expected one.
    Effect(String),
}

impl TransactionError {
    pub fn is_conflict(&self) -> bool {
        matches!(self, TransactionError::Target(error) if error.is_conflict())
    }

    /// True if the outcome will never be known.
    pub fn is_lost(&self) -> bool {
        matches!(self, TransactionError::Target(error) if error.kind == ErrorKind::Unreachable)
    }

    /// Failure for the driver, after `retries` retries.
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

/// Failure for the driver: a lost database stops everything, a failed statement counts as an error.
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
