//! The input files and their formats.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::error::FleetError;

pub const FILES_MAX: usize = 10_000;
/// Beginning of every SQLite database, and so of every archive.
const ARCHIVE: &[u8] = b"SQLite format 3\0";
const ENDINGS: [&str; 2] = ["csv", "dbdyno"];

/// The files under these names: files themselves, and those in folders that end in .csv or .dbdyno, by name. Fails if
/// one cannot be read, a folder contains none, or they are too many.
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
        let entries: io::Result<Vec<_>> = fs::read_dir(path).map_err(unreadable)?.collect();
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

/// Opens a regular file; one without end, or that waits for a writer, is refused. Fails if it is not a regular file,
/// or cannot be opened.
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

/// True if the file is an archive of runs; otherwise it counts as CSV.
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

pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
