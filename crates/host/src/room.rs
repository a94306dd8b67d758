//! Free space at the location of a database.

use std::ffi::CString;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// Number of the file system: two paths with the same one share the space.
    pub device: u64,
    pub free_bytes: u64,
}

/// The space at a path, or at its nearest existing parent; `None` if it cannot be determined.
pub fn room(path: &Path) -> Option<Room> {
    let path = std::path::absolute(path).ok()?;
    let existing = path.ancestors().find(|path| path.exists())?;
    let name = CString::new(existing.as_os_str().as_bytes()).ok()?;
    let mut facts = MaybeUninit::<libc::statvfs>::uninit();
    // SAFETY: the name ends with a zero, and the call fills the struct that lives until it is read.
    let status = unsafe { libc::statvfs(name.as_ptr(), facts.as_mut_ptr()) };
    if status != 0 {
        return None;
    }
    // SAFETY: the call succeeded, so it has filled the struct.
    let facts = unsafe { facts.assume_init() };
    Some(Room {
        device: existing.metadata().ok()?.dev(),
        free_bytes: facts.f_bavail.checked_mul(facts.f_frsize)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_still_to_be_created_has_the_room_of_its_parent() {
        let directory = tempfile::tempdir().unwrap();
        let there = room(directory.path()).unwrap();
        let later = room(&directory.path().join("a/b.db")).unwrap();
        assert_eq!(there.device, later.device);
        assert!(there.free_bytes > 0);
        assert!(room(Path::new("/proc")).is_some_and(|room| room.device != there.device));
    }
}
