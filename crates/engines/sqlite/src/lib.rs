//! SQLite: embedded row store. WAL journal, durable commits, one writer at a time.

mod claim;
mod features;
mod guard;
mod inspect;
mod library;
mod scheme;
mod session;
mod source;
mod target;

pub use library::configure_library;
pub use scheme::{ENGINES, Sqlite};

use std::path::{Path, PathBuf};

use rusqlite::ffi;

use engine::{ErrorKind, Result, TargetError, database_file};

/// The file at `path` under its name without links, when it may be a database with what lies beside it.
///
/// # Errors
/// When something else is there, or beside it.
fn resolved(path: &Path) -> Result<PathBuf> {
    let real = database_file::resolved("SQLite", path)?;
    match archive::companions::foreign(&real) {
        Ok(Some(foreign)) => Err(TargetError::foreign(format!(
            "SQLite: {} is no file of SQLite and would be overwritten; move it, or choose another path",
            foreign.display()
        ))),
        // Opening an unreadable file fails with a better message.
        Ok(None) | Err(_) => Ok(real),
    }
}

/// Path of the log of a database.
fn log_of(path: &Path) -> PathBuf {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    PathBuf::from(log)
}

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
        Some(ffi::SQLITE_IOERR) if is_out_of_room(error) => ErrorKind::Full,
        _ => ErrorKind::Statement,
    };
    let advice = match kind {
        ErrorKind::Full => {
            "; its disk is full or a quota is exhausted: free some space or choose another path"
        }
        ErrorKind::Damaged => "; the file is damaged or not a SQLite database: choose another path",
        ErrorKind::Unreachable => "; check that its directory exists and is writable",
        _ => "",
    };
    TargetError::new(kind, format!("SQLite: {context}: {error}{advice}"))
}

/// A quota and a limit on the size of files answer a write with EDQUOT and EFBIG, a full tmpfs the
/// growing of the shared memory with ENOSPC: SQLite reports all three as plain I/O errors.
fn is_out_of_room(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error().map(|e| e.extended_code);
    matches!(
        code,
        Some(ffi::SQLITE_IOERR_WRITE | ffi::SQLITE_IOERR_SHMSIZE)
    )
}
