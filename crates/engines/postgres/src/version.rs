//! The server's version.

use engine::{Result, TargetError};

/// The oldest server that the statements here are written for.
const VERSION_MIN: u32 = 12;

/// The first version whose statistics can be read without a delay.
pub(super) const VERSION_OF_FLUSH: u32 = 15;

/// The major version, from what the server says of itself.
pub(super) fn major(version: &str) -> Result<u32> {
    let digits = version.split(|c: char| !c.is_ascii_digit()).next();
    let major = digits.and_then(|d| d.parse().ok()).unwrap_or(0);
    if major >= VERSION_MIN {
        return Ok(major);
    }
    Err(TargetError::unreachable(format!(
        "PostgreSQL {version} is too old; dbdyno needs {VERSION_MIN} or later, and 15 or later for all figures"
    )))
}
