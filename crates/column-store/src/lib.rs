//! Tables of another database, loaded into an in-memory column store.
//!
//! An engine holds them; callers see levels, a store to populate, and a target to query. It is a copy: the source does not
//! know about it, and later changes at the source are not in it.
//!
//! The store is DuckDB's own tables in memory, or Parquet files that are memory.
//!
//! DuckDB keeps rows that are appended as they are until a checkpoint packs them, so rows are committed in
//! batches and packed while the next are read: that bounds the memory. Its own heavy compressor refuses to work
//! in memory; the heavy levels therefore are Parquet, in files of memory that have no name and vanish with us.

mod change;
mod encoded;
mod left_out;
mod level;
mod memory_file;
mod packing;
mod replica;
mod store;
mod writer;

pub use change::{Change, SNAPSHOT};
pub use duckdb::GROUP_ROWS;
pub use level::{Encoding, Level};
pub use replica::{LiftedTables, Replica, urls};
pub use store::{Codec, MEMORY_BYTES_MIN, Store, available};
pub use writer::Writer;

/// One engine a level.
pub const ENGINES: engine::Engines = engine::Engines(&[
    &LiftedTables(Level::None),
    &LiftedTables(Level::QueryLow),
    &LiftedTables(Level::QueryHigh),
    &LiftedTables(Level::CapacityLow),
    &LiftedTables(Level::CapacityHigh),
]);
