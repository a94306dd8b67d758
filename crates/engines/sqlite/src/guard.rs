//! Keeps dbdyno out of other people's files.

use std::path::Path;

use rusqlite::Connection;

use super::explain;
use super::session::RELATIONS;
use engine::register;
use engine::value::Identities;
use engine::{OWN_TABLES, Result};

/// Refuses a database that holds what dbdyno did not make.
pub(super) fn refuse_foreign_tables(connection: &Connection, path: &Path) -> Result<()> {
    let explain = |e| explain(&format!("cannot read {}", path.display()), &e);
    let pairs = |sql: &str| -> rusqlite::Result<Identities> {
        let mut statement = connection.prepare(sql)?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        rows.collect()
    };
    let found = pairs(RELATIONS).map_err(explain)?;
    let entered = || {
        let sql = format!("SELECT name, identity FROM main.{OWN_TABLES}");
        pairs(&sql).map_err(explain)
    };
    let is_table = |identity: &str| identity.starts_with("table ");
    match register::stranger(&found, is_table, entered)? {
        None => Ok(()),
        Some(table) => Err(register::refused(
            &path.display().to_string(),
            &table,
            "use a separate path: dbdyno does not load tests into a database that it did not create",
        )),
    }
}
