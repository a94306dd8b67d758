//! What carries out operations: on a thread of its own, or in an event loop without waiting in between.

use std::os::fd::RawFd;
use std::time::Duration;

/// What is asked of a client.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Request {
    /// Who asks, from 0. A job is a user with a client of its own: its number.
    pub user: u32,
    /// The kind of operation, from 0; where there is but one, 0.
    pub kind: u8,
    /// How many were asked of this client before. Indices rise by one over ramp-up and measurement alike, so that what
    /// must not repeat (a key to insert, a key without replacement) does not.
    pub index: u64,
}

impl Request {
    /// Of a job, whose operations are of one kind.
    pub fn of_job(job: u32, index: u64) -> Self {
        Self {
            user: job,
            kind: 0,
            index,
        }
    }

    /// This one; it becomes the one behind it.
    #[inline]
    pub(crate) fn next(&mut self) -> Self {
        let this = *self;
        self.index += 1;
        this
    }
}

/// A client whose calls block, on a thread of its own.
pub trait BlockingClient: Send {
    /// Does an operation.
    ///
    /// # Errors
    /// A [`Failure`], which says what becomes of the user.
    fn operate(&mut self, request: Request) -> Result<Done, Failure>;

    /// Called once when the ramp-up of a job is over, so that a client that reads counters of
    /// its own can leave the ramp-up out of them too. Nothing by default.
    fn measurement_begins(&mut self) {}

    /// What makes a call return early from another thread, if the engine has something of the kind. It is
    /// called at most once for each call, and may come too late for it: then it must do no harm to the next.
    fn interrupt(&self) -> Option<Interrupt> {
        None
    }
}

/// Makes a blocking call return early.
pub type Interrupt = Box<dyn Fn() + Send>;

/// A client of an event loop: the counterpart of a [`BlockingClient`] that never blocks.
pub trait NonblockingClient: Send {
    /// The descriptor that becomes readable when an answer comes. It stays the same for the life of the
    /// client, and is its own: no two clients of a drive share one.
    fn descriptor(&self) -> RawFd;

    /// Begins an operation and sends what can be sent.
    fn begin(&mut self, request: Request) -> Turn;

    /// The descriptor has become ready: reads until the operation is done, another round trip of it is
    /// under way, or nothing more is there. It must read until it would block or everything that was asked
    /// for has come, because only what comes afterwards is announced again.
    ///
    /// Also called when something comes while no operation is in hand, which is how a server that ended is
    /// noticed; then it answers [`Turn::Reading`], or finishes with [`Failure::Fatal`].
    fn ready(&mut self) -> Turn;

    /// As [`NonblockingClient::ready`], but waits for the answer to the operation in hand: for the only client of a
    /// thread, which saves asking the kernel first whether something has come; not used where operations have a limit
    /// of time. `None`, and nothing has happened, when the client cannot.
    fn await_ready(&mut self) -> Option<Turn> {
        None
    }

    /// As [`BlockingClient::measurement_begins`].
    fn measurement_begins(&mut self) {}
}

/// How far an operation has come.
#[derive(Debug, PartialEq, Eq)]
pub enum Turn {
    /// It waits for an answer.
    Reading,
    /// It waits until the rest of a request can be sent; answers are taken meanwhile.
    Writing,
    /// It waits for nothing but this time; then [`NonblockingClient::ready`] is called, whatever comes before.
    Pausing(Duration),
    Finished(Result<Done, Failure>),
}

/// What a completed operation amounts to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Done {
    pub rows: u64,
    /// How often it had to be begun anew (deadlock, conflict, busy).
    pub retries: u32,
    /// Whether it was rolled back on purpose, as a part of the work: completed all the same.
    pub rolled_back: bool,
}

/// Why an operation was not completed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// It failed; it is counted, and its user goes on.
    Operation(String),
    /// Going on is pointless: the whole drive stops.
    Fatal(String),
    /// There is no work left: the user leaves, and a job ends well.
    Exhausted,
}
