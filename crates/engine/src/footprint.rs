//! Bytes of rows of small tables, in an engine's log and files.

/// Bytes of a row, as a line over the bytes of its text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowBytes {
    /// Without its text.
    pub fixed: f64,
    /// For each byte of its text.
    pub per_byte: f64,
}

/// Bytes of a row with a number as its primary key and a text. The log is that of the engine's records alone, without the whole
/// pages that some engines log after a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Footprint {
    /// Log of a transaction that changes anything, beside its rows.
    pub transaction_log_bytes: f64,
    /// Log that the engine makes in a second, whatever the load.
    pub log_bytes_per_s: f64,
    /// Log of a row that is inserted.
    pub insert: RowBytes,
    /// Log of a row that gets another text as long.
    pub update: RowBytes,
    /// Log of a row that is deleted.
    pub delete: RowBytes,
    /// In files, entries of the primary key and room in pages included.
    pub file: RowBytes,
    /// Files grow by so much, which a table may not have filled.
    pub room_mb: f64,
    /// Longest text that is kept within its row; a longer one would be rows of its own in the engine's counts.
    pub text_bytes_max: u32,
    /// Size of a page, as it stands whole in the log; 0 where none does.
    pub page_image_bytes: f64,
    /// Rows that a range counts beyond its end, where the engine counts rows read.
    pub beyond_range: f64,
}

impl RowBytes {
    /// Bytes of a row with a text of this length.
    pub fn of(self, text_bytes: f64) -> f64 {
        self.fixed + self.per_byte * text_bytes
    }
}
