//! One column of the chunk that is filled.

use super::super::capi::{Api, RawString, RawVector, type_id};
use super::heap::TextHeap;
use engine::Value;
use engine::catalogue::Cell;

/// Where the cells of one column go.
pub(super) struct Column {
    pub type_id: u32,
    /// Of a DECIMAL: the type that stores it, and its digits behind the point.
    pub stored: u32,
    pub scale: u8,
    pub vector: *mut RawVector,
    pub data: *mut u8,
    /// Null until the chunk has its first null.
    pub validity: *mut u64,
}

impl Column {
    pub(super) fn can_load(&self) -> bool {
        use type_id::*;
        [
            BOOLEAN, TINYINT, SMALLINT, INTEGER, BIGINT, UTINYINT, USMALLINT, UINTEGER, UBIGINT,
            HUGEINT, DOUBLE, VARCHAR, BLOB, DATE, DECIMAL, TIMESTAMP,
        ]
        .contains(&self.type_id)
    }

    /// Writes one cell that is not null; false when the value does not fit the type.
    ///
    /// # Safety
    /// `row` is less than the capacity of the chunk, which is alive; `heap` is not cleared before DuckDB has
    /// copied the chunk.
    pub(super) unsafe fn write(&self, heap: &mut TextHeap, row: usize, value: Value<'_>) -> bool {
        // SAFETY: promised by the caller; each type is written as DuckDB stores it.
        unsafe {
            match (self.type_id, value) {
                (type_id::BIGINT, Value::Int(n)) => self.cell(row, Some(n)),
                (type_id::VARCHAR, Value::Text(text)) => self.bytes(heap, row, text.as_bytes()),
                (type_id::INTEGER, Value::Int(n)) => self.cell(row, i32::try_from(n).ok()),
                (type_id::SMALLINT, Value::Int(n)) => self.cell(row, i16::try_from(n).ok()),
                (type_id::TINYINT, Value::Int(n)) => self.cell(row, i8::try_from(n).ok()),
                (type_id::BOOLEAN, Value::Int(n)) => {
                    self.cell(row, u8::try_from(n).ok().filter(|b| *b <= 1))
                }
                (type_id::UBIGINT, Value::Int(n)) => self.cell(row, u64::try_from(n).ok()),
                (type_id::UINTEGER, Value::Int(n)) => self.cell(row, u32::try_from(n).ok()),
                (type_id::USMALLINT, Value::Int(n)) => self.cell(row, u16::try_from(n).ok()),
                (type_id::UTINYINT, Value::Int(n)) => self.cell(row, u8::try_from(n).ok()),
                (type_id::HUGEINT, Value::Int(n)) => self.cell(row, Some([n, n >> 63])),
                (type_id::DOUBLE, Value::Int(n)) => self.cell(row, Some(n as f64)),
                (type_id::DATE, Value::Date(days)) => self.cell(row, Some(days)),
                (type_id::TIMESTAMP, Value::Moment(us)) => self.cell(row, Some(us)),
                (type_id::DECIMAL, Value::Decimal { unscaled, places }) if places == self.scale => {
                    self.decimal(row, unscaled)
                }
                (type_id::BLOB, Value::Blob(bytes)) => self.bytes(heap, row, bytes),
                _ => false,
            }
        }
    }

    /// Writes one cell as another engine has handed it out, and gives its bytes; `None` when the value does not
    /// fit the type. Nulls fit every type.
    ///
    /// # Safety
    /// As for [`Column::write`].
    #[inline]
    pub(super) unsafe fn write_cell(
        &mut self,
        api: &Api,
        heap: &mut TextHeap,
        row: usize,
        cell: Cell<'_>,
    ) -> Option<usize> {
        // SAFETY: promised by the caller; each type is written as DuckDB stores it.
        unsafe {
            let fits = match (self.type_id, cell) {
                (_, Cell::Null) => self.null(api, row),
                (type_id::VARCHAR | type_id::BLOB, Cell::Bytes(bytes)) => {
                    // Nobody has proven yet that it is UTF-8, and DuckDB would take it for that.
                    let is_text =
                        self.type_id == type_id::BLOB || std::str::from_utf8(bytes).is_ok();
                    let fits = is_text && self.bytes(heap, row, bytes);
                    return fits.then_some(size_of::<RawString>() + bytes.len());
                }
                (type_id::DECIMAL, Cell::Int(n)) => self.decimal(row, n),
                (type_id::DECIMAL, Cell::Wide(n)) if self.stored == type_id::HUGEINT => {
                    self.cell(row, Some([n as u64, (n >> 64) as u64]))
                }
                (type_id::DATE, Cell::Int(days)) => self.cell(row, i32::try_from(days).ok()),
                (type_id::TIME | type_id::TIMESTAMP | type_id::TIMESTAMP_TZ, Cell::Int(us)) => {
                    self.cell(row, Some(us))
                }
                (_, Cell::Int(n)) => self.write(heap, row, Value::Int(n)),
                (type_id::UBIGINT, Cell::Wide(n)) => self.cell(row, u64::try_from(n).ok()),
                (type_id::DOUBLE, Cell::Double(x)) => self.cell(row, Some(x)),
                (type_id::FLOAT, Cell::Double(x)) => self.cell(row, Some(x as f32)),
                _ => false,
            };
            fits.then_some(size_of::<u64>())
        }
    }

    /// Marks a cell as null.
    ///
    /// # Safety
    /// The column has the row, and its chunk is alive.
    pub(super) unsafe fn null(&mut self, api: &Api, row: usize) -> bool {
        // SAFETY: promised by the caller; once it is made writable the mask has a bit for every row.
        unsafe {
            if self.validity.is_null() {
                (api.vector_ensure_validity_writable)(self.vector);
                self.validity = (api.vector_get_validity)(self.vector);
            }
            *self.validity.add(row / 64) &= !(1 << (row % 64));
        }
        true
    }

    /// Writes a decimal of as many places as the column has; false when it is too long.
    ///
    /// # Safety
    /// The column is a DECIMAL and has the row.
    unsafe fn decimal(&self, row: usize, unscaled: i64) -> bool {
        // SAFETY: promised by the caller; a DECIMAL is stored as one of these.
        unsafe {
            match self.stored {
                type_id::SMALLINT => self.cell(row, i16::try_from(unscaled).ok()),
                type_id::INTEGER => self.cell(row, i32::try_from(unscaled).ok()),
                type_id::BIGINT => self.cell(row, Some(unscaled)),
                type_id::HUGEINT => self.cell(row, Some([unscaled, unscaled >> 63])),
                _ => false,
            }
        }
    }

    /// # Safety
    /// The column is stored as `T` and has the row.
    unsafe fn cell<T>(&self, row: usize, value: Option<T>) -> bool {
        let Some(value) = value else { return false };
        // SAFETY: promised by the caller.
        unsafe { self.data.cast::<T>().add(row).write(value) };
        true
    }

    /// # Safety
    /// The column is VARCHAR, for which the bytes are UTF-8, or BLOB, and has the row; `heap` is not cleared before
    /// DuckDB has copied the chunk.
    #[inline]
    unsafe fn bytes(&self, heap: &mut TextHeap, row: usize, bytes: &[u8]) -> bool {
        let string = RawString::new(bytes, |bytes| heap.keep(bytes));
        // SAFETY: promised by the caller.
        unsafe { self.cell(row, string) }
    }
}
