//! What an event loop drives: a client whose operations are begun and finished without waiting in between.

use std::os::fd::RawFd;

use crate::{Done, Failure};

/// One client of an event loop: the counterpart of an [`crate::BlockingClient`] that never blocks.
pub trait NonblockingClient: Send {
    /// The descriptor that becomes readable when an answer comes. It stays the same for the life of the
    /// station, and is its own: no two stations of a drive share one.
    fn descriptor(&self) -> RawFd;

    /// Begins operation number `index` (see [`crate::BlockingClient::operate`]) and sends what can be sent.
    fn begin(&mut self, index: u64) -> Turn;

    /// The descriptor has become ready: reads until the operation is done, another round trip of it is
    /// under way, or nothing more is there. It must read until it would block or everything that was asked
    /// for has come, because only what comes afterwards is announced again.
    ///
    /// Also called when something comes while no operation is in hand, which is how a server that ended is
    /// noticed; then it answers [`Turn::Reading`], or finishes with [`Failure::Fatal`].
    fn ready(&mut self) -> Turn;

    /// As [`NonblockingClient::ready`], but waits for the answer to the operation in hand: for the only client of a
    /// thread, which saves asking the kernel first whether something has come. `None`, and nothing has
    /// happened, when the station cannot.
    fn await_ready(&mut self) -> Option<Turn> {
        None
    }

    /// As [`crate::BlockingClient::measurement_begins`].
    fn measurement_begins(&mut self) {}
}

/// How far an operation has come.
#[derive(Debug, PartialEq, Eq)]
pub enum Turn {
    /// It waits for an answer.
    Reading,
    /// It waits until the rest of a request can be sent; answers are taken meanwhile.
    Writing,
    /// It is over.
    Finished(Result<Done, Failure>),
}
