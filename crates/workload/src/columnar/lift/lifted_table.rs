//! What is known of a lifted table.

use std::collections::BTreeMap;
use std::time::Duration;

use archive::Remark;
use target::source::Digest;

/// What is known of one lifted table.
#[derive(Debug, Clone, PartialEq)]
pub struct LiftedTable {
    /// Schema and name in the source.
    pub label: String,
    /// Its name in the store.
    pub name: String,
    /// Rows and their digest, as they came out of the source.
    pub digest: Digest,
    /// Bytes that are allocated for it; `None` where what was counted is not all.
    pub memory_bytes: Option<u64>,
    /// Bytes of its rows on the source's disk.
    pub disk_bytes: Option<u64>,
    /// Whether a size of so few pieces of memory says anything.
    pub is_measurable: bool,
    /// Time until it was whole and packed.
    pub populate_took: Duration,
    /// Time that reading back and comparing took.
    pub verify_took: Duration,
    /// How its columns are kept: codec → columns, read back from the engine.
    pub codecs: BTreeMap<String, Vec<String>>,
    /// What became of columns that are not kept as they are.
    pub notes: Vec<Remark>,
    /// Why it is not valid; empty when it is.
    pub reasons: Vec<Remark>,
}

impl LiftedTable {
    /// How many times less it takes than on disk; `None` where either size says nothing.
    pub fn compress_factor(&self) -> Option<f64> {
        compress_factor([self])
    }
}

/// How many times less tables take than on disk together; `None` where a size is not known, or where those that are too
/// small to say anything are more than a tenth.
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
