//! A connection that blocks: moves the bytes of a [`Wire`] over a socket.

mod nonblocking;

use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::explain::{explain, refused};
use super::flavour::{Family, Flavour};
use super::wire::{Cell, Column, Event, Finished, Login, Row, ServerError, StatementId, Wire};
use engine::inspection::{Protection, WITHOUT_TLS};
use engine::open_sessions::{OpenSession, Owner};
use engine::session::{TEXTS_MAX, too_many_texts};
use engine::{Result, TargetError, Transport, Value, shortened};
use net::stream::{Stream, time_left};
use net::tls::TlsClient;

pub(super) use nonblocking::ClientRequest;

/// A server that takes longer to greet or to log in is called unreachable.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(30);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    Socket(PathBuf),
    Network(String, u16),
}

impl std::fmt::Display for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Endpoint::Socket(path) => write!(f, "{}", path.display()),
            Endpoint::Network(host, port) => write!(f, "{host}:{port}"),
        }
    }
}

fn open(place: &Endpoint, patience: Duration) -> io::Result<Stream> {
    match place {
        Endpoint::Socket(path) => Stream::unix(path),
        Endpoint::Network(host, port) => Stream::tcp(host, *port, patience),
    }
}

pub struct Client {
    /// In the register of sessions until the stream is closed.
    open: OpenSession,
    wire: Wire,
    stream: Stream,
    /// When the server must have logged us in.
    deadline: Option<Instant>,
    /// The TLS that was agreed on, for people; `None` without.
    tls: Option<String>,
    /// A connection that broke is not used again.
    is_broken: bool,
    /// True if a transaction is open, as the server said last; an error leaves it open in case of doubt.
    in_transaction: bool,
}

impl Client {
    pub fn connect(
        place: &Endpoint,
        tls: Option<&TlsClient>,
        login: Login,
        owner: Owner,
    ) -> Result<Self> {
        let client = Self::connect_within(place, tls, login.clone(), owner, CONNECT_TIME_MAX)?;
        let (place, tls, number) = (place.clone(), tls.cloned(), client.connection());
        let cancel = move |patience| {
            // Nobody waits for what it asks, and nobody else breaks it off.
            let (login, owner) = (login.clone(), Owner::unique());
            let asked = Self::connect_within(&place, tls.as_ref(), login, owner, patience);
            if let Ok(mut asked) = asked {
                let _ = asked.attempt(&format!("KILL {number}"));
            }
        };
        client.open.cancelled_by(cancel);
        Ok(client)
    }

    /// Connects and logs in within a time; nothing cancels its statements.
    pub fn connect_within(
        place: &Endpoint,
        tls: Option<&TlsClient>,
        login: Login,
        owner: Owner,
        patience: Duration,
    ) -> Result<Self> {
        let _connect = tracing::debug_span!("connect", to = %place).entered();
        let unreachable = |e: io::Error| {
            TargetError::unreachable(format!(
                "mysql: no server answers at {place}: {e}; check that it is running and reachable"
            ))
        };
        let deadline = Instant::now() + patience;
        let stream = open(place, patience).map_err(unreachable)?;
        let mut client = Self {
            open: OpenSession::over(owner, &stream),
            wire: Wire::new(login),
            stream,
            deadline: Some(deadline),
            tls: None,
            is_broken: false,
            in_transaction: false,
        };
        loop {
            match client.event()? {
                Event::Connected => break,
                Event::Secure => client.secure(place, tls, deadline)?,
                Event::Failed(error) => {
                    let lacks_tls = client.protection() == Protection::Unencrypted;
                    return Err(refused(&place.to_string(), lacks_tls, &error));
                }
                _ => return Err(client.out_of_turn()),
            }
        }
        client.deadline = None;
        client.stream.set_timeout(None).map_err(unreachable)?;
        Ok(client)
    }

    fn secure(
        &mut self,
        place: &Endpoint,
        tls: Option<&TlsClient>,
        deadline: Instant,
    ) -> Result<()> {
        let (Endpoint::Network(host, _), Some(tls)) = (place, tls) else {
            return Err(self.out_of_turn());
        };
        self.flush()?;
        let secured = self.stream.secure(tls, host, deadline).map_err(|error| {
            self.is_broken = true;
            let advice = if tls.is_optional { WITHOUT_TLS } else { "" };
            TargetError::unreachable(format!(
                "mysql: no TLS connection to {place}: {error}{advice}"
            ))
        })?;
        self.tls = Some(secured.to_string());
        self.wire.secured().map_err(|error| {
            self.is_broken = true;
            error.into()
        })
    }

    /// The TLS that was agreed on, for people; `None` without.
    pub fn tls(&self) -> Option<String> {
        self.tls.clone()
    }

    /// Version as the server says it.
    pub fn flavour(&self) -> Flavour {
        Family::of_version(self.server_version())
    }

    pub fn server_version(&self) -> &str {
        &self.wire.server().version
    }

    /// Number of the connection as the logon reported it.
    pub fn connection(&self) -> u32 {
        self.wire.server().connection
    }

    /// Where the server is, by the address of the far end.
    pub fn transport(&self) -> Transport {
        self.stream.transport()
    }

    pub fn protection(&self) -> Protection {
        self.stream.protection(self.tls())
    }

    /// The process of this machine that listens at the server's socket.
    pub fn listener(&self) -> Option<u32> {
        self.stream.listener()
    }

    /// True if a transaction is open, or may be: one that the server ended after an error counts as well.
    pub fn in_transaction(&self) -> bool {
        self.in_transaction
    }

    fn flush(&mut self) -> Result<()> {
        self.try_send(true).map(drop)
    }

    #[inline]
    fn event(&mut self) -> Result<Event> {
        if self.is_broken {
            return Err(self.broken(None));
        }
        loop {
            match self.wire.next_event() {
                Ok(Some(event)) => return Ok(event),
                Ok(None) => {}
                Err(error) => {
                    self.is_broken = true;
                    return Err(error.into());
                }
            }
            self.flush()?;
            self.limit_wait()?;
            self.receive(true)?;
        }
    }

    /// While logging in there is a time for all of it: a server that sends a byte a second is not there either.
    fn limit_wait(&mut self) -> Result<()> {
        let Some(deadline) = self.deadline else {
            return Ok(());
        };
        match self.stream.set_timeout(Some(time_left(deadline))) {
            Ok(()) => Ok(()),
            Err(error) => Err(self.broken(Some(error))),
        }
    }

    fn broken(&mut self, error: Option<io::Error>) -> TargetError {
        self.is_broken = true;
        let why = match error {
            Some(e)
                if matches!(
                    e.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
                ) =>
            {
                format!(": no answer within {} s", CONNECT_TIME_MAX.as_secs())
            }
            Some(e) => format!(": {e}"),
            None => String::new(),
        };
        TargetError::unreachable(format!(
            "mysql: the server closed the connection{why}; it was killed, crashed or shut down (see its error log), or ended a session that waited too long (wait_timeout, idle_transaction_timeout)"
        ))
    }

    fn out_of_turn(&mut self) -> TargetError {
        self.is_broken = true;
        TargetError::unreachable(
            "mysql: the server sent an unexpected reply; check that it is a MariaDB or MySQL server",
        )
    }

    /// Reads results up to the last one; gives the end of the last, or the server's refusal. After an
    /// error of `on_row` the rest is read all the same, so that the connection stays usable.
    #[inline]
    fn finish(
        &mut self,
        mut on_row: impl FnMut(Row<'_>) -> Result<()>,
    ) -> Result<std::result::Result<Finished, ServerError>> {
        let mut changed = 0;
        let mut outcome = Ok(());
        loop {
            match self.event()? {
                Event::Row => {
                    if outcome.is_ok() {
                        outcome = on_row(self.wire.row());
                    }
                }
                Event::Finished(finished) => {
                    changed += finished.changed;
                    self.in_transaction = finished.in_transaction;
                    if !finished.more {
                        outcome?;
                        return Ok(Ok(Finished {
                            changed,
                            ..finished
                        }));
                    }
                }
                Event::Failed(error) => return Ok(Err(error)),
                _ => return Err(self.out_of_turn()),
            }
        }
    }

    /// Runs statements as text and passes over the rows that they return.
    pub fn run(&mut self, sql: &str) -> Result<Finished> {
        self.attempt(sql)?.map_err(|e| explain(&quoted(sql), &e))
    }

    /// As [`Client::run`], with what the server refuses as it says it.
    pub fn attempt(&mut self, sql: &str) -> Result<std::result::Result<Finished, ServerError>> {
        let _statement = tracing::debug_span!("statement", sql = sql.trim()).entered();
        self.wire.query(sql)?;
        self.finish(|_| Ok(()))
    }

    /// Runs a query as text and keeps its rows.
    pub fn read(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>> {
        self.read_about(&quoted(sql), sql)
    }

    /// The same, where an error names something shorter than the query.
    pub fn read_about(&mut self, what: &str, sql: &str) -> Result<Vec<Vec<Option<String>>>> {
        self.wire.query(sql)?;
        let mut rows = Vec::new();
        self.finish(|row| {
            if rows.len() >= TEXTS_MAX {
                return Err(too_many_texts());
            }
            let mut cells = Vec::new();
            row.for_each(|_, cell| {
                cells.push(match cell {
                    Cell::Bytes(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
                    _ => None,
                });
            })?;
            rows.push(cells);
            Ok(())
        })?
        .map_err(|e| explain(what, &e))?;
        Ok(rows)
    }

    /// The first cell of the first row of a query.
    pub fn read_one(&mut self, sql: &str) -> Result<Option<String>> {
        let rows = self.read(sql)?;
        Ok(rows.into_iter().next().and_then(|r| r.into_iter().next()?))
    }

    pub fn prepare(&mut self, sql: &str) -> Result<StatementId> {
        let _prepare = tracing::debug_span!("prepare", sql = sql.trim()).entered();
        self.wire.prepare(sql)?;
        match self.event()? {
            Event::Prepared(id) => Ok(id),
            Event::Failed(error) => {
                Err(explain(&format!("cannot prepare {}", quoted(sql)), &error))
            }
            _ => Err(self.out_of_turn()),
        }
    }

    pub fn columns(&self, statement: StatementId) -> &[Column] {
        self.wire.columns(statement)
    }

    /// Executes a prepared statement and hands out the rows of its results.
    #[inline]
    pub fn execute(
        &mut self,
        statement: StatementId,
        parameters: &[Value<'_>],
        on_row: impl FnMut(Row<'_>) -> Result<()>,
    ) -> Result<Finished> {
        self.check_count(statement, parameters)?;
        self.wire.execute(statement, parameters)?;
        self.finish(on_row)?
            .map_err(|e| explain("statement failed", &e))
    }

    /// Executes a prepared statement without parameters and hands out its rows one by one.
    ///
    /// # Errors
    /// The server's, or the first of `on_row`: the connection is then of no use, because all the other rows
    /// would still come.
    pub fn hand_out(
        &mut self,
        statement: StatementId,
        mut on_row: impl FnMut(Row<'_>) -> Result<()>,
    ) -> Result<()> {
        self.wire.execute(statement, &[])?;
        loop {
            match self.event()? {
                Event::Row => {
                    if let Err(error) = on_row(self.wire.row()) {
                        self.is_broken = true;
                        return Err(error);
                    }
                }
                Event::Finished(finished) if finished.more => {}
                Event::Finished(_) => return Ok(()),
                Event::Failed(error) => return Err(explain("reading failed", &error)),
                _ => return Err(self.out_of_turn()),
            }
        }
    }

    /// Holds the number of parameters against what a statement takes.
    #[inline]
    fn check_count(&self, statement: StatementId, parameters: &[Value<'_>]) -> Result<()> {
        let takes = self.wire.parameters(statement);
        if takes == parameters.len() {
            return Ok(());
        }
        Err(TargetError::statement(format!(
            "mysql: the statement takes {takes} parameters, but {} were given",
            parameters.len()
        )))
    }

    /// Runs a LOAD DATA LOCAL. `produce` appends the next rows to the packet that it is given; false
    /// when there are none left. After an error of it the load is ended in order and the error given.
    pub fn load(
        &mut self,
        sql: &str,
        mut produce: impl FnMut(&mut Vec<u8>) -> Result<bool>,
    ) -> Result<Finished> {
        self.wire.query_with_upload(sql)?;
        match self.event()? {
            Event::Upload => {}
            Event::Failed(error) => return Err(explain("bulk load failed", &error)),
            _ => return Err(self.out_of_turn()),
        }
        let mut outcome = Ok(true);
        while matches!(outcome, Ok(true)) {
            outcome = produce(self.wire.upload());
            self.wire.end_upload_packet()?;
            self.flush()?;
        }
        self.wire.end_upload()?;
        let finished = self
            .finish(|_| Ok(()))?
            .map_err(|e| explain("bulk load failed", &e));
        outcome.and(finished)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // A good-bye that fails changes nothing: closing the socket says the same.
        if !self.is_broken && self.wire.quit().is_ok() {
            let _ = self.flush();
        }
    }
}

pub(super) fn quoted(sql: &str) -> String {
    format!("\"{}\"", shortened(sql.trim()))
}
