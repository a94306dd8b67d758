//! Recording of every I/O, as proof that the requested I/Os were carried out.

use super::error::Operation;

/// One I/O as it was handed to the kernel, with its result. Times are nanoseconds since the start of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceRecord {
    pub stream: usize,
    pub storage: usize,
    pub operation: Operation,
    pub offset_bytes: u64,
    pub size_bytes: u64,
    pub intended_ns: u64,
    pub issued_ns: u64,
    pub submitted_ns: u64,
    pub completed_ns: u64,
    pub result: i32,
}

/// I/Os in the order of their completion at each worker.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trace {
    pub records: Vec<TraceRecord>,
    pub dropped: u64,
}

impl Trace {
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
