//! Free space at the location of a database.

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
    let facts = rustix::fs::statvfs(existing).ok()?;
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
