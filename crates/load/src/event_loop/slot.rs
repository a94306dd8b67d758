//! A client's place in an event loop.

use super::client::Client;
use crate::cancellation::ExitReason;

/// What a client is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doing {
    /// It waits for the common start.
    Parked,
    /// It waits for the time of its next operation.
    Waiting,
    /// An operation is in hand.
    Working,
    /// An operation is in hand, and pauses.
    Pausing,
    /// It waits for another connection.
    Mending,
    Over,
}

/// A client of an event loop.
pub struct ClientSlot<'a, 'o> {
    pub work: Client<'a, 'o>,
    pub doing: Doing,
    pub leaving: ExitReason,
    /// Whether its descriptor is watched; not without a connection.
    pub watched: bool,
    /// Whether it is watched for room to send as well.
    pub writing: bool,
    /// When its next operation is due, or its pause over, since the common start.
    pub due_ns: u64,
}

impl<'a, 'o> ClientSlot<'a, 'o> {
    pub fn new(work: Client<'a, 'o>) -> Self {
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
