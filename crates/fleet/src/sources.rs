//! The files that an import names.

use std::path::PathBuf;
use std::{fs, io};

use crate::archives::Runs;
use crate::error::FleetError;

pub const FILES_MAX: usize = 10_000;
const ENDINGS: [&str; 2] = ["csv", "dbdyno"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// CSV file, archive, or directory of them.
    pub path: PathBuf,
    pub runs: Runs,
}

impl From<PathBuf> for Source {
    fn from(path: PathBuf) -> Self {
        Self {
            path,
            runs: Runs::default(),
        }
    }
}

/// The files under these names: files themselves, and those in folders that end in .csv or .dbdyno, by name. Fails if
/// one cannot be read, a folder contains none, or they are too many.
pub fn files(named: &[Source]) -> Result<Vec<Source>, FleetError> {
    let mut files = Vec::new();
    for source in named {
        let path = &source.path;
        let unreadable = |source| FleetError::Unreadable {
            file: path.clone(),
            source,
        };
        if !fs::metadata(path).map_err(unreadable)?.is_dir() {
            files.push(source.clone());
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
        files.extend(found.into_iter().map(|path| Source {
            path,
            runs: source.runs.clone(),
        }));
    }
    match files.len() {
        have if have > FILES_MAX => Err(FleetError::TooManyFiles {
            have,
            limit: FILES_MAX,
        }),
        _ => Ok(files),
    }
}
