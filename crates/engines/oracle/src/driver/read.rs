//! Reads every cell of a row, as every engine does it: into a digest, a first row, or texts.

use std::fmt::Write;

use engine::nonblocking::FirstRow;
use engine::plain::days_from;
use engine::{Fetched, Result, TargetError};
use oracledb::{DbType, Metadata, OracleNumber, OracleTimestamp, Row};

use super::explain::explain;

/// How the values of a column are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Number,
    Double,
    Float,
    Text,
    Bytes,
    Moment,
    Boolean,
    /// Intervals, vectors, objects and the like.
    Other,
    /// A parameter of PL/SQL that the server hands back; it is no value of the result.
    Parameter,
}

impl Kind {
    pub(super) fn of(of: &DbType) -> Self {
        let is = |other: &DbType| of.num() == other.num();
        match () {
            () if is(oracledb::DB_TYPE_NUMBER) || is(oracledb::DB_TYPE_BINARY_INTEGER) => {
                Self::Number
            }
            () if is(oracledb::DB_TYPE_BINARY_DOUBLE) => Self::Double,
            () if is(oracledb::DB_TYPE_BINARY_FLOAT) => Self::Float,
            () if is(oracledb::DB_TYPE_BOOLEAN) => Self::Boolean,
            () if of.is_string_type() => Self::Text,
            () if of.is_date_type() => Self::Moment,
            () if of.is_binary_type() => Self::Bytes,
            () => Self::Other,
        }
    }

    pub(super) fn is_plain(self) -> bool {
        matches!(self, Self::Number | Self::Text)
    }
}

pub(super) fn kinds(columns: &[Metadata]) -> Vec<Kind> {
    columns
        .iter()
        .map(|column| Kind::of(column.db_type()))
        .collect()
}

/// One value of a row.
pub(super) enum Cell<'r> {
    Null,
    Number(OracleNumber),
    Double(f64),
    Text(&'r str),
    Bytes(&'r [u8]),
    Moment(OracleTimestamp),
    Boolean(bool),
}

/// The value in a column.
///
/// # Errors
/// When the driver cannot hand it out.
pub(super) fn cell(row: &Row, column: usize, kind: Kind) -> Result<Cell<'_>> {
    let found = match kind {
        Kind::Number => row
            .get::<Option<OracleNumber>>(column)
            .map(|it| it.map(Cell::Number)),
        Kind::Double => row
            .get::<Option<f64>>(column)
            .map(|it| it.map(Cell::Double)),
        Kind::Float => {
            let found = row.get::<Option<f32>>(column);
            found.map(|it| it.map(|x| Cell::Double(f64::from(x))))
        }
        Kind::Text => row.get::<Option<&str>>(column).map(|it| it.map(Cell::Text)),
        Kind::Bytes => row
            .get::<Option<&[u8]>>(column)
            .map(|it| it.map(Cell::Bytes)),
        Kind::Moment => row
            .get::<Option<OracleTimestamp>>(column)
            .map(|it| it.map(Cell::Moment)),
        Kind::Boolean => row
            .get::<Option<bool>>(column)
            .map(|it| it.map(Cell::Boolean)),
        Kind::Parameter => Ok(None),
        Kind::Other => {
            return Err(TargetError::statement(format!(
                "oracle: column {} of the result has a type that dbdyno does not read; cast it to NUMBER or VARCHAR2",
                column + 1
            )));
        }
    };
    let found = found.map_err(|error| explain("cannot read a row", &error))?;
    Ok(found.unwrap_or(Cell::Null))
}

/// Columns that are values of the result.
fn values(kinds: &[Kind]) -> impl Iterator<Item = (usize, &Kind)> {
    let all = kinds.iter().enumerate();
    all.filter(|(_, kind)| **kind != Kind::Parameter)
}

/// Takes one row into account; null cells count for nothing.
pub(super) fn add_row(
    fetched: &mut Fetched,
    row: &Row,
    kinds: &[Kind],
    scratch: &mut String,
) -> Result<()> {
    fetched.rows += 1;
    for (column, kind) in values(kinds) {
        match cell(row, column, *kind)? {
            Cell::Null => {}
            Cell::Number(number) => match whole(&number, scratch) {
                // The low half, as of the wide integers of other engines.
                Some(number) => fetched.add_int(column, number as i64),
                None => fetched.add_text(column, scratch.as_bytes()),
            },
            Cell::Double(x) => fetched.add_int(column, x.to_bits() as i64),
            Cell::Text(text) => fetched.add_text(column, text.as_bytes()),
            Cell::Bytes(bytes) => fetched.add_text(column, bytes),
            Cell::Moment(moment) => fetched.add_int(column, microseconds(&moment)),
            Cell::Boolean(is) => fetched.add_int(column, i64::from(is)),
        }
    }
    Ok(())
}

/// Keeps every cell of a row; whole numbers are integers, others their digits.
pub(super) fn keep_row(
    row: &Row,
    kinds: &[Kind],
    first: &mut FirstRow,
    scratch: &mut String,
) -> Result<()> {
    for (column, kind) in values(kinds) {
        match cell(row, column, *kind)? {
            Cell::Number(number) => {
                match whole(&number, scratch).and_then(|n| i64::try_from(n).ok()) {
                    Some(number) => first.push_int(number),
                    None => first.push_text(scratch.as_bytes()),
                }
            }
            Cell::Text(text) => first.push_text(text.as_bytes()),
            Cell::Bytes(bytes) => first.push_text(bytes),
            Cell::Boolean(is) => first.push_int(i64::from(is)),
            Cell::Moment(moment) => first.push_text(written(&moment).as_bytes()),
            Cell::Null | Cell::Double(_) => first.push_null(),
        }
    }
    Ok(())
}

/// Every cell of a row as text.
pub(super) fn texts(row: &Row, kinds: &[Kind]) -> Result<Vec<Option<String>>> {
    let text = |(column, kind): (usize, &Kind)| {
        Ok(match cell(row, column, *kind)? {
            Cell::Null => None,
            Cell::Number(number) => Some(number.to_string()),
            Cell::Double(x) => Some(x.to_string()),
            Cell::Text(text) => Some(text.to_owned()),
            Cell::Bytes(bytes) => Some(bytes.iter().map(|byte| format!("{byte:02X}")).collect()),
            Cell::Moment(moment) => Some(written(&moment)),
            Cell::Boolean(is) => Some(is.to_string()),
        })
    };
    kinds.iter().enumerate().map(text).collect()
}

/// A whole number; the digits of any are in the scratch afterwards.
fn whole(number: &OracleNumber, scratch: &mut String) -> Option<i128> {
    scratch.clear();
    // Writing to a buffer that grows cannot fail.
    let _ = write!(scratch, "{number}");
    scratch.parse().ok()
}

/// Microseconds since 1970.
pub(super) fn microseconds(moment: &OracleTimestamp) -> i64 {
    let days = days_from(
        i64::from(moment.year()),
        i64::from(moment.month()),
        i64::from(moment.day()),
    );
    let minutes = i64::from(moment.hour()) * 60 + i64::from(moment.minute());
    let seconds = days * 86_400 + minutes * 60 + i64::from(moment.second());
    seconds * 1_000_000 + i64::from(moment.nanoseconds() / 1000)
}

/// A moment as "2026-01-31 12:34:56.123456"; a day without a time as "2026-01-31".
fn written(moment: &OracleTimestamp) -> String {
    let mut text = String::new();
    engine::plain::put_moment(microseconds(moment), &mut text);
    match text.strip_suffix(" 00:00:00") {
        Some(day) => day.to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_whole_or_their_digits() {
        let mut scratch = String::new();
        let number = |text: &str| text.parse::<OracleNumber>().unwrap();
        assert_eq!(
            whole(&number("-9223372036854775807"), &mut scratch),
            Some(-9_223_372_036_854_775_807)
        );
        assert_eq!(whole(&number("1.50"), &mut scratch), None);
        assert_eq!(scratch, "1.5");
    }

    #[test]
    fn moments_are_written_as_everywhere() {
        let moment = OracleTimestamp::new_timestamp(2026, 1, 31, 12, 34, 56, 123_456_000);
        assert_eq!(microseconds(&moment), 1_769_862_896_123_456);
        assert_eq!(written(&moment), "2026-01-31 12:34:56.123456");
        assert_eq!(
            written(&OracleTimestamp::new_date(1969, 12, 31)),
            "1969-12-31"
        );
    }
}
