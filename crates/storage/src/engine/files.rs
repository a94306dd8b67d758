//! Opens what a run works on, and refuses what would do harm or measure something else.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{Seek as _, SeekFrom};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};

use super::Options;
use super::error::EngineError;
use crate::run::{Run, Sizes, StorageDefinition};

/// Smallest unit of any device.
pub(crate) const SECTOR_BYTES: u64 = 512;

/// One SD, open.
#[derive(Debug)]
pub(crate) struct OpenStorage {
    pub file: File,
    /// Bytes that addresses may fall into, before the offset is added.
    pub size_bytes: u64,
    /// Added to every address.
    pub offset_bytes: u64,
    /// The first block belongs to labels and partition tables, and is never touched.
    pub spare_first_block: bool,
    /// Written back once at the end.
    fsync_at_close: bool,
}

impl OpenStorage {
    /// Writes back what the cache holds, where the run asked for it.
    pub fn finish(&self) -> std::io::Result<()> {
        if self.fsync_at_close {
            self.file.sync_all()?;
        }
        Ok(())
    }
}

/// Opens all SDs of a run, in their order.
pub(crate) fn open_all(run: &Run, options: &Options<'_>) -> Result<Vec<OpenStorage>, EngineError> {
    let mut opened: Vec<OpenStorage> = Vec::with_capacity(run.storage.len());
    let mut known: Vec<(u64, u64)> = Vec::with_capacity(run.storage.len());
    for (index, sd) in run.storage.iter().enumerate() {
        let own = identity(std::fs::metadata(&sd.path));
        let same: Vec<usize> = (0..index)
            .filter(|other| own == Some(known[*other]))
            .collect();
        let proven = |other: &&usize| is_proven(&run.storage[**other]) || is_proven(sd);
        if let Some(other) = same.iter().find(proven) {
            return Err(EngineError::Twice {
                sd: sd.name.clone(),
                other: run.storage[*other].name.clone(),
                path: sd.path.clone(),
            });
        }
        let has_it = same.iter().any(|other| run.writes_to(*other));
        let storage = open(sd, run.writes_to(index), has_it, options)?;
        check_alignment(run, index, sd, &storage)?;
        known.push(identity(storage.file.metadata()).unwrap_or_default());
        opened.push(storage);
    }
    Ok(opened)
}

/// What makes two paths the same thing.
fn identity(metadata: std::io::Result<Metadata>) -> Option<(u64, u64)> {
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

fn refused(sd: &StorageDefinition, writes: bool, source: std::io::Error) -> EngineError {
    EngineError::Open {
        sd: sd.name.clone(),
        path: sd.path.clone(),
        access: if writes {
            "reading and writing"
        } else {
            "reading"
        },
        source,
    }
}

fn open(
    sd: &StorageDefinition,
    writes: bool,
    has_it: bool,
    options: &Options<'_>,
) -> Result<OpenStorage, EngineError> {
    let kind = std::fs::metadata(&sd.path).ok().map(|m| m.file_type());
    let is_block = kind.is_some_and(|kind| kind.is_block_device());
    if kind.is_some_and(|kind| kind.is_dir()) {
        return Err(EngineError::Kind {
            sd: sd.name.clone(),
            path: sd.path.clone(),
            what: "a directory",
        });
    }
    if is_block && !sd.open_flags.direct {
        return Err(EngineError::NotDirect {
            sd: sd.name.clone(),
            path: sd.path.clone(),
        });
    }
    // On a block device O_EXCL asks for it alone: the kernel refuses while it is mounted, or swapped or stacked upon.
    // An SD of this run that has it already has asked.
    let alone = is_block && writes && !has_it && !options.force;
    // Without a size to grow to, a file would only lie there empty.
    let may_make = options.may_grow && writes && kind.is_none() && !sd.is_device();
    let file = OpenOptions::new()
        .read(true)
        .write(writes)
        .create(may_make)
        .truncate(false)
        .mode(0o644)
        .custom_flags(flags(sd, alone))
        .open(&sd.path)
        .map_err(|source| match source.raw_os_error() {
            Some(libc::ENOENT) => EngineError::Absent {
                sd: sd.name.clone(),
                path: sd.path.clone(),
            },
            Some(libc::EBUSY) if alone => EngineError::InUse {
                sd: sd.name.clone(),
                path: sd.path.clone(),
            },
            _ => refused(sd, writes, source),
        })?;
    let may_grow = options.may_grow && writes && !is_block;
    let size_bytes = usable_size(sd, &file, writes, may_grow)?;
    Ok(OpenStorage {
        file,
        size_bytes,
        offset_bytes: sd.offset_bytes,
        spare_first_block: is_block || sd.is_device(),
        fsync_at_close: sd.open_flags.fsync_at_close && writes,
    })
}

fn flags(sd: &StorageDefinition, alone: bool) -> i32 {
    let given = sd.open_flags;
    let mut flags = given.bits as i32;
    if given.direct {
        flags |= libc::O_DIRECT;
    }
    if given.data_sync {
        flags |= libc::O_DSYNC;
    }
    if alone {
        flags |= libc::O_EXCL;
    }
    flags
}

/// What may be used of the file or device: the size asked for, or all of it behind the offset.
fn usable_size(
    sd: &StorageDefinition,
    file: &File,
    writes: bool,
    may_grow: bool,
) -> Result<u64, EngineError> {
    let metadata = file
        .metadata()
        .map_err(|source| refused(sd, writes, source))?;
    if metadata.file_type().is_char_device() {
        return sd.size_bytes.ok_or_else(|| EngineError::NoSize {
            sd: sd.name.clone(),
            path: sd.path.clone(),
        });
    }
    let mut end = file;
    let have_bytes = end
        .seek(SeekFrom::End(0))
        .map_err(|source| refused(sd, writes, source))?;
    let behind = have_bytes.saturating_sub(sd.offset_bytes);
    match sd.size_bytes {
        Some(asked_bytes) if asked_bytes > behind && !may_grow => Err(EngineError::TooSmall {
            sd: sd.name.clone(),
            path: sd.path.clone(),
            have_bytes: behind,
            asked_bytes,
        }),
        Some(asked_bytes) => Ok(asked_bytes),
        None if behind == 0 => Err(EngineError::NoSize {
            sd: sd.name.clone(),
            path: sd.path.clone(),
        }),
        None => Ok(behind),
    }
}

/// Without the page cache the kernel takes only whole units of the device; better said now than by every I/O.
fn check_alignment(
    run: &Run,
    index: usize,
    sd: &StorageDefinition,
    storage: &OpenStorage,
) -> Result<(), EngineError> {
    let unit_bytes = if sd.open_flags.direct {
        direct_unit_bytes(&storage.file).unwrap_or(SECTOR_BYTES)
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

/// What every transfer size is a sum of.
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

/// What offsets and sizes must be multiples of with `O_DIRECT`, where the file system tells (Linux 6.1).
fn direct_unit_bytes(file: &File) -> Option<u64> {
    // SAFETY: all-zero is a valid `statx`, which holds nothing but numbers.
    let mut status: libc::statx = unsafe { std::mem::zeroed() };
    // SAFETY: the descriptor is open, the path an empty C string, and `status` a valid place to fill.
    let result = unsafe {
        libc::statx(
            file.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH,
            libc::STATX_DIOALIGN,
            &mut status,
        )
    };
    let told = result == 0 && status.stx_mask & libc::STATX_DIOALIGN != 0;
    (told && status.stx_dio_offset_align > 0).then(|| u64::from(status.stx_dio_offset_align))
}
