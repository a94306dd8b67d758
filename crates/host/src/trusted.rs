//! Checks before a program is executed or a library loaded: as ssh does with its files, none is used that others
//! could have replaced.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Why a file is not trusted. Files of root and of the user that dbdyno runs as are.
#[derive(Debug, thiserror::Error)]
pub enum Untrusted {
    #[error("other users can write {path} (mode {mode:o}); take that right away with chmod go-w")]
    Writable { path: PathBuf, mode: u32 },
    #[error("{path} belongs to another user (number {uid})")]
    OfOther { path: PathBuf, uid: u32 },
    #[error("{path} cannot be looked at: {cause}")]
    Unseen { path: PathBuf, cause: io::Error },
}

/// The file itself, links resolved, if only root and this user can write it and the folders above it. Fails with the
/// first file or folder that others could change.
pub fn trusted(path: &Path) -> Result<PathBuf, Untrusted> {
    let unseen = |path: &Path, cause| Untrusted::Unseen {
        path: path.to_owned(),
        cause,
    };
    let file = path.canonicalize().map_err(|cause| unseen(path, cause))?;
    for part in file.ancestors() {
        let found = part
            .symlink_metadata()
            .map_err(|cause| unseen(part, cause))?;
        let path = part.to_owned();
        if ![0, user_id()].contains(&found.uid()) {
            let uid = found.uid();
            return Err(Untrusted::OfOther { path, uid });
        }
        if is_written_by_others(&found) {
            let mode = found.mode() & 0o7777;
            return Err(Untrusted::Writable { path, mode });
        }
    }
    Ok(file)
}

fn is_written_by_others(found: &Metadata) -> bool {
    // In such a folder everybody has files, and nobody can replace those of others.
    if found.is_dir() && found.mode() & libc::S_ISVTX != 0 {
        return false;
    }
    // A separate group for each user is usual, and its files are then writable for that group.
    let is_own_group = found.gid() == 0 || found.gid() == user_id() && found.uid() == user_id();
    let others = if is_own_group { 0o002 } else { 0o022 };
    found.mode() & others != 0
}

pub fn user_id() -> u32 {
    rustix::process::geteuid().as_raw()
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    use super::*;

    #[test]
    fn nothing_is_trusted_that_others_can_replace() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let (folder, file) = (root.join("bin"), root.join("bin/program"));
        fs::create_dir(&folder).unwrap();
        fs::write(&file, "").unwrap();
        let link = root.join("link");
        symlink(&file, &link).unwrap();
        let mode =
            |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        for (of_folder, of_file, bad) in [
            (0o755, 0o755, None),
            (0o1777, 0o755, None),
            (0o777, 0o755, Some(&folder)),
            (0o755, 0o757, Some(&file)),
            (0o1777, 0o777, Some(&file)),
        ] {
            mode(&folder, of_folder);
            mode(&file, of_file);
            for path in [&file, &link] {
                match (trusted(path), bad) {
                    (Ok(found), None) => assert_eq!(found, file),
                    (Err(Untrusted::Writable { path, .. }), Some(bad)) => assert_eq!(path, *bad),
                    other => panic!("{of_folder:o} {of_file:o}: {other:?}"),
                }
            }
        }
        mode(&folder, 0o755);
        mode(&file, 0o755);
        assert!(matches!(
            trusted(&root.join("absent")),
            Err(Untrusted::Unseen { .. })
        ));
        if user_id() != 0 {
            testing::skip!("only root can give a file away");
        }
        chown(&folder, Some(12345), None).unwrap();
        assert!(matches!(
            trusted(&file),
            Err(Untrusted::OfOther { uid: 12345, .. })
        ));
        chown(&folder, Some(0), Some(12345)).unwrap();
        mode(&folder, 0o775);
        assert!(matches!(trusted(&file), Err(Untrusted::Writable { .. })));
        chown(&folder, Some(0), Some(0)).unwrap();
        assert!(trusted(&file).is_ok());
    }
}
