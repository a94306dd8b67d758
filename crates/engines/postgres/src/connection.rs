//! A blocking connection: a socket driven through the wire.

mod cancel;
mod nonblocking;
mod secure;
mod settle;

use std::io;
use std::time::{Duration, Instant};

use super::endpoint::Endpoint;
use super::explain::{explain, lost, no_logon, refused, unreachable};
use super::overrides::{self, Inherited, READ_ONLY, SEARCH_PATH, TIMEOUT};
use super::version::major;
use super::wire::{Channel, Event, Logon, Prepared, Row, ServerError, Transaction, Wire};
use engine::inspection::Protection;
use engine::open_sessions::OpenSession;
use engine::session::too_many_texts;
use engine::{ErrorKind, Result, TEXTS_MAX, TargetError, Transport, Value};
use net::stream::{Stream, time_left};
use net::tls::Secured;

/// A server that does not log us in within such a time is not there.
const LOGON_TIMEOUT: Duration = Duration::from_secs(60);

/// PgBouncer's words for a setting in a logon that it neither knows nor ignores.
const UNSUPPORTED: &str = "unsupported startup parameter";

pub(super) struct Connection {
    /// In the register of sessions until the stream is closed.
    open: OpenSession,
    stream: Stream,
    wire: Wire,
    place: String,
    transaction: Transaction,
    version: String,
    /// Number of the server's process as the logon reported it. A pooler reports one of its own.
    process_told: i32,
    is_pooled: bool,
    /// The TLS that was agreed on, if any.
    secured: Option<Secured>,
    /// A digest of the password that can be guessed went where others may have read it.
    is_weak_logon: bool,
    /// The server did not answer in the time that it was given.
    timed_out: bool,
    /// An error was about a text whose bytes are no characters.
    met_odd_bytes: bool,
    /// Why the connection is of no use any more.
    broken: Option<TargetError>,
    statements: u64,
}

impl Connection {
    /// Connects and logs on; `settings` are in force, and the schema of `endpoint` is where names are looked up.
    pub(super) fn open(endpoint: &Endpoint, settings: &[(&str, &str)]) -> Result<Self> {
        let _connect = tracing::debug_span!("connect", to = %endpoint.place()).entered();
        let path = path(endpoint, "");
        let settings = [&[(SEARCH_PATH, path.as_str())], settings].concat();
        let connection = match Self::logged_on(endpoint, &settings, LOGON_TIMEOUT) {
            // A pooler that passes on the most common parameters only.
            Err(error) if error.message.contains(UNSUPPORTED) => {
                Self::logged_on(endpoint, &[], LOGON_TIMEOUT)?
            }
            other => other?,
        };
        connection.settled(endpoint, settings)
    }

    /// The same, with what the session would have had without these settings.
    pub(super) fn open_first(
        endpoint: &Endpoint,
        settings: &[(&str, &str)],
    ) -> Result<(Self, Inherited)> {
        let _connect = tracing::debug_span!("connect", to = %endpoint.place()).entered();
        let mut connection = Self::logged_on(endpoint, &[], LOGON_TIMEOUT)?;
        let inherited = match connection.inherited() {
            // A limit of a millisecond ends even this.
            Err(error) if error.kind == ErrorKind::Statement => {
                connection = Self::logged_on(endpoint, &[(TIMEOUT, "0")], LOGON_TIMEOUT)?;
                connection.inherited()?.with_short_timeout()
            }
            other => other?,
        };
        let path = path(endpoint, "");
        let settings = [&[(SEARCH_PATH, path.as_str())], settings].concat();
        Ok((connection.settled(endpoint, settings)?, inherited))
    }

    fn inherited(&mut self) -> Result<Inherited> {
        let major = major(&self.version)?;
        let rows = self.simple_texts(&Inherited::query(major))?;
        Ok(Inherited::of(major, rows))
    }

    /// A connection for a user's own SQL: it keeps the settings of its role, and looks up names behind dbdyno's schema where the
    /// role does.
    pub(super) fn open_for_script(endpoint: &Endpoint) -> Result<Self> {
        let mut connection = Self::logged_on(endpoint, &[], LOGON_TIMEOUT)?;
        let sql = "SELECT reset_val FROM pg_catalog.pg_settings WHERE name = 'search_path'";
        let of_role = connection
            .simple_texts(sql)?
            .into_iter()
            .flatten()
            .flatten();
        let path = path(endpoint, &of_role.collect::<String>());
        let mut settings = vec![(SEARCH_PATH, path.as_str())];
        settings.extend(overrides::of_scripts());
        connection.settled(endpoint, settings)
    }

    /// Makes sure of the settings, and of those that would end the session while it waits.
    fn settled<'s>(
        mut self,
        endpoint: &Endpoint,
        mut settings: Vec<(&'s str, &'s str)>,
    ) -> Result<Self> {
        // An old server may not know what is asked next.
        settings.extend(overrides::later(major(&self.version)?));
        if endpoint.writes_anyway && settings.iter().all(|(name, _)| *name != READ_ONLY) {
            settings.push((READ_ONLY, "off"));
        }
        self.settle(endpoint, &settings)?;
        let forever = self.stream.set_timeout(None);
        forever.map_err(|e| unreachable(&self.place, &e))?;
        Ok(self)
    }

    /// Logs on within a time, and off again.
    pub(super) fn knock(endpoint: &Endpoint, patience: Duration) -> Result<()> {
        Self::logged_on(endpoint, &[], patience).map(drop)
    }

    fn logged_on(
        endpoint: &Endpoint,
        settings: &[(&str, &str)],
        patience: Duration,
    ) -> Result<Self> {
        let place = endpoint.place();
        let deadline = Instant::now() + patience;
        let (stream, secured) = secure::connect(endpoint, deadline)?;
        let mut connection = Self {
            open: OpenSession::over(endpoint.owner, &stream),
            stream,
            wire: Wire::default(),
            place,
            transaction: Transaction::Idle,
            version: String::new(),
            process_told: 0,
            is_pooled: false,
            secured,
            is_weak_logon: false,
            timed_out: false,
            met_odd_bytes: false,
            broken: None,
            statements: 0,
        };
        connection.log_on(endpoint, settings, deadline)?;
        Ok(connection)
    }

    fn log_on(
        &mut self,
        endpoint: &Endpoint,
        settings: &[(&str, &str)],
        deadline: Instant,
    ) -> Result<()> {
        let mut parameters = vec![
            ("user", endpoint.user.as_str()),
            ("database", endpoint.database.as_str()),
            ("client_encoding", "UTF8"),
        ];
        parameters.extend_from_slice(settings);
        self.wire.start_up(&parameters)?;
        let secured = self.secured.as_ref();
        let channel = Channel {
            is_private: endpoint.socket.is_some() || secured.is_some_and(|s| s.is_verified),
            end_point: secured.and_then(|s| s.end_point.clone()),
            binding: endpoint.binding,
        };
        let mut logon = Logon::new(&endpoint.user, endpoint.password.as_ref(), channel);
        loop {
            self.send()?;
            let request = loop {
                match self.wire.next_event() {
                    Ok(None) => self.receive_until(deadline)?,
                    Ok(Some(Event::Ready(_))) => {
                        self.is_weak_logon = logon.is_weak();
                        return Ok(());
                    }
                    Ok(Some(Event::Authentication(request))) => break request,
                    Ok(Some(Event::Setting {
                        name: "server_version",
                        value,
                    })) => {
                        value.clone_into(&mut self.version);
                    }
                    Ok(Some(Event::Process { number, secret })) => {
                        self.process_told = number;
                        self.open.cancelled_by(cancel::of(endpoint, number, secret));
                    }
                    Ok(Some(Event::Failed(error))) => {
                        let is_optional = endpoint.tls.as_ref().is_some_and(|tls| tls.is_optional);
                        let mut refusal =
                            refused(&self.place, &self.protection(), is_optional, &error);
                        if error.code == "28P01"
                            && let Some(password) = &endpoint.password
                        {
                            refusal.message += &password.doubt("PGPASSWORD");
                        }
                        return Err(refusal);
                    }
                    Ok(Some(_)) => {}
                    Err(error) => return Err(lost(&self.place, &error.to_string())),
                }
            };
            logon
                .answer(&mut self.wire, request)
                .map_err(|e| no_logon(&self.place, &e, endpoint.password_file_unused.as_deref()))?;
        }
    }

    /// Version as the server reports it, e.g. "15.18 (Debian 15.18-0+deb12u1)".
    pub(super) fn version(&self) -> &str {
        &self.version
    }

    /// Where the server is, by the address of the far end.
    pub(super) fn transport(&self) -> Transport {
        self.stream.transport()
    }

    pub(super) fn protection(&self) -> Protection {
        self.stream.protection(self.tls())
    }

    /// The process of this machine that listens at the server's socket.
    pub(super) fn listener(&self) -> Option<u32> {
        self.stream.listener()
    }

    /// The port of this end, over a network.
    pub(super) fn own_port(&self) -> Option<u16> {
        self.stream.own_port()
    }

    /// The TLS that was agreed on, for people; `None` without.
    pub(super) fn tls(&self) -> Option<String> {
        self.secured.as_ref().map(ToString::to_string)
    }

    /// True if a digest of the password went where others may have read it.
    pub(super) fn is_weak_logon(&self) -> bool {
        self.is_weak_logon
    }

    /// True if an error was about a text whose bytes are no characters of its encoding, or of the client's.
    pub(super) fn met_odd_bytes(&self) -> bool {
        self.met_odd_bytes
    }

    /// State of the transaction when the server was last ready.
    pub(super) fn transaction(&self) -> Transaction {
        self.transaction
    }

    /// The wire, for encoding requests.
    pub(super) fn wire(&mut self) -> &mut Wire {
        &mut self.wire
    }

    /// Sends what was encoded and takes events until the server is ready. Its last error is given back,
    /// after everything that came has been taken.
    #[inline]
    pub(super) fn exchange(
        &mut self,
        context: &str,
        mut take: impl FnMut(&Event<'_>) -> Result<()>,
    ) -> Result<()> {
        self.send()?;
        let mut outcome: Result<()> = Ok(());
        loop {
            match self.wire.next_event() {
                Ok(None) => self.receive()?,
                Ok(Some(Event::Ready(transaction))) => {
                    self.transaction = transaction;
                    return outcome;
                }
                Ok(Some(Event::Failed(error))) => self.failed(context, &error, &mut outcome)?,
                Ok(Some(event)) => {
                    if let (Ok(()), Err(error)) = (&outcome, take(&event)) {
                        outcome = Err(error);
                    }
                }
                Err(error) => return Err(self.break_off(&error.to_string())),
            }
        }
    }

    #[cold]
    fn failed(
        &mut self,
        context: &str,
        error: &ServerError,
        outcome: &mut Result<()>,
    ) -> Result<()> {
        let explained = explain(context, error);
        self.met_odd_bytes |= error.is_about_bytes();
        if error.is_fatal() {
            self.broken = Some(explained.clone());
            return Err(explained);
        }
        if outcome.is_ok() {
            *outcome = Err(explained);
        }
        Ok(())
    }

    /// Takes events until the server takes the rows of a COPY.
    pub(super) fn begin_copy(&mut self, sql: &str) -> Result<()> {
        self.wire.query(sql)?;
        self.send()?;
        loop {
            match self.wire.next_event() {
                Ok(None) => self.receive()?,
                Ok(Some(Event::CopyIn)) => return Ok(()),
                Ok(Some(Event::Failed(error))) => {
                    let mut outcome = Ok(());
                    self.failed(sql, &error, &mut outcome)?;
                    // The server says that it is ready before anything else can be asked.
                    self.exchange(sql, |_| Ok(()))?;
                    return outcome;
                }
                Ok(Some(_)) => {}
                Err(error) => return Err(self.break_off(&error.to_string())),
            }
        }
    }

    /// Hands out the pieces of a COPY to the client.
    ///
    /// # Errors
    /// The server's, or the first of `take`: the connection is then of no use, because everything else that
    /// the table holds would still come.
    pub(super) fn copy_out(
        &mut self,
        sql: &str,
        mut take: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        self.wire.query(sql)?;
        self.send()?;
        let mut outcome: Result<()> = Ok(());
        loop {
            match self.wire.next_event() {
                Ok(None) => self.receive_more()?,
                Ok(Some(Event::CopyData(piece))) => {
                    if let Err(error) = take(piece) {
                        self.broken = Some(error.clone());
                        return Err(error);
                    }
                }
                Ok(Some(Event::Ready(transaction))) => {
                    self.transaction = transaction;
                    return outcome;
                }
                Ok(Some(Event::Failed(error))) => self.failed("COPY", &error, &mut outcome)?,
                Ok(Some(_)) => {}
                Err(error) => return Err(self.break_off(&error.to_string())),
            }
        }
    }

    /// Statements that are not measured, separated by semicolons.
    pub(super) fn batch(&mut self, sql: &str) -> Result<()> {
        let _statement = tracing::debug_span!("statement", sql = sql.trim()).entered();
        self.wire.query(sql)?;
        self.exchange(&format!("\"{}\"", sql.trim()), |_| Ok(()))
    }

    /// Prepares a statement with `$n` for its parameters.
    pub(super) fn prepare(&mut self, sql: &str) -> Result<Prepared> {
        let _prepare = tracing::debug_span!("prepare", sql = sql.trim()).entered();
        self.statements += 1;
        let mut prepared = Prepared {
            name: format!("s{}", self.statements),
            ..Prepared::default()
        };
        self.wire.prepare(&prepared.name, sql)?;
        self.wire.sync();
        let (mut parameters, mut columns) = (Vec::new(), Vec::new());
        self.exchange(&format!("cannot prepare \"{}\"", sql.trim()), |event| {
            match event {
                Event::ParameterTypes(types) => parameters.extend(types.iter()),
                Event::ColumnTypes(types) => {
                    columns = types
                        .types()
                        .map_err(|e| TargetError::statement(format!("PostgreSQL: {e}")))?;
                }
                _ => {}
            }
            Ok(())
        })?;
        (prepared.parameters, prepared.columns) = (parameters, columns);
        Ok(prepared)
    }

    /// Rows of a small query that is not measured, every cell as text, null as `None`.
    pub(super) fn texts(
        &mut self,
        sql: &str,
        parameters: &[Value<'_>],
    ) -> Result<Vec<Vec<Option<String>>>> {
        let _query = tracing::debug_span!("query", sql = sql.trim()).entered();
        let mut prepared = self.prepare(sql)?;
        // An unknown type is asked for as text.
        prepared.columns.fill(0);
        self.texts_of(&prepared, sql, parameters)
    }

    /// The same of a statement that was prepared, with its columns asked for as text.
    pub(super) fn texts_of(
        &mut self,
        prepared: &Prepared,
        context: &str,
        parameters: &[Value<'_>],
    ) -> Result<Vec<Vec<Option<String>>>> {
        self.wire.execute(prepared, parameters)?;
        self.wire.sync();
        let mut rows = Vec::new();
        self.exchange(context, |event| {
            if let Event::Row(row) = event {
                if rows.len() == TEXTS_MAX {
                    return Err(too_many_texts());
                }
                rows.push(texts_of_row(*row)?);
            }
            Ok(())
        })?;
        Ok(rows)
    }

    /// Writes everything that was encoded.
    pub(super) fn send(&mut self) -> Result<()> {
        self.try_send(true).map(drop)
    }

    /// As [`Connection::receive`] where more is on its way, so that it is not asked for first.
    fn receive_more(&mut self) -> Result<()> {
        match self.stream.receive(&mut self.wire, false) {
            Ok(true) => Ok(()),
            // Nothing has come yet, or the end, which is told by the other.
            _ => self.receive(),
        }
    }

    /// As [`Connection::receive`], within a time for all of it: a server that sends a byte a second is not there either.
    fn receive_until(&mut self, deadline: Instant) -> Result<()> {
        let limited = self.stream.set_timeout(Some(time_left(deadline)));
        limited.map_err(|e| unreachable(&self.place, &e))?;
        self.receive()
    }

    fn receive(&mut self) -> Result<()> {
        match self.stream.receive(&mut self.wire, true) {
            Ok(_) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.timed_out = true;
                Err(self.break_off("no answer in time"))
            }
            Err(error) => Err(self.break_off(&error.to_string())),
        }
    }

    /// A server that ends says why before it closes, which then is still to be read.
    #[cold]
    fn last_words(&mut self, error: &io::Error) -> TargetError {
        self.wire.discard_output();
        while self.stream.receive(&mut self.wire, true).is_ok() {}
        while let Ok(Some(event)) = self.wire.next_event() {
            if let Event::Failed(said) = event {
                let explained = explain("the session has ended", &said);
                self.broken = Some(explained.clone());
                return explained;
            }
        }
        self.break_off(&error.to_string())
    }

    #[cold]
    fn break_off(&mut self, why: &str) -> TargetError {
        let error = lost(&self.place, why);
        self.broken = Some(error.clone());
        error
    }
}

/// Where names are looked up: in dbdyno's schema, in those of the role where they are given, and last among temporary tables, so
/// that none of these hides one of ours.
fn path(endpoint: &Endpoint, of_role: &str) -> String {
    let schemas = [endpoint.schema.as_str(), of_role, "pg_temp"];
    let schemas = schemas.into_iter().filter(|of| !of.is_empty());
    schemas.collect::<Vec<_>>().join(", ")
}

/// The cells of a row that was asked for as text.
fn texts_of_row(row: Row<'_>) -> Result<Vec<Option<String>>> {
    let cells = row.cells().map(|cell| {
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        cell.map(|cell| cell.map(text))
    });
    let cells = cells.collect::<std::result::Result<Vec<_>, _>>();
    cells.map_err(|e| TargetError::statement(format!("PostgreSQL: {e}")))
}

impl Drop for Connection {
    fn drop(&mut self) {
        if self.broken.is_none() {
            self.wire.discard_output();
            if self.is_pooled {
                // A pool may give the session to somebody else as it is, or cuts it because of this.
                let _ = self.wire.query("DISCARD ALL");
            }
            self.wire.terminate();
            // A goodbye that does not get through is none.
            let _ = self.stream.send(&mut self.wire, true);
        }
    }
}
