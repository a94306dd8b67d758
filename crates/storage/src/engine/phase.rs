//! State of a chain.

use super::error::Fault;

/// Request that the chain of a slot has in progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The SD is not validated, so the I/O has no chain.
    Plain,
    /// A write that an `fdatasync` follows.
    WriteThenSync,
    /// That `fdatasync`.
    Sync,
    /// Read of the stream.
    Read,
    /// Proof of the blocks that are about to be overwritten.
    ReadBefore,
    /// Write of the stream.
    Write,
    /// Proof of the written blocks.
    ReadAfter,
}

pub(crate) enum Step {
    /// The chain continues with the next request of its slot.
    Next,
    /// The chain has ended, with its fault if there was one.
    Done(Option<Fault>),
}
