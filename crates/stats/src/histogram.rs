//! Latency histograms: recorded in nanoseconds, read in microseconds, merged and never averaged.
//!
//! The store is an HdrHistogram with three significant digits (relative error ≤ 0.1 %) between
//! 1 ns and one hour; a longer latency is counted in the last bucket and [`Histogram::clipped`]
//! says how many there were, so that nothing is lost silently.

use std::io::Read;

use flate2::read::ZlibDecoder;
use hdrhistogram::Histogram as Hdr;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};

pub const LATENCY_NS_MAX: u64 = 3_600_000_000_000;
pub const SIGNIFICANT_DIGITS: u8 = 3;

#[derive(Debug, thiserror::Error)]
pub enum HistogramError {
    #[error("the stored histogram cannot be read: {0}")]
    Damaged(String),
}

/// A mergeable distribution of latencies.
///
/// ```
/// let mut h = stats::Histogram::new();
/// h.record_ns(1_500_000);
/// assert_eq!(h.count(), 1);
/// assert!((h.percentile_us(99.0) - 1500.0).abs() < 2.0);
/// ```
#[derive(Debug, Clone)]
pub struct Histogram {
    hdr: Hdr<u64>,
    clipped: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl PartialEq for Histogram {
    fn eq(&self, other: &Self) -> bool {
        self.hdr == other.hdr
    }
}

impl Histogram {
    /// An empty histogram; all its memory (about 270 kB) is taken now, none while recording.
    pub fn new() -> Self {
        let hdr = Hdr::new_with_bounds(1, LATENCY_NS_MAX, SIGNIFICANT_DIGITS)
            .expect("1 < LATENCY_NS_MAX / 2 and 3 digits are within HdrHistogram's limits");
        Self { hdr, clipped: 0 }
    }

    #[inline]
    pub fn record_ns(&mut self, latency_ns: u64) {
        if latency_ns > LATENCY_NS_MAX {
            self.clipped += 1;
        }
        // HdrHistogram keeps a little more than the longest, which its readers would refuse.
        self.hdr.saturating_record(latency_ns.min(LATENCY_NS_MAX));
    }

    /// Records a latency `times` times, e.g. for a bucket of a foreign histogram.
    pub fn record_many_ns(&mut self, latency_ns: u64, times: u64) {
        if latency_ns > LATENCY_NS_MAX {
            self.clipped += times;
        }
        self.hdr
            .saturating_record_n(latency_ns.min(LATENCY_NS_MAX), times);
    }

    /// Number of latencies longer than [`LATENCY_NS_MAX`], which are counted in the last bucket.
    pub fn clipped(&self) -> u64 {
        self.clipped
    }

    /// Adds all latencies of `other`: the only way two histograms become one figure.
    pub fn merge(&mut self, other: &Histogram) {
        self.hdr
            .add(&other.hdr)
            .expect("all histograms share the same bounds, so every value of one fits the other");
        self.clipped += other.clipped;
    }

    /// Adds latencies with their counts; `clipped` of them were longer than [`LATENCY_NS_MAX`].
    pub(crate) fn merge_recorded(
        &mut self,
        recorded: impl Iterator<Item = (u64, u64)>,
        clipped: u64,
    ) {
        for (latency_ns, count) in recorded {
            self.hdr.saturating_record_n(latency_ns, count);
        }
        self.clipped += clipped;
    }

    pub fn count(&self) -> u64 {
        self.hdr.len()
    }

    /// True if nothing was recorded; the percentiles are then 0.
    pub fn is_empty(&self) -> bool {
        self.hdr.is_empty()
    }

    /// The latency, in microseconds, that `percentile` (0–100) of all operations did not exceed.
    pub fn percentile_us(&self, percentile: f64) -> f64 {
        self.hdr.value_at_quantile(quantile(percentile)) as f64 / 1e3
    }

    pub fn mean_us(&self) -> f64 {
        self.hdr.mean() / 1e3
    }

    pub fn max_us(&self) -> f64 {
        self.hdr.max() as f64 / 1e3
    }

    pub fn min_us(&self) -> f64 {
        self.hdr.min() as f64 / 1e3
    }

    pub fn count_above_us(&self, limit_us: f64) -> u64 {
        let limit_ns = (limit_us * 1e3) as u64;
        self.count() - self.hdr.count_between(0, limit_ns)
    }

    /// Buckets that hold something, as (upper bound in microseconds, count), shortest first.
    pub fn buckets_us(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        self.hdr
            .iter_recorded()
            .map(|b| (b.value_iterated_to() as f64 / 1e3, b.count_at_value()))
    }

    /// HdrHistogram's own V2 deflate encoding, readable by every HdrHistogram library.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(&self.hdr, &mut bytes)
            .expect("writing to a Vec cannot fail and a u64 histogram always fits the format");
        bytes
    }

    ///
    /// # Errors
    /// [`HistogramError::Damaged`] when the bytes are not such an encoding.
    pub fn decode(bytes: &[u8]) -> Result<Self, HistogramError> {
        let mut whole = Self::new();
        each_filled(bytes, |index, count| {
            whole.record_many_ns(lowest_ns(index), count)
        })?;
        Ok(whole)
    }
}

/// A percentile as a share of one. 99.9 / 100 is a little more than 0.999; without rounding it would select one rank too
/// many.
pub(crate) fn quantile(percentile: f64) -> f64 {
    (percentile * 1e10).round() / 1e12
}

/// Buckets of one width; below the first doubling there are twice as many (HdrHistogram, three significant digits).
const HALF: u32 = 1 << 10;

/// How often the width of the bucket at `index` of the array of counts was doubled.
pub(crate) const fn doublings(index: u32) -> u32 {
    (index / HALF).saturating_sub(1)
}

pub(crate) const fn lowest_ns(index: u32) -> u64 {
    ((index - doublings(index) * HALF) as u64) << doublings(index)
}

const fn index_of(latency_ns: u64) -> u32 {
    let doublings = (latency_ns | (2 * HALF as u64 - 1)).ilog2() - HALF.ilog2();
    doublings * HALF + (latency_ns >> doublings) as u32
}

/// Calls back with index and count of each filled bucket of an encoded histogram, in their order. The format is
/// HdrHistogram's V2: counts as zigzag LEB128, a negative number for a run of empty buckets.
pub(crate) fn each_filled(
    bytes: &[u8],
    mut filled: impl FnMut(u32, u64),
) -> Result<(), HistogramError> {
    const LAST: u32 = index_of(LATENCY_NS_MAX);
    let damaged = |what: &str| HistogramError::Damaged(what.to_owned());
    let beyond = || damaged("it has a latency above the longest supported one");
    let inflated = inflate(bytes)?;
    let mut counts = inflated[HEADER_BYTES..].iter();
    let mut index = 0_u32;
    while !counts.as_slice().is_empty() {
        let number = zigzag(&mut counts).ok_or_else(|| damaged("its last count is cut off"))?;
        let Ok(count) = u64::try_from(number) else {
            let empty = u32::try_from(number.unsigned_abs()).map_err(|_| beyond())?;
            index = index.checked_add(empty).ok_or_else(beyond)?;
            continue;
        };
        if count > 0 {
            if index > LAST {
                return Err(beyond());
            }
            filled(index, count);
        }
        index = index.saturating_add(1);
    }
    Ok(())
}

fn zigzag(bytes: &mut std::slice::Iter<'_, u8>) -> Option<i64> {
    let mut number = 0_u64;
    for group in 0..9 {
        let byte = u64::from(*bytes.next()?);
        // The ninth byte has eight bits of its own.
        let digits = if group < 8 { byte & 0x7f } else { byte };
        number |= digits << (7 * group);
        if byte & 0x80 == 0 {
            break;
        }
    }
    Some((number >> 1) as i64 ^ -((number & 1) as i64))
}

const HEADER_BYTES: usize = 40;

/// The uncompressed V2 form. Its size is checked before memory is allocated for it.
fn inflate(bytes: &[u8]) -> Result<Vec<u8>, HistogramError> {
    const COMPRESSED: [u8; 4] = 0x1c84_9314_u32.to_be_bytes();
    const PLAIN: u64 = 0x1c84_9313;
    const BYTES_MAX: usize = HEADER_BYTES + 9 * (index_of(LATENCY_NS_MAX) as usize + 1);
    let damaged = |what: &str| HistogramError::Damaged(what.to_owned());
    let stream = bytes.get(8..).filter(|_| bytes.starts_with(&COMPRESSED));
    let stream = stream.ok_or_else(|| damaged("its compression is invalid"))?;
    let mut inflated = Vec::new();
    ZlibDecoder::new(stream)
        .take(BYTES_MAX as u64 + 1)
        .read_to_end(&mut inflated)
        .map_err(|e| HistogramError::Damaged(e.to_string()))?;
    let number = |at: usize, length: usize| {
        let digits = inflated.get(at..at + length)?.iter();
        Some(digits.fold(0_u64, |number, byte| number << 8 | u64::from(*byte)))
    };
    let is_ours = inflated.len() <= BYTES_MAX
        && number(0, 4) == Some(PLAIN)
        && number(4, 4) == Some(inflated.len().saturating_sub(HEADER_BYTES) as u64)
        && number(8, 4) == Some(0)
        && number(12, 4) == Some(u64::from(SIGNIFICANT_DIGITS))
        && number(16, 8) == Some(1)
        && number(24, 8) <= Some(LATENCY_NS_MAX)
        && number(32, 8) == Some(1_f64.to_bits());
    is_ours
        .then_some(inflated)
        .ok_or_else(|| damaged("its bounds or its length are not those of a latency histogram"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Golden: for 1..=1000 µs the nearest-rank p50/p99/p99.9 are 500, 990 and 999 µs (± 0.1 %).
    #[test]
    fn percentiles_of_a_uniform_series() {
        let mut h = Histogram::new();
        (1..=1000u64).for_each(|us| h.record_ns(us * 1000));
        for (p, want) in [(50.0, 500.0), (99.0, 990.0), (99.9, 999.0), (100.0, 1000.0)] {
            let got = h.percentile_us(p);
            assert!((got - want).abs() <= want * 0.001, "p{p}: {got}");
        }
        assert!((h.mean_us() - 500.5).abs() < 0.5);
    }

    /// The p99 of the union is far from the mean of both, which is why percentiles are never averaged.
    #[test]
    fn merging_is_not_averaging() {
        let (mut fast, mut slow) = (Histogram::new(), Histogram::new());
        (0..990).for_each(|_| fast.record_ns(1_000));
        (0..10).for_each(|_| slow.record_ns(1_000_000));
        let average = (fast.percentile_us(99.0) + slow.percentile_us(99.0)) / 2.0;
        fast.merge(&slow);
        assert_eq!(fast.count(), 1000);
        assert!(fast.percentile_us(99.0) < 1.01);
        assert!(average > 500.0);
        assert_eq!(fast.count_above_us(2.0), 10);
    }

    #[test]
    fn survives_the_archive() {
        let mut h = Histogram::new();
        for ns in [0, 1, 999, 1_234_567, LATENCY_NS_MAX] {
            h.record_ns(ns);
        }
        h.record_ns(LATENCY_NS_MAX + 1);
        let back = Histogram::decode(&h.encode()).unwrap();
        assert_eq!(back, h);
        assert!(Histogram::decode(&h.encode()[..7]).is_err());
        assert!(Histogram::decode(b"not a histogram").is_err());
    }

    #[test]
    fn too_long_is_counted_not_lost() {
        let mut h = Histogram::new();
        h.record_ns(LATENCY_NS_MAX * 2);
        h.record_ns(LATENCY_NS_MAX + LATENCY_NS_MAX / 8);
        assert_eq!((h.count(), h.clipped()), (2, 2));
        assert_eq!(Histogram::decode(&h.encode()).unwrap(), h);
    }
}
