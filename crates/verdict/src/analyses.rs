//! Studies with interim analyses: the pairs that count, and the confidence of each interval.

use std::borrow::Cow;

use archive::{Ended, Run, Until};
use stats::analyses::{Analysis, confidences};
use stats::multiple::confidence_of_each;

use crate::outcome::CONFIDENCE;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Analyses {
    /// Effect, as a share, that had to be found or excluded.
    pub effect: f64,
    pub taken: usize,
    pub planned: usize,
    pub pairs: u32,
    pub pairs_max: u32,
    pub ended: Option<Ended>,
}

pub fn analyses(a: &Run, b: &Run) -> Option<Analyses> {
    let until = until(a, b)?;
    Some(Analyses {
        effect: until.effect_pct / 100.0,
        taken: until.taken as usize,
        planned: until.analyses.len(),
        pairs: until.pairs_seen(),
        pairs_max: until.analyses.last()?.pairs,
        ended: until.ended,
    })
}

fn until<'r>(a: &'r Run, b: &Run) -> Option<&'r Until> {
    let (x, y) = (a.study.as_ref()?, b.study.as_ref()?);
    let until = x.until.as_ref()?;
    (x.pairs_with(y) && y.until.as_ref() == Some(until)).then_some(until)
}

/// Confidence of the interval of each of `metrics`, so that all hold simultaneously with [`CONFIDENCE`], at all
/// interim analyses.
pub fn confidence(a: &Run, b: &Run, metrics: usize) -> f64 {
    let of_each = confidence_of_each(CONFIDENCE, metrics);
    match until(a, b) {
        Some(until) => at_each_analysis(until, of_each)
            .get((until.taken as usize).saturating_sub(1))
            .copied()
            .unwrap_or(of_each),
        None => of_each,
    }
}

/// Pairs at the last planned analysis, and the confidence of the interval of each of `metrics` there.
pub(crate) fn at_end(a: &Run, b: &Run, metrics: usize) -> Option<(usize, f64)> {
    let until = until(a, b)?;
    let confidence = at_each_analysis(until, confidence_of_each(CONFIDENCE, metrics));
    Some((until.analyses.last()?.pairs as usize, *confidence.last()?))
}

/// Confidence of the interval at each analysis, so that all hold simultaneously with `confidence`.
pub fn at_each_analysis(until: &Until, confidence: f64) -> Vec<f64> {
    let analyses = until.analyses.iter().map(|analysis| Analysis {
        pairs: analysis.pairs as usize,
        spent: analysis.spent,
    });
    confidences(&analyses.collect::<Vec<_>>(), confidence)
}

/// Both runs up to the last analysis: later pairs have not spent any error rate.
pub(crate) fn seen<'r>(a: &'r Run, b: &'r Run) -> [Cow<'r, Run>; 2] {
    let pairs = until(a, b).map(Until::pairs_seen);
    [a, b].map(|run| match pairs {
        Some(pairs) if run.repetitions != pairs => {
            let mut seen = run.clone();
            seen.repetitions = pairs;
            // Before the first analysis no pair counts, but the figures are known.
            if pairs > 0 {
                seen.points.retain(|point| point.key.repetition <= pairs);
            }
            Cow::Owned(seen)
        }
        _ => Cow::Borrowed(run),
    })
}
