//! Drift of a rate while a target warms up, judged repeatedly.

use crate::distribution::student_quantile;
use crate::interval::Interval;

/// Number of equal stretches through whose means the line is laid: neighbouring values are dependent, such means
/// hardly are.
const STRETCHES: usize = 12;
const CONFIDENCE: f64 = 0.95;
/// Share by which a rate at rest would at most rise or fall in as long again as it has been watched.
pub const DRIFT_MAX: f64 = 0.05;

/// True if the whole interval of the [`drift`] lies within [`DRIFT_MAX`].
pub fn is_at_rest(rates: &[f64]) -> bool {
    drift(rates).is_some_and(|d| -DRIFT_MAX <= d.low && d.high <= DRIFT_MAX)
}

/// By what share of itself a rate would rise or fall in as long again as it has been watched, if it went on as it did in
/// the last three quarters, with a 95 % interval.
///
/// Formula: b and its standard error by least squares through the means of 12 equal stretches of the last three quarters
/// of the values; (b ± t₀.₉₇₅;₁₀·se) · (length of all values) / (mean of the stretches). For an approach 1 − c·e^(−t/τ),
/// what is missing at the end is τ times the slope there. So at rest by [`is_at_rest`], at most τ/T · 5 % is missing
/// after a time T: a rate that is at rest for the next T may creep on for ten times as long, and no watching for T
/// can show. Limits: 15 positive rates of equal length. Golden: 100 values of one rate have a drift of 0 without width.
pub fn drift(rates: &[f64]) -> Option<Interval> {
    let last = &rates[rates.len() / 4..];
    let length = last.len() / STRETCHES;
    if length == 0 {
        return None;
    }
    let last = &last[last.len() - STRETCHES * length..];
    let means: Vec<f64> = last
        .chunks_exact(length)
        .map(|stretch| stretch.iter().sum::<f64>() / length as f64)
        .collect();
    let mean = means.iter().sum::<f64>() / STRETCHES as f64;
    if !(mean > 0.0 && mean.is_finite()) {
        return None;
    }
    let away = |i: usize| i as f64 - (STRETCHES - 1) as f64 / 2.0;
    let spread: f64 = (0..STRETCHES).map(|i| away(i).powi(2)).sum();
    let slope = means
        .iter()
        .enumerate()
        .map(|(i, v)| away(i) * v)
        .sum::<f64>()
        / spread;
    let off = means.iter().enumerate();
    let off = off.map(|(i, v)| (v - mean - slope * away(i)).powi(2));
    let freedom = (STRETCHES - 2) as f64;
    let error = (off.sum::<f64>() / freedom / spread).sqrt();
    let as_long_again = rates.len() as f64 / length as f64 / mean;
    let half = student_quantile(f64::midpoint(1.0, CONFIDENCE), freedom) * error;
    Some(Interval::new(
        slope * as_long_again,
        [
            (slope - half) * as_long_again,
            (slope + half) * as_long_again,
        ],
        CONFIDENCE,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_drift() {
        let rest = drift(&[7.0; 100]).unwrap();
        assert_eq!((rest.low, rest.estimate, rest.high), (0.0, 0.0, 0.0));
        assert!(is_at_rest(&[7.0; 100]));
        // 2 of 100 for each of 96 values: in the middle of the last 72 it is 100, and it would rise by 192 more.
        let rising: Vec<f64> = (0..96)
            .map(|n| 2.0 * (f64::from(n) - 59.5) + 100.0)
            .collect();
        let found = drift(&rising).unwrap();
        assert!((found.estimate - 1.92).abs() < 1e-9 && (found.high - found.low).abs() < 1e-9);
        assert!(!is_at_rest(&rising));
        let falling: Vec<f64> = rising.iter().rev().map(|v| v + 1000.0).collect();
        assert!(drift(&falling).unwrap().high < 0.0 && !is_at_rest(&falling));
    }

    #[test]
    fn too_little_says_nothing() {
        assert!(drift(&[1.0; 14]).is_none() && drift(&[1.0; 15]).is_some());
        assert!(drift(&[0.0; 40]).is_none() && drift(&[f64::NAN; 40]).is_none());
        assert!(drift(&[]).is_none() && !is_at_rest(&[]));
    }
}
