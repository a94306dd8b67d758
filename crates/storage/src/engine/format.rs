//! Files that are missing or too short are written to the size asked for before anything is measured on them.

use std::collections::BTreeSet;

use crate::run::{
    Arrivals, DataContent, ErrorLimit, Range, Rate, Run, Seek, Sizes, Stop, StorageDefinition,
    Stream,
};

/// Name of the run, which scrapers of vdbench's pages know.
pub const FORMAT_NAME: &str = "SD_format";
/// Transfers of a format, where the file is not smaller.
const TRANSFER_BYTES: u64 = 128 * 1024;
const TRANSFER_BYTES_MIN: u64 = super::files::SECTOR_BYTES;
const THREADS: u32 = 2;

/// The run that brings the files of all `runs` to their size, to be carried out before them with
/// [`Options::may_grow`](super::Options::may_grow); `None` when all are large enough. What a file has already is kept,
/// unless `anew` asks for all of it to be written again. Devices are never formatted. Writes have `transfer_bytes`,
/// or less where the size is no multiple of them.
#[must_use]
pub fn format_run(runs: &[Run], anew: bool, transfer_bytes: Option<u64>) -> Option<Run> {
    let mut storage: Vec<StorageDefinition> = Vec::new();
    let mut streams = Vec::new();
    let mut seen = BTreeSet::new();
    for sd in runs.iter().flat_map(used) {
        if !seen.insert(&sd.name) {
            continue;
        }
        let transfer_bytes = transfer_bytes.unwrap_or(TRANSFER_BYTES);
        if let Some(stream) = format_stream(sd, storage.len(), anew, transfer_bytes) {
            streams.push(stream);
            storage.push(StorageDefinition {
                threads: THREADS,
                align_bytes: None,
                content: DataContent {
                    // Other transfers than those of the runs: nothing of it could be proven later.
                    validation: None,
                    ..sd.content.clone()
                },
                ..sd.clone()
            });
        }
    }
    let share = 1.0 / streams.len().max(1) as f64;
    for stream in &mut streams {
        stream.share = share;
    }
    (!streams.is_empty()).then(|| Run {
        name: FORMAT_NAME.to_owned(),
        loops: format!("threads={THREADS} iorate=max"),
        elapsed_s: None,
        interval_s: 1,
        warmup_s: 0,
        pause_s: 0,
        rate: Rate::Max {
            controlled: false,
            curve: false,
        },
        arrivals: Arrivals::Deterministic,
        stop: Stop::default(),
        // A file that cannot be written cannot be measured either.
        errors: ErrorLimit {
            count_max: 1,
            after_first_s: None,
        },
        storage,
        threads_shared: None,
        streams,
    })
}

/// What the streams of a run work on.
fn used(run: &Run) -> impl Iterator<Item = &StorageDefinition> {
    let is_used = |index: &usize| run.streams.iter().any(|s| s.storage.contains(index));
    let indices = (0..run.storage.len()).filter(is_used);
    indices.map(|index| &run.storage[index])
}

fn format_stream(
    sd: &StorageDefinition,
    index: usize,
    anew: bool,
    transfer_bytes: u64,
) -> Option<Stream> {
    let asked_bytes = sd.size_bytes?;
    let metadata = std::fs::metadata(&sd.path).ok();
    if sd.is_device() || metadata.as_ref().is_some_and(|m| !m.is_file()) {
        return None;
    }
    let have = metadata.map_or(0, |m| m.len().saturating_sub(sd.offset_bytes));
    let have_bytes = if anew { 0 } else { have };
    if have_bytes >= asked_bytes {
        return None;
    }
    // Whole transfers up to the last byte, and room for two of them.
    let mut transfer = transfer_bytes;
    while transfer > TRANSFER_BYTES_MIN
        && (!asked_bytes.is_multiple_of(transfer) || asked_bytes < 2 * transfer)
    {
        transfer /= 2;
    }
    let low = (have_bytes / transfer * transfer).min(asked_bytes.saturating_sub(2 * transfer));
    Some(Stream {
        workload: format!("{FORMAT_NAME}_{}", sd.name),
        storage: vec![index],
        share: 1.0,
        share_asked: false,
        iops: None,
        priority: None,
        sizes: Sizes::Fixed(transfer),
        read_pct: 0.0,
        seek: Seek::SequentialToEnd,
        range: Range::Bytes {
            low,
            high: asked_bytes,
        },
        hot_band: None,
        read_hit_pct: 0.0,
        write_hit_pct: 0.0,
        stride: None,
        sequential_streams: 1,
    })
}
