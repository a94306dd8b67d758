//! Observations: the I/Os of one kind of one system in one window of time.

pub const LIMITS: usize = 2;
/// The limits of the published figure, µs.
pub const LIMITS_US_DEFAULT: [f64; LIMITS] = [120.0, 1_000.0];

/// Time relative to the update.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    Before,
    After,
}

impl Side {
    pub const ALL: [Self; 2] = [Self::Before, Self::After];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::After => "after",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|side| side.name() == name)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    Read,
    Write,
}

impl Operation {
    pub const ALL: [Self; 2] = [Self::Read, Self::Write];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|operation| operation.name() == name)
    }
}

/// Mix as the system's reporter states it; `None` if it does not.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Mix {
    /// Reads of all its I/Os, percent.
    pub read_pct: Option<f64>,
    /// Mean size of an I/O, KiB.
    pub size_kib: Option<f64>,
    pub iops: Option<f64>,
}

/// One histogram of one system, summed up.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    pub system: String,
    /// Begin, µs since 1970 in UTC.
    pub began_us: i64,
    pub side: Side,
    pub operation: Operation,
    pub mix: Mix,
    pub count: u64,
    /// I/Os at or below each limit.
    pub within: [u64; LIMITS],
    pub undecided: [u64; LIMITS],
    /// Mean time in µs, as exact as the buckets allow.
    pub mean_us: f64,
}
