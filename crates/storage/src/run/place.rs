//! Files and devices of runs, the way they are opened, and the data written to them.

use std::path::PathBuf;

/// A file or device, as one run uses it.
#[derive(Debug, Clone, PartialEq)]
pub struct StorageDefinition {
    pub name: String,
    pub path: PathBuf,
    /// Usable bytes; `None`: all of the file or device.
    pub size_bytes: Option<u64>,
    /// Largest number of I/Os in flight, shared by all streams on this SD.
    pub threads: u32,
    /// Offset added to every address; a multiple of 512.
    pub offset_bytes: u64,
    /// Alignment of random addresses; `None`: the transfer size.
    pub align_bytes: Option<u64>,
    /// Size of the area for hits, at the start of a stream's range.
    pub hit_area_bytes: u64,
    pub open_flags: OpenFlags,
    pub content: DataContent,
}

impl StorageDefinition {
    pub const THREADS: u32 = 8;
    pub const HIT_AREA_BYTES: u64 = 1 << 20;

    /// All of a file or device, opened as usual and filled with random data.
    #[must_use]
    pub fn whole(name: &str, path: impl Into<PathBuf>) -> Self {
        Self {
            name: name.to_owned(),
            path: path.into(),
            size_bytes: None,
            threads: Self::THREADS,
            offset_bytes: 0,
            align_bytes: None,
            hit_area_bytes: Self::HIT_AREA_BYTES,
            open_flags: OpenFlags::default(),
            content: DataContent::default(),
        }
    }
    /// True for a device, which is never created and whose first block is never touched. File systems in memory below
    /// `/dev` hold files.
    #[must_use]
    pub fn is_device(&self) -> bool {
        let mut in_memory = ["/dev/shm", "/dev/hugepages"].iter();
        let is_of_memory = in_memory.any(|folder| self.path.starts_with(folder));
        self.path.starts_with("/dev") && !is_of_memory
    }

    #[must_use]
    pub fn journal(&self) -> Option<&Journal> {
        self.content.validation.as_ref()?.journal.as_ref()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OpenFlags {
    pub direct: bool,
    /// A write completes when its data are on stable storage (`O_DSYNC`).
    pub data_sync: bool,
    /// An `fdatasync` follows each write, which completes with it.
    pub sync_each: bool,
    /// One `fsync` before the file is closed.
    pub fsync_at_close: bool,
    /// Further bits for `open(2)`, given in hexadecimal.
    pub bits: u32,
}

/// Part of the addresses of an SD, or of several that are concatenated.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Range {
    #[default]
    Whole,
    /// Percent of the size; `high` is at most 200, and everything past 100 wraps to the beginning.
    Percent {
        low_pct: f64,
        high_pct: f64,
    },
    Bytes {
        low: u64,
        high: u64,
    },
}

/// Data to write, and to expect on reads.
#[derive(Debug, Clone, PartialEq)]
pub struct DataContent {
    /// Size before compression divided by size after it; 1 is random data.
    pub compression_ratio: f64,
    pub dedup: Option<Dedup>,
    pub pattern: Option<PathBuf>,
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

/// Data that an array can deduplicate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dedup {
    /// Blocks written divided by blocks stored, at least 1.
    pub ratio: f64,
    /// Unit of comparison; every transfer size is a multiple of it.
    pub unit_bytes: u64,
    pub sets: DuplicateSets,
}

/// Number of distinct contents: a count, or a share of all blocks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DuplicateSets {
    Count(u64),
    Percent(f64),
}

/// Blocks carry their address and generation, and reads are checked against these.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Validation {
    pub read_after_write: bool,
    /// Blocks are overwritten without being read and proven first.
    pub no_preread: bool,
    /// Blocks of zeros count as never written.
    pub ignore_zero_reads: bool,
    /// Storage of the generations over executions; `None`: in memory only.
    pub journal: Option<Journal>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Journal {
    pub directory: Option<PathBuf>,
    /// Begin with a proof of what an earlier journal says.
    pub recover: bool,
    pub no_flush: bool,
    /// Only the map at the end is written, without an entry for each write.
    pub map_only: bool,
    pub recover_only: bool,
    /// A recovery trusts blocks without reading all of them first.
    pub skip_read_all: bool,
    /// A recovery skips blocks whose write was in progress.
    pub ignore_pending: bool,
}
