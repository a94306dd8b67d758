//! What carries I/Os to the kernel: a ring, or threads where rings are forbidden. The loop above is the same, and so it is
//! for a programmed device in virtual time.

use std::io;

use super::error::Operation;

/// One I/O for the kernel.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request {
    /// Comes back with the completion.
    pub slot: u32,
    pub file: u32,
    pub operation: Operation,
    /// Not this, but the `fdatasync` behind it.
    pub is_sync: bool,
    pub offset: u64,
    pub length: u32,
    /// At least `length` bytes that nobody else touches until the completion.
    pub buffer: *mut u8,
}

// SAFETY: the buffer belongs to the request's slot alone from submission to completion; whoever holds the request
// is the only one who may touch it.
unsafe impl Send for Request {}

/// How an I/O ended: bytes transferred, or the negative number of an error.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Completion {
    pub slot: u32,
    pub result: i32,
}

pub(crate) trait Backend {
    /// Nanoseconds of the clock by which I/Os are due, timed and waited for; tests have one of their own.
    #[inline]
    fn now_ns(&self) -> u64 {
        load::clock::now_ns()
    }

    /// Hands `requests` to the kernel, then waits until at least `want` (0 or 1) I/Os have completed or `timeout_ns`
    /// has passed. All of `requests` are taken.
    fn submit_and_wait(
        &mut self,
        requests: &[Request],
        want: usize,
        timeout_ns: u64,
    ) -> io::Result<()>;

    /// Appends what has completed to `completions`, which has room for everything in flight.
    fn reap(&mut self, completions: &mut Vec<Completion>);
}
