//! A file without a name that lies in memory.

use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd};

use engine::file_snapshot::copy::taken_bytes;
use engine::{ErrorKind, Result, TargetError};

/// A file in memory; it vanishes when it is dropped, and with the process.
pub(super) struct MemoryFile(File);

impl MemoryFile {
    /// An empty one.
    ///
    /// # Errors
    /// When the kernel gives none: too many files are open.
    pub fn new() -> Result<Self> {
        // SAFETY: the name ends with a zero byte and is copied.
        let descriptor =
            unsafe { libc::memfd_create(c"dbdyno-lifted".as_ptr(), libc::MFD_CLOEXEC) };
        if descriptor < 0 {
            let error = std::io::Error::last_os_error();
            return Err(TargetError::new(
                ErrorKind::Unreachable,
                format!(
                    "cannot create a file in memory: {error}; raise the limit on open files (ulimit -n)"
                ),
            ));
        }
        // SAFETY: the descriptor is new and ours.
        Ok(Self(unsafe { File::from_raw_fd(descriptor) }))
    }

    /// The path by which this process can open it.
    pub fn path(&self) -> String {
        format!("/proc/self/fd/{}", self.0.as_raw_fd())
    }

    /// Bytes that the kernel has allocated for it.
    pub fn bytes(&self) -> u64 {
        // A descriptor that is open can be asked.
        self.0.metadata().map_or(0, |facts| taken_bytes(&facts))
    }
}
