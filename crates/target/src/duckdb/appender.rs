//! Bulk load through DuckDB's appender, in chunks whose columns are filled in place.

use std::os::raw::c_char;
use std::ptr::null_mut;

use super::capi::{Api, RawAppender, RawChunk, RawType, RawVector, SUCCESS, type_id};
use super::explain::explain;
use super::handle::{Answered, Connection, c_string, message_at};
use crate::source::{COLUMNS_MAX, Cell};
use crate::{BulkRow, ErrorKind, Result, TargetError, Value};

/// A bulk load into one table.
pub(super) struct Appender<'a> {
    api: &'static Api,
    raw: *mut RawAppender,
    chunk: *mut RawChunk,
    columns: Vec<Column>,
    /// Rows in the chunk.
    filled: usize,
    capacity: usize,
    /// The appender must not outlive its connection.
    connection: std::marker::PhantomData<&'a Connection>,
}

/// Where the cells of one column go.
struct Column {
    type_id: u32,
    /// Of a DECIMAL: the type that stores it, and its digits behind the point.
    stored: u32,
    scale: u8,
    vector: *mut RawVector,
    data: *mut u8,
    /// Null until the chunk has its first null.
    validity: *mut u64,
}

impl<'a> Appender<'a> {
    /// For rows of a workload's values.
    pub(super) fn new(connection: &'a Connection, table: &str) -> Result<Self> {
        let appender = Self::of_cells(connection, table)?;
        appender.check_types(table)?;
        Ok(appender)
    }

    /// For rows that another engine has handed out.
    pub(super) fn of_cells(connection: &'a Connection, table: &str) -> Result<Self> {
        let api = connection.api;
        let name = c_string(table).map_err(|m| explain("bulk load", &m))?;
        let mut appender = Self {
            api,
            raw: null_mut(),
            chunk: null_mut(),
            columns: Vec::new(),
            filled: 0,
            // SAFETY: the function takes nothing.
            capacity: unsafe { (api.vector_size)() } as usize,
            connection: std::marker::PhantomData,
        };
        // SAFETY: the connection is open; a null schema is the current one. The handle, which also
        // carries the message of a failure, is released by `drop`.
        let state = unsafe {
            (api.appender_create)(
                connection.raw,
                std::ptr::null(),
                name.as_ptr(),
                &mut appender.raw,
            )
        };
        appender
            .checked(state)
            .map_err(|m| explain(&format!("cannot load {table}"), &m))?;
        appender.make_chunk(table)?;
        Ok(appender)
    }

    fn make_chunk(&mut self, table: &str) -> Result<()> {
        // SAFETY: the appender is alive; the types are released after the chunk has copied them.
        unsafe {
            let count = (self.api.appender_column_count)(self.raw);
            if count == 0 || count > COLUMNS_MAX as u64 {
                return Err(refused(format!(
                    "table {table} has {count} columns and cannot be loaded"
                )));
            }
            let mut types: Vec<*mut RawType> = (0..count)
                .map(|c| (self.api.appender_column_type)(self.raw, c))
                .collect();
            self.chunk = (self.api.create_data_chunk)(types.as_mut_ptr(), count);
            for logical in &mut types {
                let type_id = (self.api.get_type_id)(*logical);
                let (stored, scale) = match type_id {
                    type_id::DECIMAL => (
                        (self.api.decimal_internal_type)(*logical),
                        (self.api.decimal_scale)(*logical),
                    ),
                    other => (other, 0),
                };
                self.columns.push(Column {
                    type_id,
                    stored,
                    scale,
                    vector: null_mut(),
                    data: null_mut(),
                    validity: null_mut(),
                });
                (self.api.destroy_logical_type)(logical);
            }
        }
        if self.chunk.is_null() {
            return Err(refused(format!("no chunk of rows can be made for {table}")));
        }
        self.take_vectors();
        Ok(())
    }

    /// Refuses a table with a column that takes no values of a workload.
    fn check_types(&self, table: &str) -> Result<()> {
        match self.columns.iter().position(|c| !can_load(c.type_id)) {
            Some(column) => Err(refused(format!(
                "column {} of {table} has a type that cannot be loaded; make it an integer, \
                 BOOLEAN, DOUBLE, DECIMAL, DATE, VARCHAR or BLOB",
                column + 1
            ))),
            None => Ok(()),
        }
    }

    /// Resetting a chunk may move its columns, so they are looked up again every time.
    fn take_vectors(&mut self) {
        for (index, column) in self.columns.iter_mut().enumerate() {
            // SAFETY: the chunk is alive and has as many columns as we have noted.
            unsafe {
                column.vector = (self.api.data_chunk_get_vector)(self.chunk, index as u64);
                column.data = (self.api.vector_get_data)(column.vector).cast();
                column.validity = null_mut();
            }
        }
    }

    /// Adds one row.
    pub(super) fn put(&mut self, row: &BulkRow<'_>) -> Result<()> {
        self.check_width(row.len())?;
        for (index, value) in row.iter().enumerate() {
            // SAFETY: `filled` is less than the chunk's capacity, here and after every `put`.
            let fits = unsafe { self.columns[index].write(self.api, self.filled, *value) };
            if !fits {
                return Err(refused(format!(
                    "{value:?} does not fit the type of column {}",
                    index + 1
                )));
            }
        }
        self.filled_one_more()
    }

    /// Adds one row that another engine has handed out; gives the bytes that it takes as it is.
    #[inline]
    pub(super) fn put_cells(&mut self, row: &[Cell<'_>]) -> Result<usize> {
        self.check_width(row.len())?;
        let mut bytes = 0;
        for (index, cell) in row.iter().enumerate() {
            // SAFETY: as above.
            let written = unsafe { self.columns[index].write_cell(self.api, self.filled, *cell) };
            bytes += written.ok_or_else(|| {
                refused(format!(
                    "{cell:?} does not fit the type of column {}",
                    index + 1
                ))
            })?;
        }
        self.filled_one_more()?;
        Ok(bytes)
    }

    #[inline]
    fn check_width(&self, width: usize) -> Result<()> {
        if width == self.columns.len() {
            return Ok(());
        }
        Err(refused(format!(
            "a row of {width} values does not fit a table of {} columns",
            self.columns.len()
        )))
    }

    #[inline]
    fn filled_one_more(&mut self) -> Result<()> {
        self.filled += 1;
        if self.filled == self.capacity {
            self.hand_over()?;
        }
        Ok(())
    }

    fn hand_over(&mut self) -> Result<()> {
        // SAFETY: exactly `filled` rows of every column have been written; DuckDB copies them.
        let state = unsafe {
            (self.api.data_chunk_set_size)(self.chunk, self.filled as u64);
            (self.api.append_data_chunk)(self.raw, self.chunk)
        };
        self.checked(state)
            .map_err(|m| explain("bulk load failed", &m))?;
        // SAFETY: the chunk is alive; texts of the rows handed over are released by this.
        unsafe { (self.api.data_chunk_reset)(self.chunk) };
        self.filled = 0;
        self.take_vectors();
        Ok(())
    }

    /// Hands the last rows over and makes DuckDB take everything into the transaction.
    pub(super) fn finish(mut self) -> Result<()> {
        if self.filled > 0 {
            self.hand_over()?;
        }
        // SAFETY: the appender is alive; `drop` still releases it.
        let state = unsafe { (self.api.appender_close)(self.raw) };
        self.checked(state)
            .map_err(|m| explain("bulk load failed", &m))
    }

    fn checked(&self, state: i32) -> Answered<()> {
        match state {
            SUCCESS => Ok(()),
            // SAFETY: the appender carries its message until it is released.
            _ => Err(message_at(unsafe { (self.api.appender_error)(self.raw) })),
        }
    }
}

impl Drop for Appender<'_> {
    fn drop(&mut self) {
        // SAFETY: both handles are ours, released once and null-tolerant. After a failure DuckDB
        // may still push rows into the transaction here, which its owner rolls back.
        unsafe {
            (self.api.destroy_data_chunk)(&mut self.chunk);
            (self.api.appender_destroy)(&mut self.raw);
        }
    }
}

fn can_load(type_id: u32) -> bool {
    use type_id::*;
    [
        BOOLEAN, TINYINT, SMALLINT, INTEGER, BIGINT, UTINYINT, USMALLINT, UINTEGER, UBIGINT,
        HUGEINT, DOUBLE, VARCHAR, BLOB, DATE, DECIMAL,
    ]
    .contains(&type_id)
}

impl Column {
    /// Writes one cell; false when the value does not fit the type.
    ///
    /// # Safety
    /// `row` is less than the capacity of the chunk, which is alive.
    unsafe fn write(&self, api: &Api, row: usize, value: Value<'_>) -> bool {
        // SAFETY: promised by the caller; each type is written as DuckDB stores it.
        unsafe {
            match (self.type_id, value) {
                (type_id::BIGINT, Value::Int(n)) => self.cell(row, Some(n)),
                (type_id::VARCHAR, Value::Text(text)) => self.text(api, row, text),
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
                (type_id::DECIMAL, Value::Decimal { unscaled, places }) if places == self.scale => {
                    self.decimal(row, unscaled)
                }
                (type_id::BLOB, Value::Blob(bytes)) => self.bytes(api, row, bytes),
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
    unsafe fn write_cell(&mut self, api: &Api, row: usize, cell: Cell<'_>) -> Option<usize> {
        /// What a text takes beside its bytes.
        const TEXT_BYTES: usize = 16;
        // SAFETY: promised by the caller; each type is written as DuckDB stores it.
        unsafe {
            let fits = match (self.type_id, cell) {
                (_, Cell::Null) => self.null(api, row),
                (type_id::VARCHAR | type_id::BLOB, Cell::Bytes(bytes)) => {
                    self.bytes(api, row, bytes);
                    return Some(TEXT_BYTES + bytes.len());
                }
                (type_id::DECIMAL, Cell::Int(n)) => self.decimal(row, n),
                (type_id::DECIMAL, Cell::Wide(n)) if self.stored == type_id::HUGEINT => {
                    self.cell(row, Some([n as u64, (n >> 64) as u64]))
                }
                (type_id::DATE, Cell::Int(days)) => self.cell(row, i32::try_from(days).ok()),
                (type_id::TIME | type_id::TIMESTAMP | type_id::TIMESTAMP_TZ, Cell::Int(us)) => {
                    self.cell(row, Some(us))
                }
                (_, Cell::Int(n)) => self.write(api, row, Value::Int(n)),
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
    unsafe fn null(&mut self, api: &Api, row: usize) -> bool {
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
    /// The column is VARCHAR and has the row.
    unsafe fn text(&self, api: &Api, row: usize, text: &str) -> bool {
        // SAFETY: promised by the caller; a `str` is UTF-8, and DuckDB copies it.
        unsafe {
            (api.unsafe_vector_assign_string_element_len)(
                self.vector,
                row as u64,
                text.as_ptr().cast::<c_char>(),
                text.len() as u64,
            );
        }
        true
    }

    /// # Safety
    /// The column is VARCHAR or BLOB and has the row.
    unsafe fn bytes(&self, api: &Api, row: usize, bytes: &[u8]) -> bool {
        // SAFETY: promised by the caller; DuckDB copies the bytes.
        unsafe {
            (api.vector_assign_string_element_len)(
                self.vector,
                row as u64,
                bytes.as_ptr().cast::<c_char>(),
                bytes.len() as u64,
            );
        }
        true
    }
}

fn refused(what: String) -> TargetError {
    TargetError::new(ErrorKind::Statement, format!("DuckDB: {what}"))
}
