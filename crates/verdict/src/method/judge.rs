//! Judges the observations of all repetitions.
//!
//! An invariant gives the expected value of one figure from others of the same repetition. The logarithms of
//! observed/expected scatter around 0 if it is true. Their mean has the Student interval m ± t(1 − α/2, n − 1)·s/√n
//! with α = [`ERROR`]; the scatter between repetitions determines the tolerance. An invariant is *broken* when the interval
//! excludes the expected value by more than [`RESOLUTION`], *too noisy* when the interval is so wide that a figure
//! wrong by a quarter could be in it, and *holds* otherwise. A broken invariant is measured a second time, and is only
//! broken if it is so twice: by chance that happens to each invariant less than once in 1/α² = 1,000,000 checks.
//!
//! Limits: repetitions are taken as independent of each other and their logarithms as normal; heavier tails make the
//! interval wider than needed. Golden: ratios 1.01, 1.02, 1.03, 1.04, 1.05 have 1.0299 (0.9708 to 1.0926).

use stats::distribution::student_quantile;

/// Probability that the interval of a true invariant excludes the expected value.
pub const ERROR: f64 = 0.001;
/// Invariants neglect less than this: time between two operations, and the resolution of histograms.
pub const RESOLUTION: f64 = 0.01;
/// A wider interval, by its half-width, cannot distinguish a correct figure from a wrong one.
pub const TELLING: f64 = 0.25;
/// Fewer repetitions have no useful interval.
pub const REPETITIONS_MIN: usize = 5;

/// Expected and observed figure of an invariant, in one repetition.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pair {
    pub expected: f64,
    pub seen: f64,
}

/// Sides on which a figure must not deviate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bound {
    Both,
    AtMost,
}

/// Observed figure of an invariant, in the unit of the expected one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reading {
    pub expected: f64,
    pub seen: f64,
    pub low: f64,
    pub high: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    Holds(Reading),
    Broken(Reading),
    /// The machine is too noisy for a judgement.
    TooNoisy(Reading),
    BrokenOnce(Reading),
    /// Too few repetitions have a valid point; the first reason is given.
    Invalid {
        valid: usize,
        repetitions: usize,
        reason: String,
    },
    /// The target lacks the feature, with its own reason.
    NotOffered(String),
}

impl Outcome {
    pub fn is_broken(&self) -> bool {
        matches!(self, Self::Broken(_))
    }
}

/// Judges an invariant with randomness by its interval; needs at least [`REPETITIONS_MIN`] pairs of positive numbers.
pub(super) fn agrees(pairs: &[Pair], bound: Bound) -> Outcome {
    let n = pairs.len() as f64;
    let logs: Vec<f64> = (pairs.iter())
        .map(|pair| (pair.seen / pair.expected).ln())
        .collect();
    let mean = logs.iter().sum::<f64>() / n;
    let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
    let half = student_quantile(1.0 - ERROR / 2.0, n - 1.0) * (squares / (n - 1.0) / n).sqrt();
    let expected = pairs.iter().map(|pair| pair.expected).sum::<f64>() / n;
    let seen = Reading {
        expected,
        seen: expected * mean.exp(),
        low: expected * (mean - half).exp(),
        high: expected * (mean + half).exp(),
    };
    let is_above = seen.low > expected * (1.0 + RESOLUTION);
    let is_below = bound == Bound::Both && seen.high < expected * (1.0 - RESOLUTION);
    // A value without a logarithm is no figure and agrees with nothing.
    match () {
        () if is_above || is_below || !mean.is_finite() => Outcome::Broken(seen),
        () if half > TELLING.ln_1p() => Outcome::TooNoisy(seen),
        () => Outcome::Holds(seen),
    }
}

/// Judges exact counts, in every repetition; `pairs` are not empty.
pub(super) fn equals(pairs: &[Pair]) -> Outcome {
    let sum = |of: fn(&Pair) -> f64| pairs.iter().map(of).sum::<f64>();
    let seen = sum(|pair| pair.seen);
    let reading = Reading {
        expected: sum(|pair| pair.expected),
        seen,
        low: seen,
        high: seen,
    };
    if pairs.iter().all(|pair| pair.seen == pair.expected) {
        Outcome::Holds(reading)
    } else {
        Outcome::Broken(reading)
    }
}
