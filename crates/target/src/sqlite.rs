//! SQLite: embedded row store. WAL journal, durable commits, one writer at a time.

mod session;
mod target;

pub use target::Sqlite;
pub(crate) use target::configure_library;

use rusqlite::ffi;

use crate::{ErrorKind, TargetError};

/// Turns SQLite's error codes into what the user can do about them.
fn explain(context: &str, error: &rusqlite::Error) -> TargetError {
    let code = error.sqlite_error().map(|e| e.extended_code & 0xff);
    let kind = match code {
        Some(ffi::SQLITE_BUSY | ffi::SQLITE_LOCKED) => ErrorKind::Conflict,
        Some(ffi::SQLITE_FULL) => ErrorKind::Full,
        Some(ffi::SQLITE_CORRUPT | ffi::SQLITE_NOTADB) => ErrorKind::Damaged,
        Some(ffi::SQLITE_CANTOPEN | ffi::SQLITE_READONLY | ffi::SQLITE_PERM) => {
            ErrorKind::Unreachable
        }
        Some(ffi::SQLITE_IOERR) if disk_is_full(error) => ErrorKind::Full,
        _ => ErrorKind::Statement,
    };
    let advice = match kind {
        ErrorKind::Full => "; free space on its device or choose another path",
        ErrorKind::Damaged => "; it is not an intact SQLite database, choose another path",
        ErrorKind::Unreachable => "; check that its directory exists and can be written",
        _ => "",
    };
    TargetError::new(kind, format!("SQLite: {context}: {error}{advice}"))
}

fn disk_is_full(error: &rusqlite::Error) -> bool {
    // An extended I/O error hides the reason; SQLite words a full device this way on a failed write.
    error.to_string().contains("full")
}
