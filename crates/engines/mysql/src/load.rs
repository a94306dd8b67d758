//! The rows of a bulk load, as LOAD DATA LOCAL INFILE reads them.
//!
//! MariaDB's manual names LOAD DATA the fastest way to bring rows in, and it was: 120,000 rows of the
//! library's table in one transaction on 10.11, two cores, three rounds in turn: LOAD DATA LOCAL 1.6 to
//! 2.5 s, INSERT of 500 rows a statement 3.9 to 4.3 s. `unique_checks=0` with `foreign_key_checks=0`,
//! by which InnoDB fills an empty table page by page, took 3.3 to 4.4 and 6.0 to 7.5 s: it writes its
//! pages while it loads, and locks the table against a second job. So the checks stay on.

use super::wire::Short;
use engine::{BulkRow, Value};

/// Bytes of rows in a packet: few enough for a cache, many enough that packets do not count.
pub(super) const PACKET_BYTES: usize = 256 << 10;

/// The statement for `table`. Bytes are taken as they are, whatever the character set.
pub(super) fn statement(table: &str) -> String {
    format!(
        "LOAD DATA LOCAL INFILE 'dbdyno' INTO TABLE {table} CHARACTER SET binary \
         FIELDS TERMINATED BY '\\t' ESCAPED BY '\\\\' LINES TERMINATED BY '\\n'"
    )
}

#[inline]
pub(super) fn put_row(row: &BulkRow<'_>, into: &mut Vec<u8>) {
    for (column, value) in row.iter().enumerate() {
        if column > 0 {
            into.push(b'\t');
        }
        match value {
            Value::Int(number) => put_int(*number, into),
            Value::Text(text) => put_escaped(text.as_bytes(), into),
            Value::Blob(bytes) => put_escaped(bytes, into),
            Value::Null => into.extend_from_slice(br"\N"),
            Value::Decimal { unscaled, places } => {
                into.extend_from_slice(Short::decimal(*unscaled, *places).bytes());
            }
            Value::Moment(us) => into.extend_from_slice(Short::moment(*us).bytes()),
            Value::Date(days) => into.extend_from_slice(Short::date(*days).bytes()),
        }
    }
    into.push(b'\n');
}

/// Digits from the last to the first; formatting would cost more than all the rest.
#[inline]
fn put_int(number: i64, into: &mut Vec<u8>) {
    const DIGITS_MAX: usize = 20;
    let mut digits = [0; DIGITS_MAX];
    let mut at = DIGITS_MAX;
    let mut rest = number.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if number < 0 {
        into.push(b'-');
    }
    into.extend_from_slice(&digits[at..]);
}

#[inline]
fn put_escaped(mut bytes: &[u8], into: &mut Vec<u8>) {
    while let Some(at) = bytes
        .iter()
        .position(|b| matches!(b, b'\t' | b'\n' | b'\\' | 0))
    {
        into.extend_from_slice(&bytes[..at]);
        into.push(b'\\');
        into.push(match bytes[at] {
            b'\t' => b't',
            b'\n' => b'n',
            0 => b'0',
            other => other,
        });
        bytes = &bytes[at + 1..];
    }
    into.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_lines_of_fields() {
        let mut bytes = Vec::new();
        let row = [
            Value::Int(i64::MIN),
            Value::Int(0),
            Value::Text("a\tb\\c\nd"),
            Value::Blob(&[0, 255]),
            Value::Null,
            Value::Moment(1_000_001),
            Value::Date(-1),
        ];
        put_row(&row, &mut bytes);
        assert_eq!(
            bytes,
            b"-9223372036854775808\t0\ta\\tb\\\\c\\nd\t\\0\xff\t\\N\t1970-01-01 00:00:01.000001\t1969-12-31\n"
        );
    }
}
