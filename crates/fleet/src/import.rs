//! Import of files into a fleet: all of them or none, and none twice.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::archives::{self, Runs};
use crate::csv;
use crate::entry::Entry;
use crate::error::FleetError;
use crate::source::{digest, hexadecimal, is_archive};
use crate::sources::{Source, files};
use crate::store::Store;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Added {
        histograms: u64,
        /// Number of histograms without I/Os, which are left out.
        empty: u64,
        /// Additional columns, which are not read.
        ignored: Vec<String>,
    },
    /// The same content was imported before, under this name or another.
    Already,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    pub files: Vec<(PathBuf, Outcome)>,
}

impl Imported {
    pub fn histograms(&self) -> u64 {
        let added = self.files.iter().map(|(_, outcome)| match outcome {
            Outcome::Added { histograms, .. } => *histograms,
            Outcome::Already => 0,
        });
        added.sum()
    }
}

/// Adds files, and those of folders, to a fleet. The first error leaves the fleet unchanged. A file whose content was
/// imported before is skipped. Fails with the mistake in a file, or in the location of the fleet.
pub fn import(store: &Store, named: &[Source]) -> Result<Imported, FleetError> {
    let files = files(named)?;
    store.change(|| {
        let mut imported = Imported { files: Vec::new() };
        for Source { path, runs } in files {
            let outcome = if is_archive(&path)? {
                add_archive(store, &path, &runs)?
            } else {
                add_csv(store, &path)?
            };
            imported.files.push((path, outcome));
        }
        store.refuse_twice()?;
        Ok(imported)
    })
}

fn add_csv(store: &Store, file: &Path) -> Result<Outcome, FleetError> {
    let digest = digest(file)?;
    if store.has(&digest)? {
        return Ok(Outcome::Already);
    }
    let (mut histograms, mut empty, mut ignored) = (0, 0, Vec::new());
    store.add(&file.display().to_string(), &digest, |put| {
        ignored = csv::read(file, &mut |entry| {
            if entry.is_empty() {
                empty += 1;
                return Ok(());
            }
            histograms += 1;
            put(entry)
        })?;
        Ok(())
    })?;
    Ok(Outcome::Added {
        histograms,
        empty,
        ignored,
    })
}

/// An archive's file changes with every new run, so the digest covers the entries of the two runs.
fn add_archive(store: &Store, file: &Path, runs: &Runs) -> Result<Outcome, FleetError> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut sha = Sha256::new();
    archives::read(file, runs, &mut |entry| {
        sha.update(format!("{entry:?}\n"));
        entries.push(entry);
        Ok(())
    })?;
    let digest = hexadecimal(&sha.finalize());
    if store.has(&digest)? {
        return Ok(Outcome::Already);
    }
    let histograms = entries.len() as u64;
    store.add(&file.display().to_string(), &digest, |put| {
        entries.into_iter().try_for_each(put)
    })?;
    Ok(Outcome::Added {
        histograms,
        empty: 0,
        ignored: Vec::new(),
    })
}
