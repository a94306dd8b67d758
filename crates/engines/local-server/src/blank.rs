//! Data directories as they were right after they had been initialised, kept in the user's cache: a copy takes a fraction of the
//! time that initialising takes.
//!
//! A blank is used only until the machine starts again, so that none has to be written to the device before it may be used. Where
//! initialising reads the settings, each of them has a blank of its own.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use host::LockableFile;
use sha2::{Digest, Sha256};

use super::{Account, Layout, Surroundings};
use engine::file_snapshot::copy::{copy, remove, taken_bytes};

/// Below the user's cache for dbdyno.
const NAME: &str = "blank";
/// Held while a blank is made.
const LOCK: &str = ".lock";
/// One that is not whole yet.
const NEW: &str = ".new";
const OLD: &str = ".old";
/// More are not kept; the one that was not used for longest goes first.
const KEPT_MAX: usize = 8;
/// A larger copy is not cached: the cache is its user's.
const KEPT_BYTES_MAX: u64 = 128 << 20;
const BOOT: &str = "/proc/sys/kernel/random/boot_id";

/// A blank, which need not be there yet.
#[derive(Debug)]
pub(super) struct Blank {
    directory: PathBuf,
}

impl Blank {
    /// The result of `command` for `account` in the data directory of `layout`, which has to lie in the directory of the run, with this text
    /// of its configuration file; `None` where files lie apart, and where nothing can be kept.
    pub fn of(
        layout: &Layout,
        command: &Command,
        account: &Account,
        configuration: &str,
    ) -> Option<Self> {
        if !layout.places.is_empty() || !layout.data.starts_with(&layout.run) {
            return None;
        }
        let path = layout.configuration.as_os_str().as_bytes();
        let is_read = command
            .get_args()
            .any(|it| position(it.as_bytes(), path).is_some());
        let key = key(layout, command, account, is_read.then_some(configuration)).ok()?;
        let cache = Surroundings::of_process().cache?;
        Some(Self {
            directory: cache.join(NAME).join(key),
        })
    }

    /// Puts a copy in the place of the empty directory `data`; false, and `data` is as it was, where that is not possible.
    pub(super) fn copy_to(&self, data: &Path) -> bool {
        let new = data.with_extension("new");
        let copied = copy(&self.directory, &new).and_then(|()| {
            // One that was removed meanwhile is not copied whole.
            fs::metadata(&self.directory)?;
            fs::rename(&new, data)
        });
        if copied.is_err() {
            let _ = remove(&new);
        }
        // When it was used last; whoever removed it meanwhile knows better.
        let _ = File::open(&self.directory).and_then(|it| it.set_modified(SystemTime::now()));
        copied.is_ok()
    }

    /// Keeps a copy of `data`, which was just initialised. Somebody else may be at it, and a cache that cannot be written keeps nothing:
    /// the next server is initialised then as well.
    pub fn keep(&self, data: &Path) {
        if let Err(error) = self.try_keep(data) {
            tracing::debug!("a new data directory is not kept: {error}");
        }
    }

    fn try_keep(&self, data: &Path) -> io::Result<()> {
        let all = self.directory.parent().ok_or(io::ErrorKind::NotFound)?;
        DirBuilder::new().recursive(true).mode(0o700).create(all)?;
        let lock = LockableFile::from(File::create(all.join(LOCK))?);
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let new = all.join(NEW);
        // Whoever left them was killed.
        remove(&new)?;
        remove(&all.join(OLD))?;
        if allocated_bytes(data)? > KEPT_BYTES_MAX {
            return Ok(());
        }
        make_room(all)?;
        let copied = copy(data, &new).and_then(|()| fs::rename(&new, &self.directory));
        if copied.is_err() {
            let _ = remove(&new);
        }
        copied
    }
}

/// Digest of its inputs: program, user, arguments and files of initialising, and the machine's start.
fn key(
    layout: &Layout,
    command: &Command,
    account: &Account,
    configuration: Option<&str>,
) -> io::Result<String> {
    let run = layout.run.as_os_str().as_bytes();
    let mut digest = Sha256::new();
    let mut enter = |bytes: &[u8]| {
        digest.update((bytes.len() as u64).to_le_bytes());
        digest.update(bytes);
    };
    enter(&fs::read(BOOT)?);
    let server = &layout.installation.server;
    let program = fs::metadata(server)?;
    enter(&without(server.as_os_str().as_bytes(), run));
    enter(layout.installation.title.as_bytes());
    // One that was brought into the directory of the run may be a copy, as old as the run.
    let changed = (!server.starts_with(&layout.run)).then(|| program.mtime());
    enter(format!("{} {changed:?}", program.len()).as_bytes());
    enter(format!("{} {}", account.uid, account.gid).as_bytes());
    enter(&without(command.get_program().as_bytes(), run));
    for argument in command.get_args() {
        enter(&without(argument.as_bytes(), run));
    }
    if let Some(text) = configuration {
        enter(&without(text.as_bytes(), run));
    }
    let digest = digest.finalize();
    Ok(digest[..16].iter().map(|b| format!("{b:02x}")).collect())
}

/// `text` without `part`, which is another one in every run.
fn without(mut text: &[u8], part: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(text.len());
    while let Some(at) = position(text, part) {
        kept.extend_from_slice(&text[..at]);
        text = &text[at + part.len()..];
    }
    kept.extend_from_slice(text);
    kept
}

fn position(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len().max(1)).position(|at| at == part)
}

/// Room that the files of a directory take.
fn allocated_bytes(directory: &Path) -> io::Result<u64> {
    let mut sum = 0;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let found = entry.metadata()?;
        sum += if found.is_dir() {
            allocated_bytes(&entry.path())?
        } else {
            taken_bytes(&found)
        };
    }
    Ok(sum)
}

/// Removes those that were not used for longest until there is room for one more.
fn make_room(all: &Path) -> io::Result<()> {
    let mut kept: Vec<(SystemTime, PathBuf)> = Vec::new();
    for entry in fs::read_dir(all)? {
        let entry = entry?;
        let found = entry.metadata()?;
        if found.is_dir() {
            kept.push((found.modified()?, entry.path()));
        }
    }
    kept.sort();
    let too_many = (kept.len() + 1).saturating_sub(KEPT_MAX);
    let old = all.join(OLD);
    kept.iter().take(too_many).try_for_each(|(_, path)| {
        // At once, so that whoever copies it misses it, and not some of its files.
        fs::rename(path, &old)?;
        remove(&old)
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_was_not_used_for_longest_makes_room() {
        let all = tempfile::tempdir().unwrap();
        for number in 0..KEPT_MAX as u64 {
            let blank = all.path().join(number.to_string());
            fs::create_dir(&blank).unwrap();
            fs::write(blank.join("file"), "rows").unwrap();
            // The fourth was used before all others.
            let used = SystemTime::UNIX_EPOCH + Duration::from_secs((number + 4) % 7);
            File::open(&blank).unwrap().set_modified(used).unwrap();
        }
        fs::write(all.path().join(LOCK), "").unwrap();
        make_room(all.path()).unwrap();
        let left = fs::read_dir(all.path()).unwrap();
        let mut left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, [LOCK, "0", "1", "2", "4", "5", "6", "7"]);
        make_room(all.path()).unwrap();
        assert_eq!(fs::read_dir(all.path()).unwrap().count(), KEPT_MAX);
    }

    #[test]
    fn room_is_what_files_take_and_not_their_length() {
        let data = tempfile::tempdir().unwrap();
        fs::create_dir(data.path().join("log")).unwrap();
        let log = File::create(data.path().join("log/0")).unwrap();
        log.set_len(1 << 30).unwrap();
        fs::write(data.path().join("rows"), vec![1; 1 << 20]).unwrap();
        let taken = allocated_bytes(data.path()).unwrap();
        assert!(((1 << 20)..(2 << 20)).contains(&taken), "{taken}");
    }
}
