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
mod signed;
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

/// Errors of the protocol; after any of these the connection is of no use.
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
        "the server requires the authentication plugin \"{0}\", which dbdyno does not support and which MySQL also names for a user that it does not know; give the user \
         ed25519, parsec, caching_sha2_password, mysql_native_password or unix_socket"
    )]
    UnknownPlugin(String),
    /// The password would have to be told to somebody who may not be the server, or to whoever listens on the way.
    #[error(
        "the server requires the clear-text password, which dbdyno sends only through a Unix socket (?socket=PATH), or \
         through TLS to a server that has proved who it is (sslmode=verify-full or verify-ca); anybody on the way can ask \
         for it, so the password was not sent"
    )]
    InsecureChannel,
    /// TLS is asked for, and the server has none.
    #[error(
        "the server does not support TLS, or somebody on the way says so; turn it on there (ssl_cert, ssl_key), and check \
         that it is the right server"
    )]
    NoTls,
    /// Bytes that would be taken for the server's within TLS.
    #[error("unencrypted bytes came before TLS began; somebody on the way may have put them there")]
    BeforeTls,
    /// The system gave no random bytes.
    #[error("the system provides no random numbers for the login; check /dev/urandom")]
    NoRandom,
    #[error("more than 4096 statements were prepared in one session; use fewer")]
    TooManyStatements,
}

/// Result of everything about the conversation.
pub type WireResult<T> = Result<T, WireError>;
