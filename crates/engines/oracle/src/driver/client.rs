//! One connection: Oracle's driver, with what it lacks. It blocks, and has no way to cancel a statement.

mod logon;

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use engine::open_sessions::OpenSession;
use engine::value::Statement;
use engine::{Result, TEXTS_MAX, TargetError, Value, session, shortened};
use oracledb::{Connection, Cursor, DbType, Row, ToDbValue};

use logon::logged_in;

use super::bind::{Array, Bound, bound};
use super::dialect::{is_unit, statements, trimmed};
use super::explain::{explain, number_of, of_statement};
use super::overrides;
use super::read::{Kind, kinds, texts};
use super::returned::{with_binds, with_fetch_first, without_if_exists};
use crate::access::Access;

/// Rows that come with the answer to an execution, and with each fetch afterwards: the rows of a short transaction take one round trip.
const ROWS_AT_ONCE: u32 = 100;
const ROWS_OF_FETCH: u32 = 1000;

/// A second session that kills this one waits no longer for its own login.
const KILL_TIME_MAX: Duration = Duration::from_secs(5);

/// ORA-00942, ORA-01418, ORA-02289 and ORA-04043: nothing has this name.
const NOT_THERE: [&str; 4] = ["ORA-00942", "ORA-01418", "ORA-02289", "ORA-04043"];

/// A connection of this crate.
pub(super) struct Client {
    // Left before the connection closes its socket.
    entry: Option<OpenSession>,
    connection: Connection,
    access: Arc<Access>,
    for_script: bool,
    limit: Option<Duration>,
    prepared: Vec<Prepared>,
    /// Set for every session after its login, and again after a limit has ended one.
    set_up: Vec<String>,
    is_open: bool,
    scratch: String,
}

/// A statement that the driver finds by its text: its cache keeps the server's cursor.
#[derive(Debug, Clone)]
pub(super) struct Prepared {
    pub sql: String,
    pub is_query: bool,
    pub kinds: Vec<Kind>,
    /// Places of PL/SQL that hands values out; empty where all are parameters in their order.
    pub places: Vec<Argument>,
    /// True of a change that returns values of each row.
    pub returns: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Argument {
    /// By its number, from 0.
    Parameter(usize),
    /// Of this type, for a value that is handed out.
    Out(&'static DbType),
}

impl Prepared {
    /// Values that a unit of PL/SQL hands out.
    pub(super) fn outs(&self) -> usize {
        let places = self.places.iter();
        places
            .filter(|place| matches!(place, Argument::Out(_)))
            .count()
    }
}

/// The server's numbers of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SessionNumber {
    pub sid: usize,
    pub serial: usize,
}

impl Client {
    /// Logs in and sets the session up.
    ///
    /// # Errors
    /// When the listener or the server refuses.
    pub(super) fn connect(access: &Arc<Access>, for_script: bool) -> Result<Self> {
        Self::connect_within(access, for_script, access.connect_timeout)
    }

    pub(super) fn connect_within(
        access: &Arc<Access>,
        for_script: bool,
        timeout: Duration,
    ) -> Result<Self> {
        let (connection, entry) = logged_in(access, timeout)?;
        let mut client = Self {
            entry,
            connection,
            access: Arc::clone(access),
            for_script,
            limit: None,
            prepared: Vec::new(),
            set_up: Vec::new(),
            is_open: false,
            scratch: String::new(),
        };
        client.begin_session()?;
        Ok(client)
    }

    fn begin_session(&mut self) -> Result<()> {
        if let Some(entry) = &self.entry {
            let (access, session) = (Arc::clone(&self.access), self.number());
            entry.cancelled_by(move |left| kill(&access, session, left));
        }
        for sql in overrides::set_up(self.for_script) {
            self.execute_once(&sql)?;
        }
        for sql in self.set_up.clone() {
            self.execute_once(&sql)?;
        }
        self.connection
            .set_call_timeout(self.limit)
            .map_err(|error| explain("cannot set a time limit", &error))
    }

    /// Executes a statement that every session of this client begins with.
    ///
    /// # Errors
    /// When the server refuses it.
    pub(super) fn begin_with(&mut self, sql: String) -> Result<()> {
        self.execute_once(&sql)?;
        self.set_up.push(sql);
        Ok(())
    }

    pub(super) fn number(&self) -> SessionNumber {
        SessionNumber {
            sid: self.connection.session_id().unwrap_or_default(),
            serial: self.connection.serial_num().unwrap_or_default(),
        }
    }

    pub(super) fn version(&self) -> String {
        let version = self.connection.version();
        version.map_or(String::new(), |version| version.to_string())
    }

    /// Ends every later call that takes longer.
    pub(super) fn limit(&mut self, limit: Option<Duration>) -> Result<()> {
        self.limit = limit;
        self.connection
            .set_call_timeout(limit)
            .map_err(|error| explain("cannot set a time limit", &error))
    }

    /// A transaction is open until it is ended; the server begins one with the first change by itself.
    pub(super) fn begin(&mut self) {
        self.is_open = true;
    }

    /// Every statement of the transaction sees the rows of this moment.
    pub(super) fn begin_snapshot(&mut self) -> Result<()> {
        self.is_open = true;
        self.execute_once("SET TRANSACTION READ ONLY").map(drop)
    }

    pub(super) fn commit(&mut self) -> Result<()> {
        self.is_open = false;
        let committed = self.connection.commit();
        committed.map_err(|error| self.failed("cannot commit", "COMMIT", error))
    }

    pub(super) fn rollback(&mut self) -> Result<()> {
        if !std::mem::take(&mut self.is_open) {
            return Ok(());
        }
        let ended = self.connection.rollback();
        ended.map_err(|error| self.failed("cannot roll back", "ROLLBACK", error))
    }

    /// Every statement of a text, one after the other; outside a transaction what they did is committed.
    pub(super) fn run(&mut self, text: &str) -> Result<()> {
        for sql in statements(text) {
            let sql = trimmed(sql);
            match without_if_exists(sql) {
                Some(plain) => self.remove_if_there(&plain)?,
                None => drop(self.execute_once(sql)?),
            }
            if is_unit(sql) {
                self.refuse_broken_code(sql)?;
            }
        }
        self.commit_alone()
    }

    fn remove_if_there(&mut self, sql: &str) -> Result<()> {
        match self.execute_once(sql) {
            Err(error)
                if NOT_THERE
                    .iter()
                    .any(|number| error.message.contains(number)) =>
            {
                Ok(())
            }
            other => other.map(drop),
        }
    }

    /// The server makes stored code that does not compile as well, and only warns.
    fn refuse_broken_code(&mut self, sql: &str) -> Result<()> {
        if self.connection.last_warning().ok().flatten().is_none() {
            return Ok(());
        }
        let rows = self.texts("SELECT name || ', line ' || line || ': ' || text FROM user_errors ORDER BY name, sequence")?;
        let why = rows
            .into_iter()
            .flatten()
            .flatten()
            .next()
            .unwrap_or_default();
        Err(TargetError::statement(format!(
            "oracle: stored code does not compile: {} (in: {})",
            why.trim(),
            shortened(sql)
        )))
    }

    fn commit_alone(&mut self) -> Result<()> {
        if self.is_open { Ok(()) } else { self.commit() }
    }

    /// A statement without parameters, which the driver does not keep.
    fn execute_once(&mut self, sql: &str) -> Result<u64> {
        let built = self.connection.statement(sql);
        let built = built.and_then(|builder| builder.exclude_from_cache().build());
        let done = built.and_then(|mut statement| {
            if statement.is_query() {
                // Read to the end, as every result is.
                for row in statement.query(&[])? {
                    row?;
                }
                return Ok(0);
            }
            statement.execute(&[]).map(|result| result.rows_affected())
        });
        done.map_err(|error| self.failed("statement failed", sql, error))
    }

    /// Keeps a statement for many executions; the server parses a query or a change at once, so that a mistake shows here.
    pub(super) fn prepare(&mut self, sql: &str) -> Result<Statement> {
        let sql = with_binds(&self.spelled(sql));
        let sql = trimmed(&engine::placeholders::numbered(&sql, ':')).to_owned();
        let built = self.statement(&sql);
        let parsed = built.and_then(|mut statement| {
            if statement.is_query() || statement.is_dml() {
                statement.ensure_fully_parsed()?;
            }
            Ok(Prepared {
                is_query: statement.is_query(),
                kinds: kinds(statement.out_metadata()),
                places: places(
                    statement.bind_names(),
                    is_unit(&sql) || statement.is_dml_returning(),
                ),
                returns: statement.is_dml_returning(),
                sql: sql.clone(),
            })
        });
        let prepared = match parsed {
            Ok(prepared) => prepared,
            // It may be executed without a limit; then its columns are known.
            Err(error) if self.limit.is_some() && is_time_limit(&error) => {
                self.failed("cannot prepare", &sql, error);
                Prepared {
                    is_query: !is_unit(&sql),
                    kinds: Vec::new(),
                    places: Vec::new(),
                    returns: false,
                    sql,
                }
            }
            Err(error) => return Err(self.failed("cannot prepare", &sql, error)),
        };
        self.prepared.push(prepared);
        Ok(Statement(self.prepared.len() - 1))
    }

    fn statement(&self, sql: &str) -> std::result::Result<oracledb::Statement, oracledb::Error> {
        let builder = self.connection.statement(sql)?;
        builder
            .prefetch_rows(ROWS_AT_ONCE)
            .fetch_array_size(ROWS_OF_FETCH)
            .build()
    }

    pub(super) fn prepared(&self, statement: Statement) -> Result<&Prepared> {
        let found = self.prepared.get(statement.0);
        found.ok_or_else(|| TargetError::statement("oracle: no such prepared statement"))
    }

    /// Executes a statement, and hands out every row that it returns; gives the rows that it changed or returned.
    #[inline]
    pub(super) fn execute(
        &mut self,
        statement: Statement,
        parameters: &[Value<'_>],
        mut take: impl FnMut(&Row, &[Kind], &mut String) -> Result<()>,
    ) -> Result<u64> {
        let Some(prepared) = self.prepared.get(statement.0) else {
            return Err(TargetError::statement("oracle: no such prepared statement"));
        };
        let values: Vec<Bound<&str, &[u8]>> = parameters.iter().map(bound).collect();
        let mut binds: Vec<&dyn ToDbValue> = Vec::new();
        if prepared.places.is_empty() {
            binds.extend(values.iter().map(Bound::as_value));
        }
        for place in &prepared.places {
            match place {
                Argument::Parameter(number) => {
                    binds.extend(values.get(*number).map(Bound::as_value))
                }
                Argument::Out(of) => binds.push(of),
            }
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        let outcome: Taken = if prepared.is_query {
            let cursor = self
                .statement(&prepared.sql)
                .and_then(|it| it.query(&binds));
            cursor.and_then(|cursor| rows_of(cursor, &mut scratch, &mut take))
        } else {
            let done = self
                .statement(&prepared.sql)
                .and_then(|mut it| it.execute(&binds));
            done.and_then(|mut result| match prepared.places.as_slice() {
                [] => Ok(Ok(result.rows_affected())),
                _ if prepared.returns => returned(result.returned_data(), &mut scratch, &mut take),
                _ => handed_out(result.out_bind_data(), &mut scratch, &mut take),
            })
        };
        self.scratch = scratch;
        let is_query = prepared.is_query;
        match outcome {
            Ok(Ok(rows)) if is_query || self.is_open => Ok(rows),
            Ok(Ok(rows)) => self.commit().map(|()| rows),
            Ok(Err(refused)) => Err(refused),
            Err(error) => {
                let sql = self.prepared[statement.0].sql.clone();
                Err(self.failed("statement failed", &sql, error))
            }
        }
    }

    /// Sends rows of an array in one round trip.
    pub(super) fn send(&mut self, sql: &str, array: &mut Array) -> Result<u64> {
        array.type_nulls();
        let values = array.values();
        let rows: Vec<&[&dyn ToDbValue]> = values.iter().map(Vec::as_slice).collect();
        // Parsed again for each array: the stand-in of the tests takes only the first of a cached statement whole.
        let built = self.connection.statement(sql);
        let built = built.and_then(|builder| builder.exclude_from_cache().build());
        let sent = built.and_then(|mut statement| statement.execute_batch(rows.as_slice().into()));
        let sent = sent.map(|result| result.rows_affected());
        let sent = sent.map_err(|error| self.failed("bulk load failed", sql, error))?;
        if sent != array.rows() as u64 {
            return Err(TargetError::statement(format!(
                "oracle: bulk load failed: only {sent} of {} rows were loaded",
                array.rows()
            )));
        }
        array.clear();
        Ok(sent)
    }

    /// A shared statement of dbdyno's with Oracle's words; a script's is as its user wrote it.
    pub(super) fn spelled(&self, sql: &str) -> String {
        if self.for_script {
            sql.to_owned()
        } else {
            with_fetch_first(sql)
        }
    }

    /// Rows of a small query, or of a call, as texts.
    pub(super) fn texts(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>> {
        if with_binds(sql) != sql {
            return self.texts_given_back(sql);
        }
        self.texts_with(&self.spelled(sql), &[])
    }

    fn texts_given_back(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>> {
        let statement = self.prepare(sql)?;
        let mut found = Vec::new();
        let done = self.execute(statement, &[], |row, kinds, _| {
            found.push(texts(row, kinds)?);
            Ok(())
        });
        self.prepared.pop();
        done.map(|_| found)
    }

    pub(super) fn texts_with(
        &mut self,
        sql: &str,
        binds: &[&dyn ToDbValue],
    ) -> Result<Vec<Vec<Option<String>>>> {
        let sql = trimmed(sql);
        let cursor = self.statement(sql).and_then(|it| it.query(binds));
        let cursor = cursor.map_err(|error| self.failed("query failed", sql, error))?;
        let kinds = kinds(cursor.columns());
        let mut found = Vec::new();
        for row in cursor {
            let row = row.map_err(|error| self.failed("query failed", sql, error))?;
            if found.len() == TEXTS_MAX {
                return Err(session::too_many_texts());
            }
            found.push(texts(&row, &kinds)?);
        }
        Ok(found)
    }

    /// The one cell of a query; `None` where there is no row, or a null.
    pub(super) fn text(&mut self, sql: &str) -> Result<Option<String>> {
        let rows = self.texts(sql)?;
        Ok(rows.into_iter().flatten().next().flatten())
    }

    /// The user's sentence for an error. Where a time limit cost the connection, another one takes its place, and the server's session
    /// is killed, as far as the user may.
    fn failed(&mut self, context: &str, sql: &str, error: oracledb::Error) -> TargetError {
        let Some(limit) = self.limit.filter(|_| is_time_limit(&error)) else {
            return of_statement(context, sql, &error);
        };
        // The server may have answered the driver's break at once.
        if self.connection.ping().is_err() {
            let before = self.number();
            self.is_open = false;
            if let Err(lost) = self.reconnect() {
                return lost;
            }
            kill_from(self, before);
        }
        engine::limit::too_long("oracle", limit)
    }

    fn reconnect(&mut self) -> Result<()> {
        let (connection, entry) = logged_in(&self.access, self.access.connect_timeout)?;
        // The entry of the old socket leaves the register before that is closed.
        self.entry = None;
        self.connection = connection;
        self.entry = entry;
        self.begin_session()
    }
}

fn is_time_limit(error: &oracledb::Error) -> bool {
    use oracledb::ErrorKind as Driver;
    match error.kind() {
        Driver::CallTimeoutExceeded | Driver::UnableToRecover => true,
        // The server's answer to the driver's break.
        _ => number_of(error) == Some(1013),
    }
}

/// The places of PL/SQL that hands values out: `:text_…` is a VARCHAR2, `:rows_…` a REF CURSOR, and any other name a NUMBER.
fn places(binds: &[String], is_unit: bool) -> Vec<Argument> {
    if !is_unit || binds.iter().all(|name| is_parameter(name)) {
        return Vec::new();
    }
    let place = |name: &String| match name.split('_').next() {
        _ if is_parameter(name) => {
            Argument::Parameter(name.parse().map_or(usize::MAX, |n: usize| n - 1))
        }
        Some("TEXT") => Argument::Out(oracledb::DB_TYPE_VARCHAR),
        Some("ROWS") => Argument::Out(oracledb::DB_TYPE_CURSOR),
        _ => Argument::Out(oracledb::DB_TYPE_NUMBER),
    };
    binds.iter().map(place).collect()
}

/// True of a place that a `?` has become.
fn is_parameter(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_digit())
}

type Taken = std::result::Result<Result<u64>, oracledb::Error>;

/// Every row of a cursor; the driver's errors are apart from those of whoever takes the rows.
fn rows_of(
    cursor: Cursor,
    scratch: &mut String,
    take: &mut impl FnMut(&Row, &[Kind], &mut String) -> Result<()>,
) -> Taken {
    let kinds = kinds(cursor.columns());
    let mut rows = 0;
    for row in cursor {
        if let Err(refused) = take(&row?, &kinds, scratch) {
            return Ok(Err(refused));
        }
        rows += 1;
    }
    Ok(Ok(rows))
}

/// Takes the rows of a cursor that PL/SQL handed out, or one row of its values.
fn handed_out(
    mut row: Row,
    scratch: &mut String,
    take: &mut impl FnMut(&Row, &[Kind], &mut String) -> Result<()>,
) -> Taken {
    let is_cursor = |of: &DbType| of.num() == oracledb::DB_TYPE_CURSOR.num();
    let mut columns = row.columns().iter();
    if let Some(place) = columns.position(|column| is_cursor(column.db_type())) {
        let cursor: Cursor = row.take(place)?;
        return rows_of(cursor, scratch, take);
    }
    let kind = |column: &oracledb::Metadata| {
        if is_parameter(column.name()) {
            Kind::Parameter
        } else {
            Kind::of(column.db_type())
        }
    };
    let kinds: Vec<Kind> = row.columns().iter().map(kind).collect();
    Ok(take(&row, &kinds, scratch).map(|()| 1))
}

/// The values of each row that a change returned.
fn returned(
    rows: Vec<Row>,
    scratch: &mut String,
    take: &mut impl FnMut(&Row, &[Kind], &mut String) -> Result<()>,
) -> Taken {
    let mut taken = 0;
    for row in &rows {
        if let Err(refused) = take(row, &kinds(row.columns()), scratch) {
            return Ok(Err(refused));
        }
        taken += 1;
    }
    Ok(Ok(taken))
}

/// Kills a session from another one, which logs in for that within a time.
fn kill(access: &Arc<Access>, session: SessionNumber, left: Duration) {
    let (access, begin) = (Arc::clone(access), Instant::now());
    let (done, finished) = channel();
    std::thread::spawn(move || {
        if let Ok(mut client) = Client::connect_within(&access, false, left.min(KILL_TIME_MAX)) {
            kill_from(&mut client, session);
        }
        let _ = done.send(());
    });
    // The driver's login has no limit of its own once the listener has answered.
    let _ = finished.recv_timeout(left.saturating_sub(begin.elapsed()));
}

/// The server may refuse it: it needs ALTER SYSTEM. The session then ends when the server notices that its client has gone.
fn kill_from(client: &mut Client, session: SessionNumber) {
    let SessionNumber { sid, serial } = session;
    let sql = format!("ALTER SYSTEM KILL SESSION '{sid},{serial}' IMMEDIATE");
    if let Err(error) = client.execute_once(&sql) {
        tracing::info!("{error}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_plsql_hands_out_is_named_after_its_type() {
        let names = ["TOTAL", "1", "2", "TEXT_NAME", "ROWS_FOUND"].map(str::to_owned);
        let found: Vec<std::result::Result<usize, u16>> = (places(&names, true).into_iter())
            .map(|place| match place {
                Argument::Parameter(number) => Ok(number),
                Argument::Out(of) => Err(of.num()),
            })
            .collect();
        let number = oracledb::DB_TYPE_NUMBER.num();
        let (text, cursor) = (
            oracledb::DB_TYPE_VARCHAR.num(),
            oracledb::DB_TYPE_CURSOR.num(),
        );
        assert_eq!(found, [Err(number), Ok(0), Ok(1), Err(text), Err(cursor)]);
        assert!(places(&names, false).is_empty());
        assert!(places(&names[1..3], true).is_empty());
    }
}
