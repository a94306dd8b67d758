//! Drives users over a pool of connections: a thousand users may share sixty connections, as with a connection pool,
//! or have one each.
//!
//! **A user** is a number. Its [`UserPopulation`] determines its next operation and the pause before it. In a closed
//! model an operation is due when the user's previous one has ended and the pause is over; first pauses are the rest
//! of pauses that began earlier, as if the population had been active for a long time, so that it does not come all
//! at once. In an open model operations arrive at a rate whatever the target does, and each is dealt to a user drawn
//! by lot. An arrival does not wait for its user: users are then only identities, pauses do not apply, and one user
//! may have two operations in progress.
//!
//! **A connection** serves one user after another: in an event loop if its answers can be awaited
//! ([`crate::NonblockingClient`]), otherwise on its own thread ([`crate::BlockingClient`]). A user waits if no
//! connection is free; waiting users are served in the order of their due times, on any thread. The wait is a part of
//! the response time (due → done) and also recorded separately (due → a connection was free).
//!
//! **Operations count** if they end within the measured window: completed ones, failed ones, and the series. Rates
//! are divided by the window exactly. Operations in progress at its end are awaited, so that no connection is left in
//! the middle of something; they do not count as done, but their times are in the histograms. So is, of operations
//! that still wait then, the time since they were due, if it is longer than 99 % of the completed ones took:
//! otherwise a target that stops before the end of the window would not show it. No operation begins any more. Their
//! number is reported ([`crate::Outcome::unfinished`]), because a target that falls behind an open rate shows it
//! there first.
//!
//! **An operation that takes longer than the limit** counts as a failure and a timeout. A
//! [`crate::NonblockingClient`] is dropped during it, which closes the connection; its user continues, and a
//! replacement is requested; without one the drive continues with the remaining connections, and fails if there are
//! none. A blocking call cannot be abandoned: its [`crate::BlockingClient::interrupt`] is called, if it has one, and
//! it counts as a timeout when it returns.

pub const USERS_MAX: u32 = 1_000_000;
/// Most kinds of operations, each with three histograms of a quarter of a megabyte for each thread.
pub const KINDS_MAX: usize = 32;

pub trait UserPopulation: Send + Sync {
    /// The next operation of a user, from 0. Called once for each operation, in a closed model by one thread at a
    /// time for each user, in an open one by any.
    fn next_operation(&self, user: u32) -> NextOperation;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NextOperation {
    pub kind: u8,
    /// Pause before the operation: thinking and typing.
    pub pause_ns: u64,
}
