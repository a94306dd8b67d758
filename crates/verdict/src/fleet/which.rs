//! Systems that shifted, claimed only if repetitions show the scatter of a system.

use serde::Serialize;
use stats::autocorrelation::variance;
use stats::distribution::student_cdf;
use stats::multiple::benjamini_hochberg;
use stats::summary::mean;

use super::measure::{Figure, Measure};
use super::system::{Pair, System};

/// Smallest number of windows of a side that shows its scatter.
pub const WINDOWS_MIN: usize = 3;
/// Expected share of wrong names among the named systems.
pub const FALSE_SHARE_MAX: f64 = 0.05;
/// Largest number of systems that are listed without a claim.
const LOWEST_MAX: usize = 20;

/// One system in a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Named {
    #[serde(rename = "system")]
    pub name: String,
    pub before: f64,
    pub after: f64,
    /// p, adjusted for all tested systems; `None` without a claim.
    pub adjusted_p: Option<f64>,
}

/// Which systems became worse or better by the primary measure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Which {
    pub tested: usize,
    /// Tested systems that became worse, by the size of their shift.
    pub worse: Vec<Named>,
    pub better: Vec<Named>,
    /// Where none was tested: those with the largest shifts to the worse. No claim: some are there by chance.
    #[serde(rename = "lowest_without_claim")]
    pub lowest: Vec<Named>,
}

/// Names systems by a measure.
///
/// Formula: for each system Welch's t of the windows after against those before, two-sided, adjusted over all tested
/// systems ([`benjamini_hochberg`]); named at [`FALSE_SHARE_MAX`]. I/Os within a window depend on each other, so
/// windows are counted and not I/Os. Limits: windows of about the same length, independent of each other.
pub fn which(measure: Measure, systems: &[&System]) -> Which {
    let pairs = systems.iter().filter_map(|system| {
        let pair = system.pair(measure.operation)?;
        Some((system.name.as_str(), pair, measure.shift(pair)?))
    });
    let pairs: Vec<(&str, &Pair, f64)> = pairs.collect();
    let tested: Vec<(&(&str, &Pair, f64), f64)> = pairs
        .iter()
        .filter_map(|entry| Some((entry, p_of(measure, entry.1)?)))
        .collect();
    let p: Vec<f64> = tested.iter().map(|(_, p)| *p).collect();
    // Every p from `p_of` is a share.
    let adjusted = benjamini_hochberg(&p).unwrap_or_default();
    let sign = match measure.figure {
        Figure::Within(_) => 1.0,
        Figure::Mean => -1.0,
    };
    let mut claimed: Vec<(f64, Named)> = Vec::new();
    for ((entry, _), p) in tested.iter().zip(adjusted) {
        if p <= FALSE_SHARE_MAX {
            claimed.extend(named(measure, entry, Some(p)).map(|named| (sign * entry.2, named)));
        }
    }
    claimed.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (worse, mut better): (Vec<_>, Vec<_>) = claimed.into_iter().partition(|(s, _)| *s < 0.0);
    better.reverse();
    let mut lowest: Vec<&(&str, &Pair, f64)> = Vec::new();
    if tested.is_empty() {
        lowest = pairs.iter().filter(|(.., s)| sign * s < 0.0).collect();
        lowest.sort_by(|a, b| (sign * a.2).total_cmp(&(sign * b.2)));
    }
    let without_shift =
        |list: Vec<(f64, Named)>| list.into_iter().map(|(_, named)| named).collect();
    Which {
        tested: tested.len(),
        worse: without_shift(worse),
        better: without_shift(better),
        lowest: lowest
            .into_iter()
            .take(LOWEST_MAX)
            .filter_map(|entry| named(measure, entry, None))
            .collect(),
    }
}

fn named(
    measure: Measure,
    (name, pair, _): &(&str, &Pair, f64),
    adjusted_p: Option<f64>,
) -> Option<Named> {
    Some(Named {
        name: (*name).to_owned(),
        before: measure.of(&pair.before)?,
        after: measure.of(&pair.after)?,
        adjusted_p,
    })
}

/// p of Welch's test; `None` for too few windows, and for those that do not scatter.
fn p_of(measure: Measure, pair: &Pair) -> Option<f64> {
    let figures = [&pair.before, &pair.after].map(|side| measure.of_windows(side));
    if figures.iter().any(|side| side.len() < WINDOWS_MIN) {
        return None;
    }
    let [a, b] = figures;
    let error = |side: &[f64]| variance(side) / side.len() as f64;
    let (error_a, error_b) = (error(a), error(b));
    let square = error_a + error_b;
    if square <= 0.0 {
        return None;
    }
    let freedom = square * square
        / (error_a.powi(2) / (a.len() - 1) as f64 + error_b.powi(2) / (b.len() - 1) as f64);
    let t = (mean(b)? - mean(a)?) / square.sqrt();
    let p = 2.0 * student_cdf(-t.abs(), freedom);
    p.is_finite().then(|| p.clamp(0.0, 1.0))
}
