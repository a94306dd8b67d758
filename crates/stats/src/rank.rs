//! Tests and measures on ranks: Mann–Whitney, Wilcoxon's signed ranks, Kendall's trend, Cliff's delta.
//!
//! Ranks need no assumption on the distribution of the noise, and one disturbed repetition cannot move them far. The
//! intervals of [`crate::ratio`] are based on the exact null distributions here.

use crate::distribution::normal_cdf;
use crate::warning::Warning;

/// Most values, both sides together, up to which p is exact; beyond it is the normal approximation.
pub const EXACT_MAX: usize = 60;
pub const VALUES_MAX: usize = 10_000;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankTest {
    /// The statistic: U of the second side, or the sum of positive signed ranks. Ties count half.
    pub statistic: f64,
    /// Two-sided p: the chance of a statistic at least as far from its expectation if nothing differs.
    pub p: f64,
    /// True if p is exact, ties included; false for the normal approximation.
    pub exact: bool,
}

/// Mann–Whitney U test of two independent samples.
///
/// Formula: U = #{b > a} + #{b = a}/2. Exact p is the share of all ways to deal the pooled midranks to two
/// sides of these sizes whose rank sum is at least as far from its expectation; beyond [`EXACT_MAX`]
/// values the normal approximation with corrections for ties and continuity. Source: Mann & Whitney 1947;
/// Conover 1999, 5.1. Limits: finite values, one at least a side; p says nothing about size — see the ratio.
/// Golden: two sides of six without overlap have p = 2/924 = 0.0022, of five 0.0079, of four 0.0286.
pub fn mann_whitney(a: &[f64], b: &[f64]) -> Result<RankTest, Warning> {
    check(&[a, b])?;
    let pooled: Vec<f64> = a.iter().chain(b).copied().collect();
    let doubled = doubled_midranks(&pooled);
    let (n_a, n_b, n) = (a.len(), b.len(), pooled.len());
    let sum_b: usize = doubled[n_a..].iter().sum();
    let statistic = (sum_b - n_b * (n_b + 1)) as f64 / 2.0;
    let exact = n <= EXACT_MAX;
    let p = if exact {
        far_share(&subset_sums(&doubled, n_b), sum_b, n_b * (n + 1))
    } else {
        let (n, product) = (n as f64, (n_a * n_b) as f64);
        let variance = product / 12.0 * (n + 1.0 - ties(&doubled) / (n * (n - 1.0)));
        normal_p(statistic - product / 2.0, variance)
    };
    Ok(RankTest {
        statistic,
        p,
        exact,
    })
}

/// Wilcoxon's signed-rank test that differences are symmetric around zero.
///
/// Formula: the sum of the midranks of |d| over d > 0, zeros left out. Exact p over all 2ⁿ signs, ties
/// included; beyond [`EXACT_MAX`] differences the normal approximation. Source: Wilcoxon 1945; Conover
/// 1999, 5.7. Limits: the differences must be symmetric if nothing differs, which they are when the order
/// in each pair is drawn by lot. With five pairs p cannot fall below 0.0625.
/// Golden: six differences of one sign have p = 2/64 = 0.031 25.
pub fn signed_rank(differences: &[f64]) -> Result<RankTest, Warning> {
    check(&[differences])?;
    let nonzero: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0).collect();
    let sizes: Vec<f64> = nonzero.iter().map(|d| d.abs()).collect();
    let doubled = doubled_midranks(&sizes);
    let positive = nonzero.iter().zip(&doubled).filter(|(d, _)| **d > 0.0);
    let sum: usize = positive.map(|(_, rank)| rank).sum();
    let statistic = sum as f64 / 2.0;
    let n = nonzero.len();
    let exact = n <= EXACT_MAX;
    let p = if exact {
        far_share(&sign_sums(&doubled), sum, n * (n + 1) / 2)
    } else {
        let n = n as f64;
        let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - ties(&doubled) / 48.0;
        normal_p(statistic - n * (n + 1.0) / 4.0, variance)
    };
    Ok(RankTest {
        statistic,
        p,
        exact,
    })
}

/// Kendall's test that values do not rise or fall in their order.
///
/// Formula: S = #{i < j: vⱼ > vᵢ} − #{i < j: vⱼ < vᵢ}. Exact p is the share of all orders with |S| at least as large; beyond
/// [`EXACT_MAX`] values the normal approximation with the variance n(n − 1)(2n + 5)/18. Source: Kendall 1938; Mann 1945. Limits:
/// ties count as neither, and p is then a little too large; the values must be independent if there is no trend.
/// Golden: eight that rise have p = 2/8! = 0.000 05; 1, 3, 2 has S = 1 and p = 1.
pub fn trend(values: &[f64]) -> Result<RankTest, Warning> {
    check(&[values])?;
    let n = values.len();
    let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
    let s: i64 = pairs
        .map(|(i, j)| i64::from(values[j] > values[i]) - i64::from(values[j] < values[i]))
        .sum();
    let (statistic, exact) = (s as f64, n <= EXACT_MAX);
    let p = if exact {
        // Of N pairs, (N − |S|)/2 are the other way round, or fewer.
        let others = ((n * (n - 1) / 2) as u64 - s.unsigned_abs()) / 2;
        let below: f64 = inversion_chances(n).iter().take(others as usize + 1).sum();
        (2.0 * below).min(1.0)
    } else {
        let n = n as f64;
        normal_p(statistic, n * (n - 1.0) * (2.0 * n + 5.0) / 18.0)
    };
    Ok(RankTest {
        statistic,
        p,
        exact,
    })
}

/// Chance of each number of inversions in an order of `n` drawn by lot.
fn inversion_chances(n: usize) -> Vec<f64> {
    let mut chances = vec![1.0];
    for more in 2..=n {
        let mut next = vec![0.0; chances.len() + more - 1];
        for (inversions, chance) in chances.iter().enumerate() {
            for cell in &mut next[inversions..inversions + more] {
                *cell += chance / more as f64;
            }
        }
        chances = next;
    }
    chances
}

/// Cliff's delta: (#{b > a} − #{b < a}) / (n_a·n_b), from −1 (every b below every a) to 1.
///
/// Source: Cliff 1993. Limits: a measure of overlap, not of size; with little noise a tiny effect has
/// delta 1. Golden: 1, 2, 3 against 2, 3, 4 is 5/9.
pub fn cliffs_delta(a: &[f64], b: &[f64]) -> Result<f64, Warning> {
    let u = mann_whitney_u(a, b)?;
    Ok(2.0 * u / (a.len() * b.len()) as f64 - 1.0)
}

fn mann_whitney_u(a: &[f64], b: &[f64]) -> Result<f64, Warning> {
    check(&[a, b])?;
    let pooled: Vec<f64> = a.iter().chain(b).copied().collect();
    let sum_b: usize = doubled_midranks(&pooled)[a.len()..].iter().sum();
    Ok((sum_b - b.len() * (b.len() + 1)) as f64 / 2.0)
}

/// P(W = w) of the sum of positive signed ranks of n differences without ties, w = 0, 1 …
pub(crate) fn signed_rank_chances(n: usize) -> Vec<f64> {
    sign_sums(&(1..=n).collect::<Vec<_>>())
}

/// P(U = u) of Mann–Whitney's statistic without ties, u = 0, 1 … n_a·n_b.
///
/// The largest of i + j values is one of the i of b with probability i/(i + j), and then it lies above all
/// j of a: P(i, j, u) = i/(i + j)·P(i − 1, j, u − j) + j/(i + j)·P(i, j − 1, u).
pub(crate) fn mann_whitney_chances(n_a: usize, n_b: usize) -> Vec<f64> {
    let mut row = vec![vec![1.0]; n_a + 1];
    for i in 1..=n_b {
        row[0] = vec![1.0];
        for j in 1..=n_a {
            let (above, below) = (i as f64 / (i + j) as f64, j as f64 / (i + j) as f64);
            let mut chances = vec![0.0; i * j + 1];
            for (chance, before) in chances[j..].iter_mut().zip(&row[j]) {
                *chance = above * before;
            }
            for (chance, before) in chances.iter_mut().zip(&row[j - 1]) {
                *chance += below * before;
            }
            row[j] = chances;
        }
    }
    row.swap_remove(n_a)
}

fn check(sides: &[&[f64]]) -> Result<(), Warning> {
    for side in sides {
        let (have, limit) = (side.len(), VALUES_MAX);
        let dropped = side.iter().filter(|v| !v.is_finite()).count();
        if dropped > 0 {
            return Err(Warning::NotFinite { dropped });
        }
        if have == 0 {
            return Err(Warning::TooFew { have, need: 1 });
        }
        if have > limit {
            return Err(Warning::TooMany { have, limit });
        }
    }
    Ok(())
}

/// Twice the rank of every value, ties sharing the mean of theirs: whole numbers, so that sums are exact.
fn doubled_midranks(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|i, j| values[*i].total_cmp(&values[*j]));
    let mut doubled = vec![0; values.len()];
    let mut start = 0;
    for group in order.chunk_by(|i, j| values[*i] == values[*j]) {
        for i in group {
            doubled[*i] = 2 * start + group.len() + 1;
        }
        start += group.len();
    }
    doubled
}

/// Σ(t³ − t) over groups of t tied ranks.
fn ties(doubled: &[usize]) -> f64 {
    let mut sorted = doubled.to_vec();
    sorted.sort_unstable();
    let cube = |t: f64| t * t * t - t;
    sorted
        .chunk_by(|i, j| i == j)
        .map(|group| cube(group.len() as f64))
        .sum()
}

/// Chance of every sum of `size` of these numbers, all choices alike.
fn subset_sums(numbers: &[usize], size: usize) -> Vec<f64> {
    let width = numbers.iter().sum::<usize>() + 1;
    // ways[k][s]: choices of k numbers with sum s among those so far.
    let mut ways = vec![vec![0.0; width]; size + 1];
    ways[0][0] = 1.0;
    let mut reached = 0;
    for (earlier, number) in numbers.iter().enumerate() {
        reached += number;
        for k in (1..=size.min(earlier + 1)).rev() {
            let (fewer, more) = ways.split_at_mut(k);
            for sum in *number..=reached {
                more[0][sum] += fewer[k - 1][sum - number];
            }
        }
    }
    let all: f64 = ways[size].iter().sum();
    let chosen = ways.swap_remove(size).into_iter();
    chosen.map(|ways| ways / all).collect()
}

/// Chance of every sum when each number is taken or left by the toss of a coin.
fn sign_sums(numbers: &[usize]) -> Vec<f64> {
    let mut chances = vec![0.0; numbers.iter().sum::<usize>() + 1];
    chances[0] = 1.0;
    let mut reached = 0;
    for number in numbers {
        reached += number;
        for sum in (0..=reached).rev() {
            let before = sum.checked_sub(*number).map(|before| chances[before]);
            chances[sum] = f64::midpoint(chances[sum], before.unwrap_or(0.0));
        }
    }
    chances
}

/// Chance of a sum at least as far from the centre as the observed one.
fn far_share(chances: &[f64], observed: usize, centre: usize) -> f64 {
    let distance = observed.abs_diff(centre);
    let sums = chances.iter().enumerate();
    let far = sums.filter(|(sum, _)| sum.abs_diff(centre) >= distance);
    far.map(|(_, chance)| chance).sum::<f64>().min(1.0)
}

fn normal_p(away: f64, variance: f64) -> f64 {
    if variance <= 0.0 {
        return 1.0;
    }
    // Half a step towards the centre, because the statistic is discrete.
    let z = (away.abs() - 0.5).max(0.0) / variance.sqrt();
    (2.0 * normal_cdf(-z)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counting(from: i32, n: i32) -> Vec<f64> {
        (from..from + n).map(f64::from).collect()
    }

    fn close(found: f64, golden: f64) {
        assert!((found - golden).abs() < 1e-12, "{found} {golden}");
    }

    #[test]
    fn golden_trend() {
        let rising = trend(&counting(1, 8)).unwrap();
        assert_eq!((rising.statistic, rising.exact), (28.0, true));
        close(rising.p, 2.0 / 40_320.0);
        close(trend(&[1.0, 3.0, 2.0]).unwrap().p, 1.0);
        // Of the six orders of three, one falls and one rises.
        close(trend(&[3.0, 2.0, 1.0]).unwrap().p, 1.0 / 3.0);
        assert_eq!(trend(&[7.0; 9]).unwrap().p, 1.0);
        let many = trend(&counting(1, 61)).unwrap();
        assert!(!many.exact && many.p < 1e-10);
        close(inversion_chances(30).iter().sum(), 1.0);
        assert!(trend(&[]).is_err() && trend(&[f64::NAN]).is_err());
    }

    #[test]
    fn golden_mann_whitney() {
        for (n, golden) in [(4, 2.0 / 70.0), (5, 2.0 / 252.0), (6, 2.0 / 924.0)] {
            let test = mann_whitney(&counting(0, n), &counting(100, n)).unwrap();
            close(test.p, golden);
            assert_eq!((test.statistic, test.exact), (f64::from(n * n), true));
        }
        // The critical value of the tables: for six and six, U = 5 is the last with p ≤ 0.05.
        let lower: f64 = mann_whitney_chances(6, 6)[..=5].iter().sum();
        assert!(2.0 * lower <= 0.05 && 2.0 * lower > 0.041);
        // Ties, by hand: of the 6 ways to choose two of 1, 2, 2, 3 only {1, 2} twice and {2, 3} twice
        // are as far off as the observed {2, 3}.
        close(mann_whitney(&[1.0, 2.0], &[2.0, 3.0]).unwrap().p, 4.0 / 6.0);
        assert_eq!(mann_whitney(&[1.0; 9], &[1.0; 9]).unwrap().p, 1.0);
    }

    #[test]
    fn golden_signed_rank() {
        close(signed_rank(&counting(1, 6)).unwrap().p, 2.0 / 64.0);
        close(signed_rank(&counting(1, 5)).unwrap().p, 2.0 / 32.0);
        // The critical value of the tables: for ten differences, W = 8 is the last with p ≤ 0.05.
        let chances = signed_rank_chances(10);
        let at = |w: usize| 2.0 * chances[..=w].iter().sum::<f64>();
        assert!(at(8) <= 0.05 && at(9) > 0.05, "{} {}", at(8), at(9));
        assert_eq!(signed_rank(&[0.0; 7]).unwrap().p, 1.0);
    }

    #[test]
    fn golden_delta() {
        let delta = |from, n| cliffs_delta(&counting(1, 3), &counting(from, n)).unwrap();
        close(delta(2, 3), 5.0 / 9.0);
        close(delta(9, 4), 1.0);
        let empty = cliffs_delta(&[], &[1.0]);
        assert_eq!(empty, Err(Warning::too_few(0, 1)));
    }

    #[test]
    fn the_approximation_continues_the_exact_p() {
        let shifted = |n: i32| mann_whitney(&counting(0, n), &counting(n / 4, n)).unwrap();
        let (exact, normal) = (shifted(30), shifted(31));
        assert!(exact.exact && !normal.exact && (exact.p - normal.p).abs() < 0.03);
        let tilted = |n: i32| signed_rank(&counting(-n / 3, n)).unwrap();
        let (exact, normal) = (tilted(61), tilted(62));
        assert!(exact.exact && !normal.exact && (exact.p - normal.p).abs() < 0.01);
        assert!(mann_whitney(&[f64::NAN], &[1.0]).is_err());
    }
}
