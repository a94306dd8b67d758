//! An error as the server reports it.

use std::fmt;

use super::WireError;
use super::reader::Reader;

/// An error of the server, with its SQLSTATE.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerError {
    /// "ERROR", "FATAL" or "PANIC", never translated.
    pub severity: String,
    /// SQLSTATE, e.g. "40001".
    pub code: String,
    /// What is wrong, in the server's language.
    pub message: String,
    /// More about it.
    pub detail: Option<String>,
    /// What may help.
    pub hint: Option<String>,
}

impl ServerError {
    pub(super) fn decode(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let mut error = Self::default();
        while let Some(field) = reader.0.first().filter(|field| **field != 0) {
            reader.take(1)?;
            // Before the logon is over a server may speak in any encoding.
            let text = String::from_utf8_lossy(reader.bytes_to_zero()?).into_owned();
            match field {
                b'V' => error.severity = text,
                b'S' if error.severity.is_empty() => error.severity = text,
                b'C' => error.code = text,
                b'M' => error.message = text,
                b'D' => error.detail = Some(text),
                b'H' => error.hint = Some(text),
                _ => {}
            }
        }
        Ok(error)
    }

    /// Whether the server ends the connection.
    pub fn is_fatal(&self) -> bool {
        self.severity == "FATAL" || self.severity == "PANIC"
    }

    /// Whether the same transaction, tried again, may succeed: a serialization failure or a deadlock.
    pub fn is_retryable(&self) -> bool {
        self.code == "40001" || self.code == "40P01"
    }
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message)?;
        if let Some(detail) = &self.detail {
            write!(f, " ({})", detail.trim_end_matches('.'))?;
        }
        write!(f, " [{}]", self.code)
    }
}
