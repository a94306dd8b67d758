//! What the interval of a ratio says: better, worse, equivalent or inconclusive.

use crate::interval::Interval;

/// Whether more is better. A property of the metric, never guessed from its figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Throughput and the like.
    HigherIsBetter,
    /// Latency, elapsed time, processor time and the like.
    LowerIsBetter,
}

/// How the repetitions of the two configurations lie in time, which decides the method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Design {
    /// Pairs measured next to each other, A B B A …; the i-th value of either side belongs together.
    Paired,
    /// Interleaved, but not in pairs.
    Interleaved,
    /// All of A, then all of B; the result is labelled with [`crate::Warning::NotInterleaved`].
    Sequential,
}

/// What the data carry. "Inconclusive" is not "no change": it says that nobody knows yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The whole interval lies beyond the band on the good side.
    Better,
    /// The whole interval lies beyond the band on the bad side.
    Worse,
    /// The whole interval lies inside the band.
    Equivalent,
    /// Anything else.
    Inconclusive,
}

/// The verdict of an interval of ratios against a band around 1.
///
/// Formula: *better* or *worse* when the interval lies wholly beyond 1 + band or below 1/(1 + band),
/// *equivalent* when wholly within, ends included, else *inconclusive*. With no effect in truth, a 95 %
/// interval gives a false better or worse in at most 5 % of cases, and far fewer when there is a band;
/// with an effect at the edge of the band, a false *equivalent* in at most 2.5 %.
/// Golden, with a band of 2 % and higher better: 1.03–1.05 is better, 0.90–0.97 worse, 0.99–1.01
/// equivalent, 1.01–1.05 inconclusive.
pub fn judge(ratio: &Interval, band: f64, direction: Direction) -> Verdict {
    let (lower, upper) = (1.0 / (1.0 + band), 1.0 + band);
    let is_number = ratio.low.is_finite() && ratio.high.is_finite();
    if is_number && ratio.low >= lower && ratio.high <= upper {
        Verdict::Equivalent
    } else if is_number && ratio.low > upper {
        direction.of_rise()
    } else if is_number && ratio.high < lower {
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
