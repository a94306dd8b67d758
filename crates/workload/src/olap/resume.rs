//! A load that was broken off: what of it can be kept.

use target::Session;

use super::metadata::{Metadata, OWNED};
use super::{Result, Scale, TABLES};
use crate::owned::{count, statement_of};

/// The fact that keys are being made: a table that may have some of them is loaded anew.
const KEYS_BEGUN: &str = "keys";

/// Notes that all rows are there and keys are next.
pub(super) fn note_keys(session: &mut dyn Session) -> Result<()> {
    Ok(OWNED.insert(session, &[(KEYS_BEGUN, "1".to_owned())])?)
}

/// Empties the tables that are not whole, and gives those that are, with their rows; nothing where none can be kept. A
/// part of a table is there whole or not at all, so that a table with all its rows has the right ones.
pub(super) fn kept(
    session: &mut dyn Session,
    tables: &str,
    broken_off: &Metadata,
) -> Result<Vec<(&'static str, u64)>> {
    if OWNED.read(session)?.contains_key(KEYS_BEGUN) {
        return Ok(Vec::new());
    }
    let mut kept = Vec::new();
    for table in TABLES {
        let found = match count(session, table) {
            Ok(found) => found,
            Err(error) if error.kind == target::ErrorKind::Statement => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        };
        if right_rows(broken_off.scale, table) == Some(found) {
            kept.push((table, found));
        }
    }
    if !kept.is_empty() {
        let is_kept = |table: &str| kept.iter().any(|(name, _)| *name == table);
        for table in TABLES.into_iter().filter(|table| !is_kept(table)) {
            session.drop_table(table)?;
            session.create_table(table, statement_of(tables, table)?)?;
        }
    }
    Ok(kept)
}

/// Rows that a table must have; `None` where neither the specification nor anybody else says it.
pub(super) fn right_rows(scale: Scale, table: &str) -> Option<u64> {
    scale.rows(table).or(scale.known_line_items())
}
