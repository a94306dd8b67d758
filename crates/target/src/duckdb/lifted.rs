//! The store that lifted tables lie in: DuckDB's own tables in memory, or Parquet files that are memory.
//!
//! DuckDB keeps rows that are appended as they are until a checkpoint packs them, so rows are committed in
//! batches and packed while the next are read: that bounds the memory. Its own heavy compressor refuses to work
//! in memory; the heavy levels therefore are Parquet, in files of memory that have no name and vanish with us.

mod change;
mod encoded;
mod engine;
mod left_out;
mod level;
mod memory_file;
mod store;
mod writer;

pub use change::{Change, SNAPSHOT};
pub use engine::{LiftedTables, Replica, urls};
pub use store::{Codec, MEMORY_BYTES_MIN, Store, available};
pub use writer::Writer;
