//! DuckDB's handles as owners: each is released when it is dropped.
//!
//! Errors are DuckDB's own messages; the callers know the context and [`super::explain`] them.

use std::ffi::{CStr, CString};
use std::os::raw::{c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::null_mut;

use super::capi::{
    Api, RawChunk, RawConnection, RawDatabase, RawPrepared, RawResult, RawString, RawVector,
    SUCCESS, type_id,
};
use engine::Value;
use engine::plain::{put_date, put_decimal, put_moment};

/// DuckDB's answer or its message.
pub(super) type Answered<T> = Result<T, String>;

/// The message behind a pointer that DuckDB gave; it may be null.
pub(super) fn message_at(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return "DuckDB gave no reason".into();
    }
    // SAFETY: DuckDB's messages end with a zero byte and live as long as the handle they belong to.
    unsafe { CStr::from_ptr(pointer) }
        .to_string_lossy()
        .into_owned()
}

pub(super) fn c_string(text: &str) -> Answered<CString> {
    CString::new(text).map_err(|_| "the text contains a zero byte".into())
}

pub(super) struct Database {
    api: &'static Api,
    raw: *mut RawDatabase,
}

// SAFETY: the C API allows connecting to a database from any thread; the handle is never changed.
unsafe impl Send for Database {}
// SAFETY: connecting, all that a shared reference allows, is guarded inside DuckDB.
unsafe impl Sync for Database {}

impl Database {
    /// Opens the database file at `path`, or one in memory, with `options`.
    pub fn open(
        api: &'static Api,
        path: Option<&Path>,
        options: &[(&str, String)],
    ) -> Answered<Self> {
        let path = path.map_or(b":memory:".as_slice(), |p| p.as_os_str().as_bytes());
        let path = CString::new(path).map_err(|_| "the path contains a zero byte")?;
        let mut config = null_mut();
        let mut raw = null_mut();
        let mut reason: *mut c_char = null_mut();
        // SAFETY: all out-pointers are locals of ours; the configuration and the message are
        // released by us, as the C API demands, whatever the outcome.
        unsafe {
            if (api.create_config)(&mut config) != SUCCESS {
                return Err("cannot create the configuration".into());
            }
            let mut outcome = Ok(());
            for (name, value) in options {
                outcome = outcome.and_then(|()| {
                    match (api.set_config)(
                        config,
                        c_string(name)?.as_ptr(),
                        c_string(value)?.as_ptr(),
                    ) {
                        SUCCESS => Ok(()),
                        _ => Err(format!("DuckDB refused the option {name}={value}")),
                    }
                });
            }
            let outcome = outcome.and_then(|()| {
                match (api.open_ext)(path.as_ptr(), &mut raw, config, &mut reason) {
                    SUCCESS => Ok(()),
                    _ => Err(message_at(reason)),
                }
            });
            (api.destroy_config)(&mut config);
            (api.free)(reason.cast::<c_void>());
            outcome.map(|()| Self { api, raw })
        }
    }

    pub fn connect(&self) -> Answered<Connection> {
        let mut raw = null_mut();
        // SAFETY: the database is open and the out-pointer a local.
        match unsafe { (self.api.connect)(self.raw, &mut raw) } {
            SUCCESS => Ok(Connection { api: self.api, raw }),
            _ => Err("cannot open a connection".into()),
        }
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // SAFETY: the handle is ours and not used again.
        unsafe { (self.api.close)(&mut self.raw) };
    }
}

/// A connection; it keeps its database open.
pub struct Connection {
    pub(super) api: &'static Api,
    pub(super) raw: *mut RawConnection,
}

// SAFETY: a connection may move between threads as long as one at a time uses it; it is not Sync.
unsafe impl Send for Connection {}

impl Connection {
    /// Runs SQL, several statements separated by semicolons; the result is that of the last.
    pub fn query(&self, sql: &str) -> Answered<Answer> {
        let sql = c_string(sql)?;
        let mut raw = RawResult::EMPTY;
        // SAFETY: the connection is open; the result is taken over by `Answer`, which releases it.
        let state = unsafe { (self.api.query)(self.raw, sql.as_ptr(), &mut raw) };
        Answer::of(self.api, raw, state)
    }

    /// Reads a small result whose columns are all text; null becomes an empty text.
    pub fn texts(&self, sql: &str) -> Answered<Vec<Vec<String>>> {
        let mut answer = self.query(sql)?;
        let mut rows = Vec::new();
        while let Some(chunk) = answer.next_chunk() {
            let first = rows.len();
            rows.resize_with(first + chunk.rows(), Vec::new);
            for column in 0..chunk.columns() {
                if answer.column_type(column) != type_id::VARCHAR {
                    return Err(format!("column {column} of \"{sql}\" is not text"));
                }
                let vector = chunk.vector(column);
                // SAFETY: the column is VARCHAR, which DuckDB stores as `duckdb_string_t`.
                let cells = unsafe { vector.cells::<RawString>(chunk.rows()) };
                for (row, cell) in cells.iter().enumerate() {
                    let text = if vector.is_valid(row) {
                        // SAFETY: the row is valid and the chunk alive.
                        String::from_utf8_lossy(unsafe { cell.bytes() }).into_owned()
                    } else {
                        String::new()
                    };
                    rows[first + row].push(text);
                }
            }
        }
        Ok(rows)
    }

    pub(super) fn prepare(&self, sql: &str) -> Answered<Prepared> {
        let sql = c_string(sql)?;
        let mut raw = null_mut();
        // SAFETY: the connection is open; the handle, which also carries the message of a failure,
        // is taken over by `Prepared`, which releases it.
        unsafe {
            let state = (self.api.prepare)(self.raw, sql.as_ptr(), &mut raw);
            let mut prepared = Prepared {
                api: self.api,
                raw,
                parameters: 0,
            };
            if state != SUCCESS {
                return Err(message_at((self.api.prepare_error)(raw)));
            }
            prepared.parameters = (self.api.nparams)(raw) as usize;
            Ok(prepared)
        }
    }
}

/// Ends the statement that a connection is carrying out, from any thread.
pub(super) struct Interrupt {
    api: &'static Api,
    raw: *mut RawConnection,
}

// SAFETY: duckdb_interrupt is the function of the C API that another thread may call.
unsafe impl Send for Interrupt {}

impl Interrupt {
    /// Of a connection, which the caller keeps open as long as this.
    pub fn of(connection: &Connection) -> Self {
        Self {
            api: connection.api,
            raw: connection.raw,
        }
    }

    pub(super) fn interrupt(&self) {
        // SAFETY: the connection is open, as promised; without a statement under way nothing happens.
        unsafe { (self.api.interrupt)(self.raw) };
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // SAFETY: the handle is ours and not used again.
        unsafe { (self.api.disconnect)(&mut self.raw) };
    }
}

/// A prepared statement of one connection.
pub(super) struct Prepared {
    api: &'static Api,
    raw: *mut RawPrepared,
    parameters: usize,
}

// SAFETY: as for its connection: one thread at a time, guaranteed by `&mut`.
unsafe impl Send for Prepared {}

impl Prepared {
    /// Executes with these parameters and keeps the whole result in memory.
    pub(super) fn execute(&mut self, parameters: &[Value<'_>]) -> Answered<Answer> {
        // DuckDB would silently reuse what an earlier execution has bound.
        if parameters.len() != self.parameters {
            return Err(format!(
                "the statement takes {} parameters, but {} were given",
                self.parameters,
                parameters.len()
            ));
        }
        for (index, value) in parameters.iter().enumerate() {
            if self.bind(index, *value) != SUCCESS {
                return Err(format!("cannot bind parameter {}", index + 1));
            }
        }
        let mut raw = RawResult::EMPTY;
        // SAFETY: all parameters are bound; the result is taken over by `Answer`.
        let state = unsafe { (self.api.execute_prepared)(self.raw, &mut raw) };
        Answer::of(self.api, raw, state)
    }

    /// Executes a statement without parameters, whose rows are made as they are fetched.
    pub(super) fn stream(&mut self) -> Answered<Answer> {
        let mut raw = RawResult::EMPTY;
        // SAFETY: the statement is alive and takes no parameters; the result is taken over by `Answer`.
        let state = unsafe { (self.api.execute_prepared_streaming)(self.raw, &mut raw) };
        Answer::of(self.api, raw, state)
    }

    fn bind(&mut self, index: usize, value: Value<'_>) -> c_int {
        let (api, raw, place) = (self.api, self.raw, index as u64 + 1);
        // SAFETY: the statement is alive, the place is one of its parameters, and DuckDB copies
        // text and bytes before it returns.
        unsafe {
            match value {
                // Also where the column is narrower: DuckDB plans at every execution anyway, and
                // passing the column's own type was measured to gain nothing.
                Value::Int(n) => (api.bind_int64)(raw, place, n),
                Value::Text(text) => {
                    (api.bind_varchar_length)(raw, place, text.as_ptr().cast(), text.len() as u64)
                }
                Value::Blob(bytes) => {
                    (api.bind_blob)(raw, place, bytes.as_ptr().cast(), bytes.len() as u64)
                }
                Value::Null => (api.bind_null)(raw, place),
                // DuckDB makes of a text what the statement needs.
                Value::Decimal { unscaled, places } => {
                    let mut text = String::new();
                    put_decimal(unscaled, places, &mut text);
                    (api.bind_varchar_length)(raw, place, text.as_ptr().cast(), text.len() as u64)
                }
                Value::Moment(us) => {
                    let mut text = String::new();
                    put_moment(us, &mut text);
                    (api.bind_varchar_length)(raw, place, text.as_ptr().cast(), text.len() as u64)
                }
                Value::Date(days) => {
                    let mut text = String::new();
                    put_date(i64::from(days), &mut text);
                    (api.bind_varchar_length)(raw, place, text.as_ptr().cast(), text.len() as u64)
                }
            }
        }
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        // SAFETY: the handle is ours and not used again.
        unsafe { (self.api.destroy_prepare)(&mut self.raw) };
    }
}

pub struct Answer {
    api: &'static Api,
    raw: RawResult,
}

impl Answer {
    fn of(api: &'static Api, raw: RawResult, state: c_int) -> Answered<Self> {
        let mut answer = Self { api, raw };
        match state {
            SUCCESS => Ok(answer),
            // SAFETY: a failed result carries its message until it is released.
            _ => Err(message_at(unsafe { (api.result_error)(&mut answer.raw) })),
        }
    }

    /// Rows that an INSERT, UPDATE or DELETE changed.
    pub(super) fn rows_changed(&mut self) -> u64 {
        // SAFETY: the result is alive.
        unsafe { (self.api.rows_changed)(&mut self.raw) }
    }

    /// Type of a column, see [`type_id`].
    pub(super) fn column_type(&mut self, column: usize) -> u32 {
        // SAFETY: the result is alive; an unknown column has the invalid type 0.
        unsafe { (self.api.column_type)(&mut self.raw, column as u64) }
    }

    /// The integer type in which a DECIMAL column is stored.
    pub(super) fn decimal_type(&mut self, column: usize) -> u32 {
        // SAFETY: the result is alive and the type released by us.
        unsafe {
            let mut logical = (self.api.column_logical_type)(&mut self.raw, column as u64);
            let stored = (self.api.decimal_internal_type)(logical);
            (self.api.destroy_logical_type)(&mut logical);
            stored
        }
    }

    /// Digits behind the point of a DECIMAL column.
    pub(super) fn decimal_scale(&mut self, column: usize) -> u8 {
        // SAFETY: the result is alive and the type released by us.
        unsafe {
            let mut logical = (self.api.column_logical_type)(&mut self.raw, column as u64);
            let scale = (self.api.decimal_scale)(logical);
            (self.api.destroy_logical_type)(&mut logical);
            scale
        }
    }

    /// The error of a result that is made while it is fetched.
    pub(super) fn failure(&mut self) -> Option<String> {
        // SAFETY: the result is alive and carries its message until it is released.
        let message = unsafe { (self.api.result_error)(&mut self.raw) };
        (!message.is_null())
            .then(|| message_at(message))
            .filter(|message| !message.is_empty())
    }

    /// The next rows, `None` after the last.
    pub(super) fn next_chunk(&mut self) -> Option<Chunk> {
        // SAFETY: the result is alive; the chunk is taken over by `Chunk`, which releases it.
        let raw = unsafe { (self.api.fetch_chunk)(self.raw) };
        (!raw.is_null()).then_some(Chunk { api: self.api, raw })
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        // SAFETY: the result is ours and not used again.
        unsafe { (self.api.destroy_result)(&mut self.raw) };
    }
}

/// Some rows of a result.
pub(super) struct Chunk {
    api: &'static Api,
    raw: *mut RawChunk,
}

impl Chunk {
    pub fn rows(&self) -> usize {
        // SAFETY: the chunk is alive.
        unsafe { (self.api.data_chunk_get_size)(self.raw) as usize }
    }

    pub fn columns(&self) -> usize {
        // SAFETY: the chunk is alive.
        unsafe { (self.api.data_chunk_get_column_count)(self.raw) as usize }
    }

    /// One column; `column` is less than [`Chunk::columns`].
    pub(super) fn vector(&self, column: usize) -> Vector<'_> {
        // SAFETY: the chunk is alive and has the column; data and validity live as long as it.
        unsafe {
            let raw: *mut RawVector = (self.api.data_chunk_get_vector)(self.raw, column as u64);
            Vector {
                data: (self.api.vector_get_data)(raw),
                validity: (self.api.vector_get_validity)(raw),
                chunk: std::marker::PhantomData,
            }
        }
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        // SAFETY: the chunk is ours and not used again.
        unsafe { (self.api.destroy_data_chunk)(&mut self.raw) };
    }
}

/// One column of a chunk.
pub(super) struct Vector<'a> {
    data: *const c_void,
    /// One bit a row, null when every row is valid.
    validity: *const u64,
    chunk: std::marker::PhantomData<&'a Chunk>,
}

impl<'a> Vector<'a> {
    /// The cells of the first `rows` rows; those that are not valid hold anything.
    ///
    /// # Safety
    /// The column is stored as `T`, for which every bit pattern is a value, and has `rows` rows.
    pub(super) unsafe fn cells<T>(&self, rows: usize) -> &'a [T] {
        // SAFETY: promised by the caller; DuckDB aligns its vectors to at least eight bytes.
        unsafe { std::slice::from_raw_parts(self.data.cast::<T>(), rows) }
    }

    /// True when no cell is null.
    pub(super) fn all_valid(&self) -> bool {
        self.validity.is_null()
    }

    /// True when the cell of this row of the chunk is not null.
    pub(super) fn is_valid(&self, row: usize) -> bool {
        // SAFETY: the mask has a bit for every row of the chunk.
        self.validity.is_null() || unsafe { *self.validity.add(row / 64) >> (row % 64) & 1 == 1 }
    }
}
