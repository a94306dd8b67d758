//! The run before all others, which brings files to their size.

use std::path::Path;

use super::FormatPolicy;
use super::sd::SECTOR;
use crate::run::{Arrivals, Range, Rate, Run, Seek, Sizes, Stop, StorageDefinition, Stream};

/// How files are brought to their size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Format {
    /// When.
    pub policy: FormatPolicy,
    /// Bytes of a write; none: what suits the file.
    pub transfer_bytes: Option<u64>,
}

impl Format {
    const TRANSFER_BYTES: u64 = 128 << 10;
    const THREADS: u32 = 2;

    /// The run to be put before `runs`, if one is needed. `length_bytes` says how long a file is; none: there is none.
    pub fn run(&self, runs: &[Run], length_bytes: &dyn Fn(&Path) -> Option<u64>) -> Option<Run> {
        let mut storage: Vec<StorageDefinition> = Vec::new();
        let mut streams = Vec::new();
        for sd in runs.iter().flat_map(|run| &run.storage) {
            if storage.iter().any(|other| other.name == sd.name) {
                continue;
            }
            let Some((range, transfer_bytes)) = self.part(sd, length_bytes) else {
                continue;
            };
            streams.push(Stream {
                workload: format!("SD_format_{}", sd.name),
                storage: vec![storage.len()],
                share: 1.0,
                share_asked: false,
                iops: None,
                priority: None,
                sizes: Sizes::Fixed(transfer_bytes),
                read_pct: 0.0,
                seek: Seek::SequentialToEnd,
                range,
                hot_band: None,
                read_hit_pct: 0.0,
                write_hit_pct: 0.0,
                stride: None,
                sequential_streams: 1,
            });
            storage.push(StorageDefinition {
                threads: Self::THREADS,
                align_bytes: None,
                ..sd.clone()
            });
        }
        let each = 1.0 / streams.len() as f64;
        streams.iter_mut().for_each(|stream| stream.share = each);
        let errors = runs.first()?.errors;
        (!streams.is_empty()).then(|| Run {
            name: "SD_format".to_owned(),
            loops: format!("threads={} iorate=max", Self::THREADS),
            elapsed_s: None,
            interval_s: 1,
            warmup_s: 0,
            pause_s: 0,
            rate: Rate::Max {
                controlled: false,
                curve: false,
            },
            arrivals: Arrivals::default(),
            stop: Stop::default(),
            errors,
            storage,
            threads_shared: None,
            streams,
        })
    }

    /// The part of an SD that is to be written, and the size of the writes.
    fn part(
        &self,
        sd: &StorageDefinition,
        length_bytes: &dyn Fn(&Path) -> Option<u64>,
    ) -> Option<(Range, u64)> {
        let size = match (self.policy, sd.size_bytes) {
            (FormatPolicy::Never, _) => return None,
            (FormatPolicy::AsNeeded, _) if sd.is_device() => return None,
            (FormatPolicy::AsNeeded, None) => return None,
            (FormatPolicy::Always, None) => {
                return Some((
                    Range::Whole,
                    self.transfer_bytes.unwrap_or(Self::TRANSFER_BYTES),
                ));
            }
            (_, Some(size)) => size + sd.offset_bytes,
        };
        let fits = if size < Self::TRANSFER_BYTES {
            SECTOR
        } else {
            Self::TRANSFER_BYTES
        };
        let transfer = self.transfer_bytes.unwrap_or(fits);
        if self.policy == FormatPolicy::Always {
            return Some((Range::Whole, transfer));
        }
        let there = length_bytes(&sd.path).unwrap_or(0);
        // What is there is kept, but for the end of its last transfer: writes begin at whole ones.
        let low = there / transfer * transfer;
        (there < size).then_some((Range::Bytes { low, high: size }, transfer))
    }
}
