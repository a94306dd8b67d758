//! Registration of a workload's tables as dbdyno's own, with a table of facts about them.

use std::collections::BTreeMap;

use engine::{ErrorKind, Result, SCHEMA_MARK, Session, TargetError};

pub const ORDER_ENTRY_MARK: &str = "warehouse";
pub const ANALYTICAL_MARK: &str = "lineitem";

#[derive(Debug, Clone, Copy)]
pub struct Owned {
    /// Table of facts, one row each.
    pub facts: &'static str,
    /// Further auxiliary tables of dbdyno.
    pub notes: &'static [&'static str],
    /// Tables, in the order in which they can be filled.
    pub tables: &'static [&'static str],
    /// Its only table whose name no other workload uses.
    pub mark: &'static str,
}

impl Owned {
    /// True if the tables are registered as dbdyno's, even if half of them are removed.
    pub fn is_entered(&self, session: &mut dyn Session) -> Result<bool> {
        session.is_entered(self.mark)
    }

    /// True for the name of a table of the workload, auxiliary ones included.
    pub fn has(&self, name: &str) -> bool {
        name == self.facts || self.tables.contains(&name) || self.notes.contains(&name)
    }

    /// True if there are facts about the database. A creation that was interrupted at its start leaves none and counts
    /// as no database.
    pub fn has_facts(&self, session: &mut dyn Session) -> Result<bool> {
        let facts = self.facts_table(session);
        let sql = format!("SELECT value FROM {facts} WHERE name = 'whole'");
        Ok(self.is_entered(session)? && finds(session, &sql)?)
    }

    /// Creates the tables, each registered with its creation, and then stores the facts, so that an interrupted
    /// creation counts as none.
    ///
    /// # Errors
    /// When a table of one of the names exists and is not dbdyno's, or the target fails.
    pub fn begin(
        &self,
        session: &mut dyn Session,
        tables: &str,
        facts: &[(&str, String)],
    ) -> Result<()> {
        // An interrupted creation may have left tables.
        self.remove(session)?;
        // The mark is created first and dropped last, so that it exists as long as any other table.
        let others = self.tables.iter().filter(|table| **table != self.mark);
        for table in std::iter::once(&self.mark).chain(others).chain(self.notes) {
            session.create_table(table, statement_of(tables, table)?)?;
        }
        let of_facts = format!(
            "CREATE TABLE {SCHEMA_MARK}.{} (name VARCHAR(40) NOT NULL PRIMARY KEY, value VARCHAR(40) NOT NULL)",
            self.facts
        );
        session.create_table(self.facts, &of_facts)?;
        self.insert(session, facts)
    }

    /// All of them or none.
    pub fn insert(&self, session: &mut dyn Session, facts: &[(&str, String)]) -> Result<()> {
        let into = self.facts_table(session);
        let rows: Vec<String> = facts
            .iter()
            .map(|(name, value)| format!("INSERT INTO {into} VALUES ('{name}', '{value}')"))
            .collect();
        session.begin()?;
        match session.batch(&rows.join(";\n")) {
            Ok(()) => session.commit(),
            Err(error) => {
                // The first error is the one to tell.
                drop(session.rollback());
                Err(error)
            }
        }
    }

    pub fn set(&self, session: &mut dyn Session, fact: &str) -> Result<()> {
        let facts = self.facts_table(session);
        session.batch(&format!(
            "UPDATE {facts} SET value = '1' WHERE name = '{fact}'"
        ))
    }

    pub fn forget_facts(&self, session: &mut dyn Session, begin: &str) -> Result<()> {
        let facts = self.facts_table(session);
        session.batch(&format!("DELETE FROM {facts} WHERE name LIKE '{begin}%'"))
    }

    pub fn read(&self, session: &mut dyn Session) -> Result<BTreeMap<String, String>> {
        let facts = self.facts_table(session);
        let rows = session.texts(&format!("SELECT name, value FROM {facts}"))?;
        let fact = |row: Vec<Option<String>>| {
            let mut cells = row.into_iter();
            Some((cells.next()??, cells.next()??))
        };
        Ok(rows.into_iter().filter_map(fact).collect())
    }

    /// Drops the tables that exist, and their facts.
    ///
    /// # Errors
    /// When one of them is not dbdyno's, or the target fails.
    pub fn remove(&self, session: &mut dyn Session) -> Result<()> {
        // The facts go first, so that a partly dropped database does not count as complete.
        let tables = self.tables.iter().rev();
        let tables = tables.filter(|table| **table != self.mark);
        let facts = std::iter::once(&self.facts);
        for table in facts.chain(self.notes).chain(tables).chain([&self.mark]) {
            session.drop_table(table)?;
        }
        Ok(())
    }

    fn facts_table(&self, session: &dyn Session) -> String {
        format!("{}.{}", session.schema(), self.facts)
    }
}

/// The one of several statements that creates a table.
///
/// # Errors
/// When none does.
pub fn statement_of<'t>(tables: &'t str, table: &str) -> Result<&'t str> {
    let begin = tables.find(&format!("CREATE TABLE {SCHEMA_MARK}.{table} ("));
    let statement = begin.and_then(|begin| tables[begin..].split(';').next());
    statement.ok_or_else(|| {
        let message = format!("the library has no statement that creates the table {table}");
        TargetError::statement(message)
    })
}

/// Statements of the library, qualified with the schema of a session.
pub fn with_schema(session: &dyn Session, sql: &str) -> String {
    sql.replace(SCHEMA_MARK, session.schema())
}

/// True if a query returns rows; false if its table is missing.
pub fn finds(session: &mut dyn Session, sql: &str) -> Result<bool> {
    match session.texts(sql) {
        Ok(rows) => Ok(!rows.is_empty()),
        Err(error) if error.kind == ErrorKind::Statement => Ok(false),
        Err(error) => Err(error),
    }
}

pub fn count(session: &mut dyn Session, table: &str) -> Result<u64> {
    let statement = session.prepare(&format!("SELECT count(*) FROM {table}"))?;
    Ok(session.fetch(statement, &[])?.digest)
}
