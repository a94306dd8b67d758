//! Durations in arguments.

use std::time::Duration;

/// A duration with its unit.
pub fn length(text: &str) -> Result<Duration, String> {
    let length = text.parse::<jiff::SignedDuration>().ok();
    let length = length.and_then(|length| Duration::try_from(length).ok());
    length.ok_or_else(|| "write a length of time with its unit, such as 100ms or 1s".into())
}
