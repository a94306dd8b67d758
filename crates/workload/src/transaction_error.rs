//! What ends a transaction of a script or of order entry.

use target::TargetError;

/// Why a transaction did not come to its end.
#[derive(Debug)]
pub enum TransactionError {
    /// The database said so.
    Target(TargetError),
    /// What it did is not what was expected.
    Effect(String),
}
