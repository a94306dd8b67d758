//! One connection as a session.

mod nonblocking;

use std::sync::Arc;
use std::time::Duration;

use super::connection::Connection;
use super::guard;
use super::overrides::{SEARCH_PATH, set};
use super::table_spaces::TableSpaces;
use super::wire::{
    Event, Prepared, RequestError, Row, Transaction, Unreadable, WireError, add_row, is_kept,
    keep_cell,
};
use engine::nonblocking::{FirstRow, Nonblocking};
use engine::placeholders::numbered;
use engine::plan_text::plan_text;
use engine::register;
use engine::value::{Identities, check_column};
use engine::{Counters, Fetched, Result, RowSource, Session, Statement, TargetError, Value};

/// A message of a COPY is sent when it has grown so far; larger ones gain nothing.
const COPY_BYTES: usize = 64 << 10;

/// Statements around a transaction, prepared once.
#[derive(Clone, Copy)]
enum Control {
    Begin,
    BeginRead,
    Commit,
    Flush,
}

impl Control {
    const SQL: [&str; 4] = [
        "BEGIN",
        "BEGIN READ ONLY",
        "COMMIT",
        "SELECT pg_stat_force_next_flush()",
    ];
}

pub(super) struct PostgresSession {
    connection: Connection,
    schema: String,
    statements: Vec<Prepared>,
    controls: [Option<Prepared>; Control::SQL.len()],
    /// A BEGIN is encoded and travels with the first statement of its transaction, as drivers of
    /// applications send it: it costs no round trip of its own.
    begun: bool,
    /// Statements of the group under way without waiting, and whether its end is still to be encoded.
    group: Vec<Option<Statement>>,
    unended: bool,
    /// True if the server can be asked to publish a session's counters at once (15 and later).
    flushes: bool,
    spaces: Arc<TableSpaces>,
}

impl PostgresSession {
    pub(super) fn new(
        connection: Connection,
        schema: String,
        flushes: bool,
        spaces: Arc<TableSpaces>,
    ) -> Self {
        Self {
            connection,
            schema,
            statements: Vec::new(),
            controls: [const { None }; Control::SQL.len()],
            begun: false,
            group: Vec::with_capacity(8),
            unended: false,
            flushes,
            spaces,
        }
    }

    /// Prepares a control statement the first time, which takes a round trip.
    fn prepare_control(&mut self, control: Control) -> Result<()> {
        let place = control as usize;
        if self.controls[place].is_none() {
            self.controls[place] = Some(self.connection.prepare(Control::SQL[place])?);
        }
        Ok(())
    }

    fn control(&mut self, control: Control) -> Result<()> {
        self.prepare_control(control)?;
        let place = control as usize;
        let prepared = self.controls[place]
            .as_ref()
            .expect("the line above has just filled this place");
        let encoded = self.connection.wire().execute(prepared, &[]);
        encoded.map_err(TargetError::from)
    }

    fn begin_with(&mut self, control: Control) -> Result<()> {
        if self.begun || self.connection.transaction() != Transaction::Idle {
            return Err(statement("a transaction is already open"));
        }
        self.control(control)?;
        self.begun = true;
        Ok(())
    }

    /// Sends a BEGIN that is still to travel with its first statement: what is no prepared statement cannot take it
    /// along, and need not save a round trip.
    fn send_begin(&mut self) -> Result<()> {
        if self.begun {
            self.begun = false;
            self.connection.wire().sync();
            self.connection.exchange("BEGIN", |_| Ok(()))?;
        }
        Ok(())
    }

    #[inline]
    fn encode(&mut self, statement: Statement, parameters: &[Value<'_>]) -> Result<()> {
        let prepared = &self.statements[statement.0];
        let wire = self.connection.wire();
        wire.execute(prepared, parameters)?;
        wire.sync();
        self.begun = false;
        Ok(())
    }

    fn copy(&mut self, columns: &[u32], rows: &mut dyn RowSource) -> Result<u64> {
        self.connection.wire().copy_begin();
        let mut loaded = 0;
        let mut more = true;
        while more {
            self.connection.wire().copy_rows(|message| -> Result<()> {
                while more && message.bytes() < COPY_BYTES {
                    more = rows.next_row(&mut |row| {
                        loaded += 1;
                        message.put(columns, row).map_err(|e| unloadable(&e))
                    })?;
                }
                Ok(())
            })?;
            self.connection.send()?;
        }
        self.connection.wire().copy_end();
        Ok(loaded)
    }
}

/// An empty message would be allowed, but a source may fail before its first row.
fn unloadable(error: &RequestError) -> TargetError {
    statement(&format!("bulk load: {error}"))
}

/// Keeps every cell of a row.
fn keep(columns: &[u32], row: Row<'_>, first: &mut FirstRow) -> Result<()> {
    for (cell, oid) in row.cells().zip(columns) {
        match cell.map_err(|e| statement(&e.to_string()))? {
            None => first.push_null(),
            Some(cell) => keep_cell(*oid, cell, first),
        }
    }
    Ok(())
}

fn statement(message: &str) -> TargetError {
    TargetError::statement(format!("PostgreSQL: {message}"))
}

fn unreadable(error: &Unreadable) -> TargetError {
    statement(&format!("query failed: {error}"))
}

impl From<WireError> for TargetError {
    fn from(error: WireError) -> Self {
        TargetError::unreachable(format!("PostgreSQL: {error}"))
    }
}

impl Session for PostgresSession {
    fn batch(&mut self, sql: &str) -> Result<()> {
        self.send_begin()?;
        self.connection.batch(sql)
    }

    fn batch_in_own_schema(&mut self, sql: &str) -> Result<()> {
        self.send_begin()?;
        let path = self.connection.simple_texts("SHOW search_path")?;
        let path: String = path.into_iter().flatten().flatten().collect();
        let own = format!("{}, pg_temp", self.schema);
        self.connection.batch(&set(SEARCH_PATH, &own))?;
        let done = self.connection.batch(sql);
        // In a transaction that has failed, which the first error says.
        let back = self.connection.batch(&set(SEARCH_PATH, &path));
        done.and(back).map_err(|error| TargetError {
            message: format!(
                "{} (what removes something finds names in the schema \"{}\" alone)",
                error.message, self.schema
            ),
            ..error
        })
    }

    fn prepare(&mut self, sql: &str) -> Result<Statement> {
        let prepared = self.connection.prepare(&numbered(sql, '$'))?;
        self.statements.push(prepared);
        Ok(Statement(self.statements.len() - 1))
    }

    fn execute(&mut self, statement: Statement, parameters: &[Value<'_>]) -> Result<u64> {
        self.encode(statement, parameters)?;
        let mut rows = 0;
        self.connection.exchange("statement failed", |event| {
            // The last one counts: a BEGIN before it says 0.
            if let Event::Complete(tag) = event {
                rows = tag.rows();
            }
            Ok(())
        })?;
        Ok(rows)
    }

    fn fetch(&mut self, statement: Statement, parameters: &[Value<'_>]) -> Result<Fetched> {
        self.encode(statement, parameters)?;
        let columns = &self.statements[statement.0].columns;
        let mut fetched = Fetched::default();
        self.connection
            .exchange("query failed", |event| match event {
                Event::Row(row) => add_row(&mut fetched, columns, *row).map_err(|e| unreadable(&e)),
                _ => Ok(()),
            })?;
        Ok(fetched)
    }

    fn texts(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>> {
        if self.begun {
            return Err(statement(
                "cannot read rows as text at the start of a transaction",
            ));
        }
        self.connection.texts(sql, &[])
    }

    fn plan(&mut self, sql: &str) -> Result<Option<String>> {
        let rows = self.texts(&format!("EXPLAIN (COSTS OFF) {sql}"))?;
        Ok(Some(plan_text(rows)))
    }

    /// The server tells it of no statement but one that is explained while it runs.
    fn workers(&mut self, sql: &str) -> Result<Option<u32>> {
        let explain = "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF)";
        let rows = self.texts(&format!("{explain} {sql}"))?;
        let lines = rows.into_iter().flatten().flatten();
        let launched = lines.filter_map(|line| {
            let (_, workers) = line.split_once("Workers Launched: ")?;
            workers.parse().ok()
        });
        // Parts of a plan that gather rows are as a rule carried out one after the other.
        Ok(Some(launched.max().unwrap_or(0)))
    }

    fn columns(&self, statement: Statement) -> Option<usize> {
        Some(self.statements[statement.0].columns.len())
    }

    fn check_kept(&self, of: Statement, column: usize) -> Result<()> {
        let columns = &self.statements[of.0].columns;
        let is_kept = check_column(columns, column, |oid| is_kept(*oid), "bigint or text");
        is_kept.map_err(|why| statement(&why))
    }

    fn fetch_first(
        &mut self,
        statement: Statement,
        parameters: &[Value<'_>],
        first: &mut FirstRow,
    ) -> Result<u64> {
        self.encode(statement, parameters)?;
        let columns = &self.statements[statement.0].columns;
        let mut rows = 0;
        first.clear();
        self.connection.exchange("query failed", |event| {
            match event {
                Event::Row(row) if rows == 0 => {
                    rows = 1;
                    return keep(columns, *row, first);
                }
                Event::Row(_) => rows += 1,
                _ => {}
            }
            Ok(())
        })?;
        Ok(rows)
    }

    fn nonblocking(&mut self) -> Option<&mut dyn Nonblocking> {
        Some(self)
    }

    fn limit_statements(&mut self, limit: Option<Duration>) -> Result<()> {
        // 0 is none; what is shorter than a millisecond would be that as well.
        let limit_ms = limit.map_or(0, |limit| limit.as_millis().max(1));
        self.batch(&format!("SET statement_timeout = {limit_ms}"))
    }

    fn begin(&mut self) -> Result<()> {
        self.begin_with(Control::Begin)
    }

    fn begin_read(&mut self) -> Result<()> {
        self.begin_with(Control::BeginRead)
    }

    fn begin_snapshot(&mut self) -> Result<()> {
        // Sent at once: what is asked in it need not be prepared.
        self.batch("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    }

    fn commit(&mut self) -> Result<()> {
        self.control(Control::Commit)?;
        self.begun = false;
        self.connection.wire().sync();
        let mut rolled_back = false;
        self.connection.exchange("COMMIT", |event| {
            if let Event::Complete(tag) = event {
                // The server answers the commit of a failed transaction like this, without an error.
                rolled_back = tag.0 == b"ROLLBACK";
            }
            Ok(())
        })?;
        if rolled_back {
            Err(statement(
                "COMMIT: the transaction had failed and was rolled back",
            ))
        } else {
            Ok(())
        }
    }

    fn rollback(&mut self) -> Result<()> {
        if self.begun {
            // It never left.
            self.begun = false;
            self.connection.wire().discard_output();
        }
        match self.connection.transaction() {
            Transaction::Idle => Ok(()),
            Transaction::Open | Transaction::Failed => self.connection.batch("ROLLBACK"),
        }
    }

    fn schema(&self) -> &str {
        &self.schema
    }

    fn relations(&mut self) -> Result<Identities> {
        self.send_begin()?;
        guard::relations(&mut self.connection, &self.schema)
    }

    fn create_table(&mut self, table: &str, sql: &str) -> Result<()> {
        let spaces = Arc::clone(&self.spaces);
        let schema = self.schema.clone();
        register::create(self, table, &spaces.create(table, sql), &|table| {
            spaces.move_indexes(&schema, table)
        })
    }

    fn is_entered(&mut self, table: &str) -> Result<bool> {
        Ok(register::entered(self)?.contains_key(table))
    }

    fn create_index(&mut self, table: &str, index: &str, columns: &str) -> Result<()> {
        let (schema, place) = (&self.schema, self.spaces.of_new_index(table));
        let sql = format!("CREATE INDEX {index} ON {schema}.{table} ({columns}){place}");
        self.batch(&sql)
    }

    fn drop_table(&mut self, table: &str) -> Result<bool> {
        let lock = format!(
            "LOCK TABLE {}.{table} IN ACCESS EXCLUSIVE MODE",
            self.schema
        );
        register::drop(self, table, &lock)
    }

    /// By a binary COPY, which is a transaction of its own.
    fn bulk_load(&mut self, table: &str, rows: &mut dyn RowSource) -> Result<u64> {
        let table = format!("{}.{table}", self.schema);
        let shape = self.connection.prepare(&format!("SELECT * FROM {table}"))?;
        let sql = format!("COPY {table} FROM STDIN (FORMAT binary)");
        self.connection.begin_copy(&sql)?;
        let outcome = self.copy(&shape.columns, rows);
        if outcome.is_err() {
            // The first error is the one to tell; the server's answer is that it rolled back.
            let wire = self.connection.wire();
            let _ = wire.copy_give_up("the rows could not be generated");
            let _ = self.connection.exchange(&sql, |_| Ok(()));
            return outcome;
        }
        let mut copied = 0;
        self.connection.exchange(&sql, |event| {
            if let Event::Complete(tag) = event {
                copied = tag.rows();
            }
            Ok(())
        })?;
        Ok(copied)
    }

    fn append(&mut self, table: &str, rows: &mut dyn RowSource) -> Result<u64> {
        self.send_begin()?;
        self.bulk_load(table, rows)
    }

    /// VACUUM sets the hint bits and the visibility map, so that reading the table writes nothing, and
    /// freezes its rows, so that no later vacuum comes in between.
    fn analyse(&mut self, table: &str) -> Result<()> {
        let schema = &self.schema;
        // Keys that were added by statements of a workload's own.
        let moved = self.spaces.move_indexes(schema, table);
        if !moved.is_empty() {
            self.connection.batch(&moved)?;
        }
        self.connection
            .batch(&format!("VACUUM (FREEZE, ANALYZE) {schema}.{table}"))
    }

    /// The server counts by database, see the target; a session only publishes what it has counted.
    fn counters(&mut self) -> Counters {
        if self.flushes && self.connection.transaction() == Transaction::Idle && !self.begun {
            let asked = self.control(Control::Flush);
            self.connection.wire().sync();
            // A session that is gone has published by ending.
            let _ = asked.and_then(|()| self.connection.exchange("counters", |_| Ok(())));
        }
        Counters::default()
    }
}
