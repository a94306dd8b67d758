//! Opens a device so that nobody else can mount it, swap to it, or stack something upon it.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// Whoever looks at a device for a moment (udev after each change, `blkid`, a process between fork and exec that inherited
/// such a file) has let go of it by then; a mount or a stack has not.
const PATIENCE: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(10);

/// Opens for reading, alone.
///
/// # Errors
/// `EBUSY` when somebody else holds the device, and what `open` says.
pub fn open(path: &Path) -> io::Result<File> {
    let begin = Instant::now();
    loop {
        let opened = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_EXCL)
            .open(path);
        match opened {
            Err(error) if is_busy(&error) && begin.elapsed() < PATIENCE => {
                std::thread::sleep(LOOK);
            }
            opened => return opened,
        }
    }
}

/// Whether somebody else holds it.
pub fn is_busy(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::EBUSY)
}
