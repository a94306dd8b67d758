//! Times of one operation, from which service, response and waiting times follow.

/// The four times of one operation, in nanoseconds since the common start.
#[derive(Debug, Clone, Copy)]
pub struct Timing {
    /// Time since which the client was free.
    pub free_ns: u64,
    /// Intended start: the time at which the operation was due.
    pub intended_ns: u64,
    pub start_ns: u64,
    pub end_ns: u64,
}
