//! A histogram that is only read. It stores only the filled buckets: some kilobytes instead of the 270 of a
//! [`Histogram`] for recording.

use std::sync::LazyLock;

use crate::histogram::{self, Histogram, HistogramError};

/// A read-only distribution of latencies; it reads like [`Histogram`].
///
/// ```
/// let mut h = stats::Histogram::new();
/// h.record_ns(1_500_000);
/// let snapshot = stats::HistogramSnapshot::from(&h);
/// assert_eq!(snapshot.percentile_us(99.0), h.percentile_us(99.0));
/// ```
#[derive(Debug, Clone)]
pub struct HistogramSnapshot {
    buckets: Box<[Bucket]>,
    count: u64,
    clipped: u64,
    encoded: Box<[u8]>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Bucket {
    index: u32,
    count: u64,
}

impl Bucket {
    fn lowest_ns(self) -> u64 {
        histogram::lowest_ns(self.index)
    }

    fn highest_ns(self) -> u64 {
        self.lowest_ns() + (1 << histogram::doublings(self.index)) - 1
    }
}

impl Default for HistogramSnapshot {
    fn default() -> Self {
        static EMPTY: LazyLock<Vec<u8>> = LazyLock::new(|| Histogram::new().encode());
        Self {
            buckets: Box::default(),
            count: 0,
            clipped: 0,
            encoded: EMPTY.as_slice().into(),
        }
    }
}

impl PartialEq for HistogramSnapshot {
    fn eq(&self, other: &Self) -> bool {
        self.buckets == other.buckets
    }
}

impl From<&Histogram> for HistogramSnapshot {
    fn from(histogram: &Histogram) -> Self {
        if histogram.is_empty() {
            return Self::default();
        }
        let encoded = histogram.encode();
        let read = Self::decode(&encoded);
        let mut snapshot =
            read.expect("the bytes are what a histogram of the same bounds was encoded to");
        snapshot.clipped = histogram.clipped();
        snapshot
    }
}

impl Histogram {
    pub fn merge_snapshot(&mut self, other: &HistogramSnapshot) {
        self.merge_recorded(other.recorded_ns(), other.clipped());
    }
}

impl HistogramSnapshot {
    /// Reads the bytes of [`Histogram::encode`]. Fails with [`HistogramError::Damaged`] if the bytes are not such an
    /// encoding.
    pub fn decode(bytes: &[u8]) -> Result<Self, HistogramError> {
        let mut buckets = Vec::new();
        let mut count = 0_u64;
        histogram::each_filled(bytes, |index, times| {
            buckets.push(Bucket {
                index,
                count: times,
            });
            count = count.saturating_add(times);
        })?;
        Ok(Self {
            buckets: buckets.into(),
            count,
            clipped: 0,
            encoded: bytes.into(),
        })
    }

    pub fn encoded(&self) -> &[u8] {
        &self.encoded
    }

    pub fn to_histogram(&self) -> Histogram {
        let mut histogram = Histogram::new();
        histogram.merge_snapshot(self);
        histogram
    }

    pub fn clipped(&self) -> u64 {
        self.clipped
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    pub fn is_empty(&self) -> bool {
        self.buckets.is_empty()
    }

    pub fn percentile_us(&self, percentile: f64) -> f64 {
        let quantile = histogram::quantile(percentile);
        let rank = ((quantile * self.count as f64).ceil() as u64).max(1);
        let mut below = 0;
        let reaches = |bucket: &&Bucket| {
            below += bucket.count;
            below >= rank
        };
        let Some(bucket) = self.buckets.iter().find(reaches) else {
            return self.max_us();
        };
        let ns = match quantile {
            0.0 => bucket.lowest_ns(),
            _ => bucket.highest_ns(),
        };
        ns as f64 / 1e3
    }

    pub fn mean_us(&self) -> f64 {
        let count = self.count as f64;
        let sum = |sum: f64, bucket: &Bucket| {
            let middle_ns = bucket.lowest_ns() + ((1 << histogram::doublings(bucket.index)) >> 1);
            sum + middle_ns as f64 * bucket.count as f64 / count
        };
        self.buckets.iter().fold(0.0, sum) / 1e3
    }

    pub fn max_us(&self) -> f64 {
        self.buckets
            .last()
            .map_or(0.0, |bucket| bucket.highest_ns() as f64 / 1e3)
    }

    pub fn min_us(&self) -> f64 {
        self.buckets
            .first()
            .map_or(0.0, |bucket| bucket.lowest_ns() as f64 / 1e3)
    }

    pub fn count_above_us(&self, limit_us: f64) -> u64 {
        let limit_ns = (limit_us * 1e3) as u64;
        let above = self
            .buckets
            .iter()
            .filter(|bucket| bucket.lowest_ns() > limit_ns);
        above.map(|bucket| bucket.count).sum()
    }

    /// Filled buckets, as (upper bound in microseconds, count), shortest first.
    pub fn buckets_us(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        let each = self.buckets.iter();
        each.map(|bucket| (bucket.highest_ns() as f64 / 1e3, bucket.count))
    }

    /// Filled buckets as (lower bound, upper bound, count); the upper bound is the next bucket's lower one.
    pub fn ranges_us(&self) -> impl Iterator<Item = (f64, f64, u64)> + '_ {
        let each = self.buckets.iter();
        each.map(|bucket| {
            let ends = (bucket.lowest_ns(), bucket.highest_ns() + 1);
            (ends.0 as f64 / 1e3, ends.1 as f64 / 1e3, bucket.count)
        })
    }

    /// Filled buckets as (a latency that belongs to it, in nanoseconds; count).
    pub(crate) fn recorded_ns(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.buckets
            .iter()
            .map(|bucket| (bucket.lowest_ns(), bucket.count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::histogram::LATENCY_NS_MAX;

    fn agree(histogram: &Histogram) {
        let snapshot = HistogramSnapshot::from(histogram);
        let figures = [
            (snapshot.mean_us(), histogram.mean_us()),
            (snapshot.max_us(), histogram.max_us()),
            (snapshot.min_us(), histogram.min_us()),
        ];
        for (ours, theirs) in figures {
            assert_eq!(ours, theirs);
        }
        for percentile in [0.0, 1.0, 50.0, 90.0, 99.0, 99.9, 99.99, 100.0] {
            let ours = snapshot.percentile_us(percentile);
            assert_eq!(ours, histogram.percentile_us(percentile), "p{percentile}");
        }
        for limit_us in [0.0, 0.5, 1.0, 1.024, 3.3, 77.0, 1e6, 1e12] {
            assert_eq!(
                snapshot.count_above_us(limit_us),
                histogram.count_above_us(limit_us)
            );
        }
        assert!(snapshot.buckets_us().eq(histogram.buckets_us()));
        let ranges: Vec<_> = snapshot.ranges_us().collect();
        assert!(ranges.iter().all(|(low, high, _)| low < high));
        assert!(ranges.windows(2).all(|pair| pair[0].1 <= pair[1].0));
        assert_eq!(
            (snapshot.count(), snapshot.clipped()),
            (histogram.count(), histogram.clipped())
        );
        assert_eq!(snapshot.is_empty(), histogram.is_empty());
        assert_eq!(snapshot.encoded(), histogram.encode());
        assert_eq!(snapshot.to_histogram(), *histogram);
    }

    #[test]
    fn it_reads_as_the_histogram_does() {
        agree(&Histogram::new());
        let mut histogram = Histogram::new();
        for ns in [
            0,
            1,
            1023,
            1024,
            2047,
            2048,
            2049,
            4095,
            4096,
            1_234_567,
            LATENCY_NS_MAX,
        ] {
            histogram.record_ns(ns);
            agree(&histogram);
        }
        histogram.record_many_ns(LATENCY_NS_MAX * 2, 3);
        agree(&histogram);
        let mut wide = Histogram::new();
        (0..20_000_u64).for_each(|n| wide.record_many_ns(n * n * n, 1 + n % 300));
        agree(&wide);
    }

    #[test]
    fn what_is_no_histogram_is_refused() {
        let encoded = Histogram::new().encode();
        assert!(HistogramSnapshot::decode(&encoded[..7]).is_err());
        assert!(HistogramSnapshot::decode(b"not a histogram").is_err());
    }
}
