//! A server's own directory: socket, configuration, log and, for throw-away servers, the data.
//!
//! Its file [`OWNER`] is locked for as long as the owner lives, and holds notes of what else belongs to
//! the server. A directory whose lock is free is an orphan.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use host::user_id;

use super::janitor::{self, OWNER};
use super::{ServerSpec, failed};
use engine::{Result, TargetError};

/// Held while directories are made and removed.
const LOCK: &str = ".dbdyno-lock";
/// Names the parent of all of them.
const VARIABLE: &str = "DBDYNO_SERVER_DIR";
/// On disk, unlike /tmp on many systems, and reachable by the servers' users, unlike root's home.
const PARENT: &str = "/var/tmp";
/// Others may pass through, which the server's user must, but not look around.
const PASSABLE: u32 = 0o711;

/// The directory; removed when dropped.
#[derive(Debug)]
pub(super) struct RunDirectory {
    path: PathBuf,
    owner: File,
}

impl RunDirectory {
    /// Makes a new directory and locks it, after removing those whose owners are gone.
    ///
    /// # Errors
    /// When its parent is not the user's own or cannot be written.
    pub fn create(spec: &ServerSpec, prefix: &str) -> Result<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let parent = parent(spec)?;
        let cannot = |e: io::Error| {
            let what = format!(
                "cannot write the directory {} for local servers; name another in ${VARIABLE}",
                parent.display()
            );
            failed(&what, &e)
        };
        let lock = open_lock(&parent.join(LOCK)).map_err(cannot)?;
        lock.lock().map_err(cannot)?;
        janitor::sweep(&parent);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = parent.join(format!("{prefix}-{}-{number}", std::process::id()));
        make(&path).map_err(cannot)?;
        let owned = open_lock(&path.join(OWNER)).and_then(|owner| {
            owner.lock()?;
            Ok(owner)
        });
        match owned {
            Ok(owner) => Ok(Self { path, owner }),
            Err(e) => {
                let _ = fs::remove_dir_all(&path);
                Err(cannot(e))
            }
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes down something that must go when the directory goes.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn note(&self, key: &str, value: &str) -> Result<()> {
        let line = format!("{key} {value}\n");
        let mut owner = &self.owner;
        owner
            .write_all(line.as_bytes())
            .map_err(|e| failed(&format!("{} cannot be written", self.path.display()), &e))
    }
}

impl Drop for RunDirectory {
    fn drop(&mut self) {
        janitor::remove(&self.path);
    }
}

fn open_lock(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .mode(0o600)
        .open(path)
}

/// Makes a directory that the server's user can pass through, whatever the umask is.
pub fn make(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(PASSABLE).create(path)?;
    fs::set_permissions(path, Permissions::from_mode(PASSABLE))
}

/// Where servers' directories are made when nothing else is said; it need not be there yet.
pub fn usual_parent() -> PathBuf {
    let named = std::env::var_os(VARIABLE).filter(|v| !v.is_empty());
    named.map_or_else(
        || Path::new(PARENT).join(format!("dbdyno-{}", user_id())),
        PathBuf::from,
    )
}

/// The parent of all servers' directories, made if need be.
fn parent(spec: &ServerSpec) -> Result<PathBuf> {
    let (uid, usual) = (user_id(), usual_parent());
    let path = spec.parent_directory.clone().unwrap_or(usual);
    let refuse = |why: &str| {
        TargetError::unreachable(format!(
            "cannot put local servers in {}: {why}; name another directory in ${VARIABLE}",
            path.display()
        ))
    };
    match make(&path) {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(refuse(&e.to_string())),
        _ => {}
    }
    // In a directory that others may write, somebody else could have made it first.
    let metadata = fs::symlink_metadata(&path).map_err(|e| refuse(&e.to_string()))?;
    if !metadata.is_dir() {
        return Err(refuse("it is not a directory"));
    }
    if metadata.uid() != uid || metadata.mode() & 0o022 != 0 {
        return Err(refuse(
            "it belongs to another user, or other users may write to it",
        ));
    }
    path.canonicalize().map_err(|e| refuse(&e.to_string()))
}
