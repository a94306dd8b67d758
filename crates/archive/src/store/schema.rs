//! The schema of the archive's file: its marks, its SQL, and what may be opened.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::sync::OnceLock;

use rusqlite::Connection;
use rusqlite::types::ValueRef;

use super::{ArchiveError, Result};
use crate::FIGURES;
use crate::open_here::is_open_here;

/// `PRAGMA application_id` of every archive: "dbdy".
pub const APPLICATION_ID: i32 = i32::from_be_bytes(*b"dbdy");

/// `PRAGMA user_version` of the archives written here. A released version never changes its columns: a change raises this number
/// and keeps the released one readable.
pub const SCHEMA_VERSION: i64 = 1;

/// The whole SQL of this version, figure columns filled in.
pub(super) fn sql() -> String {
    let figures: String = FIGURES
        .iter()
        .map(|figure| format!("    {:<23} REAL, -- {}\n", figure.name, figure.unit))
        .collect();
    let names: Vec<&str> = FIGURES.iter().map(|figure| figure.name).collect();
    (include_str!("schema.sql").replace("{{FIGURES}}\n", &figures))
        .replace("{{NAMES}}", &names.join(", "))
}

/// Looks at the first bytes of `path`, before SQLite may touch anything: ours, and of a known version?
///
/// A new archive gets its name only when it is whole (see `create`), so the marks always stand in
/// the main file.
pub(super) fn check_marks(path: &Path) -> Result<()> {
    let not_ours = |detail: &str| ArchiveError::NotAnArchive {
        path: path.to_path_buf(),
        detail: detail.to_owned(),
    };
    // Opening a pipe waits for its other end. A directory or an inaccessible file fails on reading, which says why.
    if std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return Err(not_ours("it is no file"));
    }
    if fs::metadata(path).is_ok_and(|found| is_open_here(&found)) {
        return Ok(());
    }
    let header = read_header(path)?;
    let Some(header) = header else {
        return Err(not_ours("it is too short"));
    };
    let number = |at: usize| {
        i32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
    };
    if !header.starts_with(b"SQLite format 3\0") {
        return Err(not_ours("it is not an SQLite file"));
    }
    if number(68) != APPLICATION_ID {
        return Err(not_ours("it is an SQLite file of another application"));
    }
    let found = i64::from(number(60));
    if found < 1 {
        return Err(not_ours("it has no schema version"));
    }
    if found != SCHEMA_VERSION {
        return Err(ArchiveError::OtherVersion {
            path: path.to_path_buf(),
            found,
            known: SCHEMA_VERSION,
        });
    }
    Ok(())
}

/// The 100 bytes of an SQLite header; `None` when the file has fewer.
fn read_header(path: &Path) -> Result<Option<[u8; 100]>> {
    let unreachable = |reason: String| ArchiveError::Unreachable {
        path: path.to_path_buf(),
        reason,
    };
    if path.is_dir() {
        return Err(unreachable("it is a directory".to_owned()));
    }
    let mut header = [0; 100];
    match File::open(path).and_then(|mut file| file.read_exact(&mut header)) {
        Ok(()) => Ok(Some(header)),
        Err(e) if e.kind() == ErrorKind::UnexpectedEof => Ok(None),
        Err(e) => Err(unreachable(e.to_string())),
    }
}

/// Checks every page and every declared constraint, then that the columns are those of the version.
pub(super) fn check_whole(connection: &Connection, path: &Path) -> Result<()> {
    let damaged = |detail: String| ArchiveError::Damaged {
        path: path.to_path_buf(),
        detail,
    };
    if !is_text(connection)? {
        return Err(damaged("its schema is not UTF-8".to_owned()));
    }
    if let Some(foreign) = foreign(connection)? {
        return Err(damaged(format!(
            "its schema has {foreign}, which dbdyno never creates"
        )));
    }
    let found: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if found != "ok" {
        return Err(damaged(found));
    }
    for (table, columns) in TABLES.get_or_init(columns_of_this_version) {
        let found = columns_of(connection, table)?;
        if found.is_empty() {
            return Err(damaged(format!("it has no table `{table}`")));
        }
        if let Some(name) = columns.iter().find(|name| !found.contains(*name)) {
            return Err(damaged(format!(
                "its table `{table}` has no column `{name}`"
            )));
        }
    }
    Ok(())
}

/// An object of the schema that would be executed when the file is read or written. Other tables do no harm; the view
/// `result` is for people, and dbdyno itself never reads it.
fn foreign(connection: &Connection) -> Result<Option<String>> {
    let sql = "SELECT type || ' `' || name || '`' FROM pragma_table_list
               WHERE schema = 'main' AND type <> 'table' AND (type, name) <> ('view', 'result')
               UNION ALL
               SELECT 'trigger `' || name || '`' FROM sqlite_schema WHERE type = 'trigger'
               UNION ALL
               SELECT 'generated column `' || c.name || '`' FROM pragma_table_list t, pragma_table_xinfo(t.name) c
               WHERE t.schema = 'main' AND t.type = 'table' AND c.hidden <> 0
               LIMIT 1";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    Ok(rows.next()?.map(|row| row.get(0)).transpose()?)
}

/// rusqlite panics on names of columns that are not text.
fn is_text(connection: &Connection) -> Result<bool> {
    let mut statement = connection.prepare("SELECT name, tbl_name, sql FROM sqlite_schema")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        for column in 0..3 {
            if let ValueRef::Text(text) = row.get_ref(column)?
                && std::str::from_utf8(text).is_err()
            {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// The tables of this version with their columns, read from its SQL once per process.
static TABLES: OnceLock<Vec<(String, Vec<String>)>> = OnceLock::new();

fn columns_of_this_version() -> Vec<(String, Vec<String>)> {
    let read = || -> rusqlite::Result<Vec<(String, Vec<String>)>> {
        let connection = Connection::open_in_memory()?;
        connection.execute_batch(&sql())?;
        let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name";
        let mut tables = connection.prepare(sql)?;
        let tables = tables.query_map([], |row| row.get::<_, String>(0))?;
        tables
            .map(|table| {
                table.and_then(|table| Ok((table.clone(), columns_of(&connection, &table)?)))
            })
            .collect()
    };
    read().expect("the SQL is constant, and a test executes it")
}

fn columns_of(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
    let names = statement.query_map([table], |row| row.get(0))?;
    names.collect()
}

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    use super::*;

    /// If this fails, a figure or a table was changed: once a version is released, raise `SCHEMA_VERSION` as well.
    #[test]
    fn the_columns_of_version_1_are_frozen() {
        let tables = columns_of_this_version();
        let columns: Vec<String> = (tables.iter())
            .flat_map(|(table, names)| names.iter().map(move |name| format!("{table}.{name}")))
            .collect();
        let digest = crate::integrity::hex(&Sha256::digest(columns.join("\n")));
        assert_eq!(SCHEMA_VERSION, 1);
        assert_eq!(&digest[..16], "0d040dca91185645", "{columns:#?}");
    }
}
