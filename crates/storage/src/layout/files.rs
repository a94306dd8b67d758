//! Directories of layouts.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::error::{LayoutError, system};

/// Others may pass through, which the server's user must, but not look around.
pub(super) const PASSABLE: u32 = 0o711;

pub(super) fn make_passable(directory: &Path) -> Result<(), LayoutError> {
    // Whatever the umask is.
    fs::set_permissions(directory, Permissions::from_mode(PASSABLE)).map_err(system(directory))
}

/// Makes what was written last as a rule of the directory.
pub(super) fn sync(directory: &Path) -> Result<(), LayoutError> {
    let synced = File::open(directory).and_then(|directory| directory.sync_all());
    synced.map_err(system(directory))
}
