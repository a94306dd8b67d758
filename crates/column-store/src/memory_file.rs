//! A file without a name that lies in memory.

use std::fs::File;
use std::os::fd::AsRawFd;

use rustix::fs::MemfdFlags;

use engine::file_snapshot::copy::taken_bytes;
use engine::{Result, TargetError};

/// A file in memory; it vanishes when it is dropped, and with the process.
pub(super) struct MemoryFile(File);

impl MemoryFile {
    /// An empty one.
    pub fn new() -> Result<Self> {
        let file = rustix::fs::memfd_create(c"dbdyno-lifted", MemfdFlags::CLOEXEC);
        let refused = |error| {
            TargetError::unreachable(format!(
                "cannot create a file in memory: {error}; raise the limit on open files (ulimit -n)"
            ))
        };
        Ok(Self(File::from(file.map_err(refused)?)))
    }

    /// The path by which this process can open it.
    pub fn path(&self) -> String {
        format!("/proc/self/fd/{}", self.0.as_raw_fd())
    }

    /// Bytes that the kernel has allocated for it.
    pub fn bytes(&self) -> u64 {
        // A descriptor that is open can be examined.
        self.0.metadata().map_or(0, |facts| taken_bytes(&facts))
    }
}
