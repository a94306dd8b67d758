//! Rows of a result as texts, in the words of every engine: decimals with all their places, days as 2026-01-31.

use super::capi::{RawString, type_id};
use super::handle::{Answer, Answered, Vector};
use engine::TEXTS_MAX;
use engine::nonblocking::FirstRow;
use engine::plain::put_date;

/// Why rows are not handed out.
pub(super) enum Unread {
    /// There are more than are kept.
    TooMany,
    Message(String),
}

/// A row, null as `None`.
type Row = Vec<Option<String>>;

pub fn texts(answer: &mut Answer) -> Result<Vec<Row>, Unread> {
    let mut rows: Vec<Row> = Vec::new();
    while let Some(chunk) = answer.next_chunk() {
        let first = rows.len();
        if first + chunk.rows() > TEXTS_MAX {
            return Err(Unread::TooMany);
        }
        rows.resize_with(first + chunk.rows(), || Vec::with_capacity(chunk.columns()));
        for column in 0..chunk.columns() {
            let vector = chunk.vector(column);
            let cells = Cells::of(answer, column, vector).map_err(Unread::Message)?;
            for (row, texts) in rows[first..].iter_mut().enumerate() {
                texts.push(cells.text(row, chunk.rows()));
            }
        }
    }
    Ok(rows)
}

/// Keeps the first row, whole numbers as such and all else as text, and nothing of types that are not read; gives the number of
/// rows.
pub(super) fn keep_first(answer: &mut Answer, first: &mut FirstRow) -> Answered<u64> {
    first.clear();
    let mut rows = 0;
    while let Some(chunk) = answer.next_chunk() {
        let columns = if rows == 0 { chunk.columns() } else { 0 };
        rows += chunk.rows() as u64;
        for column in (0..columns).filter(|_| chunk.rows() > 0) {
            let Ok(cells) = Cells::of(answer, column, chunk.vector(column)) else {
                first.push_null();
                continue;
            };
            let text = cells.text(0, chunk.rows());
            let number = |text: &String| text.parse().ok().filter(|_| cells.is_whole());
            match (text.as_ref().and_then(number), &text) {
                (Some(number), _) => first.push_int(number),
                (None, Some(text)) => first.push_text(text.as_bytes()),
                (None, None) => first.push_null(),
            }
        }
    }
    Ok(rows)
}

/// The cells of one column of a chunk.
struct Cells<'a> {
    stored: u32,
    /// Digits behind the point; 0 for what is no decimal.
    scale: u8,
    is_date: bool,
    vector: Vector<'a>,
}

impl<'a> Cells<'a> {
    fn of(answer: &mut Answer, column: usize, vector: Vector<'a>) -> Answered<Self> {
        let declared = answer.column_type(column);
        let (stored, scale) = match declared {
            type_id::DECIMAL => (answer.decimal_type(column), answer.decimal_scale(column)),
            type_id::DATE => (type_id::INTEGER, 0),
            other => (other, 0),
        };
        use type_id::*;
        let can_read = [
            BOOLEAN, TINYINT, SMALLINT, INTEGER, BIGINT, UTINYINT, USMALLINT, UINTEGER, UBIGINT,
            FLOAT, DOUBLE, HUGEINT, VARCHAR, SQLNULL,
        ];
        if can_read.contains(&stored) {
            Ok(Self {
                stored,
                scale,
                is_date: declared == DATE,
                vector,
            })
        } else {
            Err(format!(
                "column {} of the result has a type (number {stored} of the C API) that dbdyno does not \
                 read; cast it to an integer, DOUBLE or VARCHAR",
                column + 1
            ))
        }
    }

    fn is_whole(&self) -> bool {
        use type_id::*;
        let is_other = [VARCHAR, FLOAT, DOUBLE].contains(&self.stored);
        !is_other && self.scale == 0 && !self.is_date
    }

    fn text(&self, row: usize, rows: usize) -> Option<String> {
        if !self.vector.is_valid(row) {
            return None;
        }
        // SAFETY: each type is the one in which DuckDB stores a column of that name, the row is one of the
        // chunk's, and the chunk is alive.
        unsafe {
            let v = &self.vector;
            let number = match self.stored {
                type_id::BOOLEAN | type_id::UTINYINT => i128::from(v.cells::<u8>(rows)[row]),
                type_id::TINYINT => i128::from(v.cells::<i8>(rows)[row]),
                type_id::SMALLINT => i128::from(v.cells::<i16>(rows)[row]),
                type_id::USMALLINT => i128::from(v.cells::<u16>(rows)[row]),
                type_id::INTEGER => i128::from(v.cells::<i32>(rows)[row]),
                type_id::UINTEGER => i128::from(v.cells::<u32>(rows)[row]),
                type_id::BIGINT => i128::from(v.cells::<i64>(rows)[row]),
                type_id::UBIGINT => i128::from(v.cells::<u64>(rows)[row]),
                type_id::HUGEINT => {
                    let [low, high] = v.cells::<[u64; 2]>(rows)[row];
                    (i128::from(high as i64) << 64) | i128::from(low)
                }
                type_id::FLOAT => return Some(v.cells::<f32>(rows)[row].to_string()),
                type_id::DOUBLE => return Some(v.cells::<f64>(rows)[row].to_string()),
                type_id::VARCHAR => {
                    let bytes = v.cells::<RawString>(rows)[row].bytes();
                    return Some(String::from_utf8_lossy(bytes).into_owned());
                }
                // A column of nothing but nulls has no valid row.
                _ => return None,
            };
            Some(self.number(number))
        }
    }

    fn number(&self, number: i128) -> String {
        if self.is_date {
            match i32::try_from(number) {
                Ok(i32::MAX) => return "infinity".into(),
                Ok(days) if days == -i32::MAX => return "-infinity".into(),
                _ => {}
            }
            let mut text = String::with_capacity(10);
            put_date(number as i64, &mut text);
            return text;
        }
        if self.scale == 0 {
            return number.to_string();
        }
        let places = usize::from(self.scale);
        let digits = format!("{:0width$}", number.unsigned_abs(), width = places + 1);
        let (whole, rest) = digits.split_at(digits.len() - places);
        let sign = if number < 0 { "-" } else { "" };
        format!("{sign}{whole}.{rest}")
    }
}
