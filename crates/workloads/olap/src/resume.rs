//! Reuse of the complete tables of an interrupted load.

use engine::Session;
use workload::owned::{count, statement_of};

use super::metadata::{Metadata, OWNED};
use super::{Result, Scale, TABLES};

/// Fact that keys are being created: a table that may have some of them is reloaded.
const KEYS_BEGUN: &str = "keys";

pub(super) fn note_keys(session: &mut dyn Session) -> Result<()> {
    Ok(OWNED.insert(session, &[(KEYS_BEGUN, "1".to_owned())])?)
}

/// Empties the incomplete tables and returns the complete ones with their rows. A part of a table is there completely
/// or not at all, so a table with all its rows has the right ones.
pub(super) fn complete_tables(
    session: &mut dyn Session,
    tables: &str,
    broken_off: &Metadata,
) -> Result<Vec<(&'static str, u64)>> {
    if OWNED.read(session)?.contains_key(KEYS_BEGUN) {
        return Ok(Vec::new());
    }
    let mut complete = Vec::new();
    for table in TABLES {
        let found = match count(session, table) {
            Ok(found) => found,
            Err(error) if error.kind == engine::ErrorKind::Statement => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        };
        if right_rows(broken_off.scale, table) == Some(found) {
            complete.push((table, found));
        }
    }
    if !complete.is_empty() {
        let is_complete = |table: &str| complete.iter().any(|(name, _)| *name == table);
        for table in TABLES.into_iter().filter(|table| !is_complete(table)) {
            session.drop_table(table)?;
            session.create_table(table, statement_of(tables, table)?)?;
        }
    }
    Ok(complete)
}

/// Rows that a table must have; `None` if no source is known.
pub(super) fn right_rows(scale: Scale, table: &str) -> Option<u64> {
    scale.rows(table).or(scale.known_line_items())
}
