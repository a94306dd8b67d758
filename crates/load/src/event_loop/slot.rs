//! The state of a client in an event loop.

use super::client::Client;
use crate::cancellation::ExitReason;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientState {
    Parked,
    Waiting,
    Working,
    Pausing,
    Mending,
    Over,
}

pub struct ClientSlot<'a, 'o> {
    pub work: Client<'a, 'o>,
    pub state: ClientState,
    pub leaving: ExitReason,
    /// True if its descriptor is watched; false without a connection.
    pub watched: bool,
    pub writing: bool,
    /// Time of its next operation, or end of its pause, since the common start.
    pub due_ns: u64,
}

impl<'a, 'o> ClientSlot<'a, 'o> {
    pub fn new(work: Client<'a, 'o>) -> Self {
        Self {
            work,
            state: ClientState::Parked,
            leaving: ExitReason::Failed,
            watched: true,
            writing: false,
            due_ns: 0,
        }
    }
}
