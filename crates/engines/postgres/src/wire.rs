//! The client side of PostgreSQL's protocol 3.0 without any input or output of its own.
//!
//! Requests are encoded into one buffer, `output`; whoever owns the socket writes it, reads
//! into `space` and takes [`Event`]s out of [`Wire::next_event`] until there are none. Nothing
//! here blocks, and an execution allocates nothing once the buffers have grown to their size, so that a
//! thread with one socket and an event loop with many can both drive it.
//!
//! Several executions may be encoded before one [`Wire::sync`]; their events come in the same order.

mod buffer;
mod cell;
mod copied;
mod event;
mod logon;
mod reader;
mod request;
mod server_error;

#[cfg(test)]
mod tests;

pub use buffer::{MESSAGE_BYTES_MAX, Wire};
pub use cell::{Unreadable, add_row, is_kept, keep_cell};
pub use copied::{Copied, Undecodable};
pub use event::{Authentication, Event, Row, Tag, Transaction};
pub use logon::{Binding, Channel, Logon, LogonError};
pub use request::{CopyRow, Prepared, RequestError};
pub use server_error::ServerError;

/// Errors of the protocol; the connection is of no use afterwards.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// Bytes that are no message of the protocol.
    #[error("the server sent something that is not PostgreSQL's protocol ({0})")]
    Malformed(&'static str),
    /// A message above the limit.
    #[error(
        "the server sent a message of {0} bytes, more than the {MESSAGE_BYTES_MAX} that dbdyno accepts"
    )]
    TooLarge(u64),
}
