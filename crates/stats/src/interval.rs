//! Confidence intervals, and the exact ones of quantiles by order statistics.

use std::f64::consts::LN_2;

use crate::summary::quantile;
use crate::warning::{Warning, finite};

pub const VALUES_MAX: usize = 1_000_000;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    pub estimate: f64,
    pub low: f64,
    pub high: f64,
    /// The confidence that the method attains, as a share; exact methods can attain more than was requested.
    pub confidence: f64,
}

impl Interval {
    pub const fn new(estimate: f64, [low, high]: [f64; 2], confidence: f64) -> Self {
        Self {
            estimate,
            low,
            high,
            confidence,
        }
    }

    /// True if the value lies within the interval, ends included.
    pub fn covers(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// A warning if the interval has no width because all values are equal.
    pub fn warning(&self) -> Option<Warning> {
        (self.low == self.high).then_some(Warning::SingleValued)
    }

    /// The interval of an increasing function of the value, such as `exp`.
    pub fn map(&self, rising: impl Fn(f64) -> f64) -> Self {
        let ends = [rising(self.low), rising(self.high)];
        Self::new(rising(self.estimate), ends, self.confidence)
    }
}

/// Exact interval of the median from order statistics, free of any assumption on the distribution but that the values
/// are independent.
///
/// Formula: the number of values below the median is Binomial(n, ½). The lower end is the largest
/// x₍ᵣ₎ with P(Bin < r) ≤ α/2, the upper end the smallest x₍ₛ₎ with P(Bin ≥ s) ≤ α/2; the confidence
/// attained is P(r ≤ Bin < s). Source: David & Nagaraja, Order Statistics, 7.1; `benchstat` does the
/// same. Limits: finite values (others are refused), 10⁶ of them at most. The estimate is of type 7, as in [`quantile`].
/// Golden: for 1, 2 … 6 it is 1 to 6 at 96.9 %; for 1, 2 … 10 it is 2 to 9 at 97.9 %. Five values cannot
/// carry 95 %: [`Warning::TooFew`] says that six are needed.
pub fn median_interval(values: &[f64], confidence: f64) -> Result<Interval, Warning> {
    share("confidence", confidence)?;
    let (mut sorted, dropped) = finite(values);
    if let Some(warning) = dropped {
        return Err(warning);
    }
    let n = sorted.len();
    if n > VALUES_MAX {
        return Err(Warning::too_many(n, VALUES_MAX));
    }
    let tail = (1.0 - confidence) / 2.0;
    // With fewer, all lie on one side of the median more often than a tail allows: 2⁻ⁿ.
    let need = (-tail.log2()).ceil().max(1.0) as usize;
    let too_few = Warning::too_few(n, need.max(n + 1));
    sorted.sort_by(f64::total_cmp);
    let (rank, attained) = rank(n, tail).ok_or(too_few)?;
    let ends = [sorted[rank - 1], sorted[n - rank]];
    let estimate = quantile(&sorted, 0.5).ok_or(too_few)?;
    Ok(Interval::new(estimate, ends, attained))
}

/// Rank (from 1) of both order statistics, from either end, and the confidence that they attain.
fn rank(n: usize, tail: f64) -> Option<(usize, f64)> {
    let (mut below, mut found) = (0.0, None);
    for rank in 1..=n {
        below += binomial(n, rank - 1);
        if below > tail {
            break;
        }
        found = Some((rank, 1.0 - 2.0 * below));
    }
    found
}

/// P(Bin(n, ½) = k), by logarithms so that nothing overflows.
fn binomial(n: usize, k: usize) -> f64 {
    let fewer = k.min(n - k);
    if n <= 60 {
        let ways = (0..fewer).fold(1.0, |ways, i| ways * (n - i) as f64 / (i + 1) as f64);
        return ways * 0.5_f64.powi(n as i32);
    }
    let ln = |of: usize| crate::distribution::ln_gamma(of as f64 + 1.0);
    (ln(n) - ln(k) - ln(n - k) - n as f64 * LN_2).exp()
}

pub(crate) fn share(name: &'static str, value: f64) -> Result<(), Warning> {
    if value > 0.0 && value < 1.0 {
        Ok(())
    } else {
        Err(Warning::NotAShare { name })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counting(n: u32) -> Vec<f64> {
        (1..=n).map(f64::from).collect()
    }

    #[test]
    fn golden_median_intervals() {
        let six = median_interval(&counting(6), 0.95).unwrap();
        assert_eq!((six.estimate, six.low, six.high), (3.5, 1.0, 6.0));
        assert!((six.confidence - 0.968_75).abs() < 1e-12);
        let ten = median_interval(&counting(10), 0.95).unwrap();
        assert_eq!((ten.low, ten.high), (2.0, 9.0));
        assert!((ten.confidence - 0.978_515_625).abs() < 1e-12);
        // Conover 1999, table A3: ranks 40 and 61 of a hundred at 96.48 %.
        let hundred = median_interval(&counting(100), 0.95).unwrap();
        assert_eq!((hundred.low, hundred.high), (40.0, 61.0));
        assert!((hundred.confidence - 0.9648).abs() < 1e-4);
    }

    #[test]
    fn what_cannot_be_said_is_not_said() {
        let too_few = median_interval(&counting(5), 0.95);
        assert_eq!(too_few, Err(Warning::TooFew { have: 5, need: 6 }));
        let nan = median_interval(&[f64::NAN; 9], 0.95);
        assert_eq!(nan, Err(Warning::NotFinite { dropped: 9 }));
        assert!(median_interval(&counting(9), 1.0).is_err());
    }
}
