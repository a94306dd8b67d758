//! Lock files: one dbdyno process at a time measures a run or a database.
//!
//! The kernel has the lock (`flock`), so it ends with its process, however that ends. The file is created when missing
//! and removed by its holder; any other file of its name stays as it is.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

const MAGIC: &[u8] = b"dbdyno lock 1\n";
/// A file that each time is gone before it is locked has holders that come and go, so it is in use.
const ATTEMPTS_MAX: usize = 100;
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process has it, or another owner in this one.
    #[error("it is in use by another dbdyno process")]
    Held,
    #[error("{path} is not a lock file of dbdyno and was not changed; rename or remove it")]
    Foreign { path: PathBuf },
    /// The lock file cannot be made or opened.
    #[error("{path} cannot be locked: {error}")]
    Io { path: PathBuf, error: io::Error },
}

/// A lock that is held until it is dropped.
#[derive(Debug)]
pub struct LockFile {
    file: File,
    path: PathBuf,
}

/// The lock file of `path`; the same under all its names.
pub fn lock_path(path: &Path, end: &str) -> PathBuf {
    let mut name = OsString::from(real_path(path));
    name.push(end);
    PathBuf::from(name)
}

/// The path without links, as far as it exists.
pub fn real_path(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        match (folder.canonicalize(), path.file_name()) {
            (Ok(folder), Some(name)) => folder.join(name),
            // Its folder does not exist, so opening will fail and say so.
            _ => path.to_owned(),
        }
    })
}

impl LockFile {
    /// Takes the lock of the file at `path`, without waiting for it.
    ///
    /// # Errors
    /// Another owner has it, the file is not a lock file, or it cannot be created.
    pub fn take(path: &Path) -> Result<Self, LockError> {
        let failed = |error| LockError::Io {
            path: path.to_owned(),
            error,
        };
        for _ in 0..ATTEMPTS_MAX {
            let file = match open(path) {
                // Its holder has removed it in the meantime.
                Err(e) if e.kind() == io::ErrorKind::NotFound && has_folder(path) => continue,
                opened => opened.map_err(failed)?,
            };
            let Some(file) = file else {
                return Err(LockError::Foreign {
                    path: path.to_owned(),
                });
            };
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(LockError::Held),
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
            if is_at(&file, path) {
                return Ok(Self {
                    file,
                    path: path.to_owned(),
                });
            }
        }
        Err(LockError::Held)
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        // Removed before it is unlocked: a process that has opened it by then sees that it is gone, and begins again.
        if is_at(&self.file, &self.path) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// `None` if the file is not a lock file.
fn open(path: &Path) -> io::Result<Option<File>> {
    match File::create_new(path) {
        Ok(mut file) => {
            file.write_all(MAGIC)?;
            return Ok(Some(file));
        }
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
        Err(e) => return Err(e),
    }
    // Devices are not even opened: that alone may do something.
    if !fs::symlink_metadata(path)?.is_file() {
        return Ok(None);
    }
    let mut options = OpenOptions::new();
    options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let mut file = options.read(true).open(path)?;
    if !file.metadata()?.is_file() {
        return Ok(None);
    }
    let mut found = Vec::new();
    (&mut file)
        .take(MAGIC.len() as u64 + 1)
        .read_to_end(&mut found)?;
    // It is shorter while it is being created, or if its creator was killed.
    Ok(MAGIC.starts_with(&found).then_some(file))
}

fn has_folder(path: &Path) -> bool {
    path.parent()
        .is_none_or(|folder| folder.as_os_str().is_empty() || folder.is_dir())
}

fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(held), Ok(found)) => (held.dev(), held.ino()) == (found.dev(), found.ino()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_held_by_one_and_its_file_goes_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.lock");
        let held = LockFile::take(&path).unwrap();
        assert!(matches!(LockFile::take(&path), Err(LockError::Held)));
        drop(held);
        assert!(!path.exists());
        // A killed process leaves a file that is whole, or not yet.
        for left in [MAGIC, b"dbdy", b""] {
            fs::write(&path, left).unwrap();
            drop(LockFile::take(&path).unwrap());
            assert!(!path.exists());
        }
        let nowhere = folder.path().join("nowhere/x.lock");
        assert!(matches!(
            LockFile::take(&nowhere),
            Err(LockError::Io { .. })
        ));
    }

    #[test]
    fn a_lock_that_many_want_has_one_holder_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.lock");
        let inside = std::sync::atomic::AtomicUsize::new(0);
        let order = std::sync::atomic::Ordering::SeqCst;
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        if let Ok(held) = LockFile::take(&path) {
                            assert_eq!(inside.fetch_add(1, order), 0);
                            inside.fetch_sub(1, order);
                            drop(held);
                        }
                    }
                });
            }
        });
        assert!(!path.exists());
    }

    #[test]
    fn what_is_no_lock_file_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("file"), "mine").unwrap();
        fs::write(path("longer"), [MAGIC, b"x"].concat()).unwrap();
        fs::create_dir(path("folder")).unwrap();
        std::os::unix::fs::symlink(path("file"), path("link")).unwrap();
        std::os::unix::fs::symlink(path("absent"), path("dangling")).unwrap();
        for name in ["file", "longer", "folder", "link", "dangling"] {
            let taken = LockFile::take(&path(name));
            assert!(matches!(taken, Err(LockError::Foreign { .. })), "{name}");
        }
        assert_eq!(fs::read(path("file")).unwrap(), b"mine");
        assert!(!path("absent").exists());
        assert_eq!(fs::read_link(path("link")).unwrap(), path("file"));
    }
}
