//! One DuckDB connection as a session.

use super::appender::Appender;
use super::explain::explain;
use super::handle::{Answer, Connection, Prepared};
use super::instance::SessionGuard;
use super::read::read_all;
use crate::{Counters, Fetched, Result, RowSource, Session, Statement, Value};

/// Fields are dropped in this order: statements, their connection, the hold on the database.
pub(super) struct DuckDbSession {
    statements: Vec<Prepared>,
    connection: Connection,
    _guard: SessionGuard,
}

impl DuckDbSession {
    pub(super) fn new(connection: Connection, guard: SessionGuard) -> Self {
        Self {
            statements: Vec::new(),
            connection,
            _guard: guard,
        }
    }

    fn run(&mut self, statement: Statement, parameters: &[Value<'_>]) -> Result<Answer> {
        self.statements[statement.0]
            .execute(parameters)
            .map_err(|m| explain("statement failed", &m))
    }

    fn load_in_transaction(&self, table: &str, rows: &mut dyn RowSource) -> Result<u64> {
        let mut appender = Appender::new(&self.connection, table)?;
        let mut loaded = 0;
        while rows.next_row(&mut |row| {
            appender.put(row)?;
            loaded += 1;
            Ok(())
        })? {}
        appender.finish()?;
        Ok(loaded)
    }
}

impl Session for DuckDbSession {
    fn batch(&mut self, sql: &str) -> Result<()> {
        match self.connection.query(sql) {
            Ok(_) => Ok(()),
            Err(message) => Err(explain(&format!("\"{}\"", sql.trim()), &message)),
        }
    }

    fn prepare(&mut self, sql: &str) -> Result<Statement> {
        let prepared = self
            .connection
            .prepare(sql)
            .map_err(|m| explain(&format!("cannot prepare \"{}\"", sql.trim()), &m))?;
        self.statements.push(prepared);
        Ok(Statement(self.statements.len() - 1))
    }

    fn execute(&mut self, statement: Statement, parameters: &[Value<'_>]) -> Result<u64> {
        Ok(self.run(statement, parameters)?.rows_changed())
    }

    fn fetch(&mut self, statement: Statement, parameters: &[Value<'_>]) -> Result<Fetched> {
        let mut answer = self.run(statement, parameters)?;
        read_all(&mut answer).map_err(|m| explain("query failed", &m))
    }

    fn begin(&mut self) -> Result<()> {
        self.batch("BEGIN TRANSACTION")
    }

    fn commit(&mut self) -> Result<()> {
        self.batch("COMMIT")
    }

    fn rollback(&mut self) -> Result<()> {
        match self.connection.query("ROLLBACK") {
            Ok(_) => Ok(()),
            // A failed commit has rolled back already.
            Err(message) if message.contains("no transaction is active") => Ok(()),
            Err(message) => Err(explain("\"ROLLBACK\"", &message)),
        }
    }

    fn bulk_load(&mut self, table: &str, rows: &mut dyn RowSource) -> Result<u64> {
        self.begin()?;
        let outcome = self.load_in_transaction(table, rows);
        match outcome {
            Ok(loaded) => {
                self.commit()?;
                Ok(loaded)
            }
            Err(error) => {
                // The first error is the one to tell; a rollback that fails too adds nothing.
                let _ = self.rollback();
                Err(error)
            }
        }
    }

    fn counters(&mut self) -> Counters {
        // DuckDB counts neither by connection; its log is counted by the target.
        Counters::default()
    }
}
