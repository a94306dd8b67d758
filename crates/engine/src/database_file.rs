//! Files of embedded databases, and paths that are none.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use archive::lock_file::real_path;

use crate::{Result, TargetError};

const BESIDE: [&str; 5] = ["", "-wal", "-shm", "-journal", ".wal"];

/// The file at `path` under its name without links; it need not exist yet.
///
/// # Errors
/// When something else is there: an engine could wait for the other end of a pipe, or write to a device.
pub fn resolved(engine: &str, path: &Path) -> Result<PathBuf> {
    let kind = match fs::metadata(path) {
        Ok(found) => Some(found.file_type()),
        Err(e) if e.kind() == io::ErrorKind::NotFound && path.is_symlink() => None,
        // Nothing is there, or opening will say what the matter is.
        Err(_) => return Ok(real_path(path)),
    };
    let what = match kind {
        None => "a dangling symbolic link; remove it",
        Some(kind) if kind.is_file() => return Ok(real_path(path)),
        Some(kind) if kind.is_dir() => "a directory; name a file in it",
        Some(kind) if kind.is_fifo() => "a pipe, not a file",
        Some(kind) if kind.is_block_device() || kind.is_char_device() => "a device, not a file",
        Some(_) => "not a file",
    };
    Err(TargetError::unreachable(format!(
        "{engine}: {} is {what}, or choose another path",
        path.display()
    )))
}

/// A path as one name within a directory, different for every path.
pub fn as_one_name(path: &Path) -> OsString {
    let mut name = Vec::new();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'%' => name.extend(b"%25"),
            b'/' => name.extend(b"%2F"),
            byte => name.push(*byte),
        }
    }
    OsString::from_vec(name)
}

/// Removes a database file with everything that its engine puts beside it.
pub fn remove_files(file: &Path) -> Result<()> {
    for end in BESIDE {
        let mut name = file.as_os_str().to_owned();
        name.push(end);
        let path = PathBuf::from(name);
        match fs::remove_file(&path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                return Err(TargetError::unreachable(format!(
                    "cannot remove {}: {error}",
                    path.display()
                )));
            }
        }
    }
    Ok(())
}
