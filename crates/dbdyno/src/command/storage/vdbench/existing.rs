//! Files and devices that exist before a list writes to them.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use report::number::bytes;
use storage::run::{Run, StorageDefinition};

/// A file or device that a list overwrites or extends.
pub struct Existing<'a> {
    path: &'a Path,
    found: Metadata,
    /// Its length after the list, if the parameter file states a size.
    stated_bytes: Option<u64>,
}

/// Those of the list; a file without content is as good as none.
pub fn existing<'a>(runs: &[&'a Run]) -> Vec<Existing<'a>> {
    let written = runs.iter().flat_map(|run| {
        let storage = run.storage.iter().enumerate();
        storage.filter(|(index, _)| run.writes_to(*index))
    });
    let mut stated: BTreeMap<&Path, Option<u64>> =
        written.map(|(_, sd)| (sd.path.as_path(), None)).collect();
    // Several SDs may name parts of one file.
    for sd in runs.iter().flat_map(|run| &run.storage) {
        if let Some(known) = stated.get_mut(sd.path.as_path()) {
            *known = (*known).max(end_bytes(sd));
        }
    }
    let of_path = |(path, stated_bytes): (&'a Path, Option<u64>)| {
        let found = std::fs::metadata(path).ok()?;
        let is_kept = found.file_type().is_block_device() || (found.is_file() && found.len() > 0);
        is_kept.then_some(Existing {
            path,
            found,
            stated_bytes,
        })
    };
    stated.into_iter().filter_map(of_path).collect()
}

fn end_bytes(sd: &StorageDefinition) -> Option<u64> {
    Some(sd.offset_bytes + sd.size_bytes?)
}

impl Existing<'_> {
    /// Refuses a file of another size than the parameter file states, which its author did not mean.
    pub fn spare(&self, force: &[PathBuf]) -> Result<()> {
        let Some(stated) = self.other_size().filter(|_| !self.is_forced(force)) else {
            return Ok(());
        };
        bail!(
            "{} exists and has {}, not the {} of the parameter file, which would overwrite it; name a new file, or add --force if \
             its contents may be lost",
            self.path.display(),
            bytes(self.found.len()),
            bytes(stated),
        )
    }

    /// Refuses everything, because the user of a profile has not written which files it overwrites. A device must be named twice.
    pub fn spare_from_profile(&self, force: &[PathBuf]) -> Result<()> {
        let path = self.path.display();
        if self.found.is_file() && !self.is_forced(force) {
            bail!(
                "{path} exists ({}), and the profile would overwrite it; name a new file, or add --force if its contents may be lost",
                bytes(self.found.len()),
            );
        }
        if !self.found.is_file() && !self.is_named(force) {
            bail!(
                "{path} is a device, and the profile would overwrite it; name a new file, or add --force={path} if its contents may be lost"
            );
        }
        Ok(())
    }

    fn other_size(&self) -> Option<u64> {
        let stated = self.stated_bytes.filter(|_| self.found.is_file());
        stated.filter(|stated| *stated != self.found.len())
    }

    fn is_named(&self, force: &[PathBuf]) -> bool {
        force.iter().any(|named| named == self.path)
    }

    fn is_forced(&self, force: &[PathBuf]) -> bool {
        self.is_named(force) || force.iter().any(|named| named.as_os_str().is_empty())
    }
}

impl std::fmt::Display for Existing<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let path = self.path.display();
        match self.found.is_file() {
            true => write!(
                f,
                "{path} exists ({}), is overwritten",
                bytes(self.found.len())
            ),
            false => write!(f, "{path} is a device, is overwritten"),
        }
    }
}

/// Refuses a link to nowhere, through which a profile would create a file of unknown name.
pub fn refuse_dangling(runs: &[&Run]) -> Result<()> {
    let mut paths = runs.iter().flat_map(|run| &run.storage).map(|sd| &sd.path);
    if let Some(path) = paths.find(|path| path.is_symlink() && !path.exists()) {
        bail!(
            "{} is a dangling symbolic link; name a new file",
            path.display()
        );
    }
    Ok(())
}
