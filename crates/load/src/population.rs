//! Drives users over a pool of connections: there may be a thousand users and sixty connections, as behind a
//! connection pool, or one connection for each.
//!
//! **A user** is a number. What it does next, and how long it pauses before, its [`UserPopulation`] says. In a closed
//! model it asks when its previous operation has ended and the pause is over; first pauses
//! are what is left of pauses begun before, as if the population had long been at work, so that it does not come
//! all at once. In an
//! open model operations arrive at a rate whatever the target does, and each is dealt to a user drawn by lot.
//! An arrival does not wait for its user: users are then only identities, pauses are not kept, and one user
//! may have two operations in hand.
//!
//! **A connection** serves one user after another: in an event loop when its answers can be awaited
//! ([`crate::NonblockingClient`]), otherwise on a thread of its own ([`crate::BlockingClient`]). Who asks while none is free waits; those
//! that wait are served in the order of their asking, whatever thread a connection belongs to. The wait is a
//! part of the response time (asked → done) and recorded apart (asked → a connection was free).
//!
//! **What counts** is what ends within the measured window: completed operations, failed ones, and the series. Rates
//! are divided by the window exactly. Operations in hand at its end are awaited, so that no connection is left in the
//! middle of something; they are not counted as done, but their times are in the histograms. So is, of operations that
//! still wait then, the time since they were asked for, if it is longer than 99 % of the completed ones took: otherwise
//! a target that stops before the end of the window would show nothing of it. Nothing is begun any more. How many there were is told ([`crate::Outcome::unfinished`]),
//! because a target that falls behind an open rate shows it there first.
//!
//! **An operation that takes longer than the limit** counts as a failure and a timeout. A [`crate::NonblockingClient`] is
//! dropped in the middle of it, which closes the connection, its user goes on, and another connection is asked
//! for; without one the drive goes on with those that are left, and fails when none is. A blocking call
//! cannot be left: its [`crate::BlockingClient::interrupt`] is called, if it has one, and it counts as a timeout when it
//! returns.

/// Most users of a population.
pub const USERS_MAX: u32 = 1_000_000;
/// Most kinds of operations, each with three histograms of a quarter of a megabyte for each thread.
pub const KINDS_MAX: usize = 32;

pub trait UserPopulation: Send + Sync {
    /// What a user, from 0, does next. Asked once for each operation, in a closed model by one thread at a
    /// time for each user, in an open one by any.
    fn next_operation(&self, user: u32) -> NextOperation;
}

/// What a user does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NextOperation {
    /// The kind of operation, from 0.
    pub kind: u8,
    /// How long the user pauses before it asks: thinking over the last answer, keying in the next question.
    pub pause_ns: u64,
}
