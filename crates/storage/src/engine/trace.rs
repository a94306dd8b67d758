//! A recording of every I/O, for proof that what was asked for is what was done.

use super::error::Operation;

/// One I/O as it was handed to the kernel, and what came of it. Times are nanoseconds since the start of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceRecord {
    pub stream: usize,
    pub storage: usize,
    pub operation: Operation,
    /// Address in the file or device, in bytes.
    pub offset_bytes: u64,
    /// Bytes asked for.
    pub size_bytes: u64,
    /// When it was meant to start.
    pub intended_ns: u64,
    /// When it was taken from its queue.
    pub issued_ns: u64,
    /// When it was handed to the kernel.
    pub submitted_ns: u64,
    /// When its completion was seen.
    pub completed_ns: u64,
    /// Bytes transferred, or the negative number of an error.
    pub result: i32,
}

/// I/Os in the order of their completion at each worker.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trace {
    /// At most as many as were asked for.
    pub records: Vec<TraceRecord>,
    /// I/Os that found no room.
    pub dropped: u64,
}

impl Trace {
    /// Room for `limit` records, taken now.
    pub(crate) fn with_room(limit: usize) -> Self {
        Self {
            records: Vec::with_capacity(limit),
            dropped: 0,
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, record: TraceRecord) {
        if self.records.len() < self.records.capacity() {
            self.records.push(record);
        } else {
            self.dropped += 1;
        }
    }

    pub(crate) fn merge(&mut self, other: Trace) {
        self.records.extend(other.records);
        self.dropped += other.dropped;
    }
}
