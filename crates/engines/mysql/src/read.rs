//! Reads every cell of a row into the digest, as every engine does it.

use super::wire::{Cell, Row};
use engine::nonblocking::FirstRow;
use engine::{Fetched, Result, TargetError};

/// Takes one row into account; null cells count for nothing.
#[inline]
pub(super) fn add_row(fetched: &mut Fetched, row: Row<'_>) -> Result<()> {
    fetched.rows += 1;
    let mut unreadable = None;
    row.for_each(|column, cell| match cell {
        Cell::Int(n) => fetched.add_int(column, n),
        Cell::Bytes(bytes) => fetched.add_text(column, bytes),
        Cell::Double(x) => fetched.add_int(column, x.to_bits() as i64),
        Cell::Decimal(digits) => add_decimal(fetched, column, digits),
        Cell::Null => {}
        Cell::Time(_) => unreadable = Some(column),
    })?;
    match unreadable {
        None => Ok(()),
        Some(column) => Err(TargetError::statement(format!(
            "mysql: column {} of the result is a date or time, which dbdyno does not read; cast it \
             to an integer, DOUBLE or VARCHAR",
            column + 1
        ))),
    }
}

/// Sums of integers are DECIMAL here, so that whole numbers count as integers.
#[inline]
fn add_decimal(fetched: &mut Fetched, column: usize, digits: &[u8]) {
    match whole_number(digits) {
        // The low half, as of the wide integers of other engines.
        Some(number) => fetched.add_int(column, number as i64),
        None => fetched.add_text(column, digits),
    }
}

fn whole_number(digits: &[u8]) -> Option<i128> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Keeps every cell of a row; whole decimals are integers, others the digits that the server sent.
pub(super) fn keep_row(row: Row<'_>, first: &mut FirstRow) -> Result<()> {
    row.for_each(|_, cell| match cell {
        Cell::Int(number) => first.push_int(number),
        Cell::Bytes(bytes) | Cell::Time(bytes) => first.push_text(bytes),
        Cell::Decimal(digits) => match whole_number(digits).and_then(|n| i64::try_from(n).ok()) {
            Some(number) => first.push_int(number),
            None => first.push_text(digits),
        },
        Cell::Double(_) | Cell::Null => first.push_null(),
    })
    .map_err(TargetError::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_integers_count_as_integers() {
        let mut fetched = Fetched::default();
        add_decimal(&mut fetched, 0, b"-151203459");
        let mut right = Fetched::default();
        right.add_int(0, -151_203_459);
        assert_eq!(fetched, right);
        assert_eq!(whole_number(b"1.50"), None);
    }
}
