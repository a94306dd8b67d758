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
mod driver;
mod foreign;
mod scheme;
#[cfg(not(feature = "driver"))]
mod unopened;

#[cfg(feature = "driver")]
use driver::opened;
#[cfg(not(feature = "driver"))]
use unopened as opened;

pub use scheme::ENGINES;
