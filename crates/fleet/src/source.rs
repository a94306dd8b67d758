//! The files that are named, and of what kind each is.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::error::FleetError;

/// Most files of one import.
pub const FILES_MAX: usize = 10_000;
/// With this every database of SQLite begins, and so every archive.
const ARCHIVE: &[u8] = b"SQLite format 3\0";
/// What is looked for in a folder.
const ENDINGS: [&str; 2] = ["csv", "dbdyno"];

/// The files behind these names: files as they are, and of folders those that end in .csv or .dbdyno, by name.
///
/// # Errors
/// When one cannot be looked at, a folder contains none, or they are too many.
pub fn files(named: &[PathBuf]) -> Result<Vec<PathBuf>, FleetError> {
    let mut files = Vec::new();
    for path in named {
        let unreadable = |source| FleetError::Unreadable {
            file: path.clone(),
            source,
        };
        if !fs::metadata(path).map_err(unreadable)?.is_dir() {
            files.push(path.clone());
            continue;
        }
        let entries = fs::read_dir(path).map_err(unreadable)?;
        let entries: io::Result<Vec<_>> = entries.collect();
        let paths = entries.map_err(unreadable)?;
        let mut found: Vec<PathBuf> = paths
            .iter()
            .map(fs::DirEntry::path)
            .filter(|path| {
                let ending = path.extension().unwrap_or_default();
                ENDINGS.iter().any(|known| ending == *known) && path.is_file()
            })
            .collect();
        if found.is_empty() {
            return Err(FleetError::NoFiles(path.clone()));
        }
        found.sort();
        files.append(&mut found);
    }
    match files.len() {
        have if have > FILES_MAX => Err(FleetError::TooManyFiles {
            have,
            limit: FILES_MAX,
        }),
        _ => Ok(files),
    }
}

/// Opens a regular file; what has no end, or waits for a writer, is refused.
///
/// # Errors
/// When it is none, or cannot be opened.
pub fn open(path: &Path) -> Result<File, FleetError> {
    let unreadable = |source| FleetError::Unreadable {
        file: path.to_owned(),
        source,
    };
    if !fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(FleetError::File {
            file: path.to_owned(),
            what: "it is a device, a pipe or a folder; name a regular file".to_owned(),
        });
    }
    File::open(path).map_err(unreadable)
}

/// Whether the file is an archive of runs; else it is taken for CSV.
///
/// # Errors
/// As of [`open`].
pub fn is_archive(path: &Path) -> Result<bool, FleetError> {
    let mut begin = Vec::new();
    let file = open(path)?;
    let read = file.take(ARCHIVE.len() as u64).read_to_end(&mut begin);
    read.map_err(|source| FleetError::Unreadable {
        file: path.to_owned(),
        source,
    })?;
    Ok(begin == ARCHIVE)
}

/// SHA-256 of a file, as hexadecimal digits.
///
/// # Errors
/// As of [`open`].
pub fn digest(path: &Path) -> Result<String, FleetError> {
    let mut file = open(path)?;
    let mut sha = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = file
            .read(&mut buffer)
            .map_err(|source| FleetError::Unreadable {
                file: path.to_owned(),
                source,
            })?;
        if read == 0 {
            return Ok(hexadecimal(&sha.finalize()));
        }
        sha.update(&buffer[..read]);
    }
}

/// Bytes as hexadecimal digits.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
