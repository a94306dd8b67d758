//! Table spaces of a server of dbdyno's own, for what its URL puts apart from the data.

use std::path::Path;

use archive::Purpose;

use super::connection::Connection;
use engine::Result;
use engine::register::quoted;
use local_server::{Apart, LocalServer};

/// Where sorts and hashes go that do not fit into memory.
pub(super) const OF_TEMPORARY: &str = "dbdyno_temporary";
pub(super) const OF_INDEXES: &str = "dbdyno_indexes";

/// Where tables and indexes go that do not lie with the data.
#[derive(Debug, Default)]
pub(super) struct TableSpaces {
    has_indexes: bool,
    tables: Vec<String>,
}

impl TableSpaces {
    /// Makes those that are not there yet.
    pub(super) fn make(connection: &mut Connection, server: &LocalServer) -> Result<Self> {
        let mut spaces = Self::default();
        for (apart, directory) in server.places() {
            let Some(name) = name(apart) else { continue };
            make(connection, &name, directory)?;
            match apart {
                Apart::Table(table) => spaces.tables.push(table.clone()),
                Apart::Kind(of) => spaces.has_indexes |= *of == Purpose::Indexes,
            }
        }
        Ok(spaces)
    }

    /// The statement that makes a table, with what sends it to its space.
    pub(super) fn create(&self, table: &str, sql: &str) -> String {
        if self.tables.iter().any(|name| name == table) {
            format!("SET LOCAL default_tablespace = {}; {sql}", of_table(table))
        } else {
            sql.to_owned()
        }
    }

    /// Statements that move a table's indexes to their place; empty where all stay with the data.
    pub(super) fn move_indexes(&self, schema: &str, table: &str) -> String {
        let Some(space) = self.of_indexes(table) else {
            return String::new();
        };
        let table = quoted(&format!("{schema}.{table}"));
        format!(
            "DO $$ DECLARE i regclass; BEGIN FOR i IN SELECT indexrelid FROM pg_index JOIN pg_class ON oid = indexrelid \
             WHERE indrelid = {table}::regclass AND reltablespace <> (SELECT oid FROM pg_tablespace WHERE spcname = '{space}') \
             LOOP EXECUTE format('ALTER INDEX %s SET TABLESPACE {space}', i); END LOOP; END $$"
        )
    }

    /// The clause that places a new index of a table.
    pub(super) fn of_new_index(&self, table: &str) -> String {
        let space = self.of_indexes(table);
        space.map_or(String::new(), |space| format!(" TABLESPACE {space}"))
    }

    /// Where the indexes of a table lie: apart, or with their table; `None` with the data.
    fn of_indexes(&self, table: &str) -> Option<String> {
        if self.has_indexes {
            Some(OF_INDEXES.to_owned())
        } else {
            (self.tables.iter().any(|name| name == table)).then(|| of_table(table))
        }
    }
}

/// Its log has a place of its own without one.
fn name(apart: &Apart) -> Option<String> {
    match apart {
        Apart::Kind(Purpose::Indexes) => Some(OF_INDEXES.to_owned()),
        Apart::Kind(Purpose::Temporary) => Some(OF_TEMPORARY.to_owned()),
        Apart::Kind(_) => None,
        Apart::Table(table) => Some(of_table(table)),
    }
}

fn of_table(table: &str) -> String {
    format!("dbdyno_table_{table}")
}

fn make(connection: &mut Connection, name: &str, directory: &Path) -> Result<()> {
    let found = format!(
        "SELECT spcname FROM pg_tablespace WHERE spcname = {}",
        quoted(name)
    );
    if connection.texts(&found, &[])?.is_empty() {
        let directory = quoted(&directory.display().to_string());
        connection.batch(&format!("CREATE TABLESPACE {name} LOCATION {directory}"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_lie_apart_or_with_their_table_or_with_the_data() {
        let spaces = |has_indexes| TableSpaces {
            has_indexes,
            tables: vec!["stock".into()],
        };
        let of = |has_indexes, table| spaces(has_indexes).of_new_index(table);
        assert_eq!(of(true, "stock"), " TABLESPACE dbdyno_indexes");
        assert_eq!(of(true, "item"), " TABLESPACE dbdyno_indexes");
        assert_eq!(of(false, "stock"), " TABLESPACE dbdyno_table_stock");
        assert_eq!(of(false, "item"), "");
        assert_eq!(spaces(false).move_indexes("dbdyno", "item"), "");
    }
}
