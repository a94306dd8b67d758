//! Copies files and whole directories: owners, rights and holes stay as they are.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, chown};
use std::path::Path;

use rustix::fs::{self as system, FallocateFlags, fallocate};
use rustix::io::Errno;

/// Directories inside each other in a data directory.
const DEPTH_MAX: u32 = 16;
/// Unit in which the kernel reports the room of a file.
const BLOCK_BYTES: u64 = 512;
/// Files of one database; a directory with more is none.
const FILES_MAX: u64 = 1_000_000;

/// Copies a file or a directory with everything in it. Blocks are shared where the file system can.
///
/// # Errors
/// When there is a link or a device among them, or something cannot be read or written.
pub fn copy(from: &Path, to: &Path) -> io::Result<()> {
    copy_any(from, to, DEPTH_MAX, &mut 0)
}

/// Removes a file or a directory with everything in it; fine when it is not there.
///
/// # Errors
/// When it cannot be removed.
pub fn remove(path: &Path) -> io::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        outcome => outcome,
    }
}

/// Writes everything on the file system of `directory` to its device: for many files far faster than one
/// by one.
///
/// # Errors
/// When the device refuses.
pub fn sync(directory: &Path) -> io::Result<()> {
    let directory = File::open(directory)?;
    // SAFETY: the descriptor is open for the whole call.
    match unsafe { libc::syncfs(directory.as_raw_fd()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn copy_any(from: &Path, to: &Path, depth: u32, files: &mut u64) -> io::Result<()> {
    let found = fs::symlink_metadata(from)?;
    *files += 1;
    if *files > FILES_MAX || depth == 0 {
        return Err(io::Error::other(
            "the directory has too many files to be a database",
        ));
    }
    if found.is_file() {
        return copy_file(from, to, &found);
    }
    if !found.is_dir() {
        let what = format!(
            "{} is neither a file nor a directory and cannot be copied",
            from.display()
        );
        return Err(io::Error::other(what));
    }
    DirBuilder::new().mode(0o700).create(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        copy_any(&entry.path(), &target, depth - 1, files)?;
    }
    give(to, &found)
}

fn copy_file(from: &Path, to: &Path, found: &Metadata) -> io::Result<()> {
    let mut source = File::open(from)?;
    let mut target = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(to)?;
    target.set_len(found.len())?;
    let (mut at, mut data_bytes) = (0, 0);
    while let Some((begin, end)) = data_from(&source, at, found.len())? {
        source.seek(SeekFrom::Start(begin))?;
        target.seek(SeekFrom::Start(begin))?;
        // Within the kernel, and by sharing blocks where the file system can.
        let copied = io::copy(&mut (&mut source).take(end - begin), &mut target)?;
        if copied != end - begin {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        data_bytes += copied;
        at = end;
    }
    // Room that was taken and never written to is a hole for who reads.
    let is_all_taken = taken_bytes(found) >= found.len();
    if is_all_taken && data_bytes < found.len() {
        allocate(&target, found.len());
    }
    give(to, found)
}

/// Room that a file takes.
pub fn taken_bytes(found: &Metadata) -> u64 {
    found.blocks() * BLOCK_BYTES
}

/// Takes room for all of a file, as one has it that was made so: else the first writes to it, which somebody may measure, take it one by
/// one. It can be done without.
fn allocate(file: &File, length: u64) {
    let _ = fallocate(file, FallocateFlags::empty(), 0, length);
}

/// Where data begin at or after `at`, and where the next hole begins.
fn data_from(file: &File, at: u64, length: u64) -> io::Result<Option<(u64, u64)>> {
    if at >= length {
        return Ok(None);
    }
    let seek = |to| match system::seek(file, to) {
        Ok(found) => Ok(Some(found)),
        Err(Errno::NXIO) => Ok(None),
        // A file system that knows no holes.
        Err(Errno::INVAL) => Ok(Some(length)),
        Err(error) => Err(io::Error::from(error)),
    };
    let begin = match seek(system::SeekFrom::Data(at))? {
        None => return Ok(None),
        Some(begin) if begin >= length => at,
        Some(begin) => begin,
    };
    let end = seek(system::SeekFrom::Hole(begin))?.unwrap_or(length);
    Ok(Some((begin, end.min(length))))
}

/// Gives a copy the owner and the rights of what it is a copy of.
fn give(to: &Path, found: &Metadata) -> io::Result<()> {
    let made = fs::metadata(to)?;
    if (made.uid(), made.gid()) != (found.uid(), found.gid()) {
        chown(to, Some(found.uid()), Some(found.gid()))?;
    }
    fs::set_permissions(to, Permissions::from_mode(found.mode() & 0o7777))
}
