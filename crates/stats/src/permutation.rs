//! Permutation tests of the difference in mean logarithm: what the labels alone would do.

use crate::random::Random;
use crate::warning::Warning;

/// Most values a side (unpaired) or pairs up to which every arrangement is tried.
pub const EXACT_MAX: usize = 10;
/// Arrangements drawn by lot beyond that.
pub const DRAWN: usize = 9_999;
/// Most values a side.
pub const VALUES_MAX: usize = 10_000;

/// A permutation test's outcome.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Permutation {
    /// Two-sided p.
    pub p: f64,
    /// Whether all arrangements were tried, or [`DRAWN`] of them.
    pub exact: bool,
}

/// Permutation test of two independent samples of positive values.
///
/// Formula: the share of all ways to deal the values to two sides of these sizes in which
/// |mean ln b − mean ln a| is at least the observed one; when drawn, (hits + 1)/(drawn + 1). Source:
/// Fisher 1935; Phipson & Smyth 2010 for the + 1. Limits: all arrangements for up to [`EXACT_MAX`] a side
/// (184 756), else [`DRAWN`] by the seed. Golden: two sides of six without overlap have p = 2/924.
pub fn unpaired(a: &[f64], b: &[f64], seed: u64) -> Result<Permutation, Warning> {
    let pooled = logarithms(&[a, b])?;
    let (n, n_b) = (pooled.len(), b.len());
    let mean = pooled.iter().sum::<f64>() / n as f64;
    // Centred, so that the sum of one side alone measures the difference of means.
    let centred: Vec<f64> = pooled.iter().map(|v| v - mean).collect();
    let observed = centred[a.len()..].iter().sum::<f64>().abs();
    let threshold = observed - rounding(&centred);
    if a.len() <= EXACT_MAX && n_b <= EXACT_MAX {
        let (far, all) = every_choice(&centred, n_b, threshold);
        return Ok(Permutation {
            p: far as f64 / all as f64,
            exact: true,
        });
    }
    let (mut random, mut dealt) = (Random::new(seed), centred);
    let far = (0..DRAWN)
        .filter(|_| {
            for i in 0..n_b {
                let other = i + random.index(n - i);
                dealt.swap(i, other);
            }
            dealt[..n_b].iter().sum::<f64>().abs() >= threshold
        })
        .count();
    Ok(Permutation {
        p: (far + 1) as f64 / (DRAWN + 1) as f64,
        exact: false,
    })
}

/// Permutation test of pairs: the sign of every ln(bᵢ/aᵢ) is turned or not.
///
/// Formula and source as [`unpaired`]. Exact whatever the noise, drift and autocorrelation included, when
/// the order in each pair was drawn by lot. Limits: all 2ⁿ for up to [`EXACT_MAX`] pairs, else drawn.
/// Golden: six pairs that all differ in one direction have p = 2/64.
pub fn paired(a: &[f64], b: &[f64], seed: u64) -> Result<Permutation, Warning> {
    if a.len() != b.len() {
        return Err(Warning::UnequalLengths {
            a: a.len(),
            b: b.len(),
        });
    }
    let logs = logarithms(&[a, b])?;
    let (before, after) = logs.split_at(a.len());
    let differences: Vec<f64> = before.iter().zip(after).map(|(a, b)| b - a).collect();
    let threshold = differences.iter().sum::<f64>().abs() - rounding(&differences);
    let signed = |turned: &dyn Fn(usize) -> bool| {
        let signs = differences.iter().enumerate();
        signs
            .map(|(i, d)| if turned(i) { -d } else { *d })
            .sum::<f64>()
            .abs()
    };
    if a.len() <= EXACT_MAX {
        let all = 1_usize << a.len();
        let far = (0..all)
            .filter(|mask| signed(&|i| mask >> i & 1 == 1) >= threshold)
            .count();
        return Ok(Permutation {
            p: far as f64 / all as f64,
            exact: true,
        });
    }
    let mut random = Random::new(seed);
    let far = (0..DRAWN)
        .filter(|_| {
            let turned: Vec<bool> = differences.iter().map(|_| random.index(2) == 1).collect();
            signed(&|i| turned[i]) >= threshold
        })
        .count();
    Ok(Permutation {
        p: (far + 1) as f64 / (DRAWN + 1) as f64,
        exact: false,
    })
}

/// Logarithms of both sides, one after the other; refuses what has none.
fn logarithms(sides: &[&[f64]]) -> Result<Vec<f64>, Warning> {
    for side in sides {
        let (have, limit) = (side.len(), VALUES_MAX);
        if have == 0 {
            return Err(Warning::TooFew { have, need: 1 });
        }
        if have > limit {
            return Err(Warning::TooMany { have, limit });
        }
    }
    let values: Vec<f64> = sides.concat();
    let dropped = values.iter().filter(|v| !v.is_finite()).count();
    if dropped > 0 {
        return Err(Warning::NotFinite { dropped });
    }
    let count = values.iter().filter(|v| **v <= 0.0).count();
    if count > 0 {
        return Err(Warning::NotPositive { count });
    }
    Ok(values.into_iter().map(f64::ln).collect())
}

/// What two sums of the same numbers in another order may differ by.
fn rounding(values: &[f64]) -> f64 {
    1e-12 * values.iter().map(|v| v.abs()).sum::<f64>()
}

/// Over all choices of `size` values: how many have a sum that far from 0, and how many there are.
fn every_choice(values: &[f64], size: usize, threshold: f64) -> (u64, u64) {
    let n = values.len();
    let mut chosen: Vec<usize> = (0..size).collect();
    let (mut far, mut all) = (0, 0);
    loop {
        all += 1;
        far += u64::from(chosen.iter().map(|i| values[*i]).sum::<f64>().abs() >= threshold);
        // The next choice in lexical order: raise the last index that can rise.
        let Some(at) = (0..size).rev().find(|at| chosen[*at] < n - size + at) else {
            return (far, all);
        };
        chosen[at] += 1;
        for later in at + 1..size {
            chosen[later] = chosen[later - 1] + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_p() {
        let low = [1.0, 1.1, 1.2, 1.3, 1.4, 1.5];
        let high = low.map(|v| v * 3.0);
        assert_eq!(
            unpaired(&low, &high, 1).unwrap(),
            Permutation {
                p: 2.0 / 924.0,
                exact: true
            }
        );
        assert_eq!(
            paired(&low, &high, 1).unwrap(),
            Permutation {
                p: 2.0 / 64.0,
                exact: true
            }
        );
        assert_eq!(unpaired(&low, &low, 1).unwrap().p, 1.0);
    }

    #[test]
    fn drawing_agrees_with_trying_all() {
        let mut random = Random::new(5);
        let a: Vec<f64> = (0..10).map(|_| (0.1 * random.normal()).exp()).collect();
        let b: Vec<f64> = (0..10)
            .map(|_| (0.1 * random.normal() + 0.08).exp())
            .collect();
        let exact = unpaired(&a, &b, 1).unwrap();
        // An eleventh value a side at the centre forces the drawing and hardly moves p.
        let (mut more_a, mut more_b) = (a.clone(), b.clone());
        more_a.push(1.0);
        more_b.push(1.08);
        let drawn = unpaired(&more_a, &more_b, 1).unwrap();
        assert!(exact.exact && !drawn.exact && (exact.p - drawn.p).abs() < 0.05);
        assert_eq!(drawn, unpaired(&more_a, &more_b, 1).unwrap());
        let (exact, drawn) = (
            paired(&a, &b, 1).unwrap(),
            paired(&more_a, &more_b, 1).unwrap(),
        );
        assert!(exact.exact && !drawn.exact && (exact.p - drawn.p).abs() < 0.05);
    }

    #[test]
    fn odd_series_are_refused() {
        assert_eq!(
            unpaired(&[1.0, 0.0], &[1.0], 1),
            Err(Warning::NotPositive { count: 1 })
        );
        assert_eq!(
            paired(&[1.0], &[], 1),
            Err(Warning::UnequalLengths { a: 1, b: 0 })
        );
        assert_eq!(
            unpaired(&[f64::NAN], &[1.0], 1),
            Err(Warning::NotFinite { dropped: 1 })
        );
        assert_eq!(
            unpaired(&[], &[1.0], 1),
            Err(Warning::TooFew { have: 0, need: 1 })
        );
    }
}
