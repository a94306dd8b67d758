//! Files that this process has open.
//!
//! SQLite's locks are those of fcntl(2): they belong to the process, and closing *any* descriptor of a file gives up all
//! that the process holds on it (<https://sqlite.org/howtocorrupt.html>, 2.2). Then another process takes itself for the only
//! one, and truncates the shared memory that this one uses. So a database that is open here is opened by SQLite alone.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// True if this process has the file open; false also where `/proc` cannot be read.
pub(crate) fn is_open_here(file: &Metadata) -> bool {
    let Ok(descriptors) = fs::read_dir("/proc/self/fd") else {
        return false;
    };
    let is_it = |found: Metadata| (found.dev(), found.ino()) == (file.dev(), file.ino());
    // Metadata are those of what the descriptor leads to, and nothing is opened for them.
    let mut open = descriptors
        .flatten()
        .map(|entry| fs::metadata(entry.path()));
    open.any(|found| found.is_ok_and(is_it))
}

/// Held from the check of a database's files until SQLite has them open, so that no thread closes a file that another opens.
pub(crate) fn one_at_a_time() -> MutexGuard<'static, ()> {
    static OPENING: Mutex<()> = Mutex::new(());
    OPENING.lock().unwrap_or_else(PoisonError::into_inner)
}
