//! The verdict of a ratio's interval: better, worse, equivalent or inconclusive.

use crate::interval::Interval;
use crate::warning::Warning;

/// Direction in which a metric improves; a property of the metric, never guessed from its figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    HigherIsBetter,
    LowerIsBetter,
}

/// Order of the repetitions of two configurations in time, which decides the method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Design {
    /// Pairs measured next to each other, A B B A …; the i-th values of both sides belong together.
    Paired,
    /// The same, with one instance of each configuration throughout, such as two servers that run already. Instances of one
    /// configuration differ as well, and no pair shows by how much, so there is no verdict.
    PairedInstances,
    /// Interleaved, but not in pairs.
    Interleaved,
    /// All of A, then all of B. A change of the machine in between looks like an effect, so there is no verdict
    /// unless the user vouches for the machine; the result is labelled with [`crate::Warning::NotInterleaved`].
    Sequential { trusted: bool },
}

impl Design {
    /// True if the design can carry a verdict at all.
    pub fn decides(self) -> bool {
        !matches!(
            self,
            Self::PairedInstances | Self::Sequential { trusted: false }
        )
    }

    pub fn is_paired(self) -> bool {
        matches!(self, Self::Paired | Self::PairedInstances)
    }
}

/// Limits below which a ratio does not matter, or is not distinguishable from noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Band {
    /// The practical band, a share: ratios within 1/(1 + equivalence) to 1 + equivalence count as alike. It is the
    /// difference that matters to the user, never noise: noise would make a bad measurement prove that nothing
    /// changed. 0.02 is usual.
    pub equivalence: f64,
    /// Difference that the same configuration, measured twice, shows on this machine, a share; 0 if unknown. Better
    /// and worse must lie beyond it as well.
    pub noise: f64,
}

impl Band {
    pub const fn of(equivalence: f64) -> Self {
        Self {
            equivalence,
            noise: 0.0,
        }
    }

    /// Beyond this share, a ratio is better or worse.
    pub fn effect(&self) -> f64 {
        self.equivalence.max(self.noise)
    }

    pub(crate) fn checked(&self) -> Result<(), Warning> {
        let is_share = |share: f64| (0.0..1.0).contains(&share);
        if is_share(self.equivalence) && is_share(self.noise) {
            Ok(())
        } else {
            Err(Warning::NotAShare {
                name: "practical band",
            })
        }
    }
}

/// A verdict. "Inconclusive" is not "no change": the data do not decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The whole interval lies beyond the band, and beyond the noise, on the good side.
    Better,
    /// The whole interval lies beyond the band, and beyond the noise, on the bad side.
    Worse,
    /// The whole interval lies inside the band.
    Equivalent,
    Inconclusive,
}

/// The verdict of an interval of ratios against a band around 1.
///
/// Formula: *better* or *worse* when the interval lies wholly beyond 1 + e or below 1/(1 + e), e the larger of
/// equivalence and noise; *equivalent* when wholly within 1/(1 + equivalence) to 1 + equivalence, ends included; else
/// *inconclusive*. With no effect in truth, a 95 %
/// interval gives a false better or worse in at most 5 % of cases, and far fewer when there is a band;
/// with an effect at the edge of the band, a false *equivalent* in at most 2.5 %.
/// Golden, with a band of 2 % and higher better: 1.03–1.05 is better, 0.90–0.97 worse, 0.99–1.01
/// equivalent, 1.01–1.05 inconclusive. With noise of 8 % in addition, 1.03–1.05 is inconclusive, and so is 0.95–1.06.
pub fn judge(ratio: &Interval, band: Band, direction: Direction) -> Verdict {
    let alike = 1.0 + band.equivalence;
    let effect = 1.0 + band.effect();
    // Comparisons with a NaN are false; an end may be infinite.
    if ratio.low >= 1.0 / alike && ratio.high <= alike {
        Verdict::Equivalent
    } else if ratio.low > effect {
        direction.of_rise()
    } else if ratio.high < 1.0 / effect {
        direction.of_fall()
    } else {
        Verdict::Inconclusive
    }
}

impl Direction {
    fn of_rise(self) -> Verdict {
        match self {
            Direction::HigherIsBetter => Verdict::Better,
            Direction::LowerIsBetter => Verdict::Worse,
        }
    }

    fn of_fall(self) -> Verdict {
        match self {
            Direction::HigherIsBetter => Verdict::Worse,
            Direction::LowerIsBetter => Verdict::Better,
        }
    }
}
