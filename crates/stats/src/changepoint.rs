//! Where a series changes its level or its scatter: change points by PELT.

use crate::summary::median;
use crate::warning::Warning;

/// Most values; in the worst case, a series without changes, the cost grows with the square.
pub const VALUES_MAX: usize = 20_000;
/// Fewest values in a segment, so that it has a variance.
pub const SEGMENT_MIN: usize = 3;
/// Scatter below this share of the series' level is taken as this much: differences under one per mille
/// are no change that anybody would act on, and a variance of 0 would have the cost −∞.
const SCATTER_MIN: f64 = 1e-3;

/// A stretch of a series without a change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Segment {
    /// First index.
    pub start: usize,
    /// Index after the last.
    pub end: usize,
    /// Mean of the values.
    pub mean: f64,
    /// Variance of the values, with their number in the denominator.
    pub variance: f64,
}

/// The penalty that Barrett et al. use for steady-state classes: 15·ln n.
pub fn usual_penalty(n: usize) -> f64 {
    15.0 * (n.max(2) as f64).ln()
}

/// Splits a series where its mean or variance changes, at the least total cost.
///
/// Formula: a segment of m values costs m·(ln 2π + ln σ̂² + 1), each change `penalty`;
/// F(t) = min over s of F(s) + C(s..t) + penalty, and s is dropped for good once F(s) + C(s..t) ≥ F(t). The result is
/// the exact minimum. Source: Killick, Fearnhead & Eckley 2012 (PELT). Limits: finite values, [`SEGMENT_MIN`]
/// of them at least a segment, [`VALUES_MAX`] in all; independent normal noise within a segment:
/// autocorrelated noise shows changes that are none, which the large penalty of [`usual_penalty`] makes rare.
/// Golden: thirty values around 10, thirty around 20 split at 30.
pub fn segments(series: &[f64], penalty: f64) -> Result<Vec<Segment>, Warning> {
    let n = series.len();
    let dropped = series.iter().filter(|v| !v.is_finite()).count();
    if dropped > 0 || !penalty.is_finite() {
        return Err(Warning::NotFinite {
            dropped: dropped.max(1),
        });
    }
    if n < SEGMENT_MIN {
        return Err(Warning::TooFew {
            have: n,
            need: SEGMENT_MIN,
        });
    }
    if n > VALUES_MAX {
        return Err(Warning::TooMany {
            have: n,
            limit: VALUES_MAX,
        });
    }
    let sums = Sums::new(series);
    let starts = best_starts(&sums, n, penalty.max(0.0));
    let mut found = Vec::new();
    let mut end = n;
    while end > 0 {
        let start = starts[end];
        let (mean, variance) = sums.moments(start, end);
        found.push(Segment {
            start,
            end,
            mean,
            variance,
        });
        end = start;
    }
    found.reverse();
    Ok(found)
}

/// For every end, the start of the last segment in the best split up to there.
fn best_starts(sums: &Sums, n: usize, penalty: f64) -> Vec<usize> {
    let mut best = vec![f64::INFINITY; n + 1];
    best[0] = -penalty;
    let mut starts = vec![0; n + 1];
    // Each with the end from which it is dropped.
    let mut candidates = vec![(0, usize::MAX)];
    for end in SEGMENT_MIN..=n {
        let costs: Vec<f64> = candidates
            .iter()
            .map(|(start, _)| best[*start] + sums.cost(*start, end))
            .collect();
        for ((start, _), cost) in candidates.iter().zip(&costs) {
            if cost + penalty < best[end] {
                (best[end], starts[end]) = (cost + penalty, *start);
            }
        }
        // A start that a change right here beats will always be beaten by it, but only once the segment
        // behind that change is long enough to be allowed.
        for ((_, dropped_from), cost) in candidates.iter_mut().zip(&costs) {
            if *cost >= best[end] {
                *dropped_from = (*dropped_from).min(end + SEGMENT_MIN);
            }
        }
        candidates.retain(|(_, dropped_from)| end + 1 < *dropped_from);
        let next = end + 1 - SEGMENT_MIN;
        if best[next].is_finite() && next > 0 {
            candidates.push((next, usize::MAX));
        }
    }
    starts
}

/// Running sums, so that the cost of any segment takes constant time.
struct Sums {
    first: Vec<f64>,
    second: Vec<f64>,
    offset: f64,
    variance_min: f64,
}

impl Sums {
    fn new(series: &[f64]) -> Self {
        // Taken from the median, so that squares of a large level do not drown the scatter.
        let offset = median(series).unwrap_or(0.0);
        let level = series.iter().map(|v| v.abs()).sum::<f64>() / series.len() as f64;
        let running = |power: i32| {
            let mut sum = 0.0;
            let sums = series.iter().map(|v| {
                sum += (v - offset).powi(power);
                sum
            });
            std::iter::once(0.0).chain(sums).collect()
        };
        let variance_min = (SCATTER_MIN * level).powi(2).max(f64::MIN_POSITIVE);
        Self {
            first: running(1),
            second: running(2),
            offset,
            variance_min,
        }
    }

    fn moments(&self, start: usize, end: usize) -> (f64, f64) {
        let n = (end - start) as f64;
        let mean = (self.first[end] - self.first[start]) / n;
        let variance = (self.second[end] - self.second[start]) / n - mean * mean;
        (self.offset + mean, variance.max(0.0))
    }

    fn cost(&self, start: usize, end: usize) -> f64 {
        let scatter = self.moments(start, end).1;
        // The likeliest variance that is not below the least. Its cost ends in 1 where it is free; the
        // general form keeps splitting from ever raising the cost, on which the pruning rests.
        let variance = scatter.max(self.variance_min);
        let fit = (2.0 * std::f64::consts::PI).ln() + variance.ln() + scatter / variance;
        (end - start) as f64 * fit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn noisy(levels: &[(usize, f64, f64)], seed: u64) -> Vec<f64> {
        let mut random = Random::new(seed);
        let mut series = Vec::new();
        for (n, mean, sd) in levels {
            series.extend((0..*n).map(|_| mean + sd * random.normal()));
        }
        series
    }

    fn ends(series: &[f64]) -> Vec<usize> {
        let found = segments(series, usual_penalty(series.len())).unwrap();
        found.iter().map(|s| s.end).collect()
    }

    #[test]
    fn golden_splits() {
        assert_eq!(
            ends(&noisy(&[(30, 10.0, 0.5), (30, 20.0, 0.5)], 1)),
            [30, 60]
        );
        let scatter = ends(&noisy(&[(100, 10.0, 0.1), (100, 10.0, 2.0)], 2));
        assert!(
            scatter.len() == 2 && scatter[0].abs_diff(100) <= 2,
            "{scatter:?}"
        );
        assert_eq!(ends(&noisy(&[(200, 10.0, 1.0)], 3)), [200]);
        assert_eq!(ends(&[5.0; 50]), [50]);
        assert_eq!(ends(&[0.0; 50]), [50]);
    }

    /// The same minimum without pruning.
    fn exhaustive(series: &[f64], penalty: f64) -> f64 {
        let sums = Sums::new(series);
        let mut best = vec![f64::INFINITY; series.len() + 1];
        best[0] = -penalty;
        for end in SEGMENT_MIN..=series.len() {
            for start in 0..=end - SEGMENT_MIN {
                best[end] = best[end].min(best[start] + sums.cost(start, end) + penalty);
            }
        }
        best[series.len()]
    }

    #[test]
    fn pruning_loses_nothing() {
        for seed in 0..200 {
            let series = noisy(
                &[
                    (13, 10.0, 1.0),
                    (4, 13.0, 0.3),
                    (20, 9.0, 2.0),
                    (7, 9.5, 0.2),
                ],
                seed,
            );
            let penalty = [0.5, 3.0, 8.0, 20.0][seed as usize % 4];
            let found = segments(&series, penalty).unwrap();
            let sums = Sums::new(&series);
            let cost: f64 = found
                .iter()
                .map(|s| sums.cost(s.start, s.end) + penalty)
                .sum();
            let golden = exhaustive(&series, penalty);
            assert!(
                (cost - penalty - golden).abs() < 1e-6,
                "seed {seed}: {cost} {golden}"
            );
        }
    }

    #[test]
    fn odd_series_are_refused() {
        assert_eq!(
            segments(&[1.0, f64::NAN, 1.0], 5.0),
            Err(Warning::NotFinite { dropped: 1 })
        );
        assert_eq!(
            segments(&[], 5.0),
            Err(Warning::TooFew { have: 0, need: 3 })
        );
        assert!(segments(&vec![1.0; VALUES_MAX + 1], 5.0).is_err());
        assert!(segments(&[1.0; 9], f64::NAN).is_err());
    }
}
