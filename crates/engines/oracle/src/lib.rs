//! Oracle Database: running servers, through Oracle's own driver.
//!
//! Everything lives in the schema of the user in the URL, in tables that a register names. The driver blocks and cannot cancel, so each
//! session has a thread, and a session that hangs is killed from a second one. Tests run against a stand-in for Oracle, never against
//! Oracle; the statements on views that the stand-in lacks are tested on tables of the test.

mod access;
mod bind;
mod class;
mod client;
mod dialect;
mod explain;
mod facts;
mod foreign;
mod guard;
mod inspect;
mod overrides;
mod read;
mod rights;
mod scheme;
mod session;
mod session_settings;
mod sockets;
mod source;
mod tables;
mod target;
mod watch;

pub use scheme::ENGINES;
