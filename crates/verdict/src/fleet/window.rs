//! What is observed: the I/Os of one kind of one system in one window of time.

/// Shares are those at or below these many limits.
pub const LIMITS: usize = 2;
/// The limits of the published figure, µs.
pub const LIMITS_US_DEFAULT: [f64; LIMITS] = [120.0, 1_000.0];

/// Before or after the update.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    Before,
    After,
}

impl Side {
    pub const ALL: [Self; 2] = [Self::Before, Self::After];

    /// Word of files and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::After => "after",
        }
    }

    /// The side of that name.
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

    /// Word of files and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }

    /// The operation of that name.
    pub fn named(name: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|operation| operation.name() == name)
    }
}

/// What a system does, as its own reporter says; `None` where it does not.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Mix {
    /// Reads of all its I/Os, percent.
    pub read_pct: Option<f64>,
    /// Mean size of an I/O, KiB.
    pub size_kib: Option<f64>,
    /// I/Os per second.
    pub iops: Option<f64>,
}

/// One histogram of one system, summed up.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    pub system: String,
    /// When it began, µs since 1970 in UTC.
    pub began_us: i64,
    pub side: Side,
    pub operation: Operation,
    /// What the system did in it.
    pub mix: Mix,
    pub count: u64,
    /// Those of them at or below each limit.
    pub within: [u64; LIMITS],
    /// Those in a bucket that holds times on both sides of the limit.
    pub undecided: [u64; LIMITS],
    /// Mean time, µs, as exact as the buckets tell it.
    pub mean_us: f64,
}
