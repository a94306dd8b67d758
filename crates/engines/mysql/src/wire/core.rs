//! The conversation: what was asked, what may come next, and what came.

mod group;
mod request;

use std::collections::VecDeque;
use std::ops::Range;

use ring::rand::SecureRandom;

use super::auth::Plugin;
use super::bytes::Reader;
use super::execution::Prepared;
use super::handshake::{Greeting, Login, Server, capability as can};
use super::packet::{Inbox, Outbox, Packet};
use super::reply::{self, Finished, ServerError, parse_ok};
use super::row::{Column, Row, column_count};
use super::{WireError, WireResult, signed};
use net::stream::Buffers;

/// The server's two words within caching_sha2_password.
const SHA2_KNOWN: &[u8] = &[3];
const SHA2_PASSWORD_WANTED: &[u8] = &[4];
/// The packet behind the last row is shorter than a text row that begins alike: such a row's first cell
/// has 16 MiB or more.
const END_BYTES_MAX: usize = 0xff_ffff;

/// Handle of a prepared statement of one [`Wire`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatementId(pub usize);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The server takes TLS as soon as what is pending is written; [`Wire::secured`] goes on behind it.
    Secure,
    Connected,
    Prepared(StatementId),
    /// A row came; [`Wire::row`] shows it until more bytes are fed in.
    Row,
    Finished(Finished),
    /// The server takes the rows of a LOAD DATA LOCAL now; see [`Wire::upload`].
    Upload,
    /// The server refuses; whatever was asked is over.
    Failed(ServerError),
}

/// Where the columns of a result are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Text,
    Binary(StatementId),
}

/// Requests that a group usually has at most; longer ones get more room.
const REQUESTS_USUAL: usize = 8;

/// A request behind others of its group.
#[derive(Debug, Clone, Copy)]
struct Behind {
    form: Form,
    /// True if it may be sent before those in front of it are answered.
    joins: bool,
    /// Where its packet begins in the outbox.
    start: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Greeting,
    /// TLS, of which the wire sees nothing.
    Securing,
    Login(Plugin),
    /// Nothing: it is the client's turn.
    Idle,
    /// The first packet of a result.
    Result(Form),
    /// So many columns of a result.
    Columns(Form, u32),
    Rows(Form),
    Upload,
    Prepare,
    /// So many parameters and columns of a prepared statement.
    Described {
        parameters: u16,
        columns: u16,
    },
}

/// One client's side of one connection.
#[derive(Debug)]
pub struct Wire {
    outbox: Outbox,
    inbox: Inbox,
    phase: Phase,
    /// Requests of a group behind the one whose answer comes next.
    line: VecDeque<Behind>,
    releases: u64,
    login: Secret,
    greeting: Option<Greeting>,
    scramble: Vec<u8>,
    server: Server,
    statements: Vec<Prepared>,
    text_columns: Vec<Column>,
    row: Range<usize>,
    row_form: Form,
    sequence: u8,
    upload_expected: bool,
}

/// Keeps the password out of every `{:?}`.
struct Secret(Option<Login>);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

/// For the driver, which moves bytes and takes events.
impl Buffers for Wire {
    #[inline]
    fn pending(&self) -> &[u8] {
        self.outbox.pending()
    }

    #[inline]
    fn wrote(&mut self, count: usize) {
        self.outbox.wrote(count);
    }

    #[inline]
    fn room(&mut self) -> &mut [u8] {
        self.inbox.room()
    }

    #[inline]
    fn filled(&mut self, count: usize) {
        self.inbox.filled(count);
    }
}

impl Wire {
    /// A new connection, waiting for the server's greeting.
    pub fn new(login: Login) -> Self {
        Self {
            outbox: Outbox::new(),
            inbox: Inbox::new(),
            phase: Phase::Greeting,
            line: VecDeque::with_capacity(REQUESTS_USUAL),
            releases: 0,
            login: Secret(Some(login)),
            greeting: None,
            scramble: Vec::new(),
            server: Server::default(),
            statements: Vec::new(),
            text_columns: Vec::new(),
            row: 0..0,
            row_form: Form::Text,
            sequence: 0,
            upload_expected: false,
        }
    }

    /// The next event; `None` when pending bytes must be written or more must come.
    ///
    /// # Errors
    /// When what came is not the protocol; the connection is then of no use.
    #[inline]
    pub fn next_event(&mut self) -> WireResult<Option<Event>> {
        while let Some(packet) = self.inbox.next()? {
            self.sequence = packet.answer_sequence;
            if let Some(event) = self.take(packet)? {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }

    /// The row of the last [`Event::Row`].
    #[inline]
    pub fn row(&self) -> Row<'_> {
        let columns = match self.row_form {
            Form::Text => &self.text_columns,
            Form::Binary(id) => &self.statements[id.0].columns,
        };
        Row {
            payload: self.inbox.slice(self.row.clone()),
            columns,
            is_binary: self.row_form != Form::Text,
        }
    }

    pub fn server(&self) -> &Server {
        &self.server
    }

    /// Columns that a statement returned last, or will return.
    pub fn columns(&self, statement: StatementId) -> &[Column] {
        &self.statements[statement.0].columns
    }

    pub fn parameters(&self, statement: StatementId) -> usize {
        usize::from(self.statements[statement.0].parameters)
    }
}

impl Wire {
    #[inline]
    fn take(&mut self, packet: Packet) -> WireResult<Option<Event>> {
        let first = self.inbox.slice(packet.payload.clone()).first().copied();
        if let (Phase::Rows(form), Some(first)) = (self.phase, first)
            && first != reply::ERR
            && !(first == reply::END && packet.payload.len() < END_BYTES_MAX)
        {
            self.row = packet.payload;
            self.row_form = form;
            return Ok(Some(Event::Row));
        }
        self.take_other(first, packet.payload)
    }

    fn take_other(
        &mut self,
        first: Option<u8>,
        payload: Range<usize>,
    ) -> WireResult<Option<Event>> {
        let Some(first) = first else {
            return Err(WireError::Malformed("an empty packet"));
        };
        if first == reply::ERR {
            return self.failed(payload).map(Some);
        }
        match self.phase {
            Phase::Greeting => self.greeted(payload),
            Phase::Login(plugin) => self.login(plugin, first, payload),
            Phase::Result(form) => self.result(form, first, payload),
            Phase::Columns(form, left) => self.column(form, left, payload),
            Phase::Rows(_) => self.rows_end(payload).map(Some),
            Phase::Prepare => self.prepared(payload),
            Phase::Described {
                parameters,
                columns,
            } => self.described(parameters, columns, payload),
            Phase::Securing => Err(WireError::BeforeTls),
            Phase::Idle | Phase::Upload => Err(WireError::Malformed("an unexpected packet")),
        }
    }

    fn failed(&mut self, payload: Range<usize>) -> WireResult<Event> {
        let error = ServerError::parse(&self.inbox.slice(payload)[1..])?;
        self.upload_expected = false;
        self.drop_unsent();
        self.next_in_line();
        Ok(Event::Failed(error))
    }

    fn greeted(&mut self, payload: Range<usize>) -> WireResult<Option<Event>> {
        let mut greeting = Greeting::parse(self.inbox.slice(payload))?;
        match &self.login.0 {
            Some(login) if login.with_tls && (greeting.offers_tls || !login.may_lack_tls) => {
                if !greeting.offers_tls {
                    return Err(WireError::NoTls);
                }
                greeting.ask_for_tls(login, self.outbox.begin(self.sequence));
                self.sequence = self.outbox.end()?;
                self.phase = Phase::Securing;
                self.greeting = Some(greeting);
                Ok(Some(Event::Secure))
            }
            _ => self.answer(greeting).map(|()| None),
        }
    }

    /// TLS has begun: the login goes on within it.
    ///
    /// # Errors
    /// When something came in front of it: that is not the server's.
    pub fn secured(&mut self) -> WireResult<()> {
        match self.greeting.take() {
            Some(greeting) if self.inbox.is_empty() => self.answer(greeting),
            _ => Err(WireError::BeforeTls),
        }
    }

    fn answer(&mut self, mut greeting: Greeting) -> WireResult<()> {
        if let Some(login) = &self.login.0 {
            greeting.answer(login, self.outbox.begin(self.sequence));
            self.outbox.end()?;
        }
        self.phase = Phase::Login(greeting.plugin);
        self.scramble = greeting.scramble;
        self.server = greeting.server;
        Ok(())
    }

    fn login(
        &mut self,
        plugin: Plugin,
        first: u8,
        payload: Range<usize>,
    ) -> WireResult<Option<Event>> {
        let body = &self.inbox.slice(payload.clone())[1..];
        match first {
            reply::OK => {
                self.phase = Phase::Idle;
                self.login = Secret(None);
                return Ok(Some(Event::Connected));
            }
            reply::END if body.is_empty() => {
                return Err(WireError::TooOld("authentication plugins"));
            }
            reply::END => {
                let mut reader = Reader::new(body);
                let plugin = Plugin::named(reader.until_zero())?;
                self.scramble.clear();
                self.scramble
                    .extend_from_slice(plugin.scramble(reader.rest()));
                self.phase = Phase::Login(plugin);
                self.send_proof(plugin)?;
            }
            reply::MORE_DATA if plugin == Plugin::CachingSha2 => match body {
                SHA2_KNOWN => {}
                SHA2_PASSWORD_WANTED => self.send_password()?,
                _ => return Err(WireError::Malformed("an unknown step of the login")),
            },
            _ if plugin == Plugin::Parsec => {
                let derivation = self.inbox.slice(payload);
                // Some proxies announce every packet of a login.
                let derivation = derivation
                    .strip_prefix(&[reply::MORE_DATA])
                    .unwrap_or(derivation);
                // Once: a second time there are no random bytes to sign.
                let theirs = std::mem::take(&mut self.scramble);
                if let Some(login) = &self.login.0 {
                    let signed = signed::parsec(&login.password, derivation, &theirs, &nonce()?)?;
                    self.outbox.begin(self.sequence).extend_from_slice(&signed);
                    self.outbox.end()?;
                }
            }
            _ => return Err(WireError::Malformed("an unknown step of the login")),
        }
        Ok(None)
    }

    fn send_proof(&mut self, plugin: Plugin) -> WireResult<()> {
        if plugin == Plugin::Cleartext {
            return self.send_password();
        }
        if let Some(login) = &self.login.0 {
            let proof = plugin.proof(&login.password, &self.scramble);
            self.outbox.begin(self.sequence).extend_from_slice(&proof);
            self.outbox.end()?;
        }
        Ok(())
    }

    fn send_password(&mut self) -> WireResult<()> {
        match &self.login.0 {
            Some(login) if login.is_private => {
                let into = self.outbox.begin(self.sequence);
                into.extend_from_slice(&login.password);
                into.push(0);
                self.outbox.end().map(|_| ())
            }
            _ => Err(WireError::InsecureChannel),
        }
    }

    #[inline]
    fn result(
        &mut self,
        form: Form,
        first: u8,
        payload: Range<usize>,
    ) -> WireResult<Option<Event>> {
        let packet = self.inbox.slice(payload);
        match first {
            reply::OK => {
                let finished = parse_ok(&packet[1..])?;
                Ok(Some(self.finished(form, finished)))
            }
            reply::LOCAL_FILE if self.upload_expected => {
                self.upload_expected = false;
                self.phase = Phase::Upload;
                Ok(Some(Event::Upload))
            }
            // A server that asks for a file nobody offered gets nothing.
            reply::LOCAL_FILE => Err(WireError::Malformed("a request for a file of this machine")),
            _ => {
                let mut reader = Reader::new(packet);
                let count = column_count(reader.lenenc()?)?;
                let are_known = self.server.can(can::CACHE_METADATA) && reader.u8()? == 0;
                self.begin_columns(form, count, are_known)
            }
        }
    }

    fn begin_columns(
        &mut self,
        form: Form,
        count: u32,
        are_known: bool,
    ) -> WireResult<Option<Event>> {
        let columns = self.columns_of(form);
        if !are_known {
            columns.clear();
            self.phase = Phase::Columns(form, count);
        } else if columns.len() == count as usize {
            self.phase = Phase::Rows(form);
        } else {
            return Err(WireError::Malformed("rows without column definitions"));
        }
        Ok(None)
    }

    fn columns_of(&mut self, form: Form) -> &mut Vec<Column> {
        match form {
            Form::Text => &mut self.text_columns,
            Form::Binary(id) => &mut self.statements[id.0].columns,
        }
    }

    fn column(
        &mut self,
        form: Form,
        left: u32,
        payload: Range<usize>,
    ) -> WireResult<Option<Event>> {
        let column = Column::parse(self.inbox.slice(payload))?;
        self.columns_of(form).push(column);
        self.phase = match left {
            0 | 1 => Phase::Rows(form),
            _ => Phase::Columns(form, left - 1),
        };
        Ok(None)
    }

    fn rows_end(&mut self, payload: Range<usize>) -> WireResult<Event> {
        let Phase::Rows(form) = self.phase else {
            return Err(WireError::Malformed("an unexpected end-of-rows packet"));
        };
        let finished = parse_ok(&self.inbox.slice(payload)[1..])?;
        Ok(self.finished(form, finished))
    }

    fn finished(&mut self, form: Form, finished: Finished) -> Event {
        if finished.more {
            self.phase = Phase::Result(form);
        } else {
            self.next_in_line();
        }
        Event::Finished(finished)
    }

    fn prepared(&mut self, payload: Range<usize>) -> WireResult<Option<Event>> {
        let mut reader = Reader::new(&self.inbox.slice(payload)[1..]);
        let id = reader.u32()?;
        let columns = reader.u16()?;
        let parameters = reader.u16()?;
        self.statements.push(Prepared::new(id, parameters, columns));
        self.describe(parameters, columns)
    }

    /// Waits for the descriptions that are left.
    fn describe(&mut self, parameters: u16, columns: u16) -> WireResult<Option<Event>> {
        if parameters == 0 && columns == 0 {
            self.phase = Phase::Idle;
            return Ok(Some(Event::Prepared(StatementId(
                self.statements.len() - 1,
            ))));
        }
        self.phase = Phase::Described {
            parameters,
            columns,
        };
        Ok(None)
    }

    fn described(
        &mut self,
        parameters: u16,
        columns: u16,
        payload: Range<usize>,
    ) -> WireResult<Option<Event>> {
        if parameters > 0 {
            return self.describe(parameters - 1, columns);
        }
        let column = Column::parse(self.inbox.slice(payload))?;
        if let Some(statement) = self.statements.last_mut() {
            statement.columns.push(column);
        }
        self.describe(0, columns - 1)
    }
}

/// Random bytes of this side.
fn nonce() -> WireResult<[u8; signed::NONCE_BYTES]> {
    let mut bytes = [0; signed::NONCE_BYTES];
    let filled = ring::rand::SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| WireError::NoRandom)?;
    Ok(bytes)
}
