//! Data directories as they were right after they had been initialised, kept in the user's cache: a copy takes a fraction of the
//! time that initialising takes.
//!
//! A blank is used only until the machine starts again, so that none has to be written to the device before it may be used. A
//! server whose data directory depends on its settings has none.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

use super::{Account, Layout, Surroundings};
use crate::file_snapshot::copy::{copy, remove};

/// Below the user's cache for dbdyno.
const NAME: &str = "blank";
/// Held while a blank is made.
const LOCK: &str = ".lock";
/// One that is not whole yet.
const NEW: &str = ".new";
/// More are not kept; the oldest goes first. One takes some 40 MB.
const KEPT_MAX: usize = 8;
const BOOT: &str = "/proc/sys/kernel/random/boot_id";

/// A blank, which need not be there yet.
#[derive(Debug)]
pub(super) struct Blank {
    directory: PathBuf,
}

impl Blank {
    /// What `command` makes for `account` in the data directory of `layout`, which has to lie in the directory of the run; `None` where
    /// files lie apart, where it reads settings, and where nothing can be kept.
    pub(super) fn of(layout: &Layout, command: &Command, account: &Account) -> Option<Self> {
        let is_own = layout.places.is_empty() && layout.data.starts_with(&layout.run);
        let configuration = layout.configuration.as_os_str().as_bytes();
        let mut arguments = command.get_args();
        if !is_own || arguments.any(|it| position(it.as_bytes(), configuration).is_some()) {
            return None;
        }
        let key = key(layout, command, account).ok()?;
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
        copied.is_ok()
    }

    /// Keeps a copy of `data`, which was just initialised. Somebody else may be at it, and a cache that cannot be written keeps nothing:
    /// the next server is initialised then as well.
    pub(super) fn keep(&self, data: &Path) {
        if let Err(error) = self.try_keep(data) {
            tracing::debug!("a new data directory is not kept: {error}");
        }
    }

    fn try_keep(&self, data: &Path) -> io::Result<()> {
        let all = self.directory.parent().ok_or(io::ErrorKind::NotFound)?;
        DirBuilder::new().recursive(true).mode(0o700).create(all)?;
        let lock = File::create(all.join(LOCK))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let new = all.join(NEW);
        // Whoever left it was killed.
        remove(&new)?;
        make_room(all)?;
        let copied = copy(data, &new).and_then(|()| fs::rename(&new, &self.directory));
        if copied.is_err() {
            let _ = remove(&new);
        }
        copied
    }
}

/// What it depends on: the server's program, whose user runs it, what initialising is told, and since when the machine is up.
fn key(layout: &Layout, command: &Command, account: &Account) -> io::Result<String> {
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

/// Removes the oldest until there is room for one more.
fn make_room(all: &Path) -> io::Result<()> {
    let mut kept: Vec<(i64, PathBuf)> = Vec::new();
    for entry in fs::read_dir(all)? {
        let entry = entry?;
        let found = entry.metadata()?;
        if found.is_dir() {
            // When it got its name.
            kept.push((found.ctime(), entry.path()));
        }
    }
    kept.sort();
    let too_many = (kept.len() + 1).saturating_sub(KEPT_MAX);
    kept.iter()
        .take(too_many)
        .try_for_each(|(_, path)| remove(path))
}
