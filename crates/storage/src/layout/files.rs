//! Directories of layouts.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::error::{LayoutError, system};

/// Mode that lets the server's user pass through but not list the directory.
pub(super) const PASSABLE: u32 = 0o711;

pub(super) fn make_passable(directory: &Path) -> Result<(), LayoutError> {
    // The umask must not matter.
    fs::set_permissions(directory, Permissions::from_mode(PASSABLE)).map_err(system(directory))
}

/// Makes the last change of a directory durable.
pub(super) fn sync(directory: &Path) -> Result<(), LayoutError> {
    let synced = File::open(directory).and_then(|directory| directory.sync_all());
    synced.map_err(system(directory))
}
