//! Files that are missing or too short are written to the size asked for before anything is measured on them.

use crate::run::{
    Arrivals, ErrorLimit, Range, Rate, Run, Seek, Sizes, Stop, StorageDefinition, Stream,
};

/// Name of the run, which scrapers of vdbench's pages know.
pub const FORMAT_NAME: &str = "SD_format";
/// Transfers of a format, where the file is not smaller.
const TRANSFER_BYTES: u64 = 128 * 1024;
const TRANSFER_BYTES_MIN: u64 = super::files::SECTOR_BYTES;
const THREADS: u32 = 2;

/// The run that brings the files of `run` to their size, to be carried out before it with
/// [`Options::may_grow`](super::Options::may_grow); `None` when all are large enough. What a file has already is kept,
/// unless `anew` asks for all of it to be written again. Devices are never formatted.
#[must_use]
pub fn format_run(run: &Run, anew: bool) -> Option<Run> {
    let mut storage = Vec::new();
    let mut streams = Vec::new();
    for (index, sd) in run.storage.iter().enumerate() {
        if !run.streams.iter().any(|s| s.storage.contains(&index)) {
            continue;
        }
        if let Some(stream) = format_stream(sd, storage.len(), anew) {
            streams.push(stream);
            storage.push(StorageDefinition {
                threads: THREADS,
                align_bytes: None,
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
        loops: String::new(),
        elapsed_s: None,
        interval_s: run.interval_s,
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

fn format_stream(sd: &StorageDefinition, index: usize, anew: bool) -> Option<Stream> {
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
    let mut transfer = TRANSFER_BYTES;
    while transfer > TRANSFER_BYTES_MIN
        && (!asked_bytes.is_multiple_of(transfer) || asked_bytes < 2 * transfer)
    {
        transfer /= 2;
    }
    let low = (have_bytes / transfer * transfer).min(asked_bytes.saturating_sub(2 * transfer));
    Some(Stream {
        workload: FORMAT_NAME.to_owned(),
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
