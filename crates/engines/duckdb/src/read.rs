//! Reads every cell of a result into the digest, column by column and without allocating.

use super::capi::{RawString, type_id};
use super::handle::{Answer, Answered, Vector};
use engine::Fetched;

/// HUGEINT, as sums of integers have it: low and high half.
#[repr(C)]
#[derive(Clone, Copy)]
struct Huge {
    low: u64,
    _high: i64,
}

/// Reads all rows; null cells count for nothing, as in every engine, and neither do those of types whose values nobody proves:
/// moments, lists and the like.
pub(super) fn read_all(answer: &mut Answer) -> Answered<Fetched> {
    let mut fetched = Fetched::default();
    while let Some(chunk) = answer.next_chunk() {
        let rows = chunk.rows();
        fetched.rows += rows as u64;
        for column in 0..chunk.columns() {
            let stored = match answer.column_type(column) {
                type_id::DECIMAL => answer.decimal_type(column),
                other => other,
            };
            let mut cells = Cells {
                fetched: &mut fetched,
                vector: chunk.vector(column),
                column,
                rows,
            };
            cells.add(stored);
        }
    }
    Ok(fetched)
}

/// The cells of one column of one chunk on their way into the digest.
struct Cells<'a> {
    fetched: &'a mut Fetched,
    vector: Vector<'a>,
    column: usize,
    rows: usize,
}

impl Cells<'_> {
    /// Adds the cells of a column stored as this type.
    fn add(&mut self, stored: u32) {
        // SAFETY: each type is the one in which DuckDB stores a column of that name.
        unsafe {
            match stored {
                type_id::BOOLEAN | type_id::UTINYINT => self.integers(|n: u8| i64::from(n)),
                type_id::TINYINT => self.integers(|n: i8| i64::from(n)),
                type_id::SMALLINT => self.integers(|n: i16| i64::from(n)),
                type_id::USMALLINT => self.integers(|n: u16| i64::from(n)),
                type_id::INTEGER | type_id::DATE => self.integers(|n: i32| i64::from(n)),
                type_id::UINTEGER => self.integers(|n: u32| i64::from(n)),
                type_id::BIGINT => self.integers(|n: i64| n),
                type_id::UBIGINT => self.integers(|n: u64| n as i64),
                type_id::HUGEINT => self.integers(|n: Huge| n.low as i64),
                type_id::FLOAT => self.integers(|x: f32| f64::from(x).to_bits() as i64),
                type_id::DOUBLE => self.integers(|x: f64| x.to_bits() as i64),
                type_id::VARCHAR | type_id::BLOB => self.texts(),
                _ => {}
            }
        }
    }

    /// # Safety
    /// The column is stored as `T`.
    unsafe fn integers<T: Copy + 'static>(&mut self, number: impl Fn(T) -> i64) {
        // SAFETY: promised by the caller; all types used are plain numbers.
        let cells = unsafe { self.vector.cells::<T>(self.rows) };
        if self.vector.all_valid() {
            for cell in cells {
                self.fetched.add_int(self.column, number(*cell));
            }
            return;
        }
        for (row, cell) in cells.iter().enumerate() {
            if self.vector.is_valid(row) {
                self.fetched.add_int(self.column, number(*cell));
            }
        }
    }

    /// # Safety
    /// The column is stored as strings.
    unsafe fn texts(&mut self) {
        // SAFETY: promised by the caller.
        let cells = unsafe { self.vector.cells::<RawString>(self.rows) };
        for (row, cell) in cells.iter().enumerate() {
            if self.vector.is_valid(row) {
                // SAFETY: the row is valid and its chunk alive.
                self.fetched.add_text(self.column, unsafe { cell.bytes() });
            }
        }
    }
}
