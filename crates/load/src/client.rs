//! Clients that execute operations: on a thread of their own, or in an event loop without blocking.

use std::os::fd::RawFd;
use std::time::Duration;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Request {
    /// Number of the user, from 0. A job is a user with its own client and has its number.
    pub user: u32,
    pub kind: u8,
    /// Number of earlier requests to this client. It rises by one over ramp-up and measurement alike, so that keys
    /// that must not repeat (to insert, or without replacement) do not.
    pub index: u64,
}

impl Request {
    /// Request of a job, whose operations are of one kind.
    pub fn of_job(job: u32, index: u64) -> Self {
        Self {
            user: job,
            kind: 0,
            index,
        }
    }

    /// Returns this request and advances to the next.
    #[inline]
    pub(crate) fn next(&mut self) -> Self {
        let this = *self;
        self.index += 1;
        this
    }
}

pub trait BlockingClient: Send {
    /// Fails with a [`Failure`], which decides if the user continues.
    fn operate(&mut self, request: Request) -> Result<Done, Failure>;

    /// Called once when the ramp-up of a job is over, so that a client with its own counters can exclude the ramp-up
    /// from them too.
    fn measurement_begins(&mut self) {}

    /// A handle that makes a call return early from another thread, if the engine has one. It is used at most once
    /// for each call and may come too late: then it must not affect the next.
    fn interrupt(&self) -> Option<Interrupt> {
        None
    }
}

pub type Interrupt = Box<dyn Fn() + Send>;

/// A client of an event loop, whose calls never block.
pub trait NonblockingClient: Send {
    /// The descriptor that becomes readable when an answer comes. It stays the same for the life of the client, and
    /// no two clients of a drive share one.
    fn descriptor(&self) -> RawFd;

    fn begin(&mut self, request: Request) -> Turn;

    /// The descriptor has become ready: reads until the operation is done, waits for another round trip, or no data
    /// are left. It must read until it would block or the complete answer has arrived, because only later data are
    /// announced again.
    ///
    /// Also called when data arrive without an operation in progress, which is how the end of a server is noticed;
    /// then it returns [`Turn::Reading`], or finishes with [`Failure::Fatal`].
    fn ready(&mut self) -> Turn;

    /// As [`NonblockingClient::ready`], but waits for the answer: for the only client of a thread, which saves a
    /// system call; not used with a limit on operations. `None` without any effect if the client cannot do so.
    fn await_ready(&mut self) -> Option<Turn> {
        None
    }

    fn measurement_begins(&mut self) {}
}

#[derive(Debug, PartialEq, Eq)]
pub enum Turn {
    Reading,
    /// It waits until the rest of a request can be sent; answers are read meanwhile.
    Writing,
    /// It waits for this time only; then [`NonblockingClient::ready`] is called, whatever arrives before.
    Pausing(Duration),
    Finished(Result<Done, Failure>),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Done {
    pub rows: u64,
    /// Number of restarts (deadlock, conflict, busy).
    pub retries: u32,
    /// True if it was rolled back on purpose, as a part of the work; it still counts as completed.
    pub rolled_back: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// It failed; it is counted, and its user continues.
    Operation(String),
    Fatal(String),
    /// No work is left: the user leaves, and a job ends well.
    Exhausted,
}
