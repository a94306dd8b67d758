//! Bulk load through DuckDB's appender, in chunks whose columns are filled in place.

mod column;
mod heap;

use std::ptr::null_mut;

use super::capi::{Api, RawAppender, RawChunk, RawType, SUCCESS, type_id};
use super::explain::explain;
use super::handle::{Answered, Connection, c_string, message_at};
use column::Column;
use engine::catalogue::{COLUMNS_MAX, Cell};
use engine::{BulkRow, Result, TargetError, Value};
use heap::TextHeap;

/// Rows that DuckDB packs together, in a database that was not made with other groups. Fewer of them may take more.
pub const GROUP_ROWS: u64 = 122_880;

/// A bulk load into one table.
pub struct Appender<'a> {
    api: &'static Api,
    raw: *mut RawAppender,
    chunk: *mut RawChunk,
    columns: Vec<Column>,
    /// Texts of the rows in the chunk.
    heap: TextHeap,
    filled: usize,
    capacity: usize,
    /// Rows of the group that has begun, without those in the chunk.
    of_group: usize,
    /// The appender must not outlive its connection.
    connection: std::marker::PhantomData<&'a Connection>,
}

impl<'a> Appender<'a> {
    /// For rows of a workload's values.
    pub fn new(connection: &'a Connection, table: &str) -> Result<Self> {
        let appender = Self::of_cells(connection, table)?;
        appender.check_types(table)?;
        Ok(appender)
    }

    /// For rows that another engine has handed out.
    pub fn of_cells(connection: &'a Connection, table: &str) -> Result<Self> {
        let api = connection.api;
        let name = c_string(table).map_err(|m| explain("bulk load", &m))?;
        let mut appender = Self {
            api,
            raw: null_mut(),
            chunk: null_mut(),
            columns: Vec::new(),
            heap: TextHeap::default(),
            filled: 0,
            of_group: 0,
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
                    "table {table} has {count} columns; it cannot be loaded"
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
            return Err(refused(format!(
                "cannot create a chunk of rows for {table}"
            )));
        }
        self.take_vectors();
        Ok(())
    }

    /// Refuses a table with a column that takes no values of a workload.
    fn check_types(&self, table: &str) -> Result<()> {
        match self.columns.iter().position(|c| !c.can_load()) {
            Some(column) => Err(refused(format!(
                "column {} of {table} has a type that cannot be loaded; change it to an integer, \
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

    pub fn put(&mut self, row: &BulkRow<'_>) -> Result<()> {
        self.check_width(row.len())?;
        for (index, value) in row.iter().enumerate() {
            let (column, at) = (&mut self.columns[index], self.filled);
            // SAFETY: `filled` is less than the chunk's capacity, here and after every `put`, and the heap is cleared
            // when the chunk was handed over.
            let fits = unsafe {
                match value {
                    Value::Null => column.null(self.api, at),
                    value => column.write(&mut self.heap, at, *value),
                }
            };
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
    pub fn put_cells(&mut self, row: &[Cell<'_>]) -> Result<usize> {
        self.check_width(row.len())?;
        let mut bytes = 0;
        for (index, cell) in row.iter().enumerate() {
            let column = &mut self.columns[index];
            // SAFETY: as above.
            let written =
                unsafe { column.write_cell(self.api, &mut self.heap, self.filled, *cell) };
            bytes += written.ok_or_else(|| misfit(cell, index + 1))?;
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
            "the row has {width} values, but the table has {} columns",
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
        // SAFETY: the chunk is alive, and nothing of it is read after this.
        unsafe { (self.api.data_chunk_reset)(self.chunk) };
        self.heap.clear();
        self.of_group += std::mem::take(&mut self.filled);
        self.take_vectors();
        if self.of_group + self.capacity > GROUP_ROWS as usize {
            self.end_group()
        } else {
            Ok(())
        }
    }

    /// Puts the rows of a whole group into the table. DuckDB does so after 204,800 rows by itself: what is then left
    /// of a group is a small one of its own, for which a later checkpoint packs its neighbours again.
    fn end_group(&mut self) -> Result<()> {
        self.of_group = 0;
        // SAFETY: the appender is alive.
        let state = unsafe { (self.api.appender_flush)(self.raw) };
        self.checked(state)
            .map_err(|m| explain("bulk load failed", &m))
    }

    #[inline]
    pub fn is_between_groups(&self) -> bool {
        self.filled + self.of_group == 0
    }

    /// Hands the last rows over and makes DuckDB take everything into the transaction.
    pub fn finish(mut self) -> Result<()> {
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

#[cold]
fn misfit(cell: &Cell<'_>, column: usize) -> TargetError {
    refused(match cell {
        Cell::Bytes(bytes) => format!(
            "{} bytes of column {column} are not valid UTF-8 or do not fit its type; exclude the column",
            bytes.len()
        ),
        _ => format!("{cell:?} does not fit the type of column {column}"),
    })
}

fn refused(what: String) -> TargetError {
    TargetError::statement(format!("DuckDB: {what}"))
}
