//! Contrasts of several configurations that were measured in rounds, each once a round: effects of factors, or pairs
//! of configurations.

use crate::autocorrelation::variance;
use crate::distribution::{student_above, student_quantile};
use crate::forecast::POWER;
use crate::interval::{Interval, share};
use crate::summary::mean;
use crate::warning::{Warning, single_valued};

pub const ROUNDS_MIN: usize = 3;

#[derive(Debug, Clone, PartialEq)]
pub struct Contrast {
    pub ratio: Interval,
    /// Standard deviation of the contrast from round to round, in logarithms.
    pub sd_log: f64,
    pub warnings: Vec<Warning>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Rounds {
    logs: Vec<Vec<f64>>,
    dropped: usize,
    confidence: f64,
    /// Student's quantile for this number of rounds and confidence.
    quantile: f64,
}

impl Rounds {
    /// Rounds of the given number of configurations. Limits: at least [`ROUNDS_MIN`]; a round with a missing value is
    /// left out, a value of 0 or less is refused.
    pub fn of(
        rounds: &[Vec<f64>],
        configurations: usize,
        confidence: f64,
    ) -> Result<Self, Warning> {
        share("confidence", confidence)?;
        if let Some(round) = rounds.iter().find(|round| round.len() != configurations) {
            let (a, b) = (configurations, round.len());
            return Err(Warning::UnequalLengths { a, b });
        }
        let is_whole = |round: &&Vec<f64>| round.iter().all(|value| value.is_finite());
        let whole: Vec<&Vec<f64>> = rounds.iter().filter(is_whole).collect();
        let values = whole.iter().flat_map(|round| round.iter());
        match values.filter(|value| **value <= 0.0).count() {
            0 => {}
            count => return Err(Warning::NotPositive { count }),
        }
        let (have, need) = (whole.len(), ROUNDS_MIN);
        if have < need {
            return Err(Warning::TooFew { have, need });
        }
        let logs = |round: &Vec<f64>| round.iter().map(|value| value.ln()).collect();
        Ok(Self {
            dropped: rounds.len() - have,
            logs: whole.into_iter().map(logs).collect(),
            confidence,
            quantile: student_quantile((1.0 + confidence) / 2.0, have as f64 - 1.0),
        })
    }

    /// A contrast, computed by `of` from the logarithms of a round.
    ///
    /// Formula: over R rounds, mean ± t(R − 1)·s/√R of the contrast of each; exp of that. What a whole round has in common drops
    /// out. Source: Montgomery, Design and Analysis of Experiments, chapters 3.5 (contrasts) and 4 (rounds as blocks). The error is
    /// that of the contrast itself between rounds, not pooled over the configurations, so that these may scatter differently.
    /// Limits: the contrast of a round is nearly normal.
    pub fn contrast(&self, of: impl Fn(&[f64]) -> f64) -> Contrast {
        let contrasts: Vec<f64> = self.logs.iter().map(|round| of(round)).collect();
        let n = contrasts.len() as f64;
        let estimate = mean(&contrasts).unwrap_or(f64::NAN);
        let sd_log = variance(&contrasts).sqrt();
        let half = self.quantile * sd_log / n.sqrt();
        let interval = Interval::new(
            estimate,
            [estimate - half, estimate + half],
            self.confidence,
        );
        let dropped = self.dropped;
        let dropped = (dropped > 0).then_some(Warning::NotFinite { dropped });
        let alike = single_valued(&contrasts).then_some(Warning::SingleValued);
        Contrast {
            ratio: interval.map(f64::exp),
            sd_log,
            warnings: dropped.into_iter().chain(alike).collect(),
        }
    }
}

/// All pairs of configuration numbers, from 0, the lower number first.
pub fn pairs(configurations: usize) -> Vec<[usize; 2]> {
    let with_later = |a| (a + 1..configurations).map(move |b| [a, b]);
    (0..configurations).flat_map(with_later).collect()
}

/// Each configuration against each other one, in the order of [`pairs`]: the ratio of the second to the first.
///
/// Formula: [`Rounds::contrast`] of ln(b) − ln(a). The intervals of m pairs hold together where each has the confidence of
/// [`crate::multiple::confidence_of_each`] (Bonferroni; Dunn 1961). Not Tukey's range, which is narrower and pools the error: it
/// misses where one configuration scatters more than the others. Golden: rounds of 1, 2 and 4 give 2, 4 and 2.
pub fn all_pairs(
    configurations: usize,
    rounds: &[Vec<f64>],
    confidence: f64,
) -> Result<Vec<Contrast>, Warning> {
    let rounds = Rounds::of(rounds, configurations, confidence)?;
    let of = |[a, b]: [usize; 2]| rounds.contrast(|logs| logs[b] - logs[a]);
    Ok(pairs(configurations).into_iter().map(of).collect())
}

/// The least effect, a share, that this many rounds distinguish from the band with a chance of [`POWER`].
///
/// Formula: ln(1 + band) + δ·σ/√R, exp of that − 1, where Student's t with R − 1 degrees of freedom and noncentrality δ exceeds
/// t₁₋α/₂ with that chance. Source: Montgomery, as above, chapter 2.4. Limits: σ is the true standard deviation; take
/// [`crate::forecast::spread_upper`] of one that was estimated. Golden: with a spread of 0.02, 4 rounds, 95 % and no band, 4.35 %.
pub fn least_effect(sd_log: f64, rounds: usize, confidence: f64, band: f64) -> Option<f64> {
    let freedom = rounds.checked_sub(1).filter(|df| *df > 0)? as f64;
    let quantile = student_quantile((1.0 + confidence) / 2.0, freedom);
    if !quantile.is_finite() {
        return None;
    }
    let (mut low, mut high) = (0.0, quantile);
    while student_above(quantile, freedom, high) < POWER && high < SHIFT_MAX {
        high *= 2.0;
    }
    for _ in 0..40 {
        let middle = f64::midpoint(low, high);
        if student_above(quantile, freedom, middle) < POWER {
            low = middle
        } else {
            high = middle
        }
    }
    let least = (band.ln_1p() + high * sd_log / (rounds as f64).sqrt()).exp_m1();
    least.is_finite().then_some(least)
}

const SHIFT_MAX: f64 = 1e9;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::multiple::confidence_of_each;
    use crate::random::Random;

    #[test]
    fn golden_all_pairs() {
        // Each round is half as fast as the one before; what it has in common drops out.
        let round = |level: f64| vec![level, 2.0 * level, 4.0 * level];
        let rounds = [round(8.0), round(4.0), round(2.0)];
        let found = all_pairs(3, &rounds, 0.95).unwrap();
        let ratios: Vec<f64> = found.iter().map(|pair| pair.ratio.estimate).collect();
        for (found, golden) in ratios.iter().zip([2.0, 4.0, 2.0]) {
            assert!((found - golden).abs() < 1e-12, "{ratios:?}");
        }
        assert_eq!(pairs(3), [[0, 1], [0, 2], [1, 2]]);
        assert_eq!(pairs(5).len(), 10);
        // Contrasts of ln 2 and ln 2 ± 0.1: s = 0.1; t(2) at 1 − 0.05/6 is 7.648804.
        let mut rounds = rounds;
        for (round, shift) in rounds.iter_mut().zip([-0.1_f64, 0.0, 0.1]) {
            round[1] *= shift.exp();
        }
        let found = all_pairs(3, &rounds, confidence_of_each(0.95, 3)).unwrap();
        let low = 2.0_f64.ln() - 7.648_804 * 0.1 / 3.0_f64.sqrt();
        assert!((found[0].ratio.low.ln() - low).abs() < 1e-6, "{found:?}");
        assert!((found[0].sd_log - 0.1).abs() < 1e-12);
        assert!(found[1].sd_log < 1e-12);
    }

    #[test]
    fn odd_rounds() {
        let whole = vec![1.0, 2.0];
        let torn = vec![1.0, f64::NAN];
        let rounds = [whole.clone(), torn.clone(), whole.clone(), whole.clone()];
        let found = all_pairs(2, &rounds, 0.95).unwrap();
        assert_eq!(
            found[0].warnings,
            [Warning::NotFinite { dropped: 1 }, Warning::SingleValued]
        );
        let few = all_pairs(2, &rounds[..3], 0.95);
        assert_eq!(few, Err(Warning::TooFew { have: 2, need: 3 }));
        let zero = all_pairs(2, &[vec![1.0, 0.0], whole.clone(), whole.clone()], 0.95);
        assert_eq!(zero, Err(Warning::NotPositive { count: 1 }));
        let short = all_pairs(2, &[whole, vec![1.0]], 0.95);
        assert_eq!(short, Err(Warning::UnequalLengths { a: 2, b: 1 }));
    }

    #[test]
    fn golden_least_effect() {
        // By the noncentral t distribution of SciPy.
        let least = least_effect(0.02, 4, 0.95, 0.0).unwrap();
        assert!((least - 0.043_478).abs() < 1e-6, "{least}");
        let least = least_effect(0.02, 3, 1.0 - 0.05 / 7.0, 0.02).unwrap();
        assert!((least - 0.212_949).abs() < 1e-5, "{least}");
        assert_eq!(least_effect(0.02, 1, 0.95, 0.0), None);
    }

    /// Of 4,000 studies with that effect, four of five find it: two standard errors are 1.3 points.
    #[test]
    fn golden_power_of_the_least_effect() {
        let mut random = Random::new(11);
        for (rounds, contrasts) in [(3, 1), (4, 7), (6, 11)] {
            let confidence = confidence_of_each(0.95, contrasts);
            let (sd_log, band) = (0.02, 0.02);
            let least = least_effect(sd_log, rounds, confidence, band).unwrap();
            let mut finds = || {
                let mut round = || {
                    // The spread of a difference of two is √2 times that of each.
                    let each = sd_log / 2.0_f64.sqrt();
                    let own = (each * random.normal()).exp();
                    vec![own, (1.0 + least) * (each * random.normal()).exp()]
                };
                let rounds: Vec<Vec<f64>> = (0..rounds).map(|_| round()).collect();
                all_pairs(2, &rounds, confidence).unwrap()[0].ratio.low > 1.0 + band
            };
            let found = (0..4_000).filter(|_| finds()).count() as f64 / 40.0;
            assert!((found - 80.0).abs() < 2.5, "{rounds} rounds: {found} %");
        }
    }

    /// Share of studies, in percent, in which the intervals of all pairs cover the truth together. Alternative n is
    /// n·5 % faster than the first one.
    fn together(
        sides: usize,
        rounds: usize,
        studies: usize,
        noise: impl Fn(&mut Random, usize) -> f64,
    ) -> f64 {
        let mut random = Random::new(5);
        let confidence = confidence_of_each(0.95, pairs(sides).len());
        let factor = |side: usize| 1.0 + 0.05 * side as f64;
        let mut study = || {
            let mut round = || {
                let level = 0.2 * random.normal();
                let value = |side| factor(side) * (level + noise(&mut random, side)).exp();
                (0..sides).map(value).collect::<Vec<f64>>()
            };
            let rounds: Vec<Vec<f64>> = (0..rounds).map(|_| round()).collect();
            let found = all_pairs(sides, &rounds, confidence).unwrap();
            let mut all = found.iter().zip(pairs(sides));
            all.all(|(pair, [a, b])| pair.ratio.covers(factor(b) / factor(a)))
        };
        let covered = (0..studies).filter(|_| study()).count();
        100.0 * covered as f64 / studies as f64
    }

    fn normal(random: &mut Random, _: usize) -> f64 {
        0.03 * random.normal()
    }

    /// The last one scatters four times as much as the others.
    fn uneven(random: &mut Random, side: usize) -> f64 {
        random.normal() * if side == 4 { 0.08 } else { 0.02 }
    }

    /// Student's t with three degrees of freedom.
    fn heavy(random: &mut Random, _: usize) -> f64 {
        let squares: f64 = (0..3).map(|_| random.normal().powi(2)).sum();
        0.03 * random.normal() / (squares / 3.0).sqrt()
    }

    /// Two standard errors of 4,000 studies are 0.7 points. docs/EVIDENCE.md has more of them.
    #[test]
    fn golden_coverage_of_all_pairs_together() {
        for rounds in [4, 6] {
            let found = [
                together(5, rounds, 4_000, normal),
                together(5, rounds, 4_000, uneven),
                together(5, rounds, 4_000, heavy),
            ];
            assert!(found.iter().all(|pct| *pct >= 94.3), "{rounds}: {found:?}");
        }
    }
}
