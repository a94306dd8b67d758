//! Result of populating one table.

use std::collections::BTreeMap;
use std::time::Duration;

use archive::Remark;
use engine::source::Digest;

#[derive(Debug, Clone, PartialEq)]
pub struct LiftedTable {
    /// Schema and name in the source.
    pub label: String,
    pub name: String,
    /// Rows and digest, as the source returned them.
    pub digest: Digest,
    /// Allocated bytes; `None` if the count is incomplete.
    pub memory_bytes: Option<u64>,
    pub disk_bytes: Option<u64>,
    /// False if the table fills too few allocation units for its size to mean anything.
    pub is_measurable: bool,
    /// Time until it was complete and packed.
    pub populate_took: Duration,
    pub verify_took: Duration,
    /// Columns by codec, read back from the engine.
    pub codecs: BTreeMap<String, Vec<String>>,
    /// Notes on columns that are stored differently.
    pub notes: Vec<Remark>,
    pub reasons: Vec<Remark>,
}

impl LiftedTable {
    /// Size on disk ÷ size in memory; `None` if either is unknown.
    pub fn compress_factor(&self) -> Option<f64> {
        compress_factor([self])
    }
}

/// Size on disk ÷ size in memory, of several tables; `None` if a size is unknown, or if tables that are too small to
/// measure make up more than a tenth.
pub fn compress_factor<'a>(tables: impl IntoIterator<Item = &'a LiftedTable>) -> Option<f64> {
    let (mut disk, mut memory, mut too_small) = (0, 0, 0);
    for table in tables {
        disk += table.disk_bytes?;
        memory += table.memory_bytes?;
        if !table.is_measurable {
            too_small += table.memory_bytes?;
        }
    }
    (memory > 0 && too_small * 10 <= memory).then(|| disk as f64 / memory as f64)
}
