//! Lock files that mark a resource as in use.

use std::fs::File;
use std::ops::{Deref, DerefMut};

/// A file that may be locked ([`File::try_lock`]), and is unlocked when it is dropped.
///
/// Closing it is not enough: a child that another thread has just forked has a copy of the descriptor until it
/// executes its program, and with it the lock.
#[derive(Debug)]
pub struct LockableFile(File);

impl From<File> for LockableFile {
    fn from(file: File) -> Self {
        Self(file)
    }
}

impl Deref for LockableFile {
    type Target = File;

    fn deref(&self) -> &File {
        &self.0
    }
}

impl DerefMut for LockableFile {
    fn deref_mut(&mut self) -> &mut File {
        &mut self.0
    }
}

impl Drop for LockableFile {
    fn drop(&mut self) {
        // This has no effect on another holder's lock, and fails only on file systems without locks, which granted
        // none.
        let _ = self.0.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_ends_with_its_file_though_a_child_has_a_copy_of_it() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let open = || LockableFile::from(file.reopen().unwrap());
        let (held, other) = (open(), open());
        held.try_lock().unwrap();
        let copy_of_child = held.try_clone().unwrap();
        assert!(other.try_lock().is_err());
        // A handle without the lock releases nothing.
        drop(other);
        assert!(open().try_lock().is_err());
        drop(held);
        open().try_lock().unwrap();
        drop(copy_of_child);
    }
}
