//! One SQLite connection as a session.

use std::os::raw::c_int;
use std::time::Duration;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ToSql, ffi};

use super::explain;
use engine::limit::{limited, too_long};
use engine::open_sessions::OpenSession;
use engine::plain::{put_date, put_moment};
use engine::plan_text::plan_text;
use engine::register;
use engine::session::too_many_texts;
use engine::tied::Tied;
use engine::value::Identities;
use engine::{
    BulkRow, Counters, Fetched, FirstRow, Result, RowSource, Session, Statement, TEXTS_MAX,
    TargetError, Value,
};

/// A WAL frame is a page with this header in front (SQLite file format, section 4.1).
const FRAME_HEADER_BYTES: u64 = 24;
/// Tables, views and triggers, and the statements that made them.
pub(super) const RELATIONS: &str = "SELECT name, type || ' ' || coalesce(sql, '') FROM main.sqlite_schema \
     WHERE type IN ('table', 'view', 'trigger') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";
/// More columns than any table of the library has.
const COLUMNS_MAX: usize = 64;

/// Statements around a transaction, compiled once.
#[derive(Clone, Copy)]
enum Control {
    Begin,
    BeginRead,
    Commit,
}

impl Control {
    const SQL: [&str; 3] = ["BEGIN IMMEDIATE", "BEGIN", "COMMIT"];
}

#[derive(Default)]
struct Compiled {
    statements: Vec<rusqlite::Statement<'static>>,
    controls: [Option<rusqlite::Statement<'static>>; Control::SQL.len()],
}

pub(super) struct SqliteSession {
    /// Before the connection that it interrupts.
    _open: OpenSession,
    tied: Tied<Compiled, Connection>,
    page_bytes: u64,
    limit: Option<Duration>,
}

// SAFETY: connection and statements are only reachable through `&mut self`, so one thread at a time
// uses them; SQLite is compiled thread-safe and the connection opened without a mutex of its own,
// which demands exactly that.
unsafe impl Send for SqliteSession {}

impl SqliteSession {
    pub fn new(connection: Connection, page_bytes: u64) -> Self {
        Self {
            _open: OpenSession::in_process(means_to_interrupt(&connection)),
            tied: Tied::new(connection, Compiled::default()),
            page_bytes,
            limit: None,
        }
    }

    fn connection(&self) -> &Connection {
        self.tied.owner()
    }

    fn statement(&self, statement: Statement) -> &rusqlite::Statement<'static> {
        &self.tied.dependent().statements[statement.0]
    }

    fn compiled(&mut self, statement: Statement) -> &mut rusqlite::Statement<'static> {
        &mut self.tied.dependent_mut().statements[statement.0]
    }

    /// For a place among the compiled statements, or for the caller, who drops it before the session.
    fn compile(&self, sql: &str) -> Result<rusqlite::Statement<'static>> {
        // SAFETY: statements go into the dependent, or are dropped by the methods of this session that compile them.
        let connection = unsafe { self.tied.lasting_owner() };
        connection
            .prepare(sql)
            .map_err(|e| explain(&format!("cannot prepare \"{}\"", sql.trim()), &e))
    }

    fn control(&mut self, control: Control) -> Result<()> {
        let place = control as usize;
        if self.tied.dependent_mut().controls[place].is_none() {
            let compiled = self.compile(Control::SQL[place])?;
            self.tied.dependent_mut().controls[place] = Some(compiled);
        }
        let compiled = self.tied.dependent_mut().controls[place]
            .as_mut()
            .expect("the line above has just filled this place");
        compiled
            .raw_execute()
            .map(|_| ())
            .map_err(|e| explain(Control::SQL[place], &e))
    }

    fn status(&self, counter: c_int) -> u64 {
        let (mut current, mut highest) = (0, 0);
        // SAFETY: the handle is a live connection and both out-pointers are ints of ours.
        let code = unsafe {
            ffi::sqlite3_db_status(
                self.connection().handle(),
                counter,
                &mut current,
                &mut highest,
                0,
            )
        };
        if code == ffi::SQLITE_OK {
            current as u32 as u64
        } else {
            0
        }
    }
}

/// A value as SQLite takes it.
struct Bound<'v>(&'v Value<'v>);

impl ToSql for Bound<'_> {
    #[inline]
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0 {
            Value::Int(n) => ValueRef::Integer(*n),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
            Value::Blob(bytes) => ValueRef::Blob(bytes),
            Value::Null => ValueRef::Null,
            // SQLite has no decimals: the nearest floating-point number, which a division rounds to.
            Value::Decimal { unscaled, places } => {
                ValueRef::Real(*unscaled as f64 / 10_f64.powi(i32::from(*places)))
            }
            // As its own functions for dates write them.
            Value::Moment(us) => {
                let mut text = String::new();
                put_moment(*us, &mut text);
                return Ok(ToSqlOutput::from(text));
            }
            Value::Date(days) => {
                let mut text = String::with_capacity(10);
                put_date(i64::from(*days), &mut text);
                return Ok(ToSqlOutput::from(text));
            }
        }))
    }
}

fn bind(statement: &mut rusqlite::Statement<'_>, parameters: &[Value<'_>]) -> Result<()> {
    for (index, value) in parameters.iter().enumerate() {
        statement
            .raw_bind_parameter(index + 1, Bound(value))
            .map_err(|e| explain("cannot bind a parameter", &e))?;
    }
    Ok(())
}

fn read_all(rows: &mut rusqlite::Rows<'_>, columns: usize) -> rusqlite::Result<Fetched> {
    let mut fetched = Fetched::default();
    while let Some(row) = rows.next()? {
        fetched.rows += 1;
        for column in 0..columns {
            match row.get_ref(column)? {
                ValueRef::Integer(n) => fetched.add_int(column, n),
                ValueRef::Text(bytes) | ValueRef::Blob(bytes) => fetched.add_text(column, bytes),
                ValueRef::Real(x) => fetched.add_int(column, x.to_bits() as i64),
                ValueRef::Null => {}
            }
        }
    }
    Ok(fetched)
}

/// Rows of a query as texts; `None` when there are more than are kept.
fn read_texts(
    statement: &mut rusqlite::Statement<'_>,
) -> rusqlite::Result<Option<Vec<Vec<Option<String>>>>> {
    let columns = statement.column_count();
    let mut rows = statement.raw_query();
    let mut texts = Vec::new();
    while let Some(row) = rows.next()? {
        if texts.len() == TEXTS_MAX {
            return Ok(None);
        }
        let cell = |column| row.get_ref(column).map(text_of);
        texts.push((0..columns).map(cell).collect::<rusqlite::Result<_>>()?);
    }
    Ok(Some(texts))
}

fn means_to_interrupt(connection: &Connection) -> impl Fn() + Send + use<> {
    let interrupt = connection.get_interrupt_handle();
    move || interrupt.interrupt()
}

/// The error of a query, with its limit where that ended it.
fn told(error: &rusqlite::Error, ended: Option<Duration>) -> TargetError {
    match ended {
        Some(limit) => too_long("SQLite", limit),
        None => explain("query failed", error),
    }
}

pub(super) fn text_of(cell: ValueRef<'_>) -> Option<String> {
    match cell {
        ValueRef::Null => None,
        ValueRef::Integer(n) => Some(n.to_string()),
        ValueRef::Real(x) => Some(x.to_string()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            Some(String::from_utf8_lossy(bytes).into_owned())
        }
    }
}

fn read_first(
    rows: &mut rusqlite::Rows<'_>,
    columns: usize,
    first: &mut FirstRow,
) -> rusqlite::Result<u64> {
    first.clear();
    let mut count = 0;
    while let Some(row) = rows.next()? {
        count += 1;
        for column in (0..columns).filter(|_| count == 1) {
            match row.get_ref(column)? {
                ValueRef::Integer(n) => first.push_int(n),
                ValueRef::Text(bytes) | ValueRef::Blob(bytes) => first.push_text(bytes),
                ValueRef::Real(x) => first.push_text(x.to_string().as_bytes()),
                ValueRef::Null => first.push_null(),
            }
        }
    }
    Ok(count)
}

impl Session for SqliteSession {
    fn batch(&mut self, sql: &str) -> Result<()> {
        let _statement = tracing::debug_span!("statement", sql = sql.trim()).entered();
        self.connection()
            .execute_batch(sql)
            .map_err(|e| explain(&format!("\"{}\"", sql.trim()), &e))
    }

    fn prepare(&mut self, sql: &str) -> Result<Statement> {
        let compiled = self.compile(sql)?;
        let statements = &mut self.tied.dependent_mut().statements;
        statements.push(compiled);
        Ok(Statement(statements.len() - 1))
    }

    fn execute(&mut self, statement: Statement, parameters: &[Value<'_>]) -> Result<u64> {
        let compiled = self.compiled(statement);
        bind(compiled, parameters)?;
        compiled
            .raw_execute()
            .map(|changed| changed as u64)
            .map_err(|e| explain("statement failed", &e))
    }

    fn fetch(&mut self, statement: Statement, parameters: &[Value<'_>]) -> Result<Fetched> {
        let (compiled, connection) = self.tied.both();
        let compiled = &mut compiled.statements[statement.0];
        bind(compiled, parameters)?;
        let columns = compiled.column_count();
        let work = || read_all(&mut compiled.raw_query(), columns);
        let (fetched, ended) = limited(self.limit, || means_to_interrupt(connection), work);
        fetched.map_err(|e| told(&e, ended))
    }

    fn texts(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>> {
        let mut statement = self.compile(sql)?;
        let work = || read_texts(&mut statement);
        let (texts, ended) = limited(self.limit, || means_to_interrupt(self.connection()), work);
        match texts {
            Ok(Some(texts)) => Ok(texts),
            Ok(None) => Err(too_many_texts()),
            Err(e) => Err(told(&e, ended)),
        }
    }

    fn plan(&mut self, sql: &str) -> Result<Option<String>> {
        let rows = self.texts(&format!("EXPLAIN QUERY PLAN {sql}"))?;
        // In front of the words stand numbers of the steps.
        let words = rows
            .into_iter()
            .map(|row| row.into_iter().skip(3).collect());
        Ok(Some(plan_text(words.collect())))
    }

    /// A statement runs on one thread.
    fn workers(&mut self, _sql: &str) -> Result<Option<u32>> {
        Ok(Some(0))
    }

    fn limit_statements(&mut self, limit: Option<Duration>) -> Result<()> {
        self.limit = limit;
        Ok(())
    }

    fn columns(&self, statement: Statement) -> Option<usize> {
        Some(self.statement(statement).column_count())
    }

    fn check_kept(&self, statement: Statement, column: usize) -> Result<()> {
        let columns = self.statement(statement).column_count();
        if column < columns {
            return Ok(());
        }
        Err(TargetError::statement(format!(
            "SQLite: the result has {columns} columns and no column {}",
            column + 1
        )))
    }

    fn fetch_first(
        &mut self,
        statement: Statement,
        parameters: &[Value<'_>],
        first: &mut FirstRow,
    ) -> Result<u64> {
        let compiled = self.compiled(statement);
        bind(compiled, parameters)?;
        let columns = compiled.column_count();
        let mut rows = compiled.raw_query();
        read_first(&mut rows, columns, first).map_err(|e| explain("query failed", &e))
    }

    fn begin(&mut self) -> Result<()> {
        // IMMEDIATE takes the writer's place at once; a deferred one could fail in the middle.
        self.control(Control::Begin)
    }

    fn begin_read(&mut self) -> Result<()> {
        self.control(Control::BeginRead)
    }

    fn commit(&mut self) -> Result<()> {
        self.control(Control::Commit)
    }

    fn rollback(&mut self) -> Result<()> {
        if self.connection().is_autocommit() {
            Ok(())
        } else {
            self.batch("ROLLBACK")
        }
    }

    fn schema(&self) -> &str {
        "main"
    }

    fn relations(&mut self) -> Result<Identities> {
        self.texts(RELATIONS).map(register::identities)
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

    fn create_index(&mut self, table: &str, index: &str, columns: &str) -> Result<()> {
        self.batch(&format!("CREATE INDEX main.{index} ON {table} ({columns})"))
    }

    fn append(&mut self, table: &str, rows: &mut dyn RowSource) -> Result<u64> {
        let columns: i64 = self
            .connection()
            .query_row(
                "SELECT count(*) FROM pragma_table_info(?, 'main')",
                [table],
                |row| row.get(0),
            )
            .map_err(|e| explain(&format!("cannot read the columns of {table}"), &e))?;
        if columns == 0 || columns as usize > COLUMNS_MAX {
            return Err(TargetError::statement(format!(
                "SQLite: table {table} has {columns} columns; it cannot be loaded"
            )));
        }
        let marks = vec!["?"; columns as usize].join(",");
        let mut insert = self.compile(&format!("INSERT INTO main.{table} VALUES ({marks})"))?;
        let mut loaded = 0;
        let mut put = |row: &BulkRow<'_>| {
            bind(&mut insert, row)?;
            insert
                .raw_execute()
                .map_err(|e| explain("bulk load failed", &e))?;
            loaded += 1;
            Ok(())
        };
        while rows.next_row(&mut put)? {}
        Ok(loaded)
    }

    fn counters(&mut self) -> Counters {
        let misses = self.status(ffi::SQLITE_DBSTATUS_CACHE_MISS);
        let gets = self.status(ffi::SQLITE_DBSTATUS_CACHE_HIT) + misses;
        // In WAL mode CACHE_WRITE counts the pages written to the log (sqlite.org/c3ref/c_dbstatus_options).
        let frames = self.status(ffi::SQLITE_DBSTATUS_CACHE_WRITE);
        Counters {
            buffer_gets: Some(gets),
            redo_bytes: Some(frames * (self.page_bytes + FRAME_HEADER_BYTES)),
            pages_read: Some(misses),
        }
    }
}

#[cfg(test)]
mod tests {
    use engine::{ErrorKind, Fetched, RowSource, Value};

    struct Numbers(std::ops::Range<i64>);

    impl RowSource for Numbers {
        fn next_row(
            &mut self,
            sink: &mut dyn FnMut(&[Value<'_>]) -> engine::Result<()>,
        ) -> engine::Result<bool> {
            match self.0.next() {
                None => Ok(false),
                Some(n) => sink(&[Value::Int(n), Value::Text("x")]).map(|()| true),
            }
        }
    }

    fn file_target(dir: &tempfile::TempDir) -> std::sync::Arc<dyn engine::Target> {
        let url = format!("sqlite:{}/t.db", dir.path().display());
        crate::ENGINES
            .open(&crate::ENGINES.parse(&url).unwrap())
            .unwrap()
    }

    #[test]
    fn loads_reads_and_counts() {
        let dir = tempfile::tempdir().unwrap();
        let target = file_target(&dir);
        let mut session = target.open_session().unwrap();
        session
            .batch("CREATE TABLE dbdyno_t (id INTEGER PRIMARY KEY, pad TEXT)")
            .unwrap();
        assert_eq!(
            session
                .bulk_load("dbdyno_t", &mut Numbers(1..1001))
                .unwrap(),
            1000
        );
        let before = session.counters();
        let one = session
            .prepare("SELECT id FROM dbdyno_t WHERE id = ?")
            .unwrap();
        let fetched = session.fetch(one, &[Value::Int(7)]).unwrap();
        assert_eq!(fetched, Fetched { rows: 1, digest: 7 });
        assert!(session.counters().since(before).buffer_gets.unwrap() >= 1);
        assert!(session.counters().redo_bytes.unwrap() > 8192);
        assert_eq!(target.record().settings["page_size"], "8192");
    }

    #[test]
    fn a_failed_load_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let target = file_target(&dir);
        let mut session = target.open_session().unwrap();
        session
            .batch("CREATE TABLE dbdyno_t (id INTEGER PRIMARY KEY, pad TEXT)")
            .unwrap();
        session.bulk_load("dbdyno_t", &mut Numbers(5..6)).unwrap();
        assert!(session.bulk_load("dbdyno_t", &mut Numbers(1..10)).is_err());
        let count = session.prepare("SELECT count(*) FROM dbdyno_t").unwrap();
        assert_eq!(session.fetch(count, &[]).unwrap().digest, 1);
    }

    #[test]
    fn somebody_elses_database_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.db");
        rusqlite::Connection::open(&path)
            .unwrap()
            .execute_batch("CREATE TABLE payroll (x)")
            .unwrap();
        let url = crate::ENGINES
            .parse(&format!("sqlite:{}", path.display()))
            .unwrap();
        let error = crate::ENGINES.open(&url).err().unwrap();
        assert_eq!(error.kind, ErrorKind::Foreign);
        assert!(error.message.contains("payroll"));
    }

    #[test]
    fn unreachable_and_damaged_files_say_so() {
        let url = crate::ENGINES.parse("sqlite:/nowhere/at/all.db").unwrap();
        assert_eq!(
            crate::ENGINES.open(&url).err().unwrap().kind,
            ErrorKind::Unreachable
        );
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.db");
        std::fs::write(&path, vec![b'x'; 8192]).unwrap();
        let url = crate::ENGINES
            .parse(&format!("sqlite:{}", path.display()))
            .unwrap();
        assert_eq!(
            crate::ENGINES.open(&url).err().unwrap().kind,
            ErrorKind::Damaged
        );
    }

    #[test]
    fn memory_databases_do_not_collide() {
        let url = crate::ENGINES.parse("sqlite:").unwrap();
        let (a, b) = (
            crate::ENGINES.open(&url).unwrap(),
            crate::ENGINES.open(&url).unwrap(),
        );
        a.open_session()
            .unwrap()
            .batch("CREATE TABLE dbdyno_t (x)")
            .unwrap();
        let mut other = b.open_session().unwrap();
        assert!(other.prepare("SELECT * FROM dbdyno_t").is_err());
        assert!(
            a.open_session()
                .unwrap()
                .prepare("SELECT * FROM dbdyno_t")
                .is_ok()
        );
    }
}
