//! What runs work on: files and devices, how they are opened, and what is written to them.

use std::path::PathBuf;

/// A file or device, as one run uses it.
#[derive(Debug, Clone, PartialEq)]
pub struct StorageDefinition {
    pub name: String,
    /// Path of the file or device (`lun=`).
    pub path: PathBuf,
    /// Bytes that may be used; none: as large as the file or device is.
    pub size_bytes: Option<u64>,
    /// I/Os in flight at most, shared by all streams on this SD.
    pub threads: u32,
    /// Bytes that every address is moved by; a multiple of 512.
    pub offset_bytes: u64,
    /// Multiple that random addresses are of, in bytes; none: of the transfer size.
    pub align_bytes: Option<u64>,
    /// Size of the area at the start of a stream's range where hits go.
    pub hit_area_bytes: u64,
    pub open_flags: OpenFlags,
    /// What is written to it, and whether what is read is proven.
    pub content: DataContent,
}

impl StorageDefinition {
    /// Whether the path names a device: it is never made, and its first block is never touched. File systems in memory below
    /// `/dev` hold files.
    #[must_use]
    pub fn is_device(&self) -> bool {
        let is_of_memory = ["/dev/shm", "/dev/hugepages"]
            .iter()
            .any(|folder| self.path.starts_with(folder));
        self.path.starts_with("/dev") && !is_of_memory
    }

    /// What is kept of validated blocks over executions, where that was asked for.
    #[must_use]
    pub fn journal(&self) -> Option<&Journal> {
        self.content.validation.as_ref()?.journal.as_ref()
    }
}

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OpenFlags {
    pub direct: bool,
    /// A write is over when its data is on stable storage (`O_DSYNC`).
    pub data_sync: bool,
    /// Each write is followed by an `fdatasync` of its own, and is over with it.
    pub sync_each: bool,
    /// Written back with one `fsync` when it is closed.
    pub fsync_at_close: bool,
    /// Further bits for `open(2)`, as given in hexadecimal.
    pub bits: u32,
}

/// A part of the addresses of an SD (or of several that are concatenated).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Range {
    #[default]
    Whole,
    /// Percent of the size; `high` up to 200, what is past 100 wraps round to the beginning.
    Percent {
        /// First address, in percent.
        low_pct: f64,
        /// End, in percent.
        high_pct: f64,
    },
    Bytes {
        low: u64,
        high: u64,
    },
}

/// What is written, and what is expected to be read.
#[derive(Debug, Clone, PartialEq)]
pub struct DataContent {
    /// How much smaller a compressor makes it; 1 is random data.
    pub compression_ratio: f64,
    /// How much a deduplicating array finds again.
    pub dedup: Option<Dedup>,
    /// File whose bytes are the pattern.
    pub pattern: Option<PathBuf>,
    /// Whether every block is stamped and proven.
    pub validation: Option<Validation>,
}

impl Default for DataContent {
    fn default() -> Self {
        Self {
            compression_ratio: 1.0,
            dedup: None,
            pattern: None,
            validation: None,
        }
    }
}

/// Data of which an array keeps less than it is given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dedup {
    /// Blocks written over blocks kept, at least 1.
    pub ratio: f64,
    /// Bytes of the unit that is compared; every transfer size is a multiple of it.
    pub unit_bytes: u64,
    /// How many different contents the duplicates have.
    pub sets: DuplicateSets,
}

/// Number of different contents: counted, or as a share of all blocks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DuplicateSets {
    Count(u64),
    /// So many percent.
    Percent(f64),
}

/// Blocks carry their address and generation, and what is read is held against it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Validation {
    /// Every write is read again at once.
    pub read_after_write: bool,
    /// A block is written over without having been read and proven first.
    pub no_preread: bool,
    /// Blocks that are all zero count as never written.
    pub ignore_zero_reads: bool,
    /// Where the generations are kept over runs; none: in memory alone.
    pub journal: Option<Journal>,
}

/// Record of what was written, for proof after a crash.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Journal {
    /// Directory of the journal; none: the current one.
    pub directory: Option<PathBuf>,
    /// Begin with a proof of what an earlier journal says.
    pub recover: bool,
    /// Entries are not forced to stable storage.
    pub no_flush: bool,
    /// Only the map at the end is written, no entry for each write.
    pub map_only: bool,
    /// Recover, prove, and end without working.
    pub recover_only: bool,
    /// On recovery, trust blocks without reading all of them first.
    pub skip_read_all: bool,
    /// On recovery, leave out blocks whose write was under way.
    pub ignore_pending: bool,
}
