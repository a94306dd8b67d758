use super::{Noise, Order, measure};
use stats::Interval;
use stats::analyses::{Analysis, confidences};
use stats::compare::{Band, Direction, Verdict, judge};
use stats::multiple::confidence_of_each;
use stats::random::Random;
use stats::ratio::paired;

pub type Sides = [Vec<f64>; 2];

/// Pairs and confidence of each analysis, for one of `metrics` primary metrics.
pub fn planned(analyses: &[Analysis], metrics: usize) -> Vec<(usize, f64)> {
    let pairs = analyses.iter().map(|analysis| analysis.pairs);
    let confidences = confidences(analyses, confidence_of_each(0.95, metrics));
    pairs.zip(confidences).collect()
}

fn interval([a, b]: &Sides, pairs: usize, confidence: f64) -> Option<Interval> {
    let ratio = paired(&a[..pairs], &b[..pairs], confidence).ok();
    ratio.map(|ratio| ratio.interval)
}

pub fn any_misses(sides: &Sides, plan: &[(usize, f64)], truth: f64) -> bool {
    let mut intervals = plan
        .iter()
        .filter_map(|(pairs, confidence)| interval(sides, *pairs, *confidence));
    intervals.any(|interval| !interval.covers(truth))
}

pub fn stopped(
    sides: &Sides,
    plan: &[(usize, f64)],
    band: f64,
    effect: f64,
) -> (usize, Option<Interval>) {
    let mut last = (0, None);
    for (pairs, confidence) in plan {
        let interval = interval(sides, *pairs, *confidence);
        last = (*pairs, interval);
        if interval.is_some_and(|interval| is_settled(&interval, band, effect)) {
            break;
        }
    }
    last
}

/// True if the interval gives a verdict, or excludes the effect.
fn is_settled(interval: &Interval, band: f64, effect: f64) -> bool {
    let verdict = judge(interval, Band::of(band), Direction::HigherIsBetter);
    let excluded = judge(interval, Band::of(effect), Direction::HigherIsBetter);
    verdict != Verdict::Inconclusive || excluded == Verdict::Equivalent
}

/// Pairs of `count` metrics without any effect; half of each figure's noise is common to all of them.
pub fn metrics(kind: Noise, count: usize, pairs: usize, random: &mut Random) -> Vec<Sides> {
    let common = measure(kind, Order::Lot, pairs, 0.02, 1.0, random);
    let joined = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).collect();
    let of = |_| {
        let own = measure(kind, Order::Lot, pairs, 0.02, 1.0, random);
        [joined(&common.0, &own.0), joined(&common.1, &own.1)]
    };
    (0..count).map(of).collect()
}
