//! Variance components of a study's pairs: scatter within their blocks, and scatter from pair to pair.

use crate::autocorrelation::variance;
use crate::distribution::fisher_quantile;
use crate::interval::{Interval, share};
use crate::summary::mean;
use crate::warning::Warning;

/// Number of batches of a long series, and of a short one that has as many values.
const BATCHES: std::ops::RangeInclusive<usize> = 4..=8;
/// Fewest values of a batch, if there are enough; scatter that lasts longer counts as between.
const BATCH_VALUES: usize = 6;
pub const VALUES_MIN: usize = 2;
pub const PAIRS_MIN: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair<'a> {
    /// ln(b/a) of the figures of both blocks.
    pub log_ratio: f64,
    pub a: &'a [f64],
    pub b: &'a [f64],
}

/// The scatter of ln(b/a) over the pairs, as standard deviations; their squares add up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Components {
    pub total: f64,
    /// Part that comes from within the blocks; longer blocks reduce it.
    pub within: f64,
    /// Part that differs from pair to pair, however long the blocks are.
    pub between: f64,
    pub within_share: Interval,
}

impl Components {
    /// Scatter of pairs whose blocks are `times` as long.
    ///
    /// Golden: of 3 within and 4 between, 5 in all, blocks nine times as long leave √17.
    pub fn with_blocks_longer(&self, times: f64) -> f64 {
        (self.within / times.sqrt()).hypot(self.between)
    }
}

/// Variance components of a study's pairs. `in_turn`: the intervals of both blocks of a pair belong together, because they
/// were measured in slices in turn; else each block scatters by itself.
///
/// Formula: each series is cut into G equal batches (one for six values of the shortest series, but 4 to 8 if it has as many
/// values; what is left over is left out), whose means by the mean of all are r. In turn, u = r(b) − r(a) is what a batch adds
/// to ln(b/a) (to first order); else there are two such tables, r(a) and r(b). Of a table with a row for each of n pairs, the
/// residual mean square of a two-way layout is MS = Σ(u_ig − ū_i − ū_g + ū)² / (n − 1)(G − 1); taking the batch's mean away
/// keeps a course that is the same in all blocks, such as a slow start, from counting as scatter. Within: V = ΣMS · ℓ/m, ℓ of
/// the m values in a batch, which is ΣMS / G if none is left over; between: s² − V, s² the variance of the pairs' logarithms; a
/// negative one is 0, and within is then all of s². The share V/s² has the interval (V/s²)/F, F the quantiles of the F
/// distribution with the degrees of V (Satterthwaite's of two tables) and n − 1. Source: the ANOVA estimator of a nested model,
/// Searle, Casella & McCulloch 1992, 3.5 and 4.4; batch means, Fishman 1978.
/// Limits: [`PAIRS_MIN`] pairs, [`VALUES_MIN`] values of each series; noise is taken to be normal for the interval,
/// and scatter that lasts longer than a batch counts as between. Rates must not be negative, and not all 0.
/// Golden: see the test.
pub fn components(
    pairs: &[Pair<'_>],
    in_turn: bool,
    confidence: f64,
) -> Result<Components, Warning> {
    share("confidence", confidence)?;
    let need = PAIRS_MIN;
    if pairs.len() < need {
        let have = pairs.len();
        return Err(Warning::TooFew { have, need });
    }
    let shortest = pairs.iter().map(|pair| pair.a.len().min(pair.b.len()));
    let shortest = shortest.min().unwrap_or(0);
    if shortest < VALUES_MIN {
        let (have, need) = (shortest, VALUES_MIN);
        return Err(Warning::TooFew { have, need });
    }
    let batches = (shortest / BATCH_VALUES).clamp(*BATCHES.start(), *BATCHES.end());
    let batches = batches.min(shortest);
    let of_side = |side: fn(&Pair<'_>) -> Vec<f64>| -> Result<Vec<Vec<f64>>, Warning> {
        let rows = pairs.iter().map(|pair| relative(&side(pair), batches));
        rows.collect()
    };
    let (a, b) = (
        of_side(|pair| pair.a.to_vec())?,
        of_side(|pair| pair.b.to_vec())?,
    );
    let tables = if in_turn {
        vec![a.iter().zip(&b).map(|(a, b)| minus(b, a)).collect()]
    } else {
        vec![a, b]
    };
    let squares: Vec<f64> = tables.iter().map(|table| residual(table)).collect();
    let logs: Vec<f64> = pairs.iter().map(|pair| pair.log_ratio).collect();
    let degrees = ((pairs.len() - 1) * (batches - 1)) as f64;
    let sum: f64 = squares.iter().sum();
    let of_squares: f64 = squares.iter().map(|ms| ms * ms).sum();
    if of_squares <= 0.0 || variance(&logs) <= 0.0 {
        return Err(Warning::SingleValued);
    }
    let degrees = (degrees * sum * sum / of_squares, logs.len() as f64 - 1.0);
    // Values that fill no batch still make the figure's mean surer.
    let of_block = |series: &[f64]| (series.len() / batches) as f64 / series.len() as f64;
    let of_blocks = pairs.iter().flat_map(|pair| [pair.a, pair.b]).map(of_block);
    let of_block = of_blocks.sum::<f64>() / (2 * pairs.len()) as f64;
    parted(variance(&logs), sum * of_block, (degrees, confidence))
}

fn parted(
    total: f64,
    within: f64,
    ((of_within, of_total), confidence): ((f64, f64), f64),
) -> Result<Components, Warning> {
    let estimate = within / total;
    if !estimate.is_finite() {
        return Err(Warning::NotFinite { dropped: 1 });
    }
    let tail = (1.0 - confidence) / 2.0;
    let end = |p: f64| (estimate / fisher_quantile(p, of_within, of_total)).clamp(0.0, 1.0);
    let within = within.min(total);
    Ok(Components {
        total: total.sqrt(),
        within: within.sqrt(),
        between: (total - within).sqrt(),
        within_share: Interval::new(estimate.min(1.0), [end(1.0 - tail), end(tail)], confidence),
    })
}

/// Means of batches by the mean of all of them.
fn relative(series: &[f64], batches: usize) -> Result<Vec<f64>, Warning> {
    let dropped = series.iter().filter(|v| !v.is_finite()).count();
    if dropped > 0 {
        return Err(Warning::NotFinite { dropped });
    }
    let whole = series.chunks_exact(series.len() / batches).take(batches);
    let means: Vec<f64> = whole.filter_map(mean).collect();
    match mean(&means).filter(|mean| *mean > 0.0) {
        Some(all) => Ok(means.iter().map(|mean| mean / all).collect()),
        None => Err(Warning::NotPositive { count: 1 }),
    }
}

fn minus(b: &[f64], a: &[f64]) -> Vec<f64> {
    b.iter().zip(a).map(|(b, a)| b - a).collect()
}

/// Residual mean square of a two-way layout, rows by columns.
fn residual(table: &[Vec<f64>]) -> f64 {
    let (rows, columns) = (table.len(), table[0].len());
    let of_rows: Vec<f64> = table.iter().filter_map(|row| mean(row)).collect();
    let of_columns: Vec<f64> = (0..columns)
        .map(|column| table.iter().map(|row| row[column]).sum::<f64>() / rows as f64)
        .collect();
    let all = mean(&of_columns).unwrap_or_default();
    let squares = table.iter().zip(&of_rows).flat_map(|(row, of_row)| {
        let residual = move |(value, of_column): (&f64, &f64)| value - of_row - of_column + all;
        row.iter()
            .zip(&of_columns)
            .map(move |both| residual(both).powi(2))
    });
    squares.sum::<f64>() / ((rows - 1) * (columns - 1)) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Three pairs of two intervals a side, by hand. r(a) is 1 ∓ 0.1, 1, 1 ± 0.1 and r(b) is 1: u = ±0.1, 0, ∓0.1 with batch means
    /// 0, so that MS = 4 · 0.01 / 2 and V = 0.01. The logarithms 0, 0.2, 0.4 have the variance 0.04.
    #[test]
    fn golden_components() {
        let (a, b) = ([[90.0, 110.0], [100.0; 2], [11.0, 9.0]], [[5.0; 2]; 3]);
        let found = components(&by_hand(&b, &a), true, 0.95).unwrap();
        let close = |found: f64, golden: f64| assert!((found - golden).abs() < 1e-12, "{found}");
        close(found.total, 0.2);
        close(found.within, 0.1);
        close(found.between, 0.03_f64.sqrt());
        close(found.within_share.estimate, 0.25);
        // F with 2 and 2 degrees has the quantile p/(1 − p): 39 and 1/39.
        assert!((found.within_share.low - 0.25 / 39.0).abs() < 1e-9);
        assert_eq!(found.within_share.high, 1.0);
        // Two tables of which one does not scatter give the same result, also with the sides swapped.
        let apart = components(&by_hand(&b, &a), false, 0.95).unwrap();
        close(apart.within, 0.1);
        close(
            components(&by_hand(&a, &b), false, 0.95).unwrap().within,
            0.1,
        );
        let golden = Components {
            within: 3.0,
            between: 4.0,
            ..found
        };
        close(golden.with_blocks_longer(9.0), 17.0_f64.sqrt());
    }

    fn by_hand<'t>(a: &'t [[f64; 2]; 3], b: &'t [[f64; 2]; 3]) -> Vec<Pair<'t>> {
        let logs = [0.0, 0.2, 0.4].into_iter();
        let both = logs.zip(a.iter().zip(b));
        both.map(|(log_ratio, (a, b))| Pair { log_ratio, a, b })
            .collect()
    }

    fn study(
        pairs: usize,
        values: usize,
        of_value: f64,
        of_pair: f64,
        random: &mut Random,
    ) -> Vec<(f64, [Vec<f64>; 2])> {
        (0..pairs)
            .map(|_| {
                let level = (of_pair * random.normal()).exp();
                let mut side = |level: f64| -> Vec<f64> {
                    // A slow start, the same in all blocks.
                    let course = |at: usize| 1.0 - 0.5 * (-(at as f64) / 2.0).exp();
                    let rate = |at: usize| 500.0 * level * course(at);
                    (0..values)
                        .map(|at| rate(at) * (of_value * random.normal()).exp())
                        .collect()
                };
                let sides = [side(1.0), side(level)];
                let [a, b] = [0, 1].map(|at| mean(&sides[at]).unwrap());
                ((b / a).ln(), sides)
            })
            .collect()
    }

    fn pairs(study: &[(f64, [Vec<f64>; 2])]) -> Vec<Pair<'_>> {
        study
            .iter()
            .map(|(log_ratio, [a, b])| Pair {
                log_ratio: *log_ratio,
                a,
                b,
            })
            .collect()
    }

    /// Known components are recovered on average, in turn and apart, and the interval of the share holds in 95 %.
    #[test]
    fn known_components_are_recovered() {
        const TRIALS: u32 = 400;
        // Noise of a value, and of a pair; the share of within is 2·0.1²/40 of all: 0.0005.
        for (of_pair, in_turn) in [(0.0, true), (0.01, true), (0.03, true), (0.03, false)] {
            let mut random = Random::new(7);
            let (mut within, mut total, mut held) = (0.0, 0.0, 0);
            let truth = 0.0005 / (0.0005 + of_pair * of_pair);
            for _ in 0..TRIALS {
                let study = study(10, 40, 0.1, of_pair, &mut random);
                let found = components(&pairs(&study), in_turn, 0.95).unwrap();
                // The components before the cut-off at the total.
                within += found.within_share.estimate * found.total.powi(2);
                total += found.total.powi(2);
                held += u32::from(found.within_share.covers(truth));
                let sum = found.within.powi(2) + found.between.powi(2);
                assert!((sum / found.total.powi(2) - 1.0).abs() < 1e-9);
            }
            let (within, total) = (within / f64::from(TRIALS), total / f64::from(TRIALS));
            // Cut off at the total in half of the studies without a component of pairs, and in some of those with a small one.
            let least = if of_pair < 0.03 { 0.75 } else { 0.92 };
            assert!(
                (least..1.08).contains(&(within / 0.0005)),
                "{of_pair}: {within}"
            );
            let expected = 0.0005 + of_pair * of_pair;
            assert!(
                (0.9..1.1).contains(&(total / expected)),
                "{of_pair}: {total}"
            );
            // 95 % of 400 are 380, ± 13 at three standard errors.
            assert!((367..=400).contains(&held), "{of_pair}: {held}");
        }
    }

    #[test]
    fn what_cannot_be_parted_says_why() {
        let of = |values: usize, log_ratio: f64| {
            let series = vec![1.0; values];
            let pair = |at: usize| (log_ratio * at as f64, [series.clone(), series.clone()]);
            let study: Vec<_> = (0..4).map(pair).collect();
            components(&pairs(&study), true, 0.95)
        };
        let (have, need) = (1, VALUES_MIN);
        assert_eq!(of(1, 0.1), Err(Warning::TooFew { have, need }));
        assert_eq!(of(9, 0.1), Err(Warning::SingleValued));
        let mut study = study(4, 6, 0.1, 0.1, &mut Random::new(1));
        assert!(components(&pairs(&study)[..2], true, 0.95).is_err());
        study[0].1[0][3] = f64::NAN;
        assert!(components(&pairs(&study), true, 0.95).is_err());
        study[0].1[0] = vec![0.0; 6];
        let silent = components(&pairs(&study), true, 0.95);
        assert_eq!(silent, Err(Warning::NotPositive { count: 1 }));
    }
}
