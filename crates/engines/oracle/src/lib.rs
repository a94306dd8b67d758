//! Oracle Database: running servers, through Oracle's own driver.
//!
//! Everything lives in the schema of the user in the URL, in tables that a register names. The driver blocks and cannot cancel, so each
//! session has a thread, and a session that hangs is killed from a second one. Tests run against a stand-in for Oracle, never against
//! Oracle; the statements on views that the stand-in lacks are tested on tables of the test.

#[cfg_attr(
    not(feature = "driver"),
    expect(dead_code, reason = "nobody is connected to")
)]
mod access;
#[cfg(feature = "driver")]
mod bind;
#[cfg(feature = "driver")]
mod class;
#[cfg(feature = "driver")]
mod client;
#[cfg(feature = "driver")]
mod dialect;
#[cfg(feature = "driver")]
mod explain;
#[cfg(feature = "driver")]
mod facts;
mod foreign;
#[cfg(feature = "driver")]
mod guard;
#[cfg(feature = "driver")]
mod inspect;
#[cfg(feature = "driver")]
mod opened;
#[cfg(not(feature = "driver"))]
#[path = "unopened.rs"]
mod opened;
#[cfg(feature = "driver")]
mod overrides;
#[cfg(feature = "driver")]
mod read;
#[cfg(feature = "driver")]
mod returned;
#[cfg(feature = "driver")]
mod rights;
mod scheme;
#[cfg(feature = "driver")]
mod session;
#[cfg(feature = "driver")]
mod session_settings;
#[cfg(feature = "driver")]
mod sockets;
#[cfg(feature = "driver")]
mod source;
#[cfg(feature = "driver")]
mod tables;
#[cfg(feature = "driver")]
mod target;
#[cfg(feature = "driver")]
mod watch;

pub use scheme::ENGINES;
