//! Opens a device exclusively, so that others can neither mount it, swap to it, nor build a device on it.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// Programs that open a device briefly (udev after each change, `blkid`, a process between fork and exec that
/// inherited the file) have closed it by then; a mount has not.
const PATIENCE: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(10);

/// Opens the device exclusively for reading.
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

pub fn is_busy(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::EBUSY)
}
