//! The part of DuckDB's stable C API that is used, as a table of functions filled at run time.

use std::os::raw::{c_char, c_int, c_void};

use libloading::os::unix::Library;

macro_rules! opaque {
    ($($(#[$meta:meta])* $name:ident),* $(,)?) => {
        $($(#[$meta])* #[repr(C)] pub struct $name { _opaque: [u8; 0] })*
    };
}

opaque!(
    /// A database instance.
    RawDatabase,
    RawConnection,
    /// Options for opening.
    RawConfig,
    /// A prepared statement.
    RawPrepared,
    /// Up to [`Api::vector_size`] rows, column by column.
    RawChunk,
    /// One column of a chunk.
    RawVector,
    /// A type with its parameters.
    RawType,
    /// A bulk loader.
    RawAppender,
);

/// `duckdb_result`; passed by value to some functions.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct RawResult {
    deprecated_counts: [u64; 3],
    deprecated_columns: *mut c_void,
    deprecated_error: *mut c_char,
    internal: *mut c_void,
}

impl RawResult {
    pub(super) const EMPTY: RawResult = RawResult {
        deprecated_counts: [0; 3],
        deprecated_columns: std::ptr::null_mut(),
        deprecated_error: std::ptr::null_mut(),
        internal: std::ptr::null_mut(),
    };
}

/// `duckdb_string_t`: up to [`RawString::INLINED_MAX`] bytes lie inside, longer ones behind a pointer.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct RawString {
    length: u32,
    content: RawStringContent,
}

#[repr(C)]
#[derive(Clone, Copy)]
union RawStringContent {
    inlined: [u8; 12],
    pointer: RawStringPointer,
}

#[repr(C, packed(4))]
#[derive(Clone, Copy)]
struct RawStringPointer {
    prefix: [u8; 4],
    bytes: *const u8,
}

const _: () = assert!(size_of::<RawString>() == 16 && size_of::<RawResult>() == 48);

impl RawString {
    const INLINED_MAX: usize = 12;

    /// A string of these bytes, which lie at the address that `keep` gives where they do not fit inside; `None`
    /// when they are too many.
    #[inline]
    pub fn new(bytes: &[u8], keep: impl FnOnce(&[u8]) -> *const u8) -> Option<Self> {
        let length = u32::try_from(bytes.len()).ok()?;
        let content = if bytes.len() <= Self::INLINED_MAX {
            // DuckDB compares what is behind the text as well.
            let mut inlined = [0; Self::INLINED_MAX];
            inlined[..bytes.len()].copy_from_slice(bytes);
            RawStringContent { inlined }
        } else {
            let pointer = RawStringPointer {
                prefix: *bytes.first_chunk()?,
                bytes: keep(bytes),
            };
            RawStringContent { pointer }
        };
        Some(Self { length, content })
    }

    /// The bytes of the string.
    ///
    /// # Safety
    /// The string comes from a valid row of a live vector of type VARCHAR or BLOB.
    pub unsafe fn bytes(&self) -> &[u8] {
        let length = self.length as usize;
        // SAFETY: the length decides which member of the union DuckDB has filled in, and the
        // caller keeps the vector alive that owns the bytes.
        unsafe {
            if length <= Self::INLINED_MAX {
                &self.content.inlined[..length]
            } else {
                std::slice::from_raw_parts(self.content.pointer.bytes, length)
            }
        }
    }
}

/// `duckdb_type`: the numbers of the types that are read or written.
pub(super) mod type_id {
    pub const BOOLEAN: u32 = 1;
    pub const TINYINT: u32 = 2;
    pub const SMALLINT: u32 = 3;
    pub const INTEGER: u32 = 4;
    pub const BIGINT: u32 = 5;
    pub const UTINYINT: u32 = 6;
    pub const USMALLINT: u32 = 7;
    pub const UINTEGER: u32 = 8;
    pub const UBIGINT: u32 = 9;
    pub const FLOAT: u32 = 10;
    pub const DOUBLE: u32 = 11;
    pub const TIMESTAMP: u32 = 12;
    pub const DATE: u32 = 13;
    pub const TIME: u32 = 14;
    pub const HUGEINT: u32 = 16;
    pub const VARCHAR: u32 = 17;
    pub const BLOB: u32 = 18;
    pub const DECIMAL: u32 = 19;
    pub const TIMESTAMP_TZ: u32 = 31;
    pub const SQLNULL: u32 = 36;
}

/// `DuckDBSuccess`.
pub(super) const SUCCESS: c_int = 0;

macro_rules! api {
    ($(fn $name:ident ($($argument:ty),* $(,)?) $(-> $answer:ty)?;)*) => {
        /// The functions, named as in the C API without the leading `duckdb_`.
        pub struct Api {
            $(pub(super) $name: unsafe extern "C" fn($($argument),*) $(-> $answer)?,)*
        }

        impl Api {
            /// Looks all functions up.
            ///
            /// # Safety
            /// `library` is a DuckDB library and stays loaded as long as the table is used.
            pub(super) unsafe fn look_up(library: &Library) -> Result<Api, libloading::Error> {
                Ok(Api {
                    // SAFETY: each signature is the one of DuckDB's published header.
                    $($name: unsafe { *library.get(concat!("duckdb_", stringify!($name), "\0").as_bytes())? },)*
                })
            }
        }
    };
}

api! {
    fn library_version() -> *const c_char;
    fn vector_size() -> u64;
    fn free(*mut c_void);

    fn create_config(*mut *mut RawConfig) -> c_int;
    fn set_config(*mut RawConfig, *const c_char, *const c_char) -> c_int;
    fn destroy_config(*mut *mut RawConfig);
    fn open_ext(*const c_char, *mut *mut RawDatabase, *mut RawConfig, *mut *mut c_char) -> c_int;
    fn close(*mut *mut RawDatabase);
    fn connect(*mut RawDatabase, *mut *mut RawConnection) -> c_int;
    fn disconnect(*mut *mut RawConnection);
    fn interrupt(*mut RawConnection);

    fn query(*mut RawConnection, *const c_char, *mut RawResult) -> c_int;
    fn prepare(*mut RawConnection, *const c_char, *mut *mut RawPrepared) -> c_int;
    fn prepare_error(*mut RawPrepared) -> *const c_char;
    fn destroy_prepare(*mut *mut RawPrepared);
    fn nparams(*mut RawPrepared) -> u64;
    fn bind_int64(*mut RawPrepared, u64, i64) -> c_int;
    fn bind_varchar_length(*mut RawPrepared, u64, *const c_char, u64) -> c_int;
    fn bind_blob(*mut RawPrepared, u64, *const c_void, u64) -> c_int;
    fn bind_null(*mut RawPrepared, u64) -> c_int;
    fn execute_prepared(*mut RawPrepared, *mut RawResult) -> c_int;
    fn execute_prepared_streaming(*mut RawPrepared, *mut RawResult) -> c_int;

    fn result_error(*mut RawResult) -> *const c_char;
    fn rows_changed(*mut RawResult) -> u64;
    fn column_type(*mut RawResult, u64) -> u32;
    fn column_logical_type(*mut RawResult, u64) -> *mut RawType;
    fn fetch_chunk(RawResult) -> *mut RawChunk;
    fn destroy_result(*mut RawResult);

    fn get_type_id(*mut RawType) -> u32;
    fn decimal_internal_type(*mut RawType) -> u32;
    fn decimal_scale(*mut RawType) -> u8;
    fn destroy_logical_type(*mut *mut RawType);

    fn create_data_chunk(*mut *mut RawType, u64) -> *mut RawChunk;
    fn data_chunk_reset(*mut RawChunk);
    fn data_chunk_get_column_count(*mut RawChunk) -> u64;
    fn data_chunk_get_size(*mut RawChunk) -> u64;
    fn data_chunk_set_size(*mut RawChunk, u64);
    fn data_chunk_get_vector(*mut RawChunk, u64) -> *mut RawVector;
    fn destroy_data_chunk(*mut *mut RawChunk);
    fn vector_get_data(*mut RawVector) -> *mut c_void;
    fn vector_get_validity(*mut RawVector) -> *mut u64;
    fn vector_ensure_validity_writable(*mut RawVector);

    fn appender_create(*mut RawConnection, *const c_char, *const c_char, *mut *mut RawAppender) -> c_int;
    fn appender_column_count(*mut RawAppender) -> u64;
    fn appender_column_type(*mut RawAppender, u64) -> *mut RawType;
    fn append_data_chunk(*mut RawAppender, *mut RawChunk) -> c_int;
    fn appender_flush(*mut RawAppender) -> c_int;
    fn appender_close(*mut RawAppender) -> c_int;
    fn appender_error(*mut RawAppender) -> *const c_char;
    fn appender_destroy(*mut *mut RawAppender) -> c_int;
}
