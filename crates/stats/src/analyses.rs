//! Interim analyses at a study: planned in advance, with intervals that hold together at all of them.
//!
//! A study that is stopped at the first verdict finds a difference in the end even if there is none: at 95 % each,
//! ten analyses are wrong in 19 % of studies. The intervals here are wider by as much as it takes: each analysis spends a
//! part of the error, and all of them together spend 5 %. They are repeated confidence intervals (Jennison & Turnbull
//! 1989): the chance that *any* of them misses the truth is at most the error spent, so they hold whatever the reason
//! to stop.

use std::f64::consts::{E, PI};

use crate::distribution::{normal_cdf, normal_quantile};
use crate::ratio::signed_rank_depth;

/// Most analyses of a plan: each costs a little of the last one's precision.
pub const LOOKS_MAX: usize = 8;
/// Growth of the number of pairs from analysis to analysis: while the necessary number is unknown, the last wait is in
/// proportion to the pairs that are measured anyway.
const GROWTH: f64 = 1.5;
const GRID: usize = 201;
/// Boundaries beyond this many standard deviations are never reached.
const FARTHEST: f64 = 10.0;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Analysis {
    pub pairs: usize,
    /// Share of the error that this analysis and those before may spend; 1 at the last one.
    pub spent: f64,
}

/// The analyses of a study of at most `pairs_max` pairs, whose intervals hold together with `confidence`.
///
/// Formula: the first analysis is at the fewest pairs that can give an interval with what may be spent then; the others follow in
/// equal proportions, about half as many pairs again from one to the next, to `pairs_max`: [`LOOKS_MAX`] at most. Spent is
/// ln(1 + (e − 1)·t), t the information of the pairs ([`information`]) as a share of the last analysis's. Source: Lan & DeMets 1983,
/// the function of Pocock's kind. Limits: too few pairs for any analysis leave the last one alone. Golden: 40 pairs at 95 % are
/// looked at after 8, 12, 18, 27 and 40.
pub fn analyses(pairs_max: usize, confidence: f64) -> Vec<Analysis> {
    let all = information(pairs_max);
    let spent = |pairs: usize| ((E - 1.0) * information(pairs) / all).ln_1p();
    let gives_interval = |pairs: &usize| {
        signed_rank_depth(*pairs, (1.0 - confidence) / 2.0 * spent(*pairs)).is_some()
    };
    let last = Analysis {
        pairs: pairs_max,
        spent: 1.0,
    };
    let Some(first) = (1..pairs_max).find(gives_interval) else {
        return vec![last];
    };
    let times = pairs_max as f64 / first as f64;
    let steps = (times.ln() / GROWTH.ln())
        .round()
        .clamp(1.0, LOOKS_MAX as f64 - 1.0);
    let mut planned: Vec<Analysis> = Vec::new();
    for step in 0..steps as usize {
        let pairs = (first as f64 * times.powf(step as f64 / steps)).round() as usize;
        let is_new = planned.last().is_none_or(|before| before.pairs < pairs);
        if is_new && pairs < pairs_max {
            planned.push(Analysis {
                pairs,
                spent: spent(pairs),
            });
        }
    }
    planned.push(last);
    planned
}

/// Information of `pairs` pairs for signed ranks.
///
/// Formula: n(2n + 1)/(n + 1). Of independent symmetric differences, the signed-rank statistics of the first j and of the first k
/// have a correlation of exactly √(Iⱼ/Iₖ): by E(rank of |dᵢ| among k | among j) = rank·(k + 1)/(j + 1). Means have I = n.
/// Golden: 6 and 12 pairs have 78/7 and 300/13.
pub fn information(pairs: usize) -> f64 {
    let n = pairs as f64;
    n * (2.0 * n + 1.0) / (n + 1.0)
}

/// The confidence that the interval of each analysis must have, taken alone, for all of them to hold together with `confidence`.
///
/// Formula: 2Φ(z) − 1 with the two-sided boundaries z of [`boundaries`]. Source: Lan & DeMets 1983; exact tests with these levels:
/// "significance level approach", Pocock 1977. Limits: the dependence of the analyses is that of independent differences; what
/// signed ranks cannot spend because they are discrete stays unspent. Golden: one analysis at 95 % has 95 %.
pub fn confidences(analyses: &[Analysis], confidence: f64) -> Vec<f64> {
    let information: Vec<f64> = analyses
        .iter()
        .map(|analysis| information(analysis.pairs))
        .collect();
    let spent: Vec<f64> = analyses
        .iter()
        .map(|analysis| analysis.spent * (1.0 - confidence))
        .collect();
    let boundaries = boundaries(&information, &spent);
    boundaries
        .into_iter()
        .map(|z| 1.0 - 2.0 * normal_cdf(-z))
        .collect()
}

/// Two-sided boundaries, in standard deviations, that a Brownian motion crosses by each analysis with the chance `spent`.
///
/// Method: the density of the motion within the boundaries so far is carried from analysis to analysis by Simpson's rule, and the next
/// boundary found by bisection. Source: Armitage, McPherson & Rowe 1969; Lan & DeMets 1983. Limits: `information` and `spent` must
/// rise; error below 1e-4. Golden: five equal analyses that spend 4 − 4Φ(2.2414/√t) have 4.877, 3.357, 2.680, 2.290, 2.031.
pub fn boundaries(information: &[f64], spent: &[f64]) -> Vec<f64> {
    let mut found: Vec<f64> = Vec::new();
    let mut inside: Option<Inside> = None;
    let (mut time, mut used) = (0.0, 0.0);
    for (now, all) in information.iter().zip(spent) {
        let (sd, part) = (
            (now - time).max(f64::MIN_POSITIVE).sqrt(),
            (all - used).max(0.0),
        );
        let z = match &inside {
            None => -normal_quantile(part / 2.0),
            Some(inside) => inside.boundary(part, sd, now.sqrt()),
        };
        let z = z.min(FARTHEST);
        let edge = z * now.sqrt();
        inside = Some(match inside {
            None => Inside::new(edge, |y| density(y / sd) / sd),
            Some(before) => Inside::new(edge, |y| before.arrive(y, sd)),
        });
        found.push(z);
        (time, used) = (*now, *all);
    }
    found
}

struct Inside {
    /// Points of the motion, and their densities with the weights of Simpson's rule.
    points: Vec<(f64, f64)>,
}

impl Inside {
    fn new(edge: f64, density: impl Fn(f64) -> f64) -> Self {
        let step = 2.0 * edge / (GRID - 1) as f64;
        let weight = |i: usize| match i {
            0 => 1.0,
            last if last == GRID - 1 => 1.0,
            odd if odd % 2 == 1 => 4.0,
            _ => 2.0,
        };
        let point = |i: usize| {
            let y = -edge + i as f64 * step;
            (y, density(y) * weight(i) * step / 3.0)
        };
        Self {
            points: (0..GRID).map(point).collect(),
        }
    }

    fn arrive(&self, y: f64, sd: f64) -> f64 {
        let all = self
            .points
            .iter()
            .map(|(from, mass)| mass * density((y - from) / sd));
        all.sum::<f64>() / sd
    }

    /// The boundary, in units of `scale`, beyond which the motion lies one step later with the chance `part`.
    fn boundary(&self, part: f64, sd: f64, scale: f64) -> f64 {
        let beyond = |z: f64| {
            let out = self
                .points
                .iter()
                .map(|(from, mass)| mass * normal_cdf((from - z * scale) / sd));
            2.0 * out.sum::<f64>()
        };
        let (mut low, mut high) = (0.0, FARTHEST);
        for _ in 0..36 {
            let middle = f64::midpoint(low, high);
            if beyond(middle) > part {
                low = middle
            } else {
                high = middle
            }
        }
        high
    }
}

fn density(x: f64) -> f64 {
    (-x * x / 2.0).exp() / (2.0 * PI).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::multiple::confidence_of_each;

    fn close(found: &[f64], golden: &[f64], within: f64) {
        assert_eq!(found.len(), golden.len(), "{found:?}");
        let is_close = found
            .iter()
            .zip(golden)
            .all(|(f, g)| (f - g).abs() < within);
        assert!(is_close, "{found:?} {golden:?}");
    }

    /// Published: R's `ldbounds`, five equal analyses, two-sided 5 %.
    #[test]
    fn golden_boundaries() {
        let equal: Vec<f64> = (1..=5).map(|k| f64::from(k) / 5.0).collect();
        let fleming = |t: &f64| 4.0 * normal_cdf(-normal_quantile(0.9875) / t.sqrt());
        let spent: Vec<f64> = equal.iter().map(fleming).collect();
        close(
            &boundaries(&equal, &spent),
            &[4.8769, 3.3569, 2.6803, 2.2898, 2.0310],
            5e-4,
        );
        let pocock = |t: &f64| 0.05 * ((E - 1.0) * t).ln_1p();
        let spent: Vec<f64> = equal.iter().map(pocock).collect();
        close(
            &boundaries(&equal, &spent),
            &[2.4380, 2.4268, 2.4101, 2.3966, 2.3859],
            5e-4,
        );
    }

    #[test]
    fn golden_plans() {
        let pairs = |n: usize, confidence: f64| -> Vec<usize> {
            analyses(n, confidence)
                .iter()
                .map(|analysis| analysis.pairs)
                .collect()
        };
        assert_eq!(pairs(40, 0.95), [8, 12, 18, 27, 40]);
        assert_eq!(pairs(100, 0.95), [9, 13, 20, 30, 45, 67, 100]);
        assert_eq!(pairs(1000, 0.95).len(), LOOKS_MAX);
        // Several metrics together need more pairs for the first interval.
        assert_eq!(pairs(20, confidence_of_each(0.95, 4)), [9, 13, 20]);
        // Too few for an analysis before the last.
        assert_eq!(
            (pairs(6, 0.95), pairs(3, 0.95), pairs(0, 0.95)),
            (vec![6], vec![3], vec![0])
        );
        let of_20 = confidences(&analyses(20, 0.95), 0.95);
        close(&of_20, &[0.977206, 0.984678, 0.983151, 0.979799], 1e-5);
        close(&confidences(&analyses(6, 0.95), 0.95), &[0.95], 1e-12);
    }

    /// Every analysis of every plan has an interval, and no analysis takes what another one needs.
    #[test]
    fn planned_looks_give_intervals() {
        for confidence in [0.95, 0.9875, 0.998] {
            for pairs in 12..60 {
                let planned = analyses(pairs, confidence);
                assert!(
                    planned
                        .windows(2)
                        .all(|two| two[0].pairs < two[1].pairs && two[0].spent < two[1].spent)
                );
                for (analysis, alone) in planned.iter().zip(confidences(&planned, confidence)) {
                    assert!(alone >= confidence - 1e-9, "{pairs} {analysis:?} {alone}");
                    let depth = signed_rank_depth(analysis.pairs, (1.0 - alone) / 2.0);
                    assert!(
                        depth.is_some(),
                        "{pairs} at {confidence}: {analysis:?} at {alone}"
                    );
                }
            }
        }
    }

    #[test]
    fn golden_information() {
        close(
            &[information(6), information(12)],
            &[78.0 / 7.0, 300.0 / 13.0],
            1e-12,
        );
    }
}
