//! A copy of a database's files, beside them.
//!
//! A mark says that restoring has begun and not ended; whoever opens the files then restores them again.
//! It is locked by whoever is at it. The files are removed and made anew, never written over: what an
//! orphan of a killed server still writes then goes to files that are gone.

mod copy;

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::{ErrorKind, Result, TargetError};

/// The longest label.
const LABEL_BYTES_MAX: u64 = 1024;

/// A database file or directory, and where its copy is.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    original: PathBuf,
    /// Files of the original that a copy does without and that must not outlive it.
    companions: Vec<PathBuf>,
    copy: PathBuf,
    /// Written last and removed first: a copy without it is none.
    label: PathBuf,
    mark: PathBuf,
}

impl Kept {
    /// The copy of `original`, whose companions are called as it is with something behind.
    pub(crate) fn beside(original: &Path, companions: &[&str]) -> Self {
        let with = |end: &str| {
            let mut name = OsString::from(original);
            name.push(end);
            PathBuf::from(name)
        };
        Self {
            original: original.to_owned(),
            companions: companions.iter().map(|end| with(end)).collect(),
            copy: with(".kept"),
            label: with(".kept-label"),
            mark: with(".restoring"),
        }
    }

    /// Where the copy is.
    pub(crate) fn copy(&self) -> &Path {
        &self.copy
    }

    /// The label; `None` when there is no copy.
    pub(crate) fn label(&self) -> Result<Option<String>> {
        let read = || -> io::Result<Option<String>> {
            match fs::metadata(&self.label) {
                Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(e) => return Err(e),
                Ok(found) if found.len() > LABEL_BYTES_MAX => return Ok(None),
                Ok(_) => {}
            }
            fs::read_to_string(&self.label).map(Some)
        };
        read().map_err(|e| self.failed("cannot be read", &e))
    }

    /// Copies the original, whose files nobody may have open. A copy that cannot be finished is removed.
    pub(crate) fn take(&self, label: &str) -> Result<()> {
        self.remove()?;
        let take = || -> io::Result<()> {
            copy::copy(&self.original, &self.copy)?;
            copy::sync(self.directory())?;
            let mut file = File::create_new(&self.label)?;
            file.write_all(label.as_bytes())?;
            file.sync_all()?;
            copy::sync(self.directory())
        };
        take().map_err(|e| {
            // The first error is the one to tell, and what is left of the copy only takes room.
            let _ = self.remove();
            self.failed("cannot be made", &e)
        })
    }

    /// Puts the copy in the place of the original, whose files nobody may have open.
    pub(crate) fn restore(&self) -> Result<()> {
        if self.label()?.is_none() {
            return Err(self.absent("there is none"));
        }
        let mark = OpenOptions::new()
            .append(true)
            .create(true)
            .open(&self.mark)
            .and_then(|mark| mark.sync_all().map(|()| mark))
            .map_err(|e| self.failed("cannot be restored", &e))?;
        if self.is_mine(&mark)? {
            // Not the whole file system: what is dirty there is going to be thrown away.
            let directory = File::open(self.directory()).and_then(|d| d.sync_all());
            directory.map_err(|e| self.failed("cannot be restored", &e))?;
            self.carry_out()?;
        }
        Ok(())
    }

    /// Restores again where that was broken off; says whether it was.
    pub(crate) fn finish_restore(&self) -> Result<bool> {
        let mark = match OpenOptions::new().append(true).open(&self.mark) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(false),
            opened => opened.map_err(|e| self.failed("cannot be restored", &e))?,
        };
        if !self.is_mine(&mark)? {
            return Ok(false);
        }
        if self.label()?.is_none() {
            let why = format!(
                "it was being put back when dbdyno was ended, and it is gone; remove {} and what is there, \
                 and load anew",
                self.mark.display()
            );
            return Err(self.absent(&why));
        }
        self.carry_out()?;
        Ok(true)
    }

    /// Removes the copy.
    pub(crate) fn remove(&self) -> Result<()> {
        let remove = || {
            copy::remove(&self.label)?;
            copy::remove(&self.copy)
        };
        remove().map_err(|e| self.failed("cannot be removed", &e))
    }

    /// Locks the mark; false when somebody else has just finished and removed it.
    fn is_mine(&self, mark: &File) -> Result<bool> {
        if mark.try_lock().is_err() {
            return Err(TargetError::new(
                ErrorKind::Foreign,
                format!(
                    "the database {} is being restored by another dbdyno; wait for it",
                    self.original.display()
                ),
            ));
        }
        let found = mark.metadata();
        let found = found.map_err(|e| self.failed("cannot be restored", &e))?;
        Ok(found.nlink() > 0)
    }

    /// With the mark on the device; the last thing that goes is the mark.
    fn carry_out(&self) -> Result<()> {
        let carry_out = || -> io::Result<()> {
            for path in self.companions.iter().chain([&self.original]) {
                copy::remove(path)?;
            }
            copy::copy(&self.copy, &self.original)?;
            copy::sync(self.directory())?;
            copy::remove(&self.mark)?;
            copy::sync(self.directory())
        };
        carry_out().map_err(|e| self.failed("cannot be restored", &e))
    }

    fn directory(&self) -> &Path {
        match self.original.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        }
    }

    fn failed(&self, what: &str, error: &io::Error) -> TargetError {
        let kind = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ErrorKind::Full,
            _ => ErrorKind::Unreachable,
        };
        let copy = self.copy.display();
        TargetError::new(
            kind,
            format!("the copy {copy} of the database {what}: {error}"),
        )
    }

    fn absent(&self, why: &str) -> TargetError {
        TargetError::new(
            ErrorKind::Damaged,
            format!(
                "the database {} cannot be restored from a copy: {why}",
                self.original.display()
            ),
        )
    }
}

#[cfg(test)]
mod tests;
