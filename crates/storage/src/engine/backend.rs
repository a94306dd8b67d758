//! Carriers of I/Os to the kernel: a ring, threads where rings are forbidden, or a programmed device in virtual time.
//! The loop above is the same for all.

use std::io;

use super::error::Operation;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Request {
    pub slot: u32,
    pub file: u32,
    pub operation: Operation,
    /// The request is the `fdatasync` after the I/O, not the I/O itself.
    pub is_sync: bool,
    pub offset: u64,
    pub length: u32,
    /// At least `length` bytes, which belong to the request until its completion.
    pub buffer: *mut u8,
}

// SAFETY: from submission to completion the buffer belongs to the request's slot; only the holder of the request
// accesses it.
unsafe impl Send for Request {}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Completion {
    pub slot: u32,
    pub result: i32,
}

pub(crate) trait Backend {
    /// Nanoseconds of the clock by which I/Os are due, timed and awaited; tests have a virtual clock.
    #[inline]
    fn now_ns(&self) -> u64 {
        load::clock::now_ns()
    }

    /// Hands all `requests` to the kernel, then waits until at least `want` (0 or 1) I/Os have completed or
    /// `timeout_ns` has passed.
    fn submit_and_wait(
        &mut self,
        requests: &[Request],
        want: usize,
        timeout_ns: u64,
    ) -> io::Result<()>;

    fn reap(&mut self, completions: &mut Vec<Completion>);
}
