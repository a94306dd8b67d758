//! Ledger of a layout: a line for each step, written before it is taken.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use host::LockableFile;
use serde::{Deserialize, Serialize};

use super::definition::Definition;
use super::error::{LayoutError, system};
use super::files::sync;

/// Name of the file; a directory without it does not belong to dbdyno.
const NAME: &str = ".dbdyno-layout";
const BYTES_MAX: u64 = 1 << 20;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Entry {
    Layout(Definition),
    /// A volume is about to be built; on given devices the UUID identifies it later.
    Build {
        uuid: String,
        given: Vec<PathBuf>,
    },
    /// Any other step, for readers.
    Step(String),
    /// It is complete and exists until it is removed.
    Whole,
    Removing,
}

/// The ledger, locked while its owner works.
#[derive(Debug)]
pub(super) struct Ledger {
    path: PathBuf,
    file: LockableFile,
    entries: Vec<Entry>,
}

impl Ledger {
    pub fn begin(directory: &Path, definition: &Definition) -> Result<Self, LayoutError> {
        let path = directory.join(NAME);
        let new = directory.join(format!("{NAME}-new"));
        let mut options = OpenOptions::new();
        options.read(true).append(true).create_new(true).mode(0o600);
        let file = options.open(&new).map_err(system(&new))?;
        file.lock().map_err(system(&new))?;
        let mut ledger = Self {
            path: path.clone(),
            file: file.into(),
            entries: Vec::new(),
        };
        ledger.enter(&Entry::Layout(definition.clone()))?;
        // The file gets its name once it is locked and has its first line: otherwise another process could take it
        // for a left-over.
        std::fs::rename(&new, &path).map_err(system(&path))?;
        sync(directory)?;
        Ok(ledger)
    }

    /// The ledger of a directory, not locked; `None` without one. A directory whose creation was cut short is removed
    /// if it is empty or holds an incomplete ledger.
    pub fn open(directory: &Path) -> Result<Option<Self>, LayoutError> {
        let path = directory.join(NAME);
        let mut options = OpenOptions::new();
        options.read(true).append(true);
        options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
        let file = match options.open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                remove_torn(directory);
                return Ok(None);
            }
            Err(error) => return Err(system(&path)(error)),
        };
        let found = file.metadata().map_err(system(&path))?;
        if !found.is_file() || found.uid() != host::user_id() || found.len() > BYTES_MAX {
            return Ok(None);
        }
        let mut ledger = Self {
            path,
            file: file.into(),
            entries: Vec::new(),
        };
        ledger.read()?;
        Ok(Some(ledger))
    }

    /// Takes the lock, and reads the last owner's entries; false when another process holds it.
    pub fn try_lock(&mut self) -> bool {
        let is_locked = !matches!(self.file.try_lock(), Err(TryLockError::WouldBlock));
        is_locked && self.read().is_ok()
    }

    /// Writes an entry durably, so that it survives a kill and a crash.
    pub fn enter(&mut self, entry: &Entry) -> Result<(), LayoutError> {
        let line = serde_json::to_string(entry)
            .expect("an entry holds only texts and numbers, which JSON can write");
        let written = writeln!(self.file, "{line}").and_then(|()| self.file.sync_data());
        written.map_err(system(&self.path))?;
        self.entries.push(entry.clone());
        Ok(())
    }

    pub fn stands(&self) -> bool {
        self.entries.contains(&Entry::Whole) && !self.entries.contains(&Entry::Removing)
    }

    pub fn was_whole(&self) -> bool {
        self.entries.contains(&Entry::Whole)
    }

    pub fn definition(&self) -> Option<&Definition> {
        self.entries.iter().find_map(|entry| match entry {
            Entry::Layout(definition) => Some(definition),
            _ => None,
        })
    }

    /// Given devices, each with the UUID of the file system built on it.
    pub fn built(&self) -> Vec<(&Path, &str)> {
        let builds = self.entries.iter().filter_map(|entry| match entry {
            Entry::Build { uuid, given } => Some((uuid, given)),
            _ => None,
        });
        let each = builds.flat_map(|(uuid, given)| {
            let devices = given.iter().map(PathBuf::as_path);
            devices.map(move |device| (device, uuid.as_str()))
        });
        each.collect()
    }

    fn read(&mut self) -> Result<(), LayoutError> {
        let mut text = String::new();
        let read = self.file.seek(SeekFrom::Start(0)).and_then(|_| {
            let limited = Read::by_ref(&mut *self.file).take(BYTES_MAX);
            { limited }.read_to_string(&mut text)
        });
        read.map_err(system(&self.path))?;
        // The last line may be incomplete; its step was not taken.
        let entries = text.lines().map(serde_json::from_str);
        self.entries = entries.filter_map(Result::ok).collect();
        Ok(())
    }
}

/// Removes the directory of a process that was killed before it had a ledger; any other content keeps it.
fn remove_torn(directory: &Path) {
    let new = directory.join(format!("{NAME}-new"));
    if let Ok(file) = File::open(&new).map(LockableFile::from)
        && file.try_lock().is_ok()
    {
        let _ = std::fs::remove_file(new);
    }
    let _ = std::fs::remove_dir(directory);
}
