//! Durations as numbers.

use std::time::Duration;

/// A duration in whole nanoseconds; what does not fit (584 years) becomes the largest number.
pub fn ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
