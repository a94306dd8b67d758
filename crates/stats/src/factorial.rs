//! Screening of factors with two levels: the design, its aliases, and the effect of each factor.

use crate::contrast::{Contrast, Rounds};
use crate::summary::mean;
use crate::warning::Warning;

pub const FACTORS_MAX: usize = 15;

/// Columns of the regular designs of eight rows, as products of their base factors A = 1, B = 2, C = 4: four factors have
/// resolution IV, more have III.
const OF_8: [&[usize]; 2] = [&[1, 2, 4, 7], &[1, 2, 4, 3, 5, 6, 7]];
/// Those of sixteen rows, D = 8: five factors have resolution V, up to eight IV, more III.
const OF_16: [&[usize]; 3] = [
    &[1, 2, 4, 8, 15],
    &[1, 2, 4, 8, 7, 14, 13, 11],
    &[1, 2, 4, 8, 7, 14, 13, 11, 15, 3, 5, 9, 6, 10, 12],
];
/// First row of the design of twelve rows; each next one is shifted by one column.
const OF_12: [bool; 11] = [
    true, true, false, true, true, true, false, false, false, true, false,
];

/// A screening design: rows are configurations, columns factors, each low or high.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TwoLevel {
    rows: Vec<Vec<bool>>,
}

/// A main effect and an interaction of two factors that a design confounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Alias {
    pub factor: usize,
    pub with: [usize; 2],
    /// How much of their interaction is in the effect of the factor: 1 or −1 for all of it, ±1/3 in a design of twelve rows.
    pub share: f64,
}

impl TwoLevel {
    /// The smallest design for this number of factors, or the one with `rows` rows; `None` if there is none.
    ///
    /// Formula: all combinations for two and three factors; else regular fractions of 8 and 16 rows, whose further columns are
    /// products of the base factors, and the cyclic design of 12 rows. Signs are chosen so that the first row has every factor
    /// low. Sources: Box, Hunter & Hunter, Statistics for Experimenters, table 6.22 (generators); Plackett & Burman 1946 (12).
    /// Limits: 2 to 15 factors. Golden: four factors in eight rows have D = ABC.
    pub fn of(factors: usize, rows: Option<usize>) -> Option<Self> {
        let sizes = Self::sizes(factors);
        let rows = match rows {
            Some(requested) => *sizes.iter().find(|size| **size == requested)?,
            None => *sizes.first()?,
        };
        let level: Box<dyn Fn(usize, usize) -> bool> = match rows {
            12 => Box::new(cyclic),
            _ => {
                let words = words(factors, rows)?;
                Box::new(move |row, factor| (row & words[factor]).count_ones() % 2 == 1)
            }
        };
        let row = |row| (0..factors).map(|factor| level(row, factor)).collect();
        Some(Self {
            rows: (0..rows).map(row).collect(),
        })
    }

    /// The design that these rows form; `None` if a factor is not high as often as low, or two of them do not vary
    /// independently of each other.
    pub fn measured(rows: Vec<Vec<bool>>) -> Option<Self> {
        let design = Self { rows };
        let k = design.factors();
        let fits = (1..=FACTORS_MAX).contains(&k) && design.rows.iter().all(|row| row.len() == k);
        let is_balanced = |a: usize| {
            let pairs = (0..=a).map(|b| if a == b { 1 << a } else { 1 << a | 1 << b });
            pairs.map(|set| design.product(set)).all(|sum| sum == 0)
        };
        (fits && (0..k).all(is_balanced)).then_some(design)
    }

    /// Possible numbers of rows for this number of factors, fewest first; empty if there is no design.
    pub fn sizes(factors: usize) -> &'static [usize] {
        match factors {
            2 => &[4],
            3 => &[8],
            4 => &[8, 16],
            5..=7 => &[8, 12, 16],
            8..=11 => &[12, 16],
            12..=FACTORS_MAX => &[16],
            _ => &[],
        }
    }

    pub fn rows(&self) -> &[Vec<bool>] {
        &self.rows
    }

    pub fn factors(&self) -> usize {
        self.rows.first().map_or(0, Vec::len)
    }

    /// The resolution; `None` where all combinations are measured, so that nothing is confounded.
    ///
    /// Formula: the fewest columns whose product does not add up to zero over the rows. With III main effects are aliased with
    /// interactions of two factors; with IV those interactions with each other; with V neither.
    /// Golden: 4 factors in 8 rows IV, 7 in 8 III, 5 in 16 V, 11 in 12 III, 3 in 8 none.
    pub fn resolution(&self) -> Option<u32> {
        let sets = 1_usize..1 << self.factors();
        let correlated = sets.filter(|set| self.product(*set) != 0);
        correlated.map(|set| set.count_ones()).min()
    }

    /// Interactions of two factors that are confounded with the effect of a factor.
    ///
    /// Formula: the mean over the rows of the product of the three columns, where it is not 0.
    /// Golden: in 8 rows with D = −AB, A has −BD, B −AD, and D −AB.
    pub fn aliases(&self) -> Vec<Alias> {
        let k = self.factors();
        let pairs = (0..k).flat_map(move |g| (g + 1..k).map(move |h| [g, h]));
        let of = |factor: usize| {
            let pairs = pairs.clone().filter(move |pair| !pair.contains(&factor));
            pairs.filter_map(move |with| {
                let product = self.product(1 << factor | 1 << with[0] | 1 << with[1]);
                (product != 0).then(|| Alias {
                    factor,
                    with,
                    share: f64::from(product) / self.rows.len() as f64,
                })
            })
        };
        (0..k).flat_map(of).collect()
    }

    /// Sum over the rows of the product of a set of columns.
    fn product(&self, set: usize) -> i32 {
        let of_row = |row: &Vec<bool>| {
            let low = (0..row.len()).filter(|at| set >> at & 1 == 1 && !row[*at]);
            if low.count() % 2 == 0 { 1 } else { -1 }
        };
        self.rows.iter().map(of_row).sum()
    }
}

/// The product of base factors in each column; signs aside.
fn words(factors: usize, rows: usize) -> Option<&'static [usize]> {
    const BASE: [usize; 4] = [1, 2, 4, 8];
    if 1 << factors == rows {
        return BASE.get(..factors);
    }
    let tables: &[&'static [usize]] = match rows {
        8 => &OF_8,
        16 => &OF_16,
        _ => return None,
    };
    tables.iter().find(|table| table.len() >= factors).copied()
}

/// The level of a factor in the design of twelve rows, whose first row is low.
fn cyclic(row: usize, factor: usize) -> bool {
    row > 0 && OF_12[(factor + OF_12.len() - (row - 1)) % OF_12.len()]
}

/// The effect of each factor on a figure, from rounds in which each row of the design was measured once: the ratio of high to low.
///
/// Formula: [`Rounds::contrast`] of the mean logarithm of the rows with the factor high minus that of those with it low. Source:
/// Montgomery, Design and Analysis of Experiments, chapter 6, with rounds as blocks. Limits: the effect of a round is a mean over
/// many measurements, so that it is nearly normal. Golden: rounds of 4 rows in which A doubles the figure give 2, B 1.
pub fn effects(
    design: &TwoLevel,
    rounds: &[Vec<f64>],
    confidence: f64,
) -> Result<Vec<Contrast>, Warning> {
    let rounds = Rounds::of(rounds, design.rows.len(), confidence)?;
    let of = |factor: usize| rounds.contrast(|logs| effect(design, logs, factor));
    Ok((0..design.factors()).map(of).collect())
}

fn effect(design: &TwoLevel, logs: &[f64], factor: usize) -> f64 {
    let of = |high: bool| {
        let rows = design.rows.iter().zip(logs);
        let own = rows.filter(|(row, _)| row[factor] == high);
        mean(&own.map(|(_, log)| *log).collect::<Vec<_>>()).unwrap_or(f64::NAN)
    };
    of(true) - of(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn design(factors: usize, rows: usize) -> TwoLevel {
        TwoLevel::of(factors, Some(rows)).unwrap()
    }

    /// Every factor is as often high as low, also where any other is high, and the first row is low.
    #[test]
    fn designs_are_orthogonal() {
        for factors in 2..=FACTORS_MAX {
            assert!(!TwoLevel::sizes(factors).is_empty());
            for rows in TwoLevel::sizes(factors) {
                let design = design(factors, *rows);
                assert_eq!((design.factors(), design.rows().len()), (factors, *rows));
                assert_eq!(design.rows()[0], vec![false; factors]);
                for a in 0..factors {
                    assert_eq!(design.product(1 << a), 0, "{factors} in {rows}");
                    for b in 0..a {
                        assert_eq!(design.product(1 << a | 1 << b), 0, "{factors} in {rows}");
                    }
                }
            }
        }
        for none in [0, 1, 16] {
            assert_eq!(TwoLevel::of(none, None), None);
        }
        assert_eq!(TwoLevel::of(4, Some(12)), None);
        let mut rows = design(3, 8).rows().to_vec();
        assert_eq!(TwoLevel::measured(rows.clone()), TwoLevel::of(3, None));
        rows.pop();
        assert_eq!(TwoLevel::measured(rows), None);
        assert_eq!(
            TwoLevel::measured(vec![vec![false, false], vec![true, true]]),
            None
        );
        assert_eq!(TwoLevel::measured(Vec::new()), None);
    }

    #[test]
    fn golden_designs() {
        let shown = |design: &TwoLevel| -> Vec<String> {
            let sign = |high: &bool| if *high { '+' } else { '-' };
            let rows = design.rows().iter();
            rows.map(|row| row.iter().map(sign).collect()).collect()
        };
        assert_eq!(shown(&design(2, 4)), ["--", "+-", "-+", "++"]);
        // D = ABC.
        assert_eq!(
            shown(&design(4, 8)),
            [
                "----", "+--+", "-+-+", "++--", "--++", "+-+-", "-++-", "++++"
            ]
        );
        let twelve = shown(&design(11, 12));
        assert_eq!(
            (&twelve[1][..], &twelve[2][..]),
            ("++-+++---+-", "-++-+++---+")
        );
    }

    #[test]
    fn golden_resolutions() {
        let of = |factors, rows| design(factors, rows).resolution();
        assert_eq!((of(2, 4), of(3, 8), of(4, 16)), (None, None, None));
        assert_eq!((of(4, 8), of(5, 8), of(7, 8)), (Some(4), Some(3), Some(3)));
        assert_eq!((of(5, 16), of(8, 16)), (Some(5), Some(4)));
        assert_eq!((of(9, 16), of(15, 16)), (Some(3), Some(3)));
        assert_eq!((of(5, 12), of(11, 12)), (Some(3), Some(3)));
    }

    #[test]
    fn golden_aliases() {
        assert_eq!(design(3, 8).aliases(), []);
        assert_eq!(design(4, 8).aliases(), []);
        let alias = |factor, with| Alias {
            factor,
            with,
            share: -1.0,
        };
        // D = −AB, E = −AC.
        assert_eq!(
            design(5, 8).aliases(),
            [
                alias(0, [1, 3]),
                alias(0, [2, 4]),
                alias(1, [0, 3]),
                alias(2, [0, 4]),
                alias(3, [0, 1]),
                alias(4, [0, 2]),
            ]
        );
        // Each main effect has a third of every interaction that it is not in.
        let twelve = design(11, 12).aliases();
        assert_eq!(twelve.len(), 11 * 45);
        assert!(
            twelve
                .iter()
                .all(|alias| (alias.share.abs() - 1.0 / 3.0).abs() < 1e-12)
        );
    }

    #[test]
    fn golden_effects() {
        let design = design(2, 4);
        // A doubles, B does nothing; each round is half as fast as the one before.
        let round = |level: f64| vec![level, 2.0 * level, level, 2.0 * level];
        let rounds = [round(8.0), round(4.0), round(2.0)];
        let found = effects(&design, &rounds, 0.95).unwrap();
        let ratios: Vec<f64> = found.iter().map(|effect| effect.ratio.estimate).collect();
        assert!((ratios[0] - 2.0).abs() < 1e-12 && (ratios[1] - 1.0).abs() < 1e-12);
        // Contrasts of ln 2 and ln 2 ± 0.1: s = 0.1, t(2) = 4.302653.
        let mut rounds = rounds;
        for (round, shift) in rounds.iter_mut().zip([-0.1_f64, 0.0, 0.1]) {
            round[1] *= shift.exp();
            round[3] *= shift.exp();
        }
        let found = effects(&design, &rounds, 0.95).unwrap();
        let half = 4.302_652_729_911_275 * 0.1 / 3.0_f64.sqrt();
        let low = found[0].ratio.low.ln();
        assert!((low - (2.0_f64.ln() - half)).abs() < 1e-9, "{found:?}");
        assert!((found[0].sd_log - 0.1).abs() < 1e-12);
        assert_eq!(found[1].ratio.estimate, 1.0);
    }

    /// Share of 4,000 screenings whose interval covers the truth: noise of one configuration, of rounds, and a heavy tail.
    fn coverage(factors: usize, rounds: usize, noise: impl Fn(&mut Random, &[bool]) -> f64) -> f64 {
        let design = TwoLevel::of(factors, None).unwrap();
        let mut random = Random::new(5);
        let (mut covered, studies) = (0_usize, 4_000);
        for _ in 0..studies {
            let rounds: Vec<Vec<f64>> = (0..rounds)
                .map(|_| {
                    let level = 0.2 * random.normal();
                    let rows = design.rows().iter();
                    // A has an effect of +10 %, the others none.
                    let value = |row: &Vec<bool>| {
                        let effect = if row[0] { 1.1_f64.ln() } else { 0.0 };
                        (level + effect + noise(&mut random, row)).exp()
                    };
                    rows.map(value).collect()
                })
                .collect();
            let found = effects(&design, &rounds, 0.95).unwrap();
            let truth = |at: usize| if at == 0 { 1.1 } else { 1.0 };
            covered += (found.iter().enumerate())
                .filter(|(at, effect)| effect.ratio.covers(truth(*at)))
                .count();
        }
        100.0 * covered as f64 / (studies * factors) as f64
    }

    #[test]
    fn golden_coverage() {
        let normal = |random: &mut Random, _: &[bool]| 0.03 * random.normal();
        let uneven =
            |random: &mut Random, row: &[bool]| random.normal() * if row[0] { 0.08 } else { 0.02 };
        // Student's t with three degrees of freedom.
        let heavy = |random: &mut Random, _: &[bool]| {
            let squares: f64 = (0..3).map(|_| random.normal().powi(2)).sum();
            0.03 * random.normal() / (squares / 3.0).sqrt()
        };
        let of = |factors, rounds| {
            [
                coverage(factors, rounds, normal),
                coverage(factors, rounds, uneven),
                coverage(factors, rounds, heavy),
            ]
        };
        // docs/EVIDENCE.md has more of them; these take seconds.
        for (factors, rounds) in [(2, 3), (3, 4)] {
            let found = of(factors, rounds);
            assert!(
                found.iter().all(|pct| (94.0..98.0).contains(pct)),
                "{found:?}"
            );
        }
    }
}
