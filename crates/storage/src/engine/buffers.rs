//! Memory for the data in flight: one mapping, aligned to pages, cut into buffers for the I/Os.

use std::io;

use super::error::EngineError;

/// Buffers begin on a page because `O_DIRECT` demands it.
pub(crate) const PAGE_BYTES: usize = 4096;
/// A worker that needs more memory than this has a mistake in its parameters.
pub(crate) const MEMORY_BYTES_MAX: u64 = 16 << 30;

#[derive(Debug)]
pub(crate) struct Buffers {
    start: *mut u8,
    length: usize,
}

impl Buffers {
    pub fn new(length: u64) -> Result<Self, EngineError> {
        let refused = |reason| EngineError::Memory {
            bytes: length,
            reason,
        };
        if length > MEMORY_BYTES_MAX {
            return Err(refused(io::Error::from(io::ErrorKind::OutOfMemory)));
        }
        let length = (length as usize)
            .next_multiple_of(PAGE_BYTES)
            .max(PAGE_BYTES);
        // SAFETY: a private anonymous mapping at an address of the kernel's choice touches nothing that exists.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(EngineError::Memory {
                bytes: length as u64,
                reason: io::Error::last_os_error(),
            });
        }
        Ok(Self {
            start: start.cast(),
            length,
        })
    }

    pub fn at(&self, offset: usize) -> *mut u8 {
        assert!(offset < self.length, "a place lies within its buffers");
        // SAFETY: the offset was just checked against the length of the mapping.
        unsafe { self.start.add(offset) }
    }

    pub fn length(&self) -> usize {
        self.length
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: this is the mapping made in `new`; nothing refers to it once its owner is dropped.
        unsafe { libc::munmap(self.start.cast(), self.length) };
    }
}
