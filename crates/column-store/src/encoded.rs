//! The size of rows as one group of a Parquet file: a yardstick for few rows, where the
//! engine's own pieces of memory are too coarse to see anything.

use std::ops::Range;

use super::memory_file::MemoryFile;
use super::store::Store;
use crate::level::Encoding;
use duckdb::source::DIALECT;
use engine::{Result, TargetError};

/// More rows than a group of the engine's own takes, so that there is one.
const GROUP_ROWS: u64 = 1 << 24;

impl Store {
    /// Bytes of each column of the rows with these numbers, put together into one group.
    pub fn encoded_bytes(
        &self,
        table: &str,
        rows: &[Range<u64>],
        encoding: Encoding,
    ) -> Result<Vec<u64>> {
        let file = MemoryFile::new()?;
        let numbers: Vec<String> = (rows.iter())
            .map(|rows| format!("(rowid >= {} AND rowid < {})", rows.start, rows.end))
            .collect();
        let how = match encoding {
            Encoding::Plain => "PARQUET_VERSION V2, COMPRESSION uncompressed",
            Encoding::Compressed => "COMPRESSION zstd, COMPRESSION_LEVEL 1",
        };
        self.run(&format!(
            "COPY (SELECT * FROM {} WHERE {}) TO '{}' (FORMAT parquet, {how}, ROW_GROUP_SIZE {GROUP_ROWS}, \
             USE_TMP_FILE false)",
            DIALECT.quoted(table),
            numbers.join(" OR "),
            file.path()
        ))?;
        let columns = self.texts(&format!(
            "SELECT sum(total_compressed_size)::BIGINT::VARCHAR FROM parquet_metadata('{}') \
             GROUP BY column_id ORDER BY column_id",
            file.path()
        ))?;
        let bytes = |row: &Vec<String>| {
            let bytes = row.first().and_then(|cell| cell.parse().ok());
            bytes.ok_or_else(|| {
                TargetError::statement(format!(
                    "DuckDB does not report the column sizes of {table}"
                ))
            })
        };
        columns.iter().map(bytes).collect()
    }
}
