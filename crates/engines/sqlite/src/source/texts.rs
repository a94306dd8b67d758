//! Functions that SQLite lacks for texts: their length in UTF-8 whatever the database is encoded in, and a text for
//! every value.

use rusqlite::Connection;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;

/// Bytes of a text in UTF-8, with `{}` for it.
pub(super) const BYTES: &str = "dbdyno_bytes({})";

/// The text of any value: of bytes their hexadecimal digits, of a text that is not UTF-8 the same with U+FFFD.
pub(super) fn text_of(quoted: &str) -> String {
    format!(
        "CASE WHEN typeof({quoted}) IN ('text', 'blob') THEN dbdyno_text({quoted}) ELSE CAST({quoted} AS TEXT) END"
    )
}

/// Adds the functions to a connection.
pub(super) fn add_functions(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("dbdyno_bytes", 1, flags, bytes)?;
    connection.create_scalar_function("dbdyno_text", 1, flags, text)
}

fn bytes(context: &Context<'_>) -> rusqlite::Result<Option<i64>> {
    Ok(match context.get_raw(0) {
        ValueRef::Text(text) => i64::try_from(text.len()).ok(),
        _ => None,
    })
}

fn text(context: &Context<'_>) -> rusqlite::Result<Option<String>> {
    Ok(match context.get_raw(0) {
        ValueRef::Text(text) => Some(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Some(bytes.iter().map(|byte| format!("{byte:02X}")).collect()),
        _ => None,
    })
}
