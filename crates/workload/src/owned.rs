//! Tables of a workload beside dbdyno's own: entered as ours, with a table of facts about them.

use std::collections::BTreeMap;

use target::{ErrorKind, OWN_TABLES, Result, Session};

/// The tables of one workload.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Owned {
    /// Table of facts, one row each.
    pub facts: &'static str,
    /// Further tables of ours about it.
    pub notes: &'static [&'static str],
    /// Its tables, in the order in which they can be filled.
    pub tables: &'static [&'static str],
    /// The one of them that no other workload has: two workloads have tables of the same names.
    pub mark: &'static str,
}

impl Owned {
    /// Whether the tables are entered as ours; a half-removed database is ours too.
    pub fn is_entered(&self, session: &mut dyn Session) -> Result<bool> {
        let sql = format!("SELECT name FROM {OWN_TABLES} WHERE name = '{}'", self.mark);
        finds(session, &sql)
    }

    /// Whether there are facts of a database of ours. One whose making was broken off in its first moment
    /// has none; it counts as no database.
    pub fn has_facts(&self, session: &mut dyn Session) -> Result<bool> {
        let sql = format!("SELECT value FROM {} WHERE name = 'whole'", self.facts);
        Ok(self.is_entered(session)? && finds(session, &sql)?)
    }

    /// Enters the tables as ours, makes them, and notes the facts: in this order, so that a beginning which
    /// was broken off is ours and counts as none.
    pub fn begin(
        &self,
        session: &mut dyn Session,
        tables: &str,
        facts: &[(&str, String)],
    ) -> Result<()> {
        session.batch(&format!(
            "CREATE TABLE IF NOT EXISTS {OWN_TABLES} (name VARCHAR(64) NOT NULL PRIMARY KEY)"
        ))?;
        self.forget(session)?;
        let rows: Vec<String> = (self.tables.iter())
            .map(|name| format!("('{name}')"))
            .collect();
        session.batch(&format!(
            "INSERT INTO {OWN_TABLES} VALUES {}",
            rows.join(", ")
        ))?;
        session.batch(tables)?;
        session.batch(&format!(
            "CREATE TABLE {} (name VARCHAR(40) NOT NULL PRIMARY KEY, value VARCHAR(40) NOT NULL)",
            self.facts
        ))?;
        self.insert(session, facts)
    }

    /// Notes facts that are new.
    pub fn insert(&self, session: &mut dyn Session, facts: &[(&str, String)]) -> Result<()> {
        let rows: Vec<String> = facts
            .iter()
            .map(|(name, value)| format!("('{name}', '{value}')"))
            .collect();
        session.batch(&format!(
            "INSERT INTO {} VALUES {}",
            self.facts,
            rows.join(", ")
        ))
    }

    /// Notes that a fact is true.
    pub fn set(&self, session: &mut dyn Session, fact: &str) -> Result<()> {
        session.batch(&format!(
            "UPDATE {} SET value = '1' WHERE name = '{fact}'",
            self.facts
        ))
    }

    /// Forgets all facts whose names begin so.
    pub fn forget_facts(&self, session: &mut dyn Session, begin: &str) -> Result<()> {
        session.batch(&format!(
            "DELETE FROM {} WHERE name LIKE '{begin}%'",
            self.facts
        ))
    }

    /// All facts.
    pub fn read(&self, session: &mut dyn Session) -> Result<BTreeMap<String, String>> {
        let rows = session.texts(&format!("SELECT name, value FROM {}", self.facts))?;
        let fact = |row: Vec<Option<String>>| {
            let mut cells = row.into_iter();
            Some((cells.next()??, cells.next()??))
        };
        Ok(rows.into_iter().filter_map(fact).collect())
    }

    /// Removes the tables and what was said of them.
    pub fn remove(&self, session: &mut dyn Session) -> Result<()> {
        // First, so that nothing half removed counts as whole.
        let tables = self.tables.iter().rev();
        for table in [&self.facts].into_iter().chain(self.notes).chain(tables) {
            session.batch(&format!("DROP TABLE IF EXISTS {table}"))?;
        }
        self.forget(session)
    }

    fn forget(&self, session: &mut dyn Session) -> Result<()> {
        let names: Vec<String> = (self.tables.iter())
            .map(|name| format!("'{name}'"))
            .collect();
        session.batch(&format!(
            "DELETE FROM {OWN_TABLES} WHERE name IN ({})",
            names.join(", ")
        ))
    }
}

/// Whether a query finds anything; it does not where its table is missing.
pub(crate) fn finds(session: &mut dyn Session, sql: &str) -> Result<bool> {
    match session.texts(sql) {
        Ok(rows) => Ok(!rows.is_empty()),
        Err(error) if error.kind == ErrorKind::Statement => Ok(false),
        Err(error) => Err(error),
    }
}

/// Rows of a table.
pub(crate) fn count(session: &mut dyn Session, table: &str) -> Result<u64> {
    let statement = session.prepare(&format!("SELECT count(*) FROM {table}"))?;
    Ok(session.fetch(statement, &[])?.digest)
}
