//! A histogram for each job and kind of transaction: 256 buckets an octave, so that a percentile is known to 0.2 %,
//! and memory only for octaves that occur.

use std::time::Duration;

/// Significant binary digits of every latency.
const SIGNIFICANT_BITS: u32 = 8;
const BUCKETS_PER_OCTAVE: usize = 1 << SIGNIFICANT_BITS;
/// Octaves up to an hour, the first for all below [`BUCKETS_PER_OCTAVE`].
const OCTAVES: usize = 42 - SIGNIFICANT_BITS as usize + 1;

type Octave = Box<[u32; BUCKETS_PER_OCTAVE]>;

#[derive(Debug, Clone)]
pub struct Fine {
    octaves: [Option<Octave>; OCTAVES],
    total: u64,
    shortest_ns: u64,
    longest_ns: u64,
}

impl Default for Fine {
    fn default() -> Self {
        Self {
            octaves: std::array::from_fn(|_| None),
            total: 0,
            shortest_ns: u64::MAX,
            longest_ns: 0,
        }
    }
}

impl Fine {
    /// Counts one latency; longer than an hour counts as an hour. An octave's memory is allocated with its first
    /// latency.
    #[inline]
    pub fn record_ns(&mut self, latency_ns: u64) {
        let latency_ns = latency_ns.min(stats::histogram::LATENCY_NS_MAX);
        let (octave, bucket) = position(latency_ns);
        let counts = self.octaves[octave].get_or_insert_with(|| Box::new([0; BUCKETS_PER_OCTAVE]));
        counts[bucket] = counts[bucket].saturating_add(1);
        self.total += 1;
        self.shortest_ns = self.shortest_ns.min(latency_ns);
        self.longest_ns = self.longest_ns.max(latency_ns);
    }

    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.octaves.iter_mut().zip(&other.octaves) {
            let Some(theirs) = theirs else { continue };
            let mine = mine.get_or_insert_with(|| Box::new([0; BUCKETS_PER_OCTAVE]));
            for (sum, count) in mine.iter_mut().zip(theirs.iter()) {
                *sum = sum.saturating_add(*count);
            }
        }
        self.total += other.total;
        self.shortest_ns = self.shortest_ns.min(other.shortest_ns);
        self.longest_ns = self.longest_ns.max(other.longest_ns);
    }

    pub fn count(&self) -> u64 {
        self.total
    }

    /// The latency that `percentile` (0–100) did not exceed, to the middle of its bucket (nearest rank), and never
    /// outside the shortest and the longest; `None` if nothing was counted.
    pub fn percentile(&self, percentile: f64) -> Option<Duration> {
        let rank = ((percentile / 100.0 * self.total as f64).ceil() as u64).max(1);
        let mut counted = 0;
        for (octave, counts) in self.octaves.iter().enumerate() {
            for (bucket, count) in counts.iter().flat_map(|counts| counts.iter().enumerate()) {
                counted += u64::from(*count);
                if counted >= rank {
                    let middle_ns = middle_ns(octave, bucket);
                    let ns = middle_ns.clamp(self.shortest_ns, self.longest_ns);
                    return Some(Duration::from_nanos(ns));
                }
            }
        }
        None
    }
}

#[inline]
fn position(latency_ns: u64) -> (usize, usize) {
    if latency_ns < BUCKETS_PER_OCTAVE as u64 {
        return (0, latency_ns as usize);
    }
    let shift = latency_ns.ilog2() - SIGNIFICANT_BITS;
    let bucket = (latency_ns >> shift) as usize & (BUCKETS_PER_OCTAVE - 1);
    (shift as usize + 1, bucket)
}

fn middle_ns(octave: usize, bucket: usize) -> u64 {
    match octave.checked_sub(1) {
        None => bucket as u64,
        Some(shift) => (((BUCKETS_PER_OCTAVE + bucket) as u64) << shift) + (1 << shift) / 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stats::histogram::LATENCY_NS_MAX;

    #[test]
    fn every_bucket_is_within_a_fifth_of_a_percent() {
        let mut value = 1u64;
        while value < LATENCY_NS_MAX {
            let (octave, bucket) = position(value);
            let error = middle_ns(octave, bucket).abs_diff(value) as f64 / value as f64;
            assert!(error <= 0.002, "{value}: {error}");
            value += value / 997 + 1;
        }
        assert!(position(LATENCY_NS_MAX).0 < OCTAVES);
    }

    #[test]
    fn percentiles_stay_within_what_was_counted() {
        let (mut a, mut b) = (Fine::default(), Fine::default());
        assert_eq!(a.percentile(50.0), None);
        (0..99).for_each(|n| a.record_ns(500_300_000 + n));
        b.record_ns(u64::MAX);
        let counted = Duration::from_nanos(500_300_000)..=Duration::from_nanos(500_300_098);
        for percentile in [1.0, 99.0] {
            assert!(counted.contains(&a.percentile(percentile).unwrap()));
        }
        a.merge(&b);
        assert_eq!(
            (a.count(), a.percentile(100.0)),
            (100, Some(Duration::from_nanos(LATENCY_NS_MAX)))
        );
    }
}
