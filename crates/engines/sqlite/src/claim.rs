//! Keeps other dbdynos from a database file: SQLite lets several processes write to one, and their work would be measured
//! as this one's.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use archive::lock_file::{LockError, LockFile, lock_path};

use engine::{Result, TargetError};

/// The locks of this process by their files, with the number of targets that share each: both sides of a study may work on
/// one database.
static HELD: Mutex<BTreeMap<PathBuf, (LockFile, usize)>> = Mutex::new(BTreeMap::new());

fn held() -> MutexGuard<'static, BTreeMap<PathBuf, (LockFile, usize)>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The right of this process to a database file, given back with the last one.
#[derive(Debug)]
pub(super) struct Claim(PathBuf);

impl Claim {
    /// Takes the file, which need not exist yet; `None` when its directory does not, which opening will say.
    ///
    /// # Errors
    /// When another process has it.
    pub fn take(path: &Path) -> Result<Option<Self>> {
        let lock = lock_path(path, ".dbdyno-lock");
        let mut held = held();
        if let Some((_, targets)) = held.get_mut(&lock) {
            *targets += 1;
            return Ok(Some(Self(lock)));
        }
        match LockFile::take(&lock) {
            Ok(file) => {
                held.insert(lock.clone(), (file, 1));
                Ok(Some(Self(lock)))
            }
            Err(LockError::Io { error, .. }) if is_nowhere(&error) => Ok(None),
            Err(error) => Err(refused(path, &error)),
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut held = held();
        if let Some((_, targets)) = held.get_mut(&self.0) {
            *targets -= 1;
            if *targets == 0 {
                held.remove(&self.0);
            }
        }
    }
}

fn is_nowhere(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound};
    [NotFound, NotADirectory].contains(&error.kind())
}

fn refused(path: &Path, error: &LockError) -> TargetError {
    let path = path.display();
    match error {
        LockError::Held => TargetError::foreign(format!(
            "SQLite: another dbdyno process is using {path}; wait until that process has ended, or use a separate path"
        )),
        LockError::Foreign { .. } => TargetError::foreign(format!("SQLite: {error}")),
        LockError::Io { .. } => TargetError::unreachable(format!(
            "SQLite: {path} cannot be used: {error}; check that its directory is writable"
        )),
    }
}
