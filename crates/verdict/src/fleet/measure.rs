//! What is compared, and how it shifted over the systems of a fleet.

use stats::bootstrap::Bootstrap;
use stats::summary::{mean, median};
use stats::{Interval, Warning};

use super::system::{Pair, System, Times};
use super::window::{LIMITS, Operation};

/// Confidence of every interval: higher than usual, because thousands of systems afford it, because twenty of them need it
/// for 95 %, and because systems of one owner are less independent than any interval over them assumes.
pub const CONFIDENCE: f64 = 0.99;
/// Fewest systems with an interval.
pub const SYSTEMS_MIN: usize = 20;
/// Most systems, as many as are resampled.
pub const SYSTEMS_MAX: usize = stats::bootstrap::RESAMPLES_MAX;
/// Draws of a bootstrap: so many resamples at 2,000 systems or fewer, and fewer of more.
const DRAWS_MAX: usize = 20_000_000;
/// Fewest resamples, of which five are beyond each end.
const RESAMPLES_MIN: usize = 1_000;
const RESAMPLES_WANTED: usize = 10_000;

/// A figure of a kind of I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    /// Share at or below the limit of this place.
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

    /// The figure of one side; `None` where its buckets do not tell it.
    pub fn of(self, times: &Times) -> Option<f64> {
        match self.figure {
            Figure::Within(limit) => times.shares[limit],
            Figure::Mean => Some(times.mean_us).filter(|mean| *mean > 0.0),
        }
    }

    /// The figure in each window of a side.
    pub fn of_windows(self, times: &Times) -> &[f64] {
        match self.figure {
            Figure::Within(limit) => &times.of_windows[limit],
            Figure::Mean => &times.means_us,
        }
    }

    /// How one system shifted: the difference of shares, or the logarithm of the ratio of means.
    pub fn shift(self, pair: &Pair) -> Option<f64> {
        let (before, after) = (self.of(&pair.before)?, self.of(&pair.after)?);
        Some(match self.figure {
            Figure::Within(_) => after - before,
            Figure::Mean => (after / before).ln(),
        })
    }

    /// The shifts of all systems that have one, in their order.
    pub fn shifts(self, systems: &[&System]) -> Vec<f64> {
        let pairs = systems.iter().filter_map(|s| s.pair(self.operation));
        pairs.filter_map(|pair| self.shift(pair)).collect()
    }
}

/// How a measure shifted over systems, each of which counts once.
#[derive(Debug, Clone, PartialEq)]
pub struct Shift {
    pub measure: Measure,
    pub systems: usize,
    /// Systems whose buckets do not tell the figure.
    pub undecided: usize,
    /// Mean over the systems of the figure before (of means the geometric mean).
    pub before: f64,
    pub after: f64,
    /// Mean shift with its interval, at [`CONFIDENCE`]: of shares their difference, of means their ratio.
    pub interval: Result<Interval, Warning>,
    /// Median of the systems' shifts, in the same unit.
    pub median: f64,
    /// Systems in which the figure became smaller.
    pub smaller: usize,
}

/// The shift of a measure; `None` where no system tells it.
///
/// Formula: the mean over systems of [`Measure::shift`], each system once, whatever it did; percentile interval of the
/// bootstrap that draws whole systems, both sides with all windows ([`Bootstrap::percentile`]). Of means the logarithms are
/// averaged, and the result is their exponential. The mean, not the median, because it answers what an average system
/// gains and is the difference of the two averages, and because shares lie between 0 and 1, so that no system can pull it
/// far; the median is shown beside. Limits: independent systems, [`SYSTEMS_MIN`] of them at least.
/// Golden: twenty systems that go from 0.1 to 0.30, 0.31 … 0.39, 0.41 … 0.50 shift by 0.3.
pub fn shift(measure: Measure, systems: &[&System], seed: u64) -> Option<Shift> {
    let pairs: Vec<&Pair> = systems
        .iter()
        .filter_map(|s| s.pair(measure.operation))
        .collect();
    let told = pairs.iter().filter(|p| measure.shift(p).is_some());
    let side = |of: fn(&Pair) -> &Times| -> Vec<f64> {
        let figures = told.clone().filter_map(|pair| measure.of(of(pair)));
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

/// Resamples of a fleet of so many systems.
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
