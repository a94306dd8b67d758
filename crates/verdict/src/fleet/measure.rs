//! Measures of a fleet, and their shifts over its systems.

use stats::bootstrap::Bootstrap;
use stats::summary::{mean, median};
use stats::{Interval, Warning};

use super::system::{Pair, System, Times};
use super::window::{LIMITS, Operation};

/// Confidence of every interval: it is higher than usual because thousands of systems allow it, because twenty of
/// them need it for 95 %, and because systems of one owner are less independent than any interval assumes.
pub const CONFIDENCE: f64 = 0.99;
pub const SYSTEMS_MIN: usize = 20;
/// Largest number of systems that are resampled.
pub const SYSTEMS_MAX: usize = stats::bootstrap::RESAMPLES_MAX;
/// Draws of a bootstrap, which limit the resamples of more than 2,000 systems.
const DRAWS_MAX: usize = 20_000_000;
/// Smallest number of resamples, of which five are beyond each end.
const RESAMPLES_MIN: usize = 1_000;
const RESAMPLES_WANTED: usize = 10_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    /// Share at or below the limit of this index.
    Within(usize),
    Mean,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measure {
    pub operation: Operation,
    pub figure: Figure,
}

impl Measure {
    /// All measures, writes first, as in the published figure.
    pub fn all() -> impl Iterator<Item = Self> {
        let figures = (0..LIMITS).map(Figure::Within).chain([Figure::Mean]);
        figures.flat_map(|figure| {
            [Operation::Write, Operation::Read].map(|operation| Self { operation, figure })
        })
    }

    pub fn of(self, times: &Times) -> Option<f64> {
        match self.figure {
            Figure::Within(limit) => times.shares[limit],
            Figure::Mean => Some(times.mean_us).filter(|mean| *mean > 0.0),
        }
    }

    pub fn of_windows(self, times: &Times) -> &[f64] {
        match self.figure {
            Figure::Within(limit) => &times.of_windows[limit],
            Figure::Mean => &times.means_us,
        }
    }

    /// Shift of one system: the difference of shares, or the logarithm of the ratio of means.
    pub fn shift(self, pair: &Pair) -> Option<f64> {
        let (before, after) = (self.of(&pair.before)?, self.of(&pair.after)?);
        Some(match self.figure {
            Figure::Within(_) => after - before,
            Figure::Mean => (after / before).ln(),
        })
    }

    /// Shifts of all systems that have one, in their order.
    pub fn shifts(self, systems: &[&System]) -> Vec<f64> {
        let pairs = systems.iter().filter_map(|s| s.pair(self.operation));
        pairs.filter_map(|pair| self.shift(pair)).collect()
    }
}

/// Shift of a measure over systems, each of which counts once.
#[derive(Debug, Clone, PartialEq)]
pub struct Shift {
    pub measure: Measure,
    pub systems: usize,
    /// Systems whose buckets do not determine the figure.
    pub undecided: usize,
    /// Mean of the figure before, over the systems (for means the geometric mean).
    pub before: f64,
    pub after: f64,
    /// Mean shift with its interval, at [`CONFIDENCE`]: the difference of shares, the ratio of means.
    pub interval: Result<Interval, Warning>,
    pub median: f64,
    pub smaller: usize,
}

/// Shift of a measure; `None` if no system determines it.
///
/// Formula: the mean over systems of [`Measure::shift`], each system once, whatever its load; percentile interval of
/// the bootstrap that draws whole systems, both sides with all windows ([`Bootstrap::percentile`]). Means are
/// averaged as logarithms, and the result is the exponential. The mean is used instead of the median because it is
/// the gain of an average system and the difference of the two averages, and because shares are between 0 and 1, so
/// that no system can dominate it; the median is shown as well. Limits: independent systems, at least
/// [`SYSTEMS_MIN`]. Golden: twenty systems that go from 0.1 to 0.30, 0.31 … 0.39, 0.41 … 0.50 shift by 0.3.
pub fn shift(measure: Measure, systems: &[&System], seed: u64) -> Option<Shift> {
    let pairs: Vec<&Pair> = systems
        .iter()
        .filter_map(|s| s.pair(measure.operation))
        .collect();
    let known = pairs.iter().filter(|p| measure.shift(p).is_some());
    let side = |of: fn(&Pair) -> &Times| -> Vec<f64> {
        let figures = known.clone().filter_map(|pair| measure.of(of(pair)));
        figures.collect()
    };
    let (before, after) = (side(|p| &p.before), side(|p| &p.after));
    let shifts = measure.shifts(systems);
    let back = |value: f64| match measure.figure {
        Figure::Within(_) => value,
        Figure::Mean => value.exp(),
    };
    let average = |values: &[f64]| match measure.figure {
        Figure::Within(_) => mean(values),
        Figure::Mean => {
            let logs: Vec<f64> = values.iter().map(|v| v.ln()).collect();
            mean(&logs).map(f64::exp)
        }
    };
    Some(Shift {
        measure,
        systems: shifts.len(),
        undecided: pairs.len() - shifts.len(),
        before: average(&before)?,
        after: average(&after)?,
        interval: interval(&shifts, seed).map(|interval| interval.map(back)),
        median: back(median(&shifts)?),
        smaller: shifts.iter().filter(|shift| **shift < 0.0).count(),
    })
}

pub fn resamples(systems: usize) -> usize {
    (DRAWS_MAX / systems.max(1)).clamp(RESAMPLES_MIN, RESAMPLES_WANTED)
}

fn interval(shifts: &[f64], seed: u64) -> Result<Interval, Warning> {
    if shifts.len() < SYSTEMS_MIN {
        return Err(Warning::TooFew {
            have: shifts.len(),
            need: SYSTEMS_MIN,
        });
    }
    let bootstrap = Bootstrap {
        resamples: resamples(shifts.len()),
        confidence: CONFIDENCE,
        seed,
    };
    bootstrap.percentile(shifts, |values| mean(values).unwrap_or(f64::NAN))
}
