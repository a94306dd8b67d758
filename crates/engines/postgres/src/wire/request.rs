//! Requests to the server, encoded into the output buffer.

use std::fmt::Write;

use bytes::{BufMut, BytesMut};
use postgres_protocol::IsNull;
use postgres_protocol::message::frontend;

use super::buffer::Wire;
use super::cell::{NUMERIC_NEGATIVE, column_format, types};
use engine::Value;
use engine::plain::{PLACES_MAX, put_date, put_decimal, put_moment};

/// Format of a value: as text or in the binary form of its type.
const TEXT: i16 = 0;
const BINARY: i16 = 1;
/// PostgreSQL's epoch, 2000-01-01, in microseconds since 1970.
pub(super) const EPOCH_US: i64 = 946_684_800_000_000;
pub(super) const EPOCH_DAYS: i32 = 10_957;
/// The length of a cell without a value.
pub(super) const NULL_LENGTH: i32 = -1;

/// A prepared statement: its name on the server, and the types of its parameters and columns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prepared {
    pub name: String,
    pub parameters: Vec<u32>,
    pub columns: Vec<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// A text with a zero byte, or one too long for a message.
    #[error("the text cannot be sent: {0}")]
    Text(String),
    /// A number of parameters that is not the statement's.
    #[error("the statement takes {takes} parameters, but {got} were given")]
    Parameters { takes: usize, got: usize },
    /// A number that does not fit into its type.
    #[error("{0} does not fit the type of its column")]
    Range(i64),
    /// A value for a column of a type that a binary COPY is not written for.
    #[error("a column has the type number {0}, which bulk loads do not support")]
    Type(u32),
}

impl From<std::io::Error> for RequestError {
    fn from(error: std::io::Error) -> Self {
        Self::Text(error.to_string())
    }
}

impl Wire {
    /// Asks for TLS, before anything else; the server answers with one byte.
    pub fn ask_for_tls(&mut self) {
        frontend::ssl_request(&mut self.out);
    }

    /// Begins a connection with these parameters, `user` and `database` among them.
    pub fn start_up(&mut self, parameters: &[(&str, &str)]) -> Result<(), RequestError> {
        let parameters = parameters.iter().copied();
        self.encode(|out| Ok(frontend::startup_message(parameters, out)?))
    }

    /// Statements without parameters, separated by semicolons; the server answers up to
    /// [`super::Event::Ready`] by itself.
    pub fn query(&mut self, sql: &str) -> Result<(), RequestError> {
        self.encode(|out| Ok(frontend::query(sql, out)?))
    }

    /// Prepares a statement with `$n` for its parameters and has it described.
    pub fn prepare(&mut self, name: &str, sql: &str) -> Result<(), RequestError> {
        self.encode(|out| {
            frontend::parse(name, sql, [], out)?;
            Ok(frontend::describe(b'S', name, out)?)
        })
    }

    /// Binds and executes a prepared statement; every row is sent.
    ///
    /// # Errors
    /// When the number of parameters is not the statement's, or one does not fit. The output is then as
    /// it was before.
    #[inline]
    pub fn execute(
        &mut self,
        statement: &Prepared,
        parameters: &[Value<'_>],
    ) -> Result<(), RequestError> {
        if parameters.len() != statement.parameters.len() {
            return Err(RequestError::Parameters {
                takes: statement.parameters.len(),
                got: parameters.len(),
            });
        }
        self.encode(|out| bind(out, statement, parameters))
    }

    /// Encodes something; when it cannot be, the output is as it was before.
    #[inline]
    fn encode<E>(&mut self, request: impl FnOnce(&mut BytesMut) -> Result<(), E>) -> Result<(), E> {
        let before = self.out.len();
        let outcome = request(&mut self.out);
        if outcome.is_err() {
            self.out.truncate(before);
        }
        outcome
    }

    /// Ends a group of executions: the server carries them out, answers, and says that it is ready.
    #[inline]
    pub fn sync(&mut self) {
        frontend::sync(&mut self.out);
    }

    pub fn terminate(&mut self) {
        frontend::terminate(&mut self.out);
    }

    /// The next rows of a COPY, begun by [`Wire::copy_begin`]: one message with what `fill` appends.
    ///
    /// # Errors
    /// When `fill` fails; the output is then as it was before.
    pub fn copy_rows<E>(
        &mut self,
        fill: impl FnOnce(&mut CopyRow<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.encode(|out| {
            let begin = out.len();
            out.put_slice(b"d\0\0\0\0");
            fill(&mut CopyRow { out })?;
            let length = (out.len() - begin - 1) as u32;
            out[begin + 1..begin + 5].copy_from_slice(&length.to_be_bytes());
            Ok(())
        })
    }

    /// The signature in front of the rows of a binary COPY.
    pub fn copy_begin(&mut self) {
        self.out
            .put_slice(b"d\0\0\0\x17PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0");
    }

    /// The end of the rows of a COPY.
    pub fn copy_end(&mut self) {
        self.out.put_slice(b"d\0\0\0\x06\xff\xff");
        frontend::copy_done(&mut self.out);
    }

    /// Gives a COPY up: the server rolls it back and says so as an error.
    pub fn copy_give_up(&mut self, reason: &str) -> Result<(), RequestError> {
        self.encode(|out| Ok(frontend::copy_fail(reason, out)?))
    }
}

fn bind(
    out: &mut BytesMut,
    statement: &Prepared,
    parameters: &[Value<'_>],
) -> Result<(), RequestError> {
    let typed = || parameters.iter().zip(&statement.parameters);
    let mut unfit = None;
    let bound = frontend::bind(
        "",
        &statement.name,
        typed().map(|(value, oid)| parameter_format(*value, *oid)),
        typed(),
        |(value, oid), out| {
            if let Err(error) = put_parameter(*value, *oid, out) {
                unfit = Some(error);
            }
            Ok(match value {
                Value::Null => IsNull::Yes,
                _ => IsNull::No,
            })
        },
        statement.columns.iter().map(|oid| column_format(*oid)),
        out,
    );
    if let Some(error) = unfit {
        return Err(error);
    }
    match bound {
        Ok(()) => Ok(frontend::execute("", 0, out)?),
        Err(frontend::BindError::Serialization(error)) => Err(error.into()),
        Err(frontend::BindError::Conversion(error)) => Err(RequestError::Text(error.to_string())),
    }
}

/// Everything that has no exact binary form here is sent as text, which the server converts.
fn parameter_format(value: Value<'_>, oid: u32) -> i16 {
    match (value, oid) {
        (Value::Int(_), types::INT2 | types::INT4 | types::INT8) => BINARY,
        (Value::Blob(_), _) => BINARY,
        _ => TEXT,
    }
}

#[inline]
fn put_parameter(value: Value<'_>, oid: u32, out: &mut BytesMut) -> Result<(), RequestError> {
    match value {
        Value::Int(n) => match oid {
            types::INT2 | types::INT4 | types::INT8 => put_integer(n, oid, out)?,
            // Writing to a buffer that grows cannot fail.
            _ => drop(write!(out, "{n}")),
        },
        Value::Text(text) => out.put_slice(text.as_bytes()),
        Value::Blob(bytes) => out.put_slice(bytes),
        Value::Null => {}
        Value::Decimal { unscaled, places } => put_decimal(unscaled, places, out),
        Value::Moment(us) => put_moment(us, out),
        Value::Date(days) => put_date(i64::from(days), out),
    }
    Ok(())
}

#[inline]
fn put_integer(n: i64, oid: u32, out: &mut BytesMut) -> Result<(), RequestError> {
    let range = |_| RequestError::Range(n);
    match oid {
        types::INT2 => out.put_i16(n.try_into().map_err(range)?),
        types::INT4 => out.put_i32(n.try_into().map_err(range)?),
        types::INT8 => out.put_i64(n),
        other => return Err(RequestError::Type(other)),
    }
    Ok(())
}

/// The binary form of a numeric: number of digits to the base 10,000, weight of the first, sign, places,
/// digits without zeros at either end.
#[inline]
fn put_numeric(unscaled: i64, places: u8, out: &mut BytesMut) -> Result<(), RequestError> {
    const BASE: u64 = 10_000;
    /// An `i64` has five such digits at most before the point, and [`PLACES_MAX`] places are one behind it.
    const DIGITS_MAX: usize = 6;
    let missing = PLACES_MAX.checked_sub(places);
    let missing = missing.ok_or(RequestError::Range(unscaled))?;
    let unit = 10_u64.pow(u32::from(places));
    let magnitude = unscaled.unsigned_abs();
    let mut digits = [0_u16; DIGITS_MAX];
    digits[DIGITS_MAX - 1] = ((magnitude % unit) * 10_u64.pow(u32::from(missing))) as u16;
    let (mut whole, mut first) = (magnitude / unit, DIGITS_MAX - 1);
    while whole > 0 {
        first -= 1;
        digits[first] = (whole % BASE) as u16;
        whole /= BASE;
    }
    let mut end = DIGITS_MAX;
    while end > first && digits[end - 1] == 0 {
        end -= 1;
    }
    // The digit before the point weighs 0; a zero has neither digits nor weight.
    let weight = if end == first {
        0
    } else {
        DIGITS_MAX as i16 - 2 - first as i16
    };
    out.put_u16((end - first) as u16);
    out.put_i16(weight);
    out.put_u16(if unscaled < 0 { NUMERIC_NEGATIVE } else { 0 });
    out.put_u16(u16::from(places));
    digits[first..end]
        .iter()
        .for_each(|digit| out.put_u16(*digit));
    Ok(())
}

/// Where the rows of a binary COPY are appended.
pub struct CopyRow<'a> {
    out: &'a mut BytesMut,
}

impl CopyRow<'_> {
    /// Appends one row for columns of these types.
    #[inline]
    pub fn put(&mut self, columns: &[u32], row: &[Value<'_>]) -> Result<(), RequestError> {
        if columns.len() != row.len() {
            return Err(RequestError::Parameters {
                takes: columns.len(),
                got: row.len(),
            });
        }
        self.out.put_i16(row.len() as i16);
        for (value, oid) in row.iter().zip(columns) {
            let place = self.out.len();
            self.out.put_i32(0);
            match (*value, *oid) {
                (Value::Int(n), oid) => put_integer(n, oid, self.out)?,
                (Value::Text(text), types::TEXT | types::VARCHAR | types::BPCHAR) => {
                    self.out.put_slice(text.as_bytes());
                }
                (Value::Blob(bytes), types::BYTEA) => self.out.put_slice(bytes),
                (Value::Decimal { unscaled, places }, types::NUMERIC) => {
                    put_numeric(unscaled, places, self.out)?;
                }
                (Value::Moment(us), types::TIMESTAMP) => {
                    self.out.put_i64(us.saturating_sub(EPOCH_US));
                }
                (Value::Date(days), types::DATE) => {
                    self.out.put_i32(days.saturating_sub(EPOCH_DAYS));
                }
                (Value::Null, _) => {
                    self.out[place..].copy_from_slice(&NULL_LENGTH.to_be_bytes());
                    continue;
                }
                (_, oid) => return Err(RequestError::Type(oid)),
            }
            let length = (self.out.len() - place - 4) as u32;
            self.out[place..place + 4].copy_from_slice(&length.to_be_bytes());
        }
        Ok(())
    }

    /// Bytes of the message so far.
    pub fn bytes(&self) -> usize {
        self.out.len()
    }
}
