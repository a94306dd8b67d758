//! The input files and their formats.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::error::FleetError;

/// Beginning of every SQLite database, and so of every archive.
const ARCHIVE: &[u8] = b"SQLite format 3\0";

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
