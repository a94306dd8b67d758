//! I/Os of one WD on one SD.

use super::place::Range;

/// I/Os of one WD on one SD, with one order of addresses and one arrival process.
#[derive(Debug, Clone, PartialEq)]
pub struct Stream {
    pub workload: String,
    /// Indices of its SDs in [`super::Run::storage`]. Several are concatenated in this order, and an I/O that would
    /// straddle two moves to the start of the second.
    pub storage: Vec<usize>,
    /// Part of the run's rate, from 0 to 1; the sum over all streams is 1.
    pub share: f64,
    /// The share was requested (`skew=`); otherwise it is an equal part of the remainder.
    pub is_share_requested: bool,
    /// I/Os per second of this stream (WD `iorate=`), whatever the run's rate.
    pub iops: Option<f64>,
    /// Priority, 1 first; `None`: all alike.
    pub priority: Option<u32>,
    pub sizes: Sizes,
    pub read_pct: f64,
    pub seek: Seek,
    pub range: Range,
    /// Part that is used more than the rest.
    pub hot_band: Option<Range>,
    pub read_hit_pct: f64,
    pub write_hit_pct: f64,
    /// A random address is the next sequential one plus this distance.
    pub stride: Option<Stride>,
    /// Concurrent sequential streams, each on a separate part of the range; usually 1.
    pub sequential_streams: u32,
}

impl Stream {
    /// Random reads of fixed size over all of SD number `storage`.
    #[must_use]
    pub fn random_reads(workload: &str, storage: usize, transfer_bytes: u64) -> Self {
        Self {
            workload: workload.to_owned(),
            storage: vec![storage],
            share: 1.0,
            is_share_requested: false,
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

#[derive(Debug, Clone, PartialEq)]
pub enum Sizes {
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
    /// Sizes in bytes of which every transfer is a multiple.
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

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WeightedSize {
    pub bytes: u64,
    pub pct: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Seek {
    /// Each I/O goes to a random address with this probability, otherwise to the block after the previous one; above
    /// 0, at most 100.
    Random { pct: f64 },
    /// Ascending, in a cycle. All I/Os in flight share one next address.
    Sequential,
    /// Ascending, until the end of the range. A run ends when all its streams of this kind have ended.
    SequentialToEnd,
    /// Like [`Seek::Sequential`], beginning at a random block.
    SequentialFromRandom,
    /// More often near the beginning: block ⌊−ln(u) · blocks / divisor⌋, modulo the number of blocks.
    Poisson {
        /// Steepness of the decline; usually 3.
        divisor: f64,
    },
}

/// Bounds of a jump, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stride {
    pub min_bytes: u64,
    pub max_bytes: u64,
}
