//! When an operation was meant to start, did, and ended.

/// The four times of one operation, in nanoseconds since the common start.
#[derive(Debug, Clone, Copy)]
pub struct Timing {
    /// Since when the client was free.
    pub free_ns: u64,
    /// When the operation was meant to start: when its user asked.
    pub intended_ns: u64,
    pub start_ns: u64,
    pub end_ns: u64,
}
