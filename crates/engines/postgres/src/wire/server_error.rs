//! An error as the server reports it.

use std::fmt;

use super::WireError;
use super::reader::Reader;
use engine::statement_text::without_quoted;

/// Classes of SQLSTATE whose errors quote values: of data, of constraints, of a view's condition.
const OF_DATA: &str = "22";
const OF_ROWS: &[&str] = &["23", "44"];
/// Those of data that quote names: encodings and settings.
const OF_NAMES: &[&str] = &["22021", "22P05", "22023"];

/// An error of the server, with its SQLSTATE.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerError {
    /// "ERROR", "FATAL" or "PANIC", never translated.
    pub severity: String,
    /// SQLSTATE, e.g. "40001".
    pub code: String,
    pub message: String,
    pub detail: Option<String>,
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

    pub fn is_fatal(&self) -> bool {
        self.severity == "FATAL" || self.severity == "PANIC"
    }

    /// True if the same transaction, tried again, may succeed: a serialization failure or a deadlock.
    pub fn is_retryable(&self) -> bool {
        self.code == "40001" || self.code == "40P01"
    }

    /// True if a text has bytes that are no characters of its encoding, or characters that the other one lacks.
    pub fn is_about_bytes(&self) -> bool {
        self.code == "22021" || self.code == "22P05"
    }

    /// The sentence and more about it, without values of rows and statements.
    fn without_values(&self) -> (String, Option<String>) {
        let (message, detail) = (self.message.clone(), self.detail.clone());
        let is_of = |class: &&str| self.code.starts_with(*class);
        if OF_NAMES.contains(&self.code.as_str()) {
            return (message, detail);
        }
        // "Key (id)=(5) already exists.", "Failing row contains (5, …)."
        let columns = |text: String| Some(text.split_once(")=(")?.0.to_owned() + ")=(?)");
        match (is_of(&OF_DATA), OF_ROWS.iter().any(is_of)) {
            (true, _) => (without_quoted(&message), None),
            (_, true) => (message, detail.and_then(columns)),
            _ => (message, detail),
        }
    }
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (message, detail) = self.without_values();
        write!(f, "{message}")?;
        if let Some(detail) = detail {
            write!(f, " ({})", detail.trim_end_matches('.'))?;
        }
        write!(f, " [{}]", self.code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_an_error_quotes_are_not_shown() {
        for (code, message, detail, shown) in [
            (
                "23505",
                "duplicate key value violates unique constraint \"t_pkey\"",
                "Key (a, lower(b))=(1, CANARY) already exists.",
                "duplicate key value violates unique constraint \"t_pkey\" (Key (a, lower(b))=(?)) [23505]",
            ),
            (
                "23502",
                "null value in column \"a\" of relation \"t\" violates not-null constraint",
                "Failing row contains (null, CANARY).",
                "null value in column \"a\" of relation \"t\" violates not-null constraint [23502]",
            ),
            (
                "22P02",
                "invalid input syntax for type integer: \"CANARY \"x\"\"",
                "Token \"CANARY\" is invalid.",
                "invalid input syntax for type integer: ? [22P02]",
            ),
            (
                "22021",
                "invalid byte sequence for encoding \"UTF8\": 0xe9",
                "more",
                "invalid byte sequence for encoding \"UTF8\": 0xe9 (more) [22021]",
            ),
        ] {
            let error = ServerError {
                code: code.into(),
                message: message.into(),
                detail: Some(detail.into()),
                ..ServerError::default()
            };
            assert_eq!(error.to_string(), shown);
        }
    }
}
