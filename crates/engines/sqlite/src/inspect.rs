//! Inspects a file without changing it: it is opened for reading, and one that is missing is not created.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::features::lacks;
use super::guard::refuse_foreign_tables;
use super::{configure_library, explain, log_of, resolved};
use engine::inspection::{Inspection, PlaceState};
use engine::{Result, TargetUrl};

/// Looks at the file that a URL names.
///
/// # Errors
/// When it is damaged.
pub fn inspect(url: &TargetUrl) -> Result<Inspection> {
    configure_library();
    let path = url.place();
    let mut found = Inspection {
        engine: "SQLite".into(),
        version: rusqlite::version().into(),
        rules: "rule = []",
        ..Inspection::default()
    };
    let in_memory = path.is_none();
    found.lack(|feature| lacks(in_memory, feature));
    let Some(path) = path else {
        return Ok(found.in_memory());
    };
    let state = match std::fs::metadata(&path) {
        Ok(file) if file.len() > 0 => look_into(&mut found, &path)?,
        // An absent or empty file becomes a new database.
        _ => PlaceState::Absent,
    };
    Ok(found.in_file(&path, state))
}

fn look_into(found: &mut Inspection, path: &Path) -> Result<PlaceState> {
    let context = format!("cannot read {}", path.display());
    let real = resolved(path)?;
    let connection = open(&real).map_err(|e| explain(&context, &e))?;
    let own = refuse_foreign_tables(&connection, path);
    for name in ["page_size", "journal_mode"] {
        let value = connection.query_row(&format!("PRAGMA {name}"), [], |row| {
            row.get::<_, rusqlite::types::Value>(0)
        });
        let value = match value.map_err(|e| explain(&context, &e))? {
            rusqlite::types::Value::Integer(n) => n.to_string(),
            rusqlite::types::Value::Text(text) => text,
            _ => continue,
        };
        found.settings.insert(name.into(), value);
    }
    Ok(match found.refuse(own)? {
        Some(()) => PlaceState::Usable,
        None => PlaceState::Foreign,
    })
}

/// A reader of a file with a log would leave files beside it; without a log the file is all there is.
fn open(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    if log_of(path).exists() {
        return Connection::open_with_flags(path, flags);
    }
    let flags = flags | OpenFlags::SQLITE_OPEN_URI;
    Connection::open_with_flags(archive::immutable_uri(path), flags)
}
