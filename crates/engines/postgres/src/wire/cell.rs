//! The cells of a result on their way into the digest.

use super::WireError;
use super::event::Row;
use engine::{Fetched, FirstRow};

/// Numbers of the types that are read and written, from the server's `pg_type`; they never change.
pub(super) mod types {
    pub const BOOL: u32 = 16;
    pub const BYTEA: u32 = 17;
    pub const CHAR: u32 = 18;
    pub const NAME: u32 = 19;
    pub const INT8: u32 = 20;
    pub const INT2: u32 = 21;
    pub const INT4: u32 = 23;
    pub const TEXT: u32 = 25;
    pub const OID: u32 = 26;
    pub const FLOAT4: u32 = 700;
    pub const FLOAT8: u32 = 701;
    pub const UNKNOWN: u32 = 705;
    pub const BPCHAR: u32 = 1042;
    pub const VARCHAR: u32 = 1043;
    pub const DATE: u32 = 1082;
    pub const TIME: u32 = 1083;
    pub const TIMESTAMP: u32 = 1114;
    pub const TIMESTAMPTZ: u32 = 1184;
    pub const NUMERIC: u32 = 1700;
}

/// Days from PostgreSQL's epoch back to that of the other engines, 1970.
const EPOCH_DAYS: i64 = 10_957;
/// The sign of a negative numeric.
pub(super) const NUMERIC_NEGATIVE: u16 = 0x4000;

/// Why a row cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    #[error(transparent)]
    Wire(#[from] WireError),
    /// A number that no engine compares: more than 64 bits, or NaN.
    #[error(
        "column {0} has a numeric value that does not fit in 64 bits; cast it to bigint or double precision"
    )]
    Numeric(usize),
    /// A cell whose length is not that of its type.
    #[error("column {0} has a value whose length does not fit its type")]
    Length(usize),
}

/// Format in which a column is asked for: binary where it is read so, else text.
#[inline]
pub(super) fn column_format(oid: u32) -> i16 {
    use types::*;
    i16::from(matches!(
        oid,
        BOOL | BYTEA
            | INT8
            | INT2
            | INT4
            | OID
            | FLOAT4
            | FLOAT8
            | DATE
            | TIME
            | TIMESTAMP
            | TIMESTAMPTZ
            | NUMERIC
            | TEXT
            | VARCHAR
            | BPCHAR
            | NAME
            | CHAR
            | UNKNOWN
    ))
}

/// Takes every cell of a row into account; null cells count for nothing, as in every engine.
///
/// Numbers are their value, floating-point numbers their bits, dates their days since 1970, times their
/// microseconds, everything else its text.
#[inline]
pub fn add_row(fetched: &mut Fetched, columns: &[u32], row: Row<'_>) -> Result<(), Unreadable> {
    fetched.rows += 1;
    for (column, cell) in row.cells().enumerate() {
        let (Some(cell), Some(oid)) = (cell?, columns.get(column)) else {
            continue;
        };
        match number(*oid, cell, column)? {
            Some(n) => fetched.add_int(column, n),
            None => fetched.add_text(column, cell),
        }
    }
    Ok(())
}

/// True if a value of this type can be kept and be a parameter again as it is.
pub fn is_kept(oid: u32) -> bool {
    use types::*;
    let is_text = matches!(oid, TEXT | VARCHAR | BPCHAR | NAME | UNKNOWN);
    is_text || matches!(oid, INT8 | INT4 | INT2 | OID) || column_format(oid) == 0
}

/// Keeps a cell of such a type.
#[inline]
pub fn keep_cell(oid: u32, cell: &[u8], first: &mut FirstRow) {
    use types::*;
    match oid {
        INT8 | INT4 | INT2 | OID => match number(oid, cell, 0) {
            Ok(Some(n)) => first.push_int(n),
            _ => first.push_null(),
        },
        _ => first.push_text(cell),
    }
}

/// The number that a cell stands for, `None` for a text.
#[inline]
fn number(oid: u32, cell: &[u8], column: usize) -> Result<Option<i64>, Unreadable> {
    use types::*;
    let wrong = Unreadable::Length(column + 1);
    Ok(Some(match oid {
        INT8 | TIME | TIMESTAMP | TIMESTAMPTZ => i64::from_be_bytes(fixed(cell).ok_or(wrong)?),
        INT4 => i64::from(i32::from_be_bytes(fixed(cell).ok_or(wrong)?)),
        INT2 => i64::from(i16::from_be_bytes(fixed(cell).ok_or(wrong)?)),
        OID => i64::from(u32::from_be_bytes(fixed(cell).ok_or(wrong)?)),
        BOOL => i64::from(u8::from_be_bytes(fixed(cell).ok_or(wrong)?)),
        DATE => EPOCH_DAYS + i64::from(i32::from_be_bytes(fixed(cell).ok_or(wrong)?)),
        FLOAT8 => i64::from_be_bytes(fixed(cell).ok_or(wrong)?),
        FLOAT4 => f64::from(f32::from_be_bytes(fixed(cell).ok_or(wrong)?)).to_bits() as i64,
        NUMERIC => numeric(cell).ok_or(Unreadable::Numeric(column + 1))?,
        _ => return Ok(None),
    }))
}

#[inline]
pub(super) fn fixed<const N: usize>(cell: &[u8]) -> Option<[u8; N]> {
    cell.try_into().ok()
}

/// A numeric as an integer, or with decimal places as the bits of the nearest floating-point number;
/// `None` when it is neither.
///
/// Its binary form: number of digits, weight of the first, sign, decimal places, digits to the base
/// 10,000.
fn numeric(cell: &[u8]) -> Option<i64> {
    let (words, odd) = cell.as_chunks::<2>();
    let mut words = words.iter().map(|w| u16::from_be_bytes(*w));
    let (digits, weight) = (words.next()?, words.next()? as i16);
    let (sign, _places) = (words.next()?, words.next()?);
    if !odd.is_empty() || words.len() != usize::from(digits) || sign & !NUMERIC_NEGATIVE != 0 {
        return None;
    }
    let negative = sign == NUMERIC_NEGATIVE;
    if i32::from(digits) > i32::from(weight) + 1 {
        let first = 10_000f64.powi(i32::from(weight));
        let (value, _) = words.fold((0.0, first), |(sum, unit), digit| {
            (sum + f64::from(digit) * unit, unit / 10_000.0)
        });
        return Some((if negative { -value } else { value }).to_bits() as i64);
    }
    let mut value: i128 = 0;
    // Zeros at the end are not sent.
    for _ in 0..=weight {
        value = value.checked_mul(10_000)? + i128::from(words.next().unwrap_or(0));
    }
    i64::try_from(if negative { -value } else { value }).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[u16]) -> Vec<u8> {
        words.iter().flat_map(|w| w.to_be_bytes()).collect()
    }

    #[test]
    fn numerics_become_integers() {
        assert_eq!(numeric(&words(&[0, 0, 0, 0])), Some(0));
        assert_eq!(numeric(&words(&[1, 0, 0, 0, 7])), Some(7));
        assert_eq!(
            numeric(&words(&[2, 1, 0x4000, 0, 12, 3456])),
            Some(-123_456)
        );
        // 50,000,000: the zeros at the end are not there.
        assert_eq!(numeric(&words(&[1, 1, 0, 0, 5000])), Some(50_000_000));
        let most = [5, 4, 0, 0, 922, 3372, 368, 5477, 5807];
        assert_eq!(numeric(&words(&most)), Some(i64::MAX));
        assert_eq!(
            numeric(&words(&[5, 4, 0, 0, 922, 3372, 368, 5477, 5808])),
            None
        );
    }

    #[test]
    fn numerics_with_places_become_floating_point() {
        let half = numeric(&words(&[2, 0, 0, 1, 1, 5000])).unwrap();
        assert_eq!(f64::from_bits(half as u64), 1.5);
        // NaN, and damaged ones.
        assert_eq!(numeric(&words(&[0, 0, 0xc000, 0])), None);
        assert_eq!(numeric(&words(&[2, 0, 0, 0, 1])), None);
        assert_eq!(numeric(&[0, 0, 0]), None);
    }
}
