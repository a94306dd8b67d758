//! A copy of a database's files, beside them.
//!
//! A mark says that restoring has begun and not ended; whoever opens the files then restores them again.
//! It is locked by whoever is at it. The files are removed and made anew, never written over: what an
//! orphan of a killed server still writes then goes to files that are gone.

pub mod copy;

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::{ErrorKind, Result, TargetError};

/// The longest label or mark.
const NOTE_BYTES_MAX: u64 = 1024;
/// Begins a label, which follows when the copy is whole.
const COPY_MAGIC: &str = "dbdyno copy 1\n";
/// Begins a mark; the files' identities follow, a line each.
const MARK_MAGIC: &str = "dbdyno restore 1\n";
const ABSENT: &str = "none";

/// A database file or directory, and where its copy is.
#[derive(Debug, Clone)]
pub struct FileSnapshot {
    original: PathBuf,
    /// Files of the original that a copy does without and that must not outlive it.
    companions: Vec<PathBuf>,
    copy: PathBuf,
    /// Says that the copy is dbdyno's, and when it is whole.
    label: PathBuf,
    mark: PathBuf,
    /// Restored files, before they get the name of the original.
    fresh: PathBuf,
}

impl FileSnapshot {
    /// The copy of `original`, whose companions are called as it is with something behind.
    pub fn beside(original: &Path, companions: &[&str]) -> Self {
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
            fresh: with(".restoring-files"),
        }
    }

    pub fn copy(&self) -> &Path {
        &self.copy
    }

    /// The label; `None` when there is no whole copy of dbdyno's.
    pub fn label(&self) -> Result<Option<String>> {
        let text = self.note(&self.label)?;
        let label = text
            .as_deref()
            .and_then(|text| text.strip_prefix(COPY_MAGIC));
        let label = label.and_then(|label| label.strip_suffix('\n'));
        Ok(label.map(str::to_owned))
    }

    /// Text of a label or a mark; `None` when there is none.
    fn note(&self, path: &Path) -> Result<Option<String>> {
        let read = || -> io::Result<Option<String>> {
            match fs::symlink_metadata(path) {
                Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(e) => return Err(e),
                Ok(found) if !found.is_file() || found.len() > NOTE_BYTES_MAX => {
                    return Ok(Some(String::new()));
                }
                Ok(_) => {}
            }
            let bytes = fs::read(path)?;
            Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
        };
        read().map_err(|e| self.failed("cannot be read", &e))
    }

    /// Copies the original, whose files nobody may have open. A copy that cannot be finished is removed.
    pub fn take(&self, label: &str) -> Result<()> {
        self.remove()?;
        let take = || -> io::Result<()> {
            // First, so that a copy which is broken off is known as dbdyno's.
            let mut file = File::create_new(&self.label)?;
            file.write_all(COPY_MAGIC.as_bytes())?;
            file.sync_all()?;
            copy::sync(self.directory())?;
            copy::copy(&self.original, &self.copy)?;
            copy::sync(self.directory())?;
            file.write_all(format!("{label}\n").as_bytes())?;
            file.sync_all()
        };
        take().map_err(|e| {
            // The first error is the one to tell, and what is left of the copy only takes room.
            let _ = self.remove();
            self.failed("cannot be created", &e)
        })
    }

    /// Puts the copy in the place of the original, whose files nobody may have open.
    pub fn restore(&self) -> Result<()> {
        if self.label()?.is_none() {
            return Err(self.absent("there is no copy"));
        }
        // Ours are there only as long as a mark is.
        if fs::symlink_metadata(&self.mark).is_err() && fs::symlink_metadata(&self.fresh).is_ok() {
            return Err(self.foreign(&self.fresh, "bears a name that restoring needs"));
        }
        let mark = self.begin_restore()?;
        if self.is_mine(&mark)? {
            // Not the whole file system: what is dirty there is going to be thrown away.
            let directory = File::open(self.directory()).and_then(|d| d.sync_all());
            directory.map_err(|e| self.failed("cannot be restored", &e))?;
            self.carry_out(mark)?;
        }
        Ok(())
    }

    /// The mark, with what the original is known by.
    fn begin_restore(&self) -> Result<File> {
        let begin = || -> io::Result<File> {
            // Whole before it has its name: whoever finds a mark must know from it what was to be replaced.
            let mut mark = tempfile::Builder::new()
                .prefix(".dbdyno-")
                .suffix(".new")
                .tempfile_in(self.directory())?;
            let original = identity(&self.original)?;
            mark.write_all(format!("{MARK_MAGIC}{original}\n").as_bytes())?;
            mark.as_file().sync_all()?;
            Ok(mark.persist_noclobber(&self.mark)?)
        };
        begin().map_err(|e| self.failed("cannot be restored", &e))
    }

    /// Restores again where that was broken off; says whether it was.
    ///
    /// # Errors
    /// When what is there now is neither the database that was to be replaced nor what was put in its place: then
    /// nothing is touched.
    pub fn finish_restore(&self) -> Result<bool> {
        let Some(text) = self.note(&self.mark)? else {
            return Ok(false);
        };
        // Before it is opened, which would wait for the other end of a pipe.
        let known = text.strip_prefix(MARK_MAGIC).ok_or_else(|| {
            self.foreign(
                &self.mark,
                "is not a restore marker of this version of dbdyno",
            )
        })?;
        let mut mark = OpenOptions::new();
        let mark = mark.append(true).custom_flags(libc::O_NOFOLLOW);
        let mark = match mark.open(&self.mark) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(false),
            opened => opened.map_err(|e| self.failed("cannot be restored", &e))?,
        };
        if !self.is_mine(&mark)? {
            return Ok(false);
        }
        let found = identity(&self.original);
        let found = found.map_err(|e| self.failed("cannot be restored", &e))?;
        if found != ABSENT && !known.lines().any(|line| line == found) {
            let what =
                "is from an interrupted restore, but another database now exists at the path";
            return Err(self.foreign(&self.mark, what));
        }
        if self.label()?.is_none() {
            let why = format!(
                "dbdyno was stopped while restoring it, and the copy is gone; remove {} and the incomplete database, and \
                 load again",
                self.mark.display()
            );
            return Err(self.absent(&why));
        }
        self.carry_out(mark)?;
        Ok(true)
    }

    /// Removes the copy.
    ///
    /// # Errors
    /// When what bears its name is none of dbdyno's, or cannot be removed.
    pub fn remove(&self) -> Result<()> {
        let is_ours = |text: Option<String>| text.is_some_and(|text| text.starts_with(COPY_MAGIC));
        if !is_ours(self.note(&self.label)?) {
            for path in [&self.label, &self.copy] {
                if fs::symlink_metadata(path).is_ok() {
                    let what = "is not a copy made by this version of dbdyno";
                    return Err(self.foreign(path, what));
                }
            }
            return Ok(());
        }
        let remove = || {
            copy::remove(&self.copy)?;
            copy::remove(&self.label)
        };
        remove().map_err(|e| self.failed("cannot be removed", &e))
    }

    /// Locks the mark; false when somebody else has just finished and removed it.
    fn is_mine(&self, mark: &File) -> Result<bool> {
        if mark.try_lock().is_err() {
            return Err(TargetError::foreign(format!(
                "another dbdyno is restoring the database {}; wait until it has finished",
                self.original.display()
            )));
        }
        let found = mark.metadata();
        let found = found.map_err(|e| self.failed("cannot be restored", &e))?;
        Ok(found.nlink() > 0)
    }

    /// With the mark on the device; the last thing that goes is the mark. What is put back is known to the mark before
    /// it has the original's name.
    fn carry_out(&self, mut mark: File) -> Result<()> {
        let mut carry_out = || -> io::Result<()> {
            copy::remove(&self.fresh)?;
            for path in self.companions.iter().chain([&self.original]) {
                copy::remove(path)?;
            }
            copy::copy(&self.copy, &self.fresh)?;
            copy::sync(self.directory())?;
            mark.write_all(format!("{}\n", identity(&self.fresh)?).as_bytes())?;
            mark.sync_all()?;
            fs::rename(&self.fresh, &self.original)?;
            copy::sync(self.directory())?;
            copy::remove(&self.mark)?;
            copy::sync(self.directory())
        };
        carry_out().map_err(|e| self.failed("cannot be restored", &e))
    }

    fn foreign(&self, path: &Path, what: &str) -> TargetError {
        TargetError::foreign(format!(
            "{} {what}; nothing was changed: rename or remove it, or give the database another path",
            path.display()
        ))
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

/// Identifies a file or directory among all that have or had its name.
fn identity(path: &Path) -> io::Result<String> {
    let found = match fs::symlink_metadata(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(ABSENT.to_owned()),
        found => found?,
    };
    // Numbers of files are used again; not every file system knows when one was made.
    let made = found.created().ok();
    let made = made.and_then(|made| made.duration_since(UNIX_EPOCH).ok());
    let made = made.map_or(0, |made| made.as_nanos());
    Ok(format!("{} {} {made}", found.dev(), found.ino()))
}

#[cfg(test)]
mod tests;
