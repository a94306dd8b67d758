//! Where the chain of a slot stands, and how it goes on.

use super::error::Fault;

/// Where the chain of a slot stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The SD is not validated, and the I/O stands alone.
    Plain,
    /// A write with an `fdatasync` behind it.
    WriteThenSync,
    /// That `fdatasync`.
    Sync,
    /// The read that was asked for.
    Read,
    /// Proof of what is about to be written over.
    ReadBefore,
    /// The write that was asked for.
    Write,
    /// Proof of what was written.
    ReadAfter,
}

/// What becomes of a chain.
pub(crate) enum Step {
    /// It goes on with the next request of its slot.
    Next,
    /// It is over, with what was found.
    Done(Option<Fault>),
}
