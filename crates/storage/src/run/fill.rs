//! Runs that write everything once, from the first byte to the last: they bring files to their size, and storage to a
//! known state before a measurement.

use super::{
    Arrivals, DataContent, ErrorLimit, OpenFlags, Range, Rate, Run, Seek, Stop, StorageDefinition,
    Stream,
};

pub const FILL_TRANSFER_BYTES: u64 = 128 * 1024;
const SECTOR_BYTES: u64 = 512;

/// Transfer size that divides `size_bytes` at least twice: `wanted_bytes`, or a half, a quarter … of it.
#[must_use]
pub fn fill_transfer_bytes(size_bytes: u64, wanted_bytes: u64) -> u64 {
    let mut transfer = wanted_bytes;
    while transfer > SECTOR_BYTES
        && (!size_bytes.is_multiple_of(transfer) || size_bytes < 2 * transfer)
    {
        transfer /= 2;
    }
    transfer
}

impl Stream {
    /// A stream that writes SD number `storage` in sequence and ends with it.
    #[must_use]
    pub fn fill(workload: &str, storage: usize, transfer_bytes: u64, range: Range) -> Self {
        Self {
            read_pct: 0.0,
            seek: Seek::SequentialToEnd,
            range,
            ..Self::random_reads(workload, storage, transfer_bytes)
        }
    }
}

impl StorageDefinition {
    /// The SD as it is filled: synchronized once and with other transfers than the runs have, so that its blocks
    /// cannot be proven later.
    #[must_use]
    pub fn to_fill(&self, threads: u32) -> Self {
        Self {
            threads,
            align_bytes: None,
            open_flags: OpenFlags {
                sync_each: false,
                fsync_at_close: self.open_flags.fsync_at_close || self.open_flags.sync_each,
                ..self.open_flags
            },
            content: DataContent {
                validation: None,
                ..self.content.clone()
            },
            ..self.clone()
        }
    }
}

impl Run {
    /// A run at maximum rate until all `streams`, with equal shares, have ended; the first failed I/O ends it,
    /// because storage that cannot be written cannot be measured.
    #[must_use]
    pub fn fill(
        name: &str,
        loops: String,
        storage: Vec<StorageDefinition>,
        mut streams: Vec<Stream>,
    ) -> Self {
        let share = 1.0 / streams.len().max(1) as f64;
        streams.iter_mut().for_each(|stream| stream.share = share);
        Self {
            name: name.to_owned(),
            loops,
            elapsed_s: None,
            interval_s: 1,
            warmup_s: 0,
            pause_s: 0,
            rate: Rate::max(false, false),
            arrivals: Arrivals::Deterministic,
            stop: Stop::default(),
            errors: ErrorLimit {
                count_max: 1,
                after_first_s: None,
            },
            steady: None,
            storage,
            threads_shared: None,
            streams,
        }
    }

    #[must_use]
    pub fn recovers_only(&self) -> bool {
        let mut journals = self.used_storage().filter_map(StorageDefinition::journal);
        journals.any(|journal| journal.recover_only)
    }

    pub fn used_storage(&self) -> impl Iterator<Item = &StorageDefinition> {
        let is_used = |index: &usize| self.streams.iter().any(|s| s.storage.contains(index));
        let indices = (0..self.storage.len()).filter(is_used);
        indices.map(|index| &self.storage[index])
    }
}

#[cfg(test)]
mod tests {
    use super::fill_transfer_bytes;

    #[test]
    fn transfers_leave_no_rest() {
        for (size, wanted, found) in [
            (1 << 30, 128 << 10, 128 << 10),
            (128 << 10, 128 << 10, 64 << 10),
            ((1 << 20) + 4096, 128 << 10, 4096),
            (1536, 4096, 512),
            (1000, 4096, 512),
        ] {
            assert_eq!(fill_transfer_bytes(size, wanted), found, "{size}");
        }
    }
}
