//! Backups that are the server's files: their checksums, and a server on a copy of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use super::super::target::MySqlTarget;
use engine::backup::run;
use engine::failed;
use engine::file_snapshot::copy;
use engine::{RestoreOptions, Restored, Result, Target};

const SYSTEM_TABLE_SPACE: &str = "ibdata1";
/// Pages 64 to 191 of MariaDB's are the double-write buffer, where copies of pages may be torn.
const AROUND_DOUBLE_WRITES: &[&[&str]] = &[&["--end-page=63"], &["--start-page=192"]];
/// All pages of a file.
const WHOLE: &[&[&str]] = &[&[]];

/// Recalculates the checksums of all pages; a sentence about the first wrong one.
pub(super) fn verify(target: &MySqlTarget, from: &Path) -> Result<Option<String>> {
    for file in table_spaces(from).map_err(|e| failed("cannot read the backup", &e))? {
        let is_system = (file.file_name()).is_some_and(|name| name == SYSTEM_TABLE_SPACE);
        let has_double_writes = is_system && target.flavour().double_writes_in_system_table_space;
        let parts = if has_double_writes {
            AROUND_DOUBLE_WRITES
        } else {
            WHOLE
        };
        for pages in parts {
            let mut command = target.program("innochecksum")?;
            command.args(*pages).arg(&file);
            if let Err(error) = run(command) {
                return Ok(Some(error.message));
            }
        }
    }
    Ok(None)
}

/// A server on a copy of the files in `from`, after `prepare` has made the copy consistent.
pub(super) fn restore(
    target: &MySqlTarget,
    of: &RestoreOptions<'_>,
    from: &Path,
    prepare: impl FnOnce(&Path) -> Result<()>,
) -> Result<Restored> {
    let server = target.own_server()?;
    let begun = Instant::now();
    let data = server.data_inside(of.into)?;
    let copied = || -> std::io::Result<()> {
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            copy::copy(&entry.path(), &data.join(entry.file_name()))?;
        }
        copy::sync(of.into)
    };
    copied().map_err(|e| failed(&format!("cannot copy {}", from.display()), &e))?;
    let copy_took = begun.elapsed();
    prepare(&data)?;
    server.hand_over(of.into)?;
    let url = server.url_of_restored(target.url(), of.into)?;
    let restored: Arc<dyn Target> = Arc::new(MySqlTarget::open_local(server.kind(), &url)?);
    Ok(Restored::since(begun, copy_took, restored))
}

/// The files with pages that bear checksums.
fn table_spaces(backup: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut left = vec![backup.to_owned()];
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(directory)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if path.is_dir() {
                left.push(path);
            } else if name.ends_with(".ibd")
                || name.starts_with("undo")
                || name == SYSTEM_TABLE_SPACE
            {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}
