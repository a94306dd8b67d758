//! Change of a system's work between the sides, and the kind of its work.

use super::system::System;

/// Tolerated difference of the share of reads between the sides, percentage points.
pub const READ_PCT_CHANGE_MAX: f64 = 10.0;
/// Tolerated factor between the mean sizes of an I/O.
pub const SIZE_FACTOR_MAX: f64 = 1.5;
pub const RATE_FACTOR_MAX: f64 = 2.0;

/// Kind of work, by the share of reads before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MixClass {
    /// Fewer than 30 % reads.
    Writing,
    /// 30 to 70 % reads.
    Mixed,
    /// More than 70 % reads.
    Reading,
    Changed,
}

impl MixClass {
    pub const ALL: [Self; 4] = [Self::Writing, Self::Mixed, Self::Reading, Self::Changed];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Writing => "same mix, fewer than 30 % reads",
            Self::Mixed => "same mix, 30 to 70 % reads",
            Self::Reading => "same mix, more than 70 % reads",
            Self::Changed => "mix changed",
        }
    }
}

/// Parts of a mix that differ beyond their bounds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Changed {
    pub reads: bool,
    pub size: bool,
    pub rate: bool,
}

impl Changed {
    pub fn any(self) -> bool {
        self.reads || self.size || self.rate
    }
}

/// Changes between the sides of a system. Missing data count as unchanged.
pub fn changed(system: &System) -> Changed {
    let [before, after] = system.mix;
    let factor = |a: Option<f64>, b: Option<f64>, most: f64| {
        let known = a.zip(b).filter(|(a, b)| *a > 0.0 && *b > 0.0);
        known.is_some_and(|(a, b)| (b / a).max(a / b) > most)
    };
    let reads = before.read_pct.zip(after.read_pct);
    Changed {
        reads: reads.is_some_and(|(a, b)| (b - a).abs() > READ_PCT_CHANGE_MAX),
        size: factor(before.size_kib, after.size_kib, SIZE_FACTOR_MAX),
        rate: factor(before.iops, after.iops, RATE_FACTOR_MAX),
    }
}

pub fn class(system: &System) -> MixClass {
    if changed(system).any() {
        return MixClass::Changed;
    }
    match system.mix[0].read_pct {
        Some(read_pct) if read_pct < 30.0 => MixClass::Writing,
        Some(read_pct) if read_pct > 70.0 => MixClass::Reading,
        _ => MixClass::Mixed,
    }
}
