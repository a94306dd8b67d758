//! Checks a whole list before its first I/O, so that an error in its last run is reported before hours of the others.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

use super::error::EngineError;
use super::files::{Claims, look_at_all};
use super::{Options, check, content, geometry, journal, plan, proofs, resolve};
use crate::run::{Range, Run, StorageDefinition};

/// Bytes of the unit in which `stat` counts what a file occupies.
const STAT_UNIT_BYTES: u64 = 512;

/// Checks that all of `runs` can begin, after `format`: files and devices exist with the kind, size and alignment
/// that they need and may be used, journals and patterns are files, and space suffices. Nothing is created or
/// written. From now on the claims of `options` hold the devices.
///
/// # Errors
/// [`EngineError`] for the first problem.
pub fn check_list(
    format: Option<&Run>,
    runs: &[Run],
    options: &Options<'_>,
) -> Result<(), EngineError> {
    let own = Claims::default();
    let claims = options.claims.unwrap_or(&own);
    let is_formatted = |sd: &StorageDefinition| {
        let mut made = format.iter().flat_map(|format| &format.storage);
        made.any(|made| made.path == sd.path)
    };
    for run in format.into_iter().chain(runs) {
        // Rates that follow from other runs are not known yet, and do not matter here.
        let run = resolve(run, &[]);
        check(&run)?;
        plan::workers(&run, options.workers())?;
        let extents = look_at_all(&run, &options.opening(claims), is_formatted)?;
        for index in 0..run.streams.len() {
            geometry::source(&run, index, &extents, options.seed)?;
        }
        for (index, extent) in extents.iter().enumerate() {
            let sd = &run.storage[index];
            if sd.content.validation.is_some() {
                proofs::empty(&run, index, extent)?;
            }
            if let Some(journal) = sd.journal() {
                journal::look(journal, &sd.name)?;
            }
            if let Some(path) = &sd.content.pattern {
                content::pattern(path)?;
            }
        }
    }
    format.map_or(Ok(()), check_room)
}

/// Checks the bytes that a format adds to files, by file system, against its free space.
fn check_room(format: &Run) -> Result<(), EngineError> {
    let mut wanted: BTreeMap<u64, (PathBuf, u64)> = BTreeMap::new();
    for stream in &format.streams {
        let sd = &format.storage[stream.storage[0]];
        let Range::Bytes { low, high } = stream.range else {
            continue;
        };
        let there = std::fs::metadata(&sd.path).ok();
        let occupied = there.map_or(0, |file| file.blocks() * STAT_UNIT_BYTES);
        let missing = (sd.offset_bytes + high)
            .saturating_sub(occupied)
            .min(high - low);
        let folder = folder_of(&sd.path);
        let device = std::fs::metadata(&folder).map(|folder| folder.dev());
        // An inaccessible folder is reported when its file is created.
        if let Ok(device) = device {
            wanted.entry(device).or_insert((folder, 0)).1 += missing;
        }
    }
    for (folder, wanted_bytes) in wanted.into_values() {
        match free_bytes(&folder) {
            Ok(free_bytes) if free_bytes < wanted_bytes => {
                return Err(EngineError::NoRoom {
                    folder,
                    wanted_bytes,
                    free_bytes,
                });
            }
            // A file system that does not report its free space may have enough.
            Ok(_) | Err(_) => {}
        }
    }
    Ok(())
}

fn folder_of(file: &Path) -> PathBuf {
    let parent = file.parent().filter(|path| !path.as_os_str().is_empty());
    parent.unwrap_or(Path::new(".")).to_owned()
}

fn free_bytes(folder: &Path) -> io::Result<u64> {
    let status = rustix::fs::statvfs(folder)?;
    // Some blocks are reserved for root.
    let free = if geteuid().is_root() {
        status.f_bfree
    } else {
        status.f_bavail
    };
    Ok(free.saturating_mul(status.f_frsize))
}
