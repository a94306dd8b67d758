//! The bottleneck of a point: its resource, the server's background work, and durations of waits.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::EventSource;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bottleneck {
    pub resource: Resource,
    /// One sentence with the numbers it rests on.
    pub sentence: String,
}

words! {
    pub enum Resource {
        /// No resource was saturated.
        None = "none",
        /// Not reported.
        Unknown = "unknown",
        /// The processors.
        Cpu = "cpu",
        /// The device under the data.
        Device = "device",
        /// Writing and syncing the log.
        LogSync = "log sync",
        /// Locks on rows, tables and other things a user knows.
        Lock = "lock",
        /// The server's internal locks.
        Latch = "latch",
        /// Too little memory, which shows as paging.
        Memory = "memory",
        /// The network between driver and server.
        Network = "network",
        /// Context switches and wake-ups between driver and server on one machine.
        Scheduling = "scheduling",
        /// The driver itself.
        Driver = "driver",
        /// A wait of another kind.
        OtherWait = "other wait",
        /// Several resources, none of which took most of the time.
        Several = "several",
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct HeldBack {
    /// `None` if it was not judged.
    pub bottleneck: Option<Bottleneck>,
    pub background_events: Vec<BackgroundEvent>,
    /// One for each class of waits that the engine reports.
    pub wait_histograms: Vec<WaitHistogram>,
}

/// Work of the server's own processes during the point.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BackgroundEvent {
    /// Process or thread of the server, e.g. "checkpointer".
    pub process: String,
    /// Its action, e.g. "log syncs".
    pub event: String,
    /// How often.
    pub count: Option<u64>,
    /// Total time, in seconds.
    pub time_s: Option<f64>,
    /// 10^6 bytes moved by it.
    pub mb: Option<f64>,
    /// How it is known.
    pub source: EventSource,
}

impl BackgroundEvent {
    /// Mean time of one, in milliseconds: of log syncs this is the latency of the log.
    pub fn mean_ms(&self) -> Option<f64> {
        let count = self.count.filter(|count| *count > 0)?;
        Some(self.time_s? * 1e3 / count as f64)
    }
}

/// How long the waits of one class lasted, in power-of-two milliseconds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WaitHistogram {
    /// Class of waits, e.g. "data read".
    pub class: String,
    /// Waits below 1 ms, 2 ms, 4 ms …; the last bucket has all others.
    pub counts: Option<Vec<u64>>,
    /// Where the counts come from, or why there are none.
    pub remark: String,
}

impl WaitHistogram {
    /// The last bucket but one ends at 2^15 ms, half a minute.
    pub const BUCKETS: usize = 17;

    pub fn unknown(class: &str, reason: &str) -> Self {
        Self {
            class: class.to_owned(),
            counts: None,
            remark: reason.to_owned(),
        }
    }

    pub fn waits(&self) -> Option<u64> {
        let counts = self.counts.as_ref()?.iter();
        Some(counts.fold(0, |sum: u64, count| sum.saturating_add(*count)))
    }

    /// Part of all waits that were shorter than a limit, in percent. `None` unless the limit is the end of a bucket, which
    /// none below 1 ms is; and without waits.
    pub fn share_below_us_pct(&self, limit_us: u64) -> Option<f64> {
        let limit_ms = limit_us / 1_000;
        if !limit_us.is_multiple_of(1_000) || !limit_ms.is_power_of_two() {
            return None;
        }
        let counts = self.counts.as_ref()?;
        let end = limit_ms.trailing_zeros() as usize;
        // The last bucket has no end.
        let shorter = counts
            .get(..=end)
            .filter(|some| some.len() < counts.len())?;
        let [shorter, all] =
            [shorter, counts].map(|counts| counts.iter().map(|n| *n as f64).sum::<f64>());
        (all > 0.0).then(|| 100.0 * shorter / all)
    }

    pub fn bucket(wait_ns: u64) -> usize {
        let ms = wait_ns / 1_000_000;
        let bits = (u64::BITS - ms.leading_zeros()) as usize;
        bits.min(Self::BUCKETS - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_end_at_powers_of_two() {
        let ms = |n: u64| WaitHistogram::bucket(n * 1_000_000);
        assert_eq!(WaitHistogram::bucket(999_999), 0);
        assert_eq!(
            [ms(1), ms(2), ms(3), ms(4), ms(7), ms(8)],
            [1, 2, 2, 3, 3, 4]
        );
        assert_eq!(
            [ms(32_767), ms(32_768), ms(u64::MAX / 1_000_000)],
            [15, 16, 16]
        );
    }

    #[test]
    fn shares_are_known_at_the_ends_of_buckets_alone() {
        let waits = WaitHistogram {
            counts: Some(vec![90, 0, 6, 4]),
            ..WaitHistogram::default()
        };
        assert_eq!(waits.waits(), Some(100));
        let shares = [1_000, 2_000, 4_000].map(|us| waits.share_below_us_pct(us));
        assert_eq!(shares, [Some(90.0), Some(90.0), Some(96.0)]);
        for us in [0, 62, 120, 999, 1_001, 1_500, 3_000, 8_000, u64::MAX] {
            assert_eq!(waits.share_below_us_pct(us), None, "{us} µs");
        }
        for counts in [None, Some(vec![]), Some(vec![0; 3])] {
            let waits = WaitHistogram {
                counts,
                ..waits.clone()
            };
            assert_eq!(waits.share_below_us_pct(1_000), None);
        }
    }

    #[test]
    fn the_mean_needs_count_and_time() {
        let event = |count, time_s| BackgroundEvent {
            count,
            time_s,
            ..BackgroundEvent::default()
        };
        assert_eq!(event(Some(4), Some(0.01)).mean_ms(), Some(2.5));
        assert_eq!(event(Some(0), Some(0.0)).mean_ms(), None);
        assert_eq!(event(Some(4), None).mean_ms(), None);
    }
}
