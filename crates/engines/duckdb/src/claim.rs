//! Keeps one process from opening one database file twice.
//!
//! DuckDB's lock is the kernel's advisory lock, which knows processes only: a second instance in the
//! same process would be let in and damage the file.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use engine::{Result, TargetError, database_file};

static CLAIMED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn claimed() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    CLAIMED
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The right to open a file, given back when dropped.
pub(super) struct Claim(PathBuf);

impl Claim {
    /// Takes the file, which need not exist yet.
    pub fn take(path: &Path) -> Result<Self> {
        let real = database_file::resolved("DuckDB", path)?;
        refuse_foreign_log(&real)?;
        if claimed().insert(real.clone()) {
            Ok(Self(real))
        } else {
            Err(TargetError::unreachable(format!(
                "DuckDB: {} is already open in this run; give each target its own file",
                path.display()
            )))
        }
    }

    /// The file without links in its path. DuckDB keeps its log beside this one, whatever name it
    /// was opened by, and refuses to write through links once other files are forbidden.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        claimed().remove(&self.0);
    }
}

/// DuckDB takes whatever is called as its log for one, and removes it when there is no database that it could belong to.
fn refuse_foreign_log(real: &Path) -> Result<()> {
    let mut log = OsString::from(real);
    log.push(".wal");
    let log = PathBuf::from(log);
    let Ok(found) = fs::symlink_metadata(&log) else {
        return Ok(());
    };
    if found.is_file() && (found.len() == 0 || real.exists()) {
        return Ok(());
    }
    Err(TargetError::foreign(format!(
        "DuckDB: {} is no log of a database and would be removed; move it, or choose another path",
        log.display()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::ErrorKind;

    #[test]
    fn a_file_is_claimed_once_under_all_its_names() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.db");
        let claim = Claim::take(&path).unwrap();
        std::fs::write(&path, b"").unwrap();
        let link = dir.path().join("link.db");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        for name in [path.clone(), dir.path().join("./a.db"), link] {
            let error = Claim::take(&name).err().unwrap();
            assert_eq!(error.kind, ErrorKind::Unreachable, "{}", name.display());
        }
        assert_eq!(claim.path(), path.canonicalize().unwrap());
        drop(claim);
        assert!(Claim::take(&path).is_ok());
        let nothing = dir.path().join("nothing.db");
        std::os::unix::fs::symlink("absent", &nothing).unwrap();
        assert!(Claim::take(&nothing).is_err());
    }
}
