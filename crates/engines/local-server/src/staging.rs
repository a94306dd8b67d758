//! Brings programs where the server's user can reach them.
//!
//! A server in the cache of root lies behind a closed home directory. Its files are then linked, or
//! copied where that is not possible, into the directory of the run.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use super::{Account, Installation, failed, run_directory};
use engine::Result;

/// Files of one installation; a tree with more is none.
const FILES_MAX: usize = 20_000;
const DEPTH_MAX: u32 = 16;
const NAME: &str = "program";

/// The installation itself when `account` reaches it, else a copy below `run`.
///
/// # Errors
/// When it cannot be copied.
pub fn reachable(
    installation: Installation,
    account: &Account,
    run: &Path,
) -> Result<Installation> {
    if !account.is_changed_to || account.reaches(&installation.server) {
        return Ok(installation);
    }
    let Some(root) = installation.root.clone() else {
        return Ok(installation);
    };
    let copy = run.join(NAME);
    let mut files = 0;
    bring(&root, &copy, DEPTH_MAX, &mut files).map_err(|e| {
        failed(
            &format!(
                "cannot copy {} to a place that {} can access",
                root.display(),
                account.name
            ),
            &e,
        )
    })?;
    let moved = |path: &Path| match path.strip_prefix(&root) {
        Ok(inner) => copy.join(inner),
        Err(_) => path.to_owned(),
    };
    Ok(Installation {
        server: moved(&installation.server),
        directory: moved(&installation.directory),
        root: Some(copy.clone()),
        ..installation
    })
}

fn bring(from: &Path, to: &Path, depth: u32, files: &mut usize) -> io::Result<()> {
    run_directory::make(to)?;
    fs::set_permissions(to, Permissions::from_mode(0o755))?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        *files += 1;
        if *files > FILES_MAX || depth == 0 {
            return Err(io::Error::other(
                "it is too large to be a server installation",
            ));
        }
        if kind.is_dir() {
            bring(&entry.path(), &target, depth - 1, files)?;
        } else if kind.is_symlink() {
            symlink(fs::read_link(entry.path())?, &target)?;
        } else {
            bring_file(&entry.path(), &target)?;
        }
    }
    Ok(())
}

fn bring_file(from: &Path, to: &Path) -> io::Result<()> {
    let mode = fs::metadata(from)?.mode();
    // A link shares the permissions, so only what everybody may read is linked.
    if mode & 0o444 == 0o444 && fs::hard_link(from, to).is_ok() {
        return Ok(());
    }
    fs::copy(from, to)?;
    let executable = if mode & 0o100 == 0 { 0 } else { 0o111 };
    fs::set_permissions(to, Permissions::from_mode(0o644 | executable))
}
