//! The client's side of the MySQL protocol, without any input or output.
//!
//! [`Wire`] is told what to send and which bytes came, and gives the bytes to write and the events
//! that were read. Who moves the bytes is not its business: a session does it with blocking calls, a
//! loop over many clients with epoll. In steady state it allocates nothing, and an execution is one
//! packet out and normally one read in.

mod auth;
mod bytes;
mod core;
mod execution;
mod handshake;
mod packet;
mod reply;
mod row;
mod short;
#[cfg(test)]
mod tests;

pub use self::core::{Event, StatementId, Wire};
pub use handshake::{Login, Server};
pub use reply::{Finished, ServerError};
pub use row::{Cell, Column, Row};
pub(super) use short::Short;

/// Largest packet that is taken or sent; the protocol allows more, no test needs it.
pub const PACKET_BYTES_MAX: usize = 64 << 20;
/// Most statements that one session may have prepared.
pub const STATEMENTS_MAX: usize = 4096;
/// Most columns of a result; the server's own limit.
const COLUMNS_MAX: u64 = 4096;

/// What can be wrong with the conversation itself; after any of these the connection is of no use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// Bytes that are not the protocol.
    #[error(
        "the server sent something that is not the MySQL protocol ({0}); check that the host and \
         port are those of a MariaDB or MySQL server"
    )]
    Malformed(&'static str),
    /// A packet beyond [`PACKET_BYTES_MAX`].
    #[error("a packet of {0} bytes exceeds the 64 MiB that dbdyno accepts; use shorter values")]
    TooLarge(usize),
    /// A server from before MariaDB 10.2 or MySQL 5.7.
    #[error("the server is too old: it does not support {0}; use MariaDB 10.5, MySQL 8.0 or later")]
    TooOld(&'static str),
    /// A way of logging in that is not known.
    #[error(
        "the server requires the authentication plugin \"{0}\", which dbdyno does not support; give the user \
         mysql_native_password, caching_sha2_password or unix_socket"
    )]
    UnknownPlugin(String),
    /// The password would have to be sent in the clear.
    #[error(
        "the server requires the clear-text password, which dbdyno does not send over a network without TLS; connect \
         through the Unix socket (?socket=PATH), or log in once with a TLS client so that the server caches the password"
    )]
    InsecureChannel,
    /// Too many prepared statements.
    #[error("more than 4096 statements were prepared in one session; use fewer")]
    TooManyStatements,
}

/// Result of everything about the conversation.
pub type WireResult<T> = Result<T, WireError>;
