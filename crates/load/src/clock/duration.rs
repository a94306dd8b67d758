//! Durations as numbers.

use std::time::Duration;

/// Longest uninterrupted sleep, within which a waiting job notices that the drive was stopped.
pub const SLEEP_SLICE: Duration = Duration::from_millis(100);

/// A duration in whole nanoseconds; a longer one than 584 years becomes the largest number.
pub fn ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
