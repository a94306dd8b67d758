//! One WD on one SD: what its I/Os look like.

use super::place::Range;

/// A sequence of I/Os with one order of addresses and one arrival process.
#[derive(Debug, Clone, PartialEq)]
pub struct Stream {
    pub workload: String,
    /// Indices of its SDs in [`super::Run::storage`]; more than one: they are concatenated in this order, and an I/O
    /// that would straddle two moves to the start of the second.
    pub storage: Vec<usize>,
    /// Part of the run's rate, from 0 to 1; those of all streams add up to 1.
    pub share: f64,
    /// Whether the share was asked for (`skew=`), or is an equal part of what is left.
    pub share_asked: bool,
    /// I/Os a second of this stream alone (WD `iorate=`), whatever the run's rate.
    pub iops: Option<f64>,
    /// 1 goes before 2 and so on; none: all alike.
    pub priority: Option<u32>,
    /// Bytes of an I/O.
    pub sizes: Sizes,
    /// Percent of I/Os that read; the others write.
    pub read_pct: f64,
    pub seek: Seek,
    pub range: Range,
    /// Part that is used more than the rest.
    pub hot_band: Option<Range>,
    /// Percent of reads that go to the hit area.
    pub read_hit_pct: f64,
    /// Percent of writes that go to the hit area.
    pub write_hit_pct: f64,
    /// A random address is the next sequential one plus this much.
    pub stride: Option<Stride>,
    /// Sequential streams side by side within the range, each on a part of its own; 1 is the usual.
    pub sequential_streams: u32,
}

impl Stream {
    /// Random reads all over SD number `storage`, without anything special.
    #[must_use]
    pub fn random_reads(workload: &str, storage: usize, transfer_bytes: u64) -> Self {
        Self {
            workload: workload.to_owned(),
            storage: vec![storage],
            share: 1.0,
            share_asked: false,
            iops: None,
            priority: None,
            sizes: Sizes::Fixed(transfer_bytes),
            read_pct: 100.0,
            seek: Seek::Random { pct: 100.0 },
            range: Range::Whole,
            hot_band: None,
            read_hit_pct: 0.0,
            write_hit_pct: 0.0,
            stride: None,
            sequential_streams: 1,
        }
    }

    #[must_use]
    pub fn size_bytes_max(&self) -> u64 {
        match &self.sizes {
            Sizes::Fixed(bytes) => *bytes,
            Sizes::Weighted(sizes) => sizes.iter().map(|size| size.bytes).max().unwrap_or(0),
            Sizes::Uniform { max_bytes, .. } => *max_bytes,
        }
    }
}

/// Sizes of the I/Os of a stream.
#[derive(Debug, Clone, PartialEq)]
pub enum Sizes {
    /// Always this many bytes.
    Fixed(u64),
    /// Drawn by weight; at least one, weights add up to 100.
    Weighted(Vec<WeightedSize>),
    /// Uniform over min, min + align … max.
    Uniform {
        min_bytes: u64,
        max_bytes: u64,
        align_bytes: u64,
    },
}

impl Sizes {
    /// What every size is a sum of, in bytes.
    pub(crate) fn parts_bytes(&self) -> Vec<u64> {
        match self {
            Sizes::Fixed(bytes) => vec![*bytes],
            Sizes::Weighted(sizes) => sizes.iter().map(|size| size.bytes).collect(),
            Sizes::Uniform {
                min_bytes,
                align_bytes,
                ..
            } => vec![*min_bytes, *align_bytes],
        }
    }
}

/// A size and how often it occurs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WeightedSize {
    /// Bytes of the I/O.
    pub bytes: u64,
    /// Percent of I/Os that have it.
    pub pct: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Seek {
    /// Each I/O goes to a random address with this probability, else to the block behind the one before it; above 0,
    /// at most 100.
    Random {
        /// Percent of I/Os that go somewhere else.
        pct: f64,
    },
    /// One after the other, and from the beginning again. All that is in flight shares one next address.
    Sequential,
    /// One after the other, and the stream is over at the end. A run ends when all its streams of this kind have
    /// ended, whatever others do.
    SequentialToEnd,
    /// As [`Seek::Sequential`], from a random block on.
    SequentialFromRandom,
    /// More often near the beginning: block ⌊−ln(u) · blocks / divisor⌋, modulo the number of blocks.
    Poisson {
        /// How steep it falls off; usually 3.
        divisor: f64,
    },
}

/// Bounds of a jump, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stride {
    pub min_bytes: u64,
    pub max_bytes: u64,
}
