//! A session that spends time instead of doing anything.

use super::pace::{Clockwork, Pace};
use super::statement::{self, Parsed};
use engine::register;
use engine::value::Identities;
use engine::{Counters, Fetched, Result, RowSource, Session, Statement, TargetError, Value};

/// Most statements that one session prepares.
const STATEMENTS_MAX: usize = 1000;

pub(super) struct MockSession {
    clockwork: Clockwork,
    statements: Vec<Parsed>,
}

impl MockSession {
    pub(super) fn new(pace: &Pace) -> Self {
        Self {
            clockwork: Clockwork::new(pace),
            statements: Vec::new(),
        }
    }
}

/// The sentence for everything that needs a database.
fn lacks<T>(what: &str) -> Result<T> {
    Err(TargetError::statement(format!(
        "mock is not a database and has no {what}"
    )))
}

impl Session for MockSession {
    fn schema(&self) -> &str {
        "mock"
    }

    fn relations(&mut self) -> Result<Identities> {
        Ok(Identities::new())
    }

    fn batch(&mut self, _sql: &str) -> Result<()> {
        lacks("tables and nothing to set up")
    }

    fn prepare(&mut self, sql: &str) -> Result<Statement> {
        if self.statements.len() == STATEMENTS_MAX {
            return lacks(&format!("room for more than {STATEMENTS_MAX} statements"));
        }
        self.statements.push(statement::parse(sql)?);
        Ok(Statement(self.statements.len() - 1))
    }

    fn execute(&mut self, _statement: Statement, _parameters: &[Value<'_>]) -> Result<u64> {
        lacks("rows to change")
    }

    fn fetch(&mut self, statement: Statement, _parameters: &[Value<'_>]) -> Result<Fetched> {
        let Parsed { work, answer } = self.statements[statement.0];
        (0..work).for_each(|_| self.clockwork.work());
        let mut fetched = Fetched { rows: 1, digest: 0 };
        fetched.add_int(0, answer);
        Ok(fetched)
    }

    fn begin(&mut self) -> Result<()> {
        lacks("transactions")
    }

    fn commit(&mut self) -> Result<()> {
        lacks("transactions")
    }

    /// Nothing can have begun, so there is nothing to take back.
    fn rollback(&mut self) -> Result<()> {
        Ok(())
    }

    fn create_table(&mut self, table: &str, sql: &str) -> Result<()> {
        register::create(self, table, sql, &|_| String::new())
    }

    fn drop_table(&mut self, table: &str) -> Result<bool> {
        register::drop(self, table, "")
    }

    fn is_entered(&mut self, table: &str) -> Result<bool> {
        Ok(register::entered(self)?.contains_key(table))
    }

    fn append(&mut self, _table: &str, _rows: &mut dyn RowSource) -> Result<u64> {
        lacks("tables to load")
    }

    fn counters(&mut self) -> Counters {
        Counters::default()
    }
}
