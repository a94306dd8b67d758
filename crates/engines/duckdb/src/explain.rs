//! Turns DuckDB's messages into what the user can do about them.
//!
//! The C API gives an error type for results only, not for opening, preparing and appending; every
//! message however begins with its type, so one function reads them all.

use engine::statement_text::without_quoted;
use engine::{ErrorKind, TargetError};

/// The error of DuckDB's `message`, met while doing what `context` says.
pub fn explain(context: &str, message: &str) -> TargetError {
    let kind = kind_of(message);
    let advice = match kind {
        ErrorKind::Full => "; free some space on its device or choose another path",
        ErrorKind::Damaged => "; the file is damaged or not a DuckDB database: choose another path",
        ErrorKind::Unreachable if message.contains("Could not set lock") => {
            "; stop that process or choose another path"
        }
        ErrorKind::Unreachable if message.contains("FATAL Error") => {
            "; DuckDB refuses all further work on the database until it is reopened"
        }
        ErrorKind::Unreachable if message.contains("database file with version number") => {
            "; the file was written by a newer DuckDB: name the library of that version in DBDYNO_DUCKDB_LIB, or have it write \
             the file for older versions (ATTACH … (STORAGE_VERSION 'v1.0.0'))"
        }
        ErrorKind::Unreachable => "; check that its directory exists and is writable",
        ErrorKind::Statement if message.starts_with("Out of Memory Error") => {
            "; raise its memory limit (memory_limit_mb in a target's URL)"
        }
        _ => "",
    };
    let line = headline(message);
    let quotes_values = OF_VALUES.iter().any(|of| line.starts_with(of));
    let line = if quotes_values {
        without_quoted(line)
    } else {
        line.to_owned()
    };
    TargetError::new(kind, format!("DuckDB: {context}: {line}{advice}"))
}

/// Types of errors that quote values.
const OF_VALUES: &[&str] = &[
    "Constraint Error",
    "Conversion Error",
    "Out of Range Error",
    "TransactionContext Error",
];

fn kind_of(message: &str) -> ErrorKind {
    let has = |part: &str| message.contains(part);
    // A full device can surface as a failed commit or a fatal error, so it is looked for first:
    // trying again would not help.
    if has("No space left on device") || has("Disk quota exceeded") || has("File too large") {
        return ErrorKind::Full;
    }
    if has("not a valid DuckDB database")
        || has("Corrupt database file")
        || has("does not match stored checksum")
        || message.starts_with("Serialization Error")
    {
        return ErrorKind::Damaged;
    }
    // Not every error of this type is a conflict: a transaction begun twice would be retried for ever.
    if has("TransactionContext Error")
        && (has("onflict")
            || has("constraint violation")
            || has("has been altered")
            || has("other write transactions"))
    {
        return ErrorKind::Conflict;
    }
    if has("IO Error:") || has("FATAL Error:") || has("Could not write") || has("Could not read") {
        return ErrorKind::Unreachable;
    }
    ErrorKind::Statement
}

/// The first line without the pointer to DuckDB's manual: below it come excerpts of the statement.
fn headline(message: &str) -> &str {
    let line = message.lines().next().unwrap_or_default();
    line.split(". See also ").next().unwrap_or(line).trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_the_engine_find_their_kind() {
        for (message, kind) in [
            (
                "TransactionContext Error: Conflict on update!",
                ErrorKind::Conflict,
            ),
            (
                "TransactionContext Error: Failed to commit: PRIMARY KEY or UNIQUE constraint \
                 violation: duplicate key \"-1\"",
                ErrorKind::Conflict,
            ),
            (
                "TransactionContext Error: Failed to commit: Could not write file \"/x/t.db.wal\": \
                 No space left on device",
                ErrorKind::Full,
            ),
            (
                "TransactionContext Error: Failed to commit: Could not write file \"/x/t.db.wal\": \
                 Input/output error",
                ErrorKind::Unreachable,
            ),
            (
                "TransactionContext Error: cannot start a transaction within a transaction",
                ErrorKind::Statement,
            ),
            (
                "TransactionContext Error: Current transaction is aborted (please ROLLBACK)",
                ErrorKind::Statement,
            ),
            (
                "Constraint Error: Duplicate key \"id: -1\" violates primary key constraint.",
                ErrorKind::Statement,
            ),
            (
                "FATAL Error: Failed: database has been invalidated because of a previous fatal error.",
                ErrorKind::Unreachable,
            ),
        ] {
            assert_eq!(kind_of(message), kind, "{message}");
        }
    }

    #[test]
    fn a_message_is_one_line_with_what_to_do() {
        let error = explain(
            "cannot open /x/t.db",
            "IO Error: Could not set lock on file \"/x/t.db\": Conflicting lock is held in /bin/a \
             (PID 7). See also https://duckdb.org/docs/stable/connect/concurrency",
        );
        assert_eq!(error.kind, ErrorKind::Unreachable);
        assert!(!error.message.contains("See also"), "{error}");
        assert!(
            error
                .message
                .ends_with("stop that process or choose another path")
        );
        let error = explain(
            "cannot open /x/t.db",
            "IO Error: Trying to read a database file with version number 69, but we can only read versions between 64 and 67.",
        );
        assert!(error.message.contains("DBDYNO_DUCKDB_LIB"), "{error}");
        let error = explain(
            "x",
            "Catalog Error: no table\nDid you mean y?\n\nLINE 1: select",
        );
        assert_eq!(error.message, "DuckDB: x: Catalog Error: no table");
    }
}
