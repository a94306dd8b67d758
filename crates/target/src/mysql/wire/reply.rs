//! The packets that end something: OK, alone or behind rows, and ERR.

use std::fmt;

use super::WireResult;
use super::bytes::Reader;

pub const OK: u8 = 0x00;
pub const MORE_DATA: u8 = 0x01;
pub const LOCAL_FILE: u8 = 0xfb;
/// An OK behind rows; in a login the wish for another way.
pub const END: u8 = 0xfe;
pub const ERR: u8 = 0xff;

/// Another result follows.
const STATUS_MORE_RESULTS: u16 = 1 << 3;
/// A transaction is open.
const STATUS_IN_TRANSACTION: u16 = 1;
/// A message longer than that is cut.
const MESSAGE_BYTES_MAX: usize = 1024;

/// How a result ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Finished {
    /// Rows changed.
    pub changed: u64,
    pub warnings: u16,
    /// Whether another result of the same request follows.
    pub more: bool,
    /// Whether a transaction is open.
    pub in_transaction: bool,
}

/// What the server says is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerError {
    /// The server's number, e.g. 1213 for a deadlock.
    pub code: u16,
    /// The standard's code, e.g. "40001".
    pub sqlstate: String,
    /// The server's sentence.
    pub message: String,
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            code,
            sqlstate,
            message,
        } = self;
        write!(f, "{message} (error {code}, SQLSTATE {sqlstate})")
    }
}

impl ServerError {
    /// Reads an ERR packet behind its first byte.
    pub fn parse(payload: &[u8]) -> WireResult<Self> {
        let mut reader = Reader::new(payload);
        let code = reader.u16()?;
        // Before the login is through there is no state.
        let sqlstate = match reader.rest().strip_prefix(b"#") {
            Some(_) => {
                reader.take(1)?;
                printable(reader.take(5)?)
            }
            None => "HY000".to_owned(),
        };
        let message = reader.rest();
        Ok(Self {
            code,
            sqlstate,
            message: printable(&message[..message.len().min(MESSAGE_BYTES_MAX)]),
        })
    }
}

/// A server is not trusted to send text that a terminal may show.
fn printable(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

/// Reads an OK packet behind its first byte.
pub fn parse_ok(payload: &[u8]) -> WireResult<Finished> {
    let mut reader = Reader::new(payload);
    let changed = reader.lenenc()?;
    let _last_id = reader.lenenc()?;
    let status = reader.u16()?;
    Ok(Finished {
        changed,
        warnings: reader.u16()?,
        more: status & STATUS_MORE_RESULTS != 0,
        in_transaction: status & STATUS_IN_TRANSACTION != 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_carry_code_and_state() {
        let error = ServerError::parse(b"\xbd\x04#40001Deadlock\nfound\x1b[1m").unwrap();
        assert_eq!((error.code, error.sqlstate.as_str()), (1213, "40001"));
        assert_eq!(error.message, "Deadlock found [1m");
        let early = ServerError::parse(b"\x10\x04Too many connections").unwrap();
        assert_eq!((early.code, early.sqlstate.as_str()), (1040, "HY000"));
    }

    #[test]
    fn an_ok_packet_says_how_many_rows_changed() {
        let done = parse_ok(b"\x07\x00\x0b\x00\x02\x00info").unwrap();
        let right = Finished {
            changed: 7,
            warnings: 2,
            more: true,
            in_transaction: true,
        };
        assert_eq!(done, right);
    }
}
