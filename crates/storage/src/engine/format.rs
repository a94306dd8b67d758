//! Files that are missing or too short are written to their size before anything is measured on them.

use std::collections::BTreeSet;

use crate::run::{FILL_TRANSFER_BYTES, Range, Run, StorageDefinition, Stream, fill_transfer_bytes};

/// Name of the run, which scrapers of vdbench's pages expect.
pub const FORMAT_NAME: &str = "SD_format";
const THREADS: u32 = 2;

/// The run that brings the files of all `runs` to their size, to be carried out before them with
/// [`Options::may_grow`](super::Options::may_grow); `None` when all are large enough. Existing contents stay unless
/// `rewrite` is set. Devices are never formatted. Writes have `transfer_bytes`, or less if the size is no multiple of
/// them.
#[must_use]
pub fn format_run(runs: &[Run], rewrite: bool, transfer_bytes: Option<u64>) -> Option<Run> {
    let mut storage: Vec<StorageDefinition> = Vec::new();
    let mut streams = Vec::new();
    let mut seen = BTreeSet::new();
    for sd in runs.iter().flat_map(Run::used_storage) {
        // Several SDs may name one file.
        if !seen.insert((&sd.path, sd.offset_bytes, sd.size_bytes)) {
            continue;
        }
        let transfer_bytes = transfer_bytes.unwrap_or(FILL_TRANSFER_BYTES);
        if let Some(stream) = format_stream(sd, storage.len(), rewrite, transfer_bytes) {
            streams.push(stream);
            storage.push(sd.to_fill(THREADS));
        }
    }
    let loops = format!("threads={THREADS} iorate=max");
    (!streams.is_empty()).then(|| Run::fill(FORMAT_NAME, loops, storage, streams))
}

fn format_stream(
    sd: &StorageDefinition,
    index: usize,
    rewrite: bool,
    transfer_bytes: u64,
) -> Option<Stream> {
    let wanted_bytes = sd.size_bytes?;
    let metadata = std::fs::metadata(&sd.path).ok();
    if sd.is_device() || metadata.as_ref().is_some_and(|m| !m.is_file()) {
        return None;
    }
    let have = metadata.map_or(0, |m| m.len().saturating_sub(sd.offset_bytes));
    let have_bytes = if rewrite { 0 } else { have };
    if have_bytes >= wanted_bytes {
        return None;
    }
    let transfer = fill_transfer_bytes(wanted_bytes, transfer_bytes);
    let low = (have_bytes / transfer * transfer).min(wanted_bytes.saturating_sub(2 * transfer));
    let range = Range::Bytes {
        low,
        high: wanted_bytes,
    };
    let name = format!("{FORMAT_NAME}_{}", sd.name);
    Some(Stream::fill(&name, index, transfer, range))
}
