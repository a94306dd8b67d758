//! The kernel's page cache under a data file.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

/// Writes a file's dirty pages out and asks the kernel to forget all its pages.
///
/// Needs no rights beyond reading the file. Pages that another process has mapped stay; the device
/// counters of the following point show whether the reads really reached the device.
///
/// # Errors
/// When the file cannot be opened or synced, or the file system refuses the advice.
pub fn forget_cached_pages(path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    // Dirty pages cannot be dropped, so they are written first.
    file.sync_all()?;
    // SAFETY: the descriptor is open for the whole call and the advice touches no memory of ours.
    match unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) } {
        0 => Ok(()),
        code => Err(io::Error::from_raw_os_error(code)),
    }
}
