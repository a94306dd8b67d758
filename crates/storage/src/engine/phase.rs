//! State of a chain.

use super::error::Fault;

/// Request that the chain of a slot has in progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The SD is not validated, so the I/O has no chain.
    Plain,
    /// A write that an `fdatasync` follows.
    WriteThenSync,
    Sync,
    Read,
    /// Proof of the blocks that are about to be overwritten.
    ReadBefore,
    Write,
    /// Proof of the written blocks.
    ReadAfter,
}

pub(crate) enum Step {
    Next,
    /// The chain has ended, with its fault if there was one.
    Done(Option<Fault>),
}
