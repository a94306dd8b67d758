//! Tables of a workload beside dbdyno's own: entered as ours, with a table of facts about them.

use std::collections::BTreeMap;

use target::{ErrorKind, Result, SCHEMA_MARK, Session, TargetError};

/// The mark of the order-entry database.
pub(crate) const ORDER_ENTRY_MARK: &str = "warehouse";
/// The mark of the analytical one.
pub(crate) const ANALYTICAL_MARK: &str = "lineitem";

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
        session.is_entered(self.mark)
    }

    /// Whether a table of this name is one of them, or says something of them.
    pub fn has(&self, name: &str) -> bool {
        name == self.facts || self.tables.contains(&name) || self.notes.contains(&name)
    }

    /// Whether there are facts of a database of ours. One whose making was broken off in its first moment
    /// has none; it counts as no database.
    pub fn has_facts(&self, session: &mut dyn Session) -> Result<bool> {
        let place = self.place(session);
        let sql = format!("SELECT value FROM {place} WHERE name = 'whole'");
        Ok(self.is_entered(session)? && finds(session, &sql)?)
    }

    /// Makes the tables, each entered as ours with its making, and notes the facts: in this order, so that a beginning
    /// which was broken off counts as none.
    ///
    /// # Errors
    /// When there is a table of one of the names that is not ours, or the target fails.
    pub fn begin(
        &self,
        session: &mut dyn Session,
        tables: &str,
        facts: &[(&str, String)],
    ) -> Result<()> {
        // What a beginning that was broken off has left.
        self.remove(session)?;
        // The mark comes first and goes last, so that it is there as long as any other.
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

    /// Notes facts that are new.
    pub fn insert(&self, session: &mut dyn Session, facts: &[(&str, String)]) -> Result<()> {
        let rows: Vec<String> = facts
            .iter()
            .map(|(name, value)| format!("('{name}', '{value}')"))
            .collect();
        let place = self.place(session);
        session.batch(&format!("INSERT INTO {place} VALUES {}", rows.join(", ")))
    }

    /// Notes that a fact is true.
    pub fn set(&self, session: &mut dyn Session, fact: &str) -> Result<()> {
        let place = self.place(session);
        session.batch(&format!(
            "UPDATE {place} SET value = '1' WHERE name = '{fact}'"
        ))
    }

    /// Forgets all facts whose names begin so.
    pub fn forget_facts(&self, session: &mut dyn Session, begin: &str) -> Result<()> {
        let place = self.place(session);
        session.batch(&format!("DELETE FROM {place} WHERE name LIKE '{begin}%'"))
    }

    pub fn read(&self, session: &mut dyn Session) -> Result<BTreeMap<String, String>> {
        let place = self.place(session);
        let rows = session.texts(&format!("SELECT name, value FROM {place}"))?;
        let fact = |row: Vec<Option<String>>| {
            let mut cells = row.into_iter();
            Some((cells.next()??, cells.next()??))
        };
        Ok(rows.into_iter().filter_map(fact).collect())
    }

    /// Removes those of the tables that are there, and what was said of them.
    ///
    /// # Errors
    /// When one of them is not ours, or the target fails.
    pub fn remove(&self, session: &mut dyn Session) -> Result<()> {
        // The facts go first, so that nothing half removed counts as whole.
        let tables = self.tables.iter().rev();
        let tables = tables.filter(|table| **table != self.mark);
        let facts = std::iter::once(&self.facts);
        for table in facts.chain(self.notes).chain(tables).chain([&self.mark]) {
            session.drop_table(table)?;
        }
        Ok(())
    }

    fn place(&self, session: &dyn Session) -> String {
        format!("{}.{}", session.schema(), self.facts)
    }
}

/// The statement of several that makes a table.
///
/// # Errors
/// When none does.
pub(crate) fn statement_of<'t>(tables: &'t str, table: &str) -> Result<&'t str> {
    let begin = tables.find(&format!("CREATE TABLE {SCHEMA_MARK}.{table} ("));
    let statement = begin.and_then(|begin| tables[begin..].split(';').next());
    statement.ok_or_else(|| {
        let message = format!("the library has no statement that creates the table {table}");
        TargetError::new(ErrorKind::Statement, message)
    })
}

/// Statements of the library with the schema of a session in them.
pub(crate) fn placed(session: &dyn Session, sql: &str) -> String {
    sql.replace(SCHEMA_MARK, session.schema())
}

/// Whether a query finds anything; it does not where its table is missing.
pub(crate) fn finds(session: &mut dyn Session, sql: &str) -> Result<bool> {
    match session.texts(sql) {
        Ok(rows) => Ok(!rows.is_empty()),
        Err(error) if error.kind == ErrorKind::Statement => Ok(false),
        Err(error) => Err(error),
    }
}

pub(crate) fn count(session: &mut dyn Session, table: &str) -> Result<u64> {
    let statement = session.prepare(&format!("SELECT count(*) FROM {table}"))?;
    Ok(session.fetch(statement, &[])?.digest)
}
