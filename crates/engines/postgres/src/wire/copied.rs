//! The rows of a binary COPY to the client, taken apart into cells.

use super::WireError;
use super::cell::{NUMERIC_NEGATIVE, fixed, types};
use super::request::{EPOCH_DAYS, EPOCH_US, NULL_LENGTH};
use engine::catalogue::{Cell, Kind};

/// The signature, the flags and the length of a header without extension.
const HEADER: &[u8; 19] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
/// Base of the digits of a numeric.
const BASE: u64 = 10_000;
/// Digits of that base that a word holds.
const WORD_DIGITS: usize = 4;
/// Powers of ten by which a number of so many digits is moved within a word.
const TENS: [u64; 8] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000];

/// Why a row cannot be taken apart.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Undecodable {
    #[error(transparent)]
    Wire(#[from] WireError),
    /// A value that its column's kind has no place for.
    #[error("column {0} has a number that is not finite or has more digits than its type allows")]
    Number(usize),
    /// A type that is never asked for.
    #[error("column {0} has the type number {1}, which dbdyno does not read")]
    Type(usize, u32),
}

#[derive(Debug, Clone, Copy)]
enum Form {
    Bool,
    Int2,
    Int4,
    Int8,
    Float4,
    Float8,
    Numeric(u8),
    Date,
    Time,
    Moment,
    Bytes,
    /// Blanks behind a text of fixed length mean nothing.
    Padded,
}

/// Takes the messages of one COPY apart.
#[derive(Debug)]
pub struct Copied {
    forms: Vec<Form>,
    has_begun: bool,
    has_ended: bool,
}

impl Copied {
    /// For columns of these types, which are to become these kinds.
    pub fn new(columns: &[u32], kinds: impl Iterator<Item = Kind>) -> Result<Self, Undecodable> {
        let forms = (columns.iter().zip(kinds).enumerate())
            .map(|(place, (oid, kind))| form(*oid, kind).ok_or(Undecodable::Type(place + 1, *oid)));
        Ok(Self {
            forms: forms.collect::<Result<_, _>>()?,
            has_begun: false,
            has_ended: false,
        })
    }

    /// Hands out the rows of a message. Their cells are put into `row`, which is given back empty, so that its
    /// memory serves again.
    #[inline]
    pub fn rows<'a, E: From<Undecodable>>(
        &mut self,
        mut message: &'a [u8],
        row: &mut Vec<Cell<'a>>,
        mut take: impl FnMut(&[Cell<'a>]) -> Result<(), E>,
    ) -> Result<(), E> {
        if !self.has_begun {
            let header = message.strip_prefix(HEADER.as_slice());
            message = header.ok_or(cut("a COPY without a header"))?;
            self.has_begun = true;
        }
        while !message.is_empty() && !self.has_ended {
            let (count, rest) = (message.split_first_chunk::<2>()).ok_or(cut("a truncated row"))?;
            let count = i16::from_be_bytes(*count);
            message = rest;
            if count < 0 {
                self.has_ended = true;
                break;
            }
            if count as usize != self.forms.len() {
                return Err(cut("a row with a wrong number of columns").into());
            }
            row.clear();
            for (place, form) in self.forms.iter().enumerate() {
                let (cell, rest) = split_cell(message)?;
                message = rest;
                row.push(match cell {
                    None => Cell::Null,
                    Some(cell) => read(*form, cell).ok_or(Undecodable::Number(place + 1))?,
                });
            }
            take(row)?;
        }
        Ok(())
    }
}

fn cut(what: &'static str) -> Undecodable {
    Undecodable::Wire(WireError::Malformed(what))
}

#[inline]
fn split_cell(message: &[u8]) -> Result<(Option<&[u8]>, &[u8]), Undecodable> {
    let (length, rest) = (message.split_first_chunk::<4>()).ok_or(cut("a truncated row"))?;
    let length = i32::from_be_bytes(*length);
    if length == NULL_LENGTH {
        return Ok((None, rest));
    }
    let cell = usize::try_from(length).ok();
    let cell = cell.and_then(|length| rest.split_at_checked(length));
    let (cell, rest) = cell.ok_or(cut("a truncated row"))?;
    Ok((Some(cell), rest))
}

fn form(oid: u32, kind: Kind) -> Option<Form> {
    Some(match (oid, kind) {
        (types::BOOL, Kind::Bool) => Form::Bool,
        (types::INT2, Kind::Int(16)) => Form::Int2,
        (types::INT4, Kind::Int(32)) => Form::Int4,
        (types::INT8, Kind::Int(64)) => Form::Int8,
        (types::FLOAT4, Kind::Float) => Form::Float4,
        (types::FLOAT8, Kind::Double) => Form::Float8,
        (types::NUMERIC, Kind::Decimal { places, .. }) => Form::Numeric(places),
        (types::DATE, Kind::Date) => Form::Date,
        (types::TIME, Kind::Time) => Form::Time,
        (types::TIMESTAMP, Kind::Moment) | (types::TIMESTAMPTZ, Kind::MomentOfWorld) => {
            Form::Moment
        }
        (types::BPCHAR, Kind::Text) => Form::Padded,
        (types::TEXT | types::VARCHAR | types::NAME | types::CHAR, Kind::Text)
        | (types::BYTEA, Kind::Bytes) => Form::Bytes,
        _ => return None,
    })
}

/// A cell; `None` when it does not fit what it is to become.
#[inline]
fn read(form: Form, cell: &[u8]) -> Option<Cell<'_>> {
    Some(match form {
        Form::Bytes => Cell::Bytes(cell),
        Form::Padded => {
            let blanks = cell.iter().rev().take_while(|byte| **byte == b' ').count();
            Cell::Bytes(&cell[..cell.len() - blanks])
        }
        Form::Numeric(places) => numeric(cell, places)?,
        Form::Int4 => Cell::Int(i64::from(i32::from_be_bytes(fixed(cell)?))),
        Form::Int8 => Cell::Int(i64::from_be_bytes(fixed(cell)?)),
        Form::Int2 => Cell::Int(i64::from(i16::from_be_bytes(fixed(cell)?))),
        Form::Bool => Cell::Int(i64::from(u8::from_be_bytes(fixed(cell)?))),
        Form::Float4 => Cell::Double(f64::from(f32::from_be_bytes(fixed(cell)?))),
        Form::Float8 => Cell::Double(f64::from_be_bytes(fixed(cell)?)),
        Form::Time => Cell::Int(i64::from_be_bytes(fixed(cell)?)),
        // The two days and moments without an end are the ends of the numbers, here and in other engines.
        Form::Date => Cell::Int(match i32::from_be_bytes(fixed(cell)?) {
            i32::MIN => -i64::from(i32::MAX),
            i32::MAX => i64::from(i32::MAX),
            days => i64::from(days) + i64::from(EPOCH_DAYS),
        }),
        Form::Moment => Cell::Int(match i64::from_be_bytes(fixed(cell)?) {
            i64::MIN => -i64::MAX,
            us => us.saturating_add(EPOCH_US),
        }),
    })
}

/// A numeric as its unscaled number of so many places; `None` when it has more places, or is none.
#[inline]
fn numeric(cell: &[u8], places: u8) -> Option<Cell<'static>> {
    let (words, odd) = cell.as_chunks::<2>();
    let word = |at: usize| words.get(at).map(|word| u16::from_be_bytes(*word));
    let (count, weight, sign) = (usize::from(word(0)?), word(1)? as i16, word(2)?);
    let digits = words.get(4..)?;
    if !odd.is_empty() || digits.len() != count || sign & !NUMERIC_NEGATIVE != 0 {
        return None;
    }
    if count == 0 {
        return Some(Cell::Int(0));
    }
    // The power of ten by which the digits, taken as one number, are to be multiplied.
    let power = (i32::from(weight) - count as i32 + 1) * 4 + i32::from(places);
    let unscaled = match in_a_word(digits, power) {
        Some(unscaled) => i128::from(unscaled),
        None => in_two_words(digits, power)?,
    };
    let unscaled = if sign == 0 { unscaled } else { -unscaled };
    Some(match i64::try_from(unscaled) {
        Ok(n) => Cell::Int(n),
        Err(_) => Cell::Wide(unscaled),
    })
}

/// Digits times a power of ten, where a word has room for all of it, as it has for most amounts.
#[inline]
fn in_a_word(digits: &[[u8; 2]], power: i32) -> Option<u64> {
    let unit = *TENS.get(power.unsigned_abs() as usize)?;
    if digits.len() > WORD_DIGITS {
        return None;
    }
    let magnitude = digits.iter().fold(0, |sum, digit| {
        sum * BASE + u64::from(u16::from_be_bytes(*digit))
    });
    if power < 0 {
        magnitude.is_multiple_of(unit).then(|| magnitude / unit)
    } else {
        magnitude.checked_mul(unit)
    }
}

/// The same of more digits; `None` when they are still too many, or lie behind the places that there are.
#[cold]
fn in_two_words(digits: &[[u8; 2]], power: i32) -> Option<i128> {
    let magnitude = digits.iter().try_fold(0_i128, |sum, digit| {
        let digit = i128::from(u16::from_be_bytes(*digit));
        sum.checked_mul(i128::from(BASE))?.checked_add(digit)
    })?;
    let unit = 10_i128.checked_pow(power.unsigned_abs())?;
    if power < 0 {
        (magnitude % unit == 0).then(|| magnitude / unit)
    } else {
        magnitude.checked_mul(unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[u16]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    #[test]
    fn numerics_become_unscaled_numbers() {
        let read = |cell: &[u16], places| numeric(&words(cell), places);
        assert_eq!(read(&[0, 0, 0, 2], 2), Some(Cell::Int(0)));
        // 12345.67 is the digits 1, 2345, 6700.
        assert_eq!(
            read(&[3, 1, 0, 2, 1, 2345, 6700], 2),
            Some(Cell::Int(1_234_567))
        );
        assert_eq!(
            read(&[1, -1_i16 as u16, 0x4000, 2, 500], 2),
            Some(Cell::Int(-5))
        );
        // 50,000,000 without its zeros.
        assert_eq!(read(&[1, 1, 0, 0, 5000], 2), Some(Cell::Int(5_000_000_000)));
        let most = Some(Cell::Wide(10_i128.pow(37)));
        assert_eq!(read(&[1, 8, 0, 0, 10], 4), most);
        // The last multiple of 10,000 that a word holds, and the first that it does not.
        for (digit, whole) in [
            (955, 18_446_744_073_709_550_000),
            (956, 18_446_744_073_709_560_000),
        ] {
            let wide = read(&[4, 4, 0, 0, 1844, 6744, 737, digit], 0);
            assert_eq!(wide, Some(Cell::Wide(whole)));
        }
        // More places than the column has, no number, an infinite one, a damaged one.
        assert_eq!(read(&[1, -1_i16 as u16, 0, 3, 5], 2), None);
        for bad in [&[0, 0, 0xc000, 0][..], &[0, 0, 0xd000, 0], &[2, 0, 0, 0, 1]] {
            assert_eq!(read(bad, 2), None);
        }
        assert_eq!(read(&[1, 30, 0, 0, 1], 2), None);
    }

    #[test]
    fn rows_come_out_of_messages_however_they_are_cut() {
        let mut first = HEADER.to_vec();
        let row = |id: i32, name: Option<&str>| {
            let mut row = 2_i16.to_be_bytes().to_vec();
            row.extend(4_i32.to_be_bytes());
            row.extend(id.to_be_bytes());
            row.extend(name.map_or(-1, |name| name.len() as i32).to_be_bytes());
            row.extend(name.unwrap_or_default().bytes());
            row
        };
        first.extend(row(7, Some("ab  ")));
        first.extend(row(8, None));
        let kinds = [Kind::Int(32), Kind::Text];
        let columns = [types::INT4, types::BPCHAR];
        let mut copied = Copied::new(&columns, kinds.into_iter()).unwrap();
        let mut seen = Vec::new();
        let mut take = |row: &[Cell<'_>]| -> Result<(), Undecodable> {
            seen.push(format!("{row:?}"));
            Ok(())
        };
        copied.rows(&first, &mut Vec::new(), &mut take).unwrap();
        copied
            .rows(&row(9, None), &mut Vec::new(), &mut take)
            .unwrap();
        copied
            .rows(b"\xff\xff", &mut Vec::new(), &mut take)
            .unwrap();
        assert_eq!(
            seen,
            [
                "[Int(7), Bytes([97, 98])]",
                "[Int(8), Null]",
                "[Int(9), Null]"
            ]
        );
        let mut again = Copied::new(&columns, kinds.into_iter()).unwrap();
        let cut = again.rows::<Undecodable>(&first[..30], &mut Vec::new(), |_| Ok(()));
        assert!(cut.is_err());
        assert!(Copied::new(&[types::INT8], [Kind::Text].into_iter()).is_err());
    }
}
