//! Bulk load through DuckDB's appender, in chunks whose columns are filled in place.

use std::os::raw::c_char;
use std::ptr::null_mut;

use super::capi::{Api, RawAppender, RawChunk, RawType, RawVector, SUCCESS, type_id};
use super::explain::explain;
use super::handle::{Answered, Connection, c_string, message_at};
use crate::{BulkRow, ErrorKind, Result, TargetError, Value};

/// More columns than any table of the library has.
const COLUMNS_MAX: u64 = 64;

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
}

impl<'a> Appender<'a> {
    pub(super) fn new(connection: &'a Connection, table: &str) -> Result<Self> {
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
            if count == 0 || count > COLUMNS_MAX {
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
                });
                (self.api.destroy_logical_type)(logical);
            }
        }
        if self.chunk.is_null() {
            return Err(refused(format!("no chunk of rows can be made for {table}")));
        }
        match self.columns.iter().position(|c| !can_load(c.type_id)) {
            Some(column) => Err(refused(format!(
                "column {} of {table} has a type that cannot be loaded; make it an integer, \
                 BOOLEAN, DOUBLE, DECIMAL, DATE, VARCHAR or BLOB",
                column + 1
            ))),
            None => {
                self.take_vectors();
                Ok(())
            }
        }
    }

    /// Resetting a chunk may move its columns, so they are looked up again every time.
    fn take_vectors(&mut self) {
        for (index, column) in self.columns.iter_mut().enumerate() {
            // SAFETY: the chunk is alive and has as many columns as we have noted.
            unsafe {
                column.vector = (self.api.data_chunk_get_vector)(self.chunk, index as u64);
                column.data = (self.api.vector_get_data)(column.vector).cast();
            }
        }
    }

    /// Adds one row.
    pub(super) fn put(&mut self, row: &BulkRow<'_>) -> Result<()> {
        if row.len() != self.columns.len() {
            return Err(refused(format!(
                "a row of {} values does not fit a table of {} columns",
                row.len(),
                self.columns.len()
            )));
        }
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
                (type_id::VARCHAR, Value::Text(text)) => self.bytes(api, row, text.as_bytes()),
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
