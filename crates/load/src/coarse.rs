//! A small histogram for the series over time: 16 buckets an octave, so that a percentile is known to 3 %.
//!
//! One interval of one job costs 5 kB here, a full histogram 270 kB; the figures of the whole point always come from
//! the full one.

use std::time::Duration;

/// Significant binary digits of every latency.
const SIGNIFICANT_BITS: u32 = 4;
const BUCKETS_PER_OCTAVE: usize = 1 << SIGNIFICANT_BITS;
/// Highest octave: 2^41 ns ≤ one hour < 2^42 ns.
const OCTAVE_MAX: u32 = 41;
const BUCKETS: usize = (OCTAVE_MAX - SIGNIFICANT_BITS + 2) as usize * BUCKETS_PER_OCTAVE;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coarse {
    counts: [u64; BUCKETS],
    total: u64,
}

impl Default for Coarse {
    fn default() -> Self {
        Self {
            counts: [0; BUCKETS],
            total: 0,
        }
    }
}

impl Coarse {
    /// Counts one latency; longer than an hour counts as an hour.
    #[inline]
    pub fn record_ns(&mut self, latency_ns: u64) {
        self.counts[bucket(latency_ns.min(stats::histogram::LATENCY_NS_MAX))] += 1;
        self.total += 1;
    }

    pub fn merge(&mut self, other: &Coarse) {
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        self.total += other.total;
    }

    pub fn clear(&mut self) {
        *self = Self::default();
    }

    pub fn count(&self) -> u64 {
        self.total
    }

    /// Filled buckets, shortest latency first: (upper bound in ns, number of latencies).
    pub fn filled(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let counts = self.counts.iter().enumerate();
        let filled = counts.filter(|(_, count)| **count > 0);
        filled.map(|(bucket, count)| (end_ns(bucket), *count))
    }

    /// The latency that `percentile` (0–100) did not exceed, to the middle of its bucket (nearest rank); `None` if
    /// nothing was counted.
    pub fn percentile(&self, percentile: f64) -> Option<Duration> {
        let rank = ((percentile / 100.0 * self.total as f64).ceil() as u64).max(1);
        let mut counted = 0;
        let bucket = self.counts.iter().position(|count| {
            counted += count;
            counted >= rank
        })?;
        Some(Duration::from_nanos(middle_ns(bucket)))
    }
}

#[inline]
fn bucket(latency_ns: u64) -> usize {
    if latency_ns < BUCKETS_PER_OCTAVE as u64 {
        return latency_ns as usize;
    }
    let octave = latency_ns.ilog2();
    let within = (latency_ns >> (octave - SIGNIFICANT_BITS)) as usize & (BUCKETS_PER_OCTAVE - 1);
    (octave - SIGNIFICANT_BITS + 1) as usize * BUCKETS_PER_OCTAVE + within
}

fn middle_ns(bucket: usize) -> u64 {
    if bucket < BUCKETS_PER_OCTAVE {
        return bucket as u64;
    }
    let shift = bucket / BUCKETS_PER_OCTAVE - 1;
    let low = (BUCKETS_PER_OCTAVE + bucket % BUCKETS_PER_OCTAVE) << shift;
    low as u64 + (1 << shift) / 2
}

fn end_ns(bucket: usize) -> u64 {
    if bucket < BUCKETS_PER_OCTAVE {
        return bucket as u64;
    }
    let shift = bucket / BUCKETS_PER_OCTAVE - 1;
    (((BUCKETS_PER_OCTAVE + bucket % BUCKETS_PER_OCTAVE + 1) as u64) << shift) - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use stats::histogram::LATENCY_NS_MAX;

    #[test]
    fn every_bucket_is_within_3_2_percent() {
        let mut value = 1u64;
        while value < LATENCY_NS_MAX {
            let middle = middle_ns(bucket(value)) as f64;
            let error = (middle - value as f64).abs() / value as f64;
            assert!(error <= 0.0323, "{value}: {middle}");
            value += value / 37 + 1;
        }
        assert!(bucket(LATENCY_NS_MAX) < BUCKETS);
    }

    #[test]
    fn buckets_rise_with_the_latency() {
        let all: Vec<usize> = (0..100_000).map(bucket).collect();
        assert!(all.windows(2).all(|w| w[1] == w[0] || w[1] == w[0] + 1));
    }

    #[test]
    fn filled_buckets_end_where_the_next_begin() {
        let mut coarse = Coarse::default();
        let latencies_ns = [3, 16, 1_000, 1_000, 131_071];
        latencies_ns.iter().for_each(|ns| coarse.record_ns(*ns));
        let filled: Vec<_> = coarse.filled().collect();
        assert_eq!(filled, [(3, 1), (16, 1), (1_023, 2), (131_071, 1)]);
        (0..100_000).for_each(|ns| assert!(bucket(end_ns(bucket(ns))) == bucket(ns)));
        (0..BUCKETS - 1).for_each(|b| assert_eq!(bucket(end_ns(b) + 1), b + 1));
    }

    #[test]
    fn percentiles_and_merging() {
        let (mut a, mut b) = (Coarse::default(), Coarse::default());
        assert_eq!(a.percentile(99.0), None);
        (0..99).for_each(|_| a.record_ns(1_000));
        b.record_ns(u64::MAX);
        a.merge(&b);
        assert_eq!(a.count(), 100);
        let (p99, max) = (a.percentile(99.0).unwrap(), a.percentile(100.0).unwrap());
        assert!(p99.abs_diff(Duration::from_nanos(1_000)) < Duration::from_nanos(33));
        assert!(max > Duration::from_secs(3_400));
        a.clear();
        assert_eq!(a.count(), 0);
    }
}
