//! Opens the SDs of a run, and refuses those that would do harm or measure something else.

use std::collections::BTreeMap;
use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io::{self, Seek as _, SeekFrom};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use rustix::fs::{AtFlags, StatxFlags};

use super::error::{EngineError, Obstacle};
use super::signature;
use crate::exclusive;
use crate::regular;
use crate::run::{Run, Sizes, StorageDefinition};

/// Smallest unit of any device.
pub(crate) const SECTOR_BYTES: u64 = 512;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Extent {
    /// Bytes that can be addressed, before the offset is added.
    pub size_bytes: u64,
    pub offset_bytes: u64,
    /// The first block belongs to labels and partition tables, so it is never touched.
    pub spare_first_block: bool,
    /// Offsets and sizes are multiples of this.
    pub unit_bytes: u64,
}

#[derive(Debug)]
pub(crate) struct OpenStorage {
    pub file: File,
    pub extent: Extent,
    fsync_at_close: bool,
}

impl OpenStorage {
    /// Synchronizes the file, if the run requested it.
    pub fn finish(&self) -> io::Result<()> {
        if self.fsync_at_close {
            self.file.sync_all()?;
        }
        Ok(())
    }
}

/// Block devices to write to, held exclusively: the kernel gives one only while it is neither mounted, nor swap, nor
/// part of another device, and nobody can mount it until it is released. A list of runs holds its devices to its end.
#[derive(Debug, Default)]
pub struct Claims {
    held: Mutex<BTreeMap<u64, File>>,
}

impl Claims {
    fn claim(
        &self,
        sd: &StorageDefinition,
        device: u64,
        may_destroy: &[PathBuf],
    ) -> Result<(), EngineError> {
        // No code under the lock can panic halfway.
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.contains_key(&device) {
            return Ok(());
        }
        let file = exclusive::open(&sd.path).map_err(|reason| {
            if exclusive::is_busy(&reason) {
                EngineError::of_sd(sd, Obstacle::InUse)
            } else {
                refused(sd, true, reason)
            }
        })?;
        // A device is checked once, because it later carries what the list has written.
        let found = signature::on(&sd.path, &file);
        let found = found.map_err(|reason| refused(sd, false, reason))?;
        let is_named = |path: &PathBuf| std::fs::metadata(path).is_ok_and(|it| it.rdev() == device);
        if let Some(what) = found.filter(|_| !may_destroy.iter().any(is_named)) {
            return Err(EngineError::of_sd(sd, Obstacle::Bears(what)));
        }
        held.insert(device, file);
        Ok(())
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Opening<'a> {
    pub may_grow: bool,
    /// Devices whose contents may be overwritten.
    pub may_destroy: &'a [PathBuf],
    pub claims: &'a Claims,
}

pub(crate) fn open_all(run: &Run, opening: &Opening<'_>) -> Result<Vec<OpenStorage>, EngineError> {
    check_twice(run)?;
    let all = run.storage.iter().enumerate();
    all.map(|(index, sd)| open(run, index, sd, opening))
        .collect()
}

/// Extents that a run will find, without creating files or holding them open. A file that does not exist is as large
/// as the format before the run will make it.
pub(crate) fn look_at_all(
    run: &Run,
    opening: &Opening<'_>,
    is_formatted: impl Fn(&StorageDefinition) -> bool,
) -> Result<Vec<Extent>, EngineError> {
    check_twice(run)?;
    let look = |(index, sd): (usize, &StorageDefinition)| {
        let may_grow = is_formatted(sd);
        match (kind(sd)?, sd.size_bytes) {
            (None, Some(size_bytes)) if may_grow => Ok(Extent {
                size_bytes,
                offset_bytes: sd.offset_bytes,
                spare_first_block: sd.is_device(),
                unit_bytes: SECTOR_BYTES,
            }),
            (None, _) => Err(absent(sd)),
            (Some(_), _) => {
                let base = *opening;
                let opening = Opening { may_grow, ..base };
                Ok(open(run, index, sd, &opening)?.extent)
            }
        }
    };
    run.storage.iter().enumerate().map(look).collect()
}

/// Validated blocks must not be written under another name.
fn check_twice(run: &Run) -> Result<(), EngineError> {
    let paths = run.storage.iter().map(|sd| &sd.path);
    let identities: Vec<_> = paths
        .map(|path| identity(std::fs::metadata(path)))
        .collect();
    for (index, sd) in run.storage.iter().enumerate() {
        let is_same = |other: &usize| match (identities[*other], identities[index]) {
            (Some(other), Some(own)) => other == own,
            _ => run.storage[*other].path == sd.path,
        };
        let proven = |other: &usize| is_proven(&run.storage[*other]) || is_proven(sd);
        let mut before = 0..index;
        if let Some(other) = before.find(|other| is_same(other) && proven(other)) {
            let other = run.storage[other].name.clone();
            return Err(EngineError::of_sd(sd, Obstacle::Twice(other)));
        }
    }
    Ok(())
}

fn absent(sd: &StorageDefinition) -> EngineError {
    let way_out = match (sd.is_device(), sd.size_bytes) {
        (true, _) => "check the name of the device (lsblk)",
        (false, None) => "check the path, or give size= to create the file",
        (false, Some(_)) => {
            "check the path, or leave out formatsds=no, so that the file is created"
        }
    };
    EngineError::of_sd(sd, Obstacle::Absent(way_out))
}

/// Device and inode, which are the same for two paths of one file.
fn identity(metadata: io::Result<Metadata>) -> Option<(u64, u64)> {
    let metadata = metadata.ok()?;
    let is_block = metadata.file_type().is_block_device();
    Some(if is_block {
        (u64::MAX, metadata.rdev())
    } else {
        (metadata.dev(), metadata.ino())
    })
}

fn is_proven(sd: &StorageDefinition) -> bool {
    sd.content.validation.is_some()
}

fn refused(sd: &StorageDefinition, writes: bool, reason: io::Error) -> EngineError {
    let access = if writes {
        "reading and writing"
    } else {
        "reading"
    };
    EngineError::of_sd(sd, Obstacle::Open { access, reason })
}

/// Type of the file at the path, or `None` if there is none. It is checked before the file is opened, because opening
/// a FIFO waits for its other end.
fn kind(sd: &StorageDefinition) -> Result<Option<FileType>, EngineError> {
    let kind = std::fs::metadata(&sd.path).ok().map(|m| m.file_type());
    let is_device = |kind: FileType| kind.is_block_device() || kind.is_char_device();
    let odd = kind
        .filter(|kind| !is_device(*kind))
        .and_then(regular::other);
    odd.map_or(Ok(kind), |what| {
        Err(EngineError::of_sd(sd, Obstacle::Kind(what)))
    })
}

fn open(
    run: &Run,
    index: usize,
    sd: &StorageDefinition,
    opening: &Opening<'_>,
) -> Result<OpenStorage, EngineError> {
    let writes = run.writes_to(index);
    let kind = kind(sd)?;
    let is_block = kind.is_some_and(|kind| kind.is_block_device());
    if is_block && !sd.open_flags.direct {
        return Err(EngineError::of_sd(sd, Obstacle::NotDirect));
    }
    // A file that cannot grow to a size would only be left empty.
    let may_make = opening.may_grow && writes && kind.is_none() && !sd.is_device();
    let file = OpenOptions::new()
        .read(true)
        .write(writes)
        .create(may_make)
        .truncate(false)
        .mode(0o644)
        .custom_flags(flags(sd))
        .open(&sd.path)
        .map_err(|reason| match reason.raw_os_error() {
            Some(libc::ENOENT) => absent(sd),
            _ => refused(sd, writes, reason),
        })?;
    let metadata = file.metadata();
    let metadata = metadata.map_err(|reason| refused(sd, writes, reason))?;
    if is_block && writes {
        let (claims, device) = (opening.claims, metadata.rdev());
        claims.claim(sd, device, opening.may_destroy)?;
    }
    let may_grow = opening.may_grow && !is_block;
    let extent = Extent {
        size_bytes: usable_size(sd, &file, &metadata, writes, may_grow)?,
        offset_bytes: sd.offset_bytes,
        spare_first_block: is_block || sd.is_device(),
        unit_bytes: direct_unit_bytes(&file).unwrap_or(SECTOR_BYTES),
    };
    check_alignment(run, index, sd, extent)?;
    Ok(OpenStorage {
        file,
        extent,
        fsync_at_close: sd.open_flags.fsync_at_close && writes,
    })
}

fn flags(sd: &StorageDefinition) -> i32 {
    let given = sd.open_flags;
    let mut flags = given.bits as i32;
    if given.direct {
        flags |= libc::O_DIRECT;
    }
    if given.data_sync {
        flags |= libc::O_DSYNC;
    }
    flags
}

/// Usable bytes of the file or device: the requested size, or everything after the offset.
fn usable_size(
    sd: &StorageDefinition,
    file: &File,
    metadata: &Metadata,
    writes: bool,
    may_grow: bool,
) -> Result<u64, EngineError> {
    let no_size = || EngineError::of_sd(sd, Obstacle::NoSize);
    if metadata.file_type().is_char_device() {
        return sd.size_bytes.ok_or_else(no_size);
    }
    let mut end = file;
    let end_bytes = end.seek(SeekFrom::End(0));
    let end_bytes = end_bytes.map_err(|reason| refused(sd, writes, reason))?;
    let have_bytes = end_bytes.saturating_sub(sd.offset_bytes);
    match sd.size_bytes {
        Some(wanted_bytes) if wanted_bytes > have_bytes && !may_grow => {
            let obstacle = Obstacle::TooSmall {
                have_bytes,
                wanted_bytes,
            };
            Err(EngineError::of_sd(sd, obstacle))
        }
        Some(wanted_bytes) => Ok(wanted_bytes),
        None if have_bytes == 0 => Err(no_size()),
        None => Ok(have_bytes),
    }
}

/// Without the page cache the kernel takes only whole units of the device; one early error is better than one for
/// every I/O.
fn check_alignment(
    run: &Run,
    index: usize,
    sd: &StorageDefinition,
    extent: Extent,
) -> Result<(), EngineError> {
    let unit_bytes = if sd.open_flags.direct {
        extent.unit_bytes
    } else {
        1
    };
    let demand = |what, bytes: u64, unit_bytes: u64| {
        if bytes.is_multiple_of(unit_bytes) {
            Ok(())
        } else {
            Err(EngineError::Unaligned {
                sd: sd.name.clone(),
                path: sd.path.clone(),
                what,
                bytes,
                unit_bytes,
            })
        }
    };
    demand("offset=", sd.offset_bytes, unit_bytes)?;
    demand("align=", sd.align_bytes.unwrap_or(0), unit_bytes)?;
    for stream in run.streams.iter().filter(|s| s.storage.contains(&index)) {
        for bytes in all_sizes(&stream.sizes) {
            demand("a transfer", bytes, unit_bytes)?;
        }
    }
    Ok(())
}

fn all_sizes(sizes: &Sizes) -> Vec<u64> {
    match sizes {
        Sizes::Fixed(bytes) => vec![*bytes],
        Sizes::Weighted(sizes) => sizes.iter().map(|size| size.bytes).collect(),
        Sizes::Uniform {
            min_bytes,
            max_bytes,
            align_bytes,
        } => vec![*min_bytes, *max_bytes, *align_bytes],
    }
}

/// Unit of offsets and sizes with `O_DIRECT`, if the file system (Linux 6.1) or a block device reports it.
fn direct_unit_bytes(file: &File) -> Option<u64> {
    let alignment = StatxFlags::DIOALIGN;
    // The system call itself, because glibc has a function for it only since 2.28.
    let status = rustix::fs::statx(file, c"", AtFlags::EMPTY_PATH, alignment).ok();
    status
        .filter(|status| status.stx_mask & alignment.bits() != 0)
        .map(|status| u64::from(status.stx_dio_offset_align))
        .filter(|bytes| *bytes > 0)
        .or_else(|| logical_block_bytes(file))
}

fn logical_block_bytes(file: &File) -> Option<u64> {
    let bytes = rustix::fs::ioctl_blksszget(file).ok()?;
    Some(u64::from(bytes)).filter(|bytes| *bytes > 0)
}
