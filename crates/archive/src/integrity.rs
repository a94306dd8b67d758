//! Digests of measured rows: a row or a bucket that was changed outside dbdyno is noticed.
//!
//! A point's digest covers its row and its children, a run's digest its row, its plan and its missing list. The digest
//! shows a mistake or a retouched figure; it is no signature, since it can be computed again after a change on purpose.
//!
//! Canonical encoding, fed to SHA-256: for each table in turn its name; for each row, in the order
//! of its primary key, the byte `R` and for each column in the order of the table that is neither
//! `digest` nor NULL its name and its value. A name is its length (u32) and its UTF-8; a value is a
//! tag and its bytes: `i` and 8 bytes, `r` and the 8 bytes of the IEEE 754 double (−0 as 0), `t` or
//! `b`, the length (u64) and the bytes. All numbers are little-endian. NULLs are left out, so that
//! a column can be added without touching the digests of older points.

use std::collections::HashMap;

use rusqlite::fallible_streaming_iterator::FallibleStreamingIterator;
use rusqlite::types::ValueRef;
use rusqlite::{CachedStatement, Connection, Row, Rows};
use sha2::{Digest, Sha256};

/// A table, the column with the owner of its rows, and the column that orders them.
pub(crate) struct Covered {
    pub table: &'static str,
    owner: &'static str,
    order: &'static str,
}

const fn covered(table: &'static str, owner: &'static str, order: &'static str) -> Covered {
    Covered {
        table,
        owner,
        order,
    }
}

pub(crate) const POINT_TABLES: &[Covered] = &[
    covered("point", "id", "id"),
    covered("histogram", "point_id", "kind"),
    covered("reason", "point_id", "seq"),
];

const RUN_TABLES: &[Covered] = &[
    covered("run", "id", "id"),
    covered("planned", "run_id", "seq"),
    covered("missing", "run_id", "seq"),
];

pub(crate) fn point_digest(connection: &Connection, point_id: i64) -> rusqlite::Result<String> {
    one(connection, POINT_TABLES, point_id)
}

pub(crate) fn run_digest(connection: &Connection, run_id: i64) -> rusqlite::Result<String> {
    one(connection, RUN_TABLES, run_id)
}

/// By number of the point. Each table is read once, in the order of the points.
pub(crate) fn point_digests(
    connection: &Connection,
    run_id: i64,
) -> rusqlite::Result<HashMap<i64, String>> {
    let condition = "IN (SELECT id FROM point WHERE run_id = ?1)";
    let mut readers = readers(connection, POINT_TABLES, condition)?;
    let mut cursors = cursors(&mut readers, run_id)?;
    let mut ids = connection.prepare_cached("SELECT id FROM point WHERE run_id = ?1")?;
    let ids = ids.query_map([run_id], |row| row.get(0))?;
    let mut ids = ids.collect::<rusqlite::Result<Vec<i64>>>()?;
    ids.sort_unstable();
    ids.into_iter()
        .map(|id| Ok((id, digest(&mut cursors, id)?)))
        .collect()
}

fn one(connection: &Connection, tables: &[Covered], id: i64) -> rusqlite::Result<String> {
    let mut readers = readers(connection, tables, "= ?1")?;
    digest(&mut cursors(&mut readers, id)?, id)
}

struct Reader<'c> {
    table: &'static str,
    /// Each column's name as it is hashed; `None` for what is not covered.
    names: Vec<Option<Vec<u8>>>,
    /// Number of the column with the owner of a row.
    owner: usize,
    statement: CachedStatement<'c>,
}

struct Cursor<'s> {
    table: &'static str,
    names: &'s [Option<Vec<u8>>],
    owner: usize,
    rows: Rows<'s>,
}

fn readers<'c>(
    connection: &'c Connection,
    tables: &[Covered],
    condition: &str,
) -> rusqlite::Result<Vec<Reader<'c>>> {
    let reader = |covered: &Covered| {
        let Covered {
            table,
            owner,
            order,
        } = covered;
        let sql =
            format!("SELECT * FROM {table} WHERE {owner} {condition} ORDER BY {owner}, {order}");
        let statement = connection.prepare_cached(&sql)?;
        let columns = statement.column_names();
        let names = columns.map(|name| (name != "digest").then(|| named(name)));
        Ok(Reader {
            table,
            names: names.collect(),
            owner: statement.column_index(owner)?,
            statement,
        })
    };
    tables.iter().map(reader).collect()
}

fn cursors<'s>(readers: &'s mut [Reader<'_>], id: i64) -> rusqlite::Result<Vec<Cursor<'s>>> {
    let cursor = |reader: &'s mut Reader<'_>| {
        let mut rows = reader.statement.query([id])?;
        rows.advance()?;
        Ok(Cursor {
            table: reader.table,
            names: &reader.names,
            owner: reader.owner,
            rows,
        })
    };
    readers.iter_mut().map(cursor).collect()
}

/// Reads the rows of `id`, which must come next in the cursors.
fn digest(cursors: &mut [Cursor<'_>], id: i64) -> rusqlite::Result<String> {
    let mut hash = Sha256::new();
    for cursor in cursors {
        hash.update(named(cursor.table));
        while let Some(row) = cursor.rows.get() {
            if row.get::<_, i64>(cursor.owner)? != id {
                break;
            }
            add_row(&mut hash, cursor.names, row)?;
            cursor.rows.advance()?;
        }
    }
    Ok(hex(&hash.finalize()))
}

fn add_row(hash: &mut Sha256, names: &[Option<Vec<u8>>], row: &Row<'_>) -> rusqlite::Result<()> {
    hash.update(b"R");
    for (column, name) in names.iter().enumerate() {
        let Some(name) = name else { continue };
        let value = row.get_ref(column)?;
        if value != ValueRef::Null {
            hash.update(name);
            add_value(hash, value);
        }
    }
    Ok(())
}

fn add_value(hash: &mut Sha256, value: ValueRef<'_>) {
    let (tag, number): (_, [u8; 8]) = match value {
        ValueRef::Null => return,
        ValueRef::Integer(i) => (b"i", i.to_le_bytes()),
        // SQLite stores no sign of a zero, so neither does the digest: −0 + 0 = 0.
        ValueRef::Real(r) => (b"r", (r + 0.0).to_le_bytes()),
        ValueRef::Text(t) => (b"t", (t.len() as u64).to_le_bytes()),
        ValueRef::Blob(b) => (b"b", (b.len() as u64).to_le_bytes()),
    };
    hash.update(tag);
    hash.update(number);
    if let ValueRef::Text(bytes) | ValueRef::Blob(bytes) = value {
        hash.update(bytes);
    }
}

fn named(name: &str) -> Vec<u8> {
    [&(name.len() as u32).to_le_bytes(), name.as_bytes()].concat()
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
