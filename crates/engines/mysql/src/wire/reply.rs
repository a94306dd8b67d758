//! The packets that end something: OK, alone or behind rows, and ERR.

use std::fmt;

use super::WireResult;
use super::bytes::Reader;
use engine::statement_text::without_quoted;

pub const OK: u8 = 0x00;
pub const MORE_DATA: u8 = 0x01;
pub const LOCAL_FILE: u8 = 0xfb;
/// An OK behind rows; in a login the wish for another way.
pub const END: u8 = 0xfe;
pub const ERR: u8 = 0xff;

const STATUS_MORE_RESULTS: u16 = 1 << 3;
const STATUS_IN_TRANSACTION: u16 = 1;
/// A message longer than that is cut.
const MESSAGE_BYTES_MAX: usize = 1024;

/// Errors that quote values, by number: of rows, of parameters, and of expressions that were computed.
const OF_VALUES: &[u16] = &[
    1292, 1300, 1366, 1367, 1411, 1525, 1557, 1690, 1761, 1762, 1918,
];
/// Those that quote the key behind the value.
const OF_KEYS: &[u16] = &[1062, 1586];

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Finished {
    pub changed: u64,
    pub warnings: u16,
    pub more: bool,
    pub in_transaction: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerError {
    /// The server's number, e.g. 1213 for a deadlock.
    pub code: u16,
    /// The standard's code, e.g. "40001".
    pub sqlstate: String,
    pub message: String,
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { code, sqlstate, .. } = self;
        let message = self.without_values();
        write!(f, "{message} (error {code}, SQLSTATE {sqlstate})")
    }
}

impl ServerError {
    /// The sentence without values of rows and statements.
    fn without_values(&self) -> String {
        let message = &self.message;
        let mut quotes = message.rmatch_indices('\'').map(|(at, _)| at).skip(1);
        match self.code {
            code if OF_VALUES.contains(&code) => without_quoted(message),
            code if OF_KEYS.contains(&code) => match quotes.next() {
                Some(key) => without_quoted(&message[..key]) + &message[key..],
                None => without_quoted(message),
            },
            _ => message.clone(),
        }
    }

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
    fn values_that_an_error_quotes_are_not_shown() {
        for (code, message, shown) in [
            (
                1062,
                "Duplicate entry 'CANARY'x-1' for key 'PRIMARY'",
                "Duplicate entry ? for key 'PRIMARY'",
            ),
            (1062, "Duplicate entry 'CANARY", "Duplicate entry ?"),
            (
                1366,
                "Incorrect integer value: 'CANARY' for column `d`.`t`.`a` at row 1",
                "Incorrect integer value: ? at row 1",
            ),
            (
                1690,
                "BIGINT value is out of range in '(`d`.`t`.`a` - 47110815)'",
                "BIGINT value is out of range in ?",
            ),
            (
                1406,
                "Data too long for column 'a' at row 1",
                "Data too long for column 'a' at row 1",
            ),
        ] {
            let error = ServerError {
                code,
                sqlstate: "HY000".into(),
                message: message.into(),
            };
            assert_eq!(
                error.to_string(),
                format!("{shown} (error {code}, SQLSTATE HY000)")
            );
        }
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
