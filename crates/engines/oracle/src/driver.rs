//! Everything that connects: only with the feature of this name, because the driver brings a library in C.

mod bind;
mod class;
mod client;
mod dialect;
mod explain;
mod facts;
mod guard;
mod inspect;
pub(crate) mod opened;
mod overrides;
mod read;
mod returned;
mod rights;
mod session;
mod session_settings;
mod sockets;
mod source;
mod tables;
mod target;
mod watch;
