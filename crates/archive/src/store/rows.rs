//! All rows of a query.

use rusqlite::{Connection, Row};

use super::Result;

pub(super) fn rows<T>(
    connection: &Connection,
    sql: &str,
    values: impl rusqlite::Params,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>> {
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_map(values, read)?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}
