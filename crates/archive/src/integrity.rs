//! Digests over what was measured: a row or a bucket changed behind the tool's back is noticed.
//!
//! A point's digest covers its row and its children, a run's digest its row, its plan and its
//! missing list. The digest tells a mistake or a retouched figure; it is no signature, since
//! whoever rewrites rows on purpose can compute it as well.
//!
//! Canonical encoding, fed to SHA-256: for each table in turn its name; for each row, in the order
//! of its primary key, the byte `R` and for each column in the order of the table that is neither
//! `digest` nor NULL its name and its value. A name is its length (u32) and its UTF-8; a value is a
//! tag and its bytes: `i` and 8 bytes, `r` and the 8 bytes of the IEEE 754 double (−0 as 0), `t` or
//! `b`, the length (u64) and the bytes. All numbers are little-endian. NULLs are left out so that a
//! later version may add columns without touching the digests of older points; for the same reason a table
//! that a later version added is left out, with its name, where it has no row.

use rusqlite::Connection;
use rusqlite::types::ValueRef;
use sha2::{Digest, Sha256};

/// Why a point whose digest differs is invalid.
pub const POINT_ALTERED: &str =
    "the archive row was changed after it was measured (digest differs)";
/// Why a run whose digest differs is invalid.
pub const RUN_ALTERED: &str =
    "the archive's record of the run was changed after it was written (digest differs)";

/// Table, and the condition and order in which its rows are covered.
pub(crate) type Covered = (&'static str, &'static str);

/// Tables that are left out where they have no row: older points were sealed without them.
const LATER: &[&str] = &["operation_times", "operation_sample"];

pub(crate) const POINT_TABLES: &[Covered] = &[
    ("point", "id = ?1"),
    ("histogram", "point_id = ?1 ORDER BY kind"),
    ("sample", "point_id = ?1 ORDER BY seq"),
    ("timed_event", "point_id = ?1 ORDER BY seq"),
    ("background_event", "point_id = ?1 ORDER BY seq"),
    ("wait_histogram", "point_id = ?1 ORDER BY seq"),
    ("reason", "point_id = ?1 ORDER BY seq"),
    ("operation_times", "point_id = ?1 ORDER BY seq"),
    ("operation_sample", "point_id = ?1 ORDER BY seq"),
];

const RUN_TABLES: &[Covered] = &[
    ("run", "id = ?1"),
    ("planned", "run_id = ?1 ORDER BY seq"),
    ("missing", "run_id = ?1 ORDER BY seq"),
];

/// Digest of a point as it stands in the archive now.
pub(crate) fn point_digest(connection: &Connection, point_id: i64) -> rusqlite::Result<String> {
    digest(connection, POINT_TABLES, point_id)
}

/// Digest of a run's record as it stands in the archive now.
pub(crate) fn run_digest(connection: &Connection, run_id: i64) -> rusqlite::Result<String> {
    digest(connection, RUN_TABLES, run_id)
}

fn digest(connection: &Connection, tables: &[Covered], id: i64) -> rusqlite::Result<String> {
    let mut hash = Sha256::new();
    for (table, which) in tables {
        let mut named = !LATER.contains(table);
        if named {
            text(&mut hash, table);
        }
        let mut statement =
            connection.prepare_cached(&format!("SELECT * FROM {table} WHERE {which}"))?;
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut rows = statement.query([id])?;
        while let Some(row) = rows.next()? {
            if !named {
                text(&mut hash, table);
                named = true;
            }
            hash.update(b"R");
            for (column, name) in names.iter().enumerate() {
                if name != "digest" {
                    value(&mut hash, name, row.get_ref(column)?);
                }
            }
        }
    }
    Ok(hex(&hash.finalize()))
}

fn text(hash: &mut Sha256, text: &str) {
    hash.update((text.len() as u32).to_le_bytes());
    hash.update(text);
}

fn value(hash: &mut Sha256, name: &str, value: ValueRef<'_>) {
    let (tag, bytes) = match value {
        ValueRef::Null => return,
        ValueRef::Integer(i) => (b"i", i.to_le_bytes().to_vec()),
        // SQLite keeps no sign of a zero, so neither does the digest: −0 + 0 = 0.
        ValueRef::Real(r) => (b"r", (r + 0.0).to_le_bytes().to_vec()),
        ValueRef::Text(t) => (b"t", sized(t)),
        ValueRef::Blob(b) => (b"b", sized(b)),
    };
    text(hash, name);
    hash.update(tag);
    hash.update(bytes);
}

fn sized(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u64).to_le_bytes(), bytes].concat()
}

/// Bytes in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
