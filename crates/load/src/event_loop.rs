//! Drives many clients from one thread, for targets whose answers can be awaited.
//!
//! A thread for every client would be simpler, but hundreds of threads take processor time for switching
//! that is then missing in the database beside them.
//!
//! A client is whatever implements [`Work`]: a station with its own way through a timetable, or a connection
//! that serves a population of users.

mod client;
mod crew;
mod poll;
mod stations;
mod turns;

use std::os::fd::RawFd;

use crate::job::{Cancellation, ExitReason};
use crate::recorder::Recorder;
use crate::{Done, Failure, Turn};

pub(crate) use crew::{Left, Loops, run};
pub use stations::drive_nonblocking;

/// What a client of an event loop does, and writes down; all times are since the common start.
pub(crate) trait Work: Send {
    /// The descriptor that is watched.
    fn descriptor(&self) -> RawFd;

    /// What comes first, and after each operation; after [`Next::Park`] it is asked at the common start.
    fn next(&mut self) -> Next;

    /// Begins what is due.
    fn begin(&mut self, now_ns: u64) -> Turn;

    /// The descriptor has become ready, see [`crate::NonblockingClient::ready`].
    fn ready(&mut self) -> Turn;

    /// Waits for the answer, see [`crate::NonblockingClient::await_ready`].
    fn await_ready(&mut self) -> Option<Turn>;

    /// Writes down how the operation in hand ended; why the client leaves, if it does.
    fn end(
        &mut self,
        now_ns: u64,
        result: Result<Done, Failure>,
        recorder: &mut Recorder,
        cancellation: &Cancellation,
    ) -> Option<ExitReason>;

    /// The measured window begins with the common start, which is near.
    fn measurement_begins(&mut self) {}

    /// Whether the operation in hand has taken too long.
    fn is_overdue(&self, _now_ns: u64) -> bool {
        false
    }

    /// Gives up the overdue operation in hand with its connection, which is watched no longer.
    fn give_up(&mut self, _now_ns: u64, _recorder: &mut Recorder, _brake: &Cancellation) -> Next {
        Next::Leave(ExitReason::Failed)
    }

    /// What comes after [`Next::Mend`]; `None` while nothing does. There may be another descriptor then.
    fn mended(
        &mut self,
        _now_ns: u64,
        _recorder: &mut Recorder,
        _brake: &Cancellation,
    ) -> Option<Next> {
        None
    }

    /// The client has left.
    fn finish(&mut self) {}
}

/// What a client does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// An operation that is due at this time, since the common start.
    At(u64),
    /// It waits for the common start.
    Park,
    /// It waits for another connection.
    Mend,
    /// Nothing any more.
    Leave(ExitReason),
}

/// What a client is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doing {
    /// It waits for the common start.
    Parked,
    /// It waits for the time of its next operation.
    Waiting,
    /// An operation is in hand.
    Working,
    /// It waits for another connection.
    Mending,
    /// It has left.
    Over,
}

/// A client of an event loop.
pub(crate) struct ClientSlot<W> {
    pub work: W,
    pub doing: Doing,
    /// Why it left.
    pub leaving: ExitReason,
    /// Whether its descriptor is watched; not without a connection.
    watched: bool,
    /// Whether it is watched for room to send as well.
    writing: bool,
    /// When its next operation is due, since the common start.
    due_ns: u64,
}

impl<W> ClientSlot<W> {
    pub fn new(work: W) -> Self {
        Self {
            work,
            doing: Doing::Parked,
            leaving: ExitReason::Failed,
            watched: true,
            writing: false,
            due_ns: 0,
        }
    }
}
