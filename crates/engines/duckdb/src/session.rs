//! One DuckDB connection as a session.

use std::time::Duration;

use super::appender::Appender;
use super::explain::explain;
use super::handle::{Answer, Answered, Connection, Interrupt, Prepared};
use super::instance::{RELATIONS, SessionGuard};
use super::read::read_all;
use super::source::DIALECT;
use super::texts::{Unread, keep_first, texts};
use engine::limit::{limited, too_long};
use engine::nonblocking::FirstRow;
use engine::open_sessions::OpenSession;
use engine::plan_text::plan_text;
use engine::register;
use engine::session::too_many_texts;
use engine::value::Identities;
use engine::{Fetched, Result, RowSource, Session, Statement, Value};

/// Fields are dropped in this order: statements, their connection, the hold on the database.
pub(super) struct DuckDbSession {
    /// Before the connection that it interrupts.
    _open: OpenSession,
    statements: Vec<Prepared>,
    connection: Connection,
    schema: String,
    limit: Option<Duration>,
    guard: SessionGuard,
}

impl DuckDbSession {
    pub fn new(connection: Connection, guard: SessionGuard) -> Result<Self> {
        let name = connection.texts("SELECT current_database(), current_schema()");
        let name = name.map_err(|m| explain("reading the schema", &m))?;
        let parts = name.into_iter().flatten();
        let parts: Vec<String> = parts.map(|part| DIALECT.quoted(&part)).collect();
        Ok(Self {
            _open: OpenSession::in_process(means_to_interrupt(&connection)),
            statements: Vec::new(),
            connection,
            schema: parts.join("."),
            limit: None,
            guard,
        })
    }

    fn run(&mut self, statement: Statement, parameters: &[Value<'_>]) -> Result<Answer> {
        let prepared = &mut self.statements[statement.0];
        let work = || prepared.execute(parameters);
        let (answer, ended) = limited(self.limit, || means_to_interrupt(&self.connection), work);
        reported("statement failed", answer, ended)
    }
}

/// The answer, or what is wrong with it: when the statement was ended, that.
fn reported(context: &str, answer: Answered<Answer>, ended: Option<Duration>) -> Result<Answer> {
    answer.map_err(|message| match ended {
        Some(limit) => too_long("DuckDB", limit),
        None => explain(context, &message),
    })
}

fn means_to_interrupt(connection: &Connection) -> impl Fn() + Send + use<> {
    let interrupt = Interrupt::of(connection);
    move || interrupt.interrupt()
}

impl Session for DuckDbSession {
    fn batch(&mut self, sql: &str) -> Result<()> {
        let _statement = tracing::debug_span!("statement", sql = sql.trim()).entered();
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

    fn fetch_first(
        &mut self,
        statement: Statement,
        parameters: &[Value<'_>],
        first: &mut FirstRow,
    ) -> Result<u64> {
        let mut answer = self.run(statement, parameters)?;
        keep_first(&mut answer, first).map_err(|m| explain("query failed", &m))
    }

    fn texts(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>> {
        let work = || self.connection.query(sql);
        let (answer, ended) = limited(self.limit, || means_to_interrupt(&self.connection), work);
        let mut answer = reported("query failed", answer, ended)?;
        texts(&mut answer).map_err(|unread| match unread {
            Unread::TooMany => too_many_texts(),
            Unread::Message(message) => explain("query failed", &message),
        })
    }

    fn plan(&mut self, sql: &str) -> Result<Option<String>> {
        let rows = self.texts(&format!("EXPLAIN (FORMAT JSON) {sql}"))?;
        Ok(Some(plan_text(rows)))
    }

    fn limit_statements(&mut self, limit: Option<Duration>) -> Result<()> {
        self.limit = limit;
        Ok(())
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

    fn schema(&self) -> &str {
        &self.schema
    }

    fn relations(&mut self) -> Result<Identities> {
        self.texts(RELATIONS).map(register::identities)
    }

    fn is_entered(&mut self, table: &str) -> Result<bool> {
        // Nobody else can reach tables in memory: all of them are dbdyno's, and there is no register.
        if self.guard.is_of_memory() {
            Ok(self.relations()?.contains_key(table))
        } else {
            Ok(register::entered(self)?.contains_key(table))
        }
    }

    fn create_table(&mut self, table: &str, sql: &str) -> Result<()> {
        let schema = self.schema.clone();
        let comment = |table: &str| {
            let token = register::quoted(&register::token());
            format!("COMMENT ON TABLE {schema}.{table} IS {token}")
        };
        register::create(self, table, sql, &comment)
    }

    fn drop_table(&mut self, table: &str) -> Result<bool> {
        register::drop(self, table, "")
    }

    fn append(&mut self, table: &str, rows: &mut dyn RowSource) -> Result<u64> {
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
