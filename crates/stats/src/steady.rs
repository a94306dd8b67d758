//! Steadiness of throughput within a measurement, and of rounds.

use crate::distribution::student_quantile;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Steady {
    Yes,
    /// Scattered beyond the limit, or too much to detect a direction.
    No,
    Trend,
    Unknown,
}

pub const INTERVALS_MIN: usize = 5;

/// Share of stationary series that may be called rising or falling.
pub const FALSE_TREND_MAX: f64 = 0.01;
/// Number of equal stretches whose means show if a slope is more than scatter: neighbouring rates are dependent if
/// operations last longer than an interval, such means hardly are.
const STRETCHES: usize = 12;

/// Judges a series of equally spaced rates, in the manner of fio's `steadystate`, and by the scatter of the rates:
/// the least-squares slope over the whole window, relative to the mean, decides *trend*
/// (`|slope · n| / mean > limit`) if it is more than its scatter explains, at a level of [`FALSE_TREND_MAX`]. A slope beyond
/// the limit that scatter explains, or a largest deviation from the fitted line of `max |x − fit| / mean > 3 · limit`, decides
/// *no*.
///
/// Formula: |b| > t₀.₉₉₇₅;ₘ₋₂ · se of the line through the means of m ≤ 12 equal stretches; half of the level is left for heavy
/// tails. Limits: heavy tails and operations longer than an interval stay within the level; operations as long as a third of the
/// window, and a load that itself swings more slowly than a stretch, do not. At least [`INTERVALS_MIN`] intervals and a positive mean, else [`Steady::Unknown`].
/// Source: fio HOWTO, `steadystate=iops_slope`.
/// Golden: 100, 110, 120, 130, 140 with a limit of 0.1 is a trend (slope 10 an interval).
pub fn judge(rates: &[f64], limit: f64) -> Steady {
    let n = rates.len();
    let mean = rates.iter().sum::<f64>() / n.max(1) as f64;
    if n < INTERVALS_MIN || mean <= 0.0 || !mean.is_finite() {
        return Steady::Unknown;
    }
    let middle = (n - 1) as f64 / 2.0;
    let slope = slope(rates);
    if (slope * n as f64 / mean).abs() > limit {
        return if is_more_than_scatter(rates) {
            Steady::Trend
        } else {
            Steady::No
        };
    }
    let deviation = rates
        .iter()
        .enumerate()
        .map(|(i, r)| (r - mean - slope * (i as f64 - middle)).abs())
        .fold(0.0, f64::max);
    if deviation / mean > 3.0 * limit {
        Steady::No
    } else {
        Steady::Yes
    }
}

/// True if chance gives the line through the means of equal stretches such a slope only once in a hundred series.
fn is_more_than_scatter(rates: &[f64]) -> bool {
    let length = rates.len().div_ceil(STRETCHES).max(1);
    // Rates that fill no stretch are left out at the beginning.
    let whole = rates.rchunks_exact(length).rev();
    let means: Vec<f64> = whole
        .map(|stretch| stretch.iter().sum::<f64>() / length as f64)
        .collect();
    let (n, slope) = (means.len() as f64, slope(&means));
    let mean = means.iter().sum::<f64>() / n;
    let away = |i: usize| i as f64 - (n - 1.0) / 2.0;
    let spread: f64 = (0..means.len()).map(|i| away(i).powi(2)).sum();
    let off = means.iter().enumerate();
    let off: f64 = off
        .map(|(i, value)| (value - mean - slope * away(i)).powi(2))
        .sum();
    let error = (off / (n - 2.0) / spread).sqrt();
    slope.abs() > student_quantile(1.0 - FALSE_TREND_MAX / 4.0, n - 2.0) * error
}

pub const ROUNDS_MIN: usize = 5;
/// Range of the window's values over their mean, in percent, up to which they are steady.
pub const RANGE_PCT_MAX: f64 = 20.0;
/// Rise or fall of the line fitted to the window over the mean, in percent, up to which they are steady.
pub const SLOPE_PCT_MAX: f64 = 10.0;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rounds {
    pub mean: f64,
    /// Largest value less the smallest, in percent of the mean.
    pub range_pct: f64,
    /// Rise of the fitted line from its first to its last round, in percent of the mean; negative if it falls.
    pub slope_pct: f64,
}

impl Rounds {
    pub fn is_steady(&self) -> bool {
        self.range_pct <= RANGE_PCT_MAX && !self.is_trend()
    }

    pub fn is_trend(&self) -> bool {
        self.slope_pct.abs() > SLOPE_PCT_MAX
    }
}

/// Judges the last [`ROUNDS_MIN`] values of equal rounds, as solid state storage is judged.
///
/// Formula: range = (max − min) / mean; slope = b · (n − 1) / mean with b by least squares over the window.
/// Source: SNIA Solid State Storage Performance Test Specification 2.0.2, steady state: at most 20 % and 10 %.
/// Limits: [`ROUNDS_MIN`] finite values and a positive mean, else `None`.
/// Golden: 100, 102, 104, 106, 108 have a range and a slope of 7.69 %.
pub fn rounds(values: &[f64]) -> Option<Rounds> {
    let window = &values[values.len().checked_sub(ROUNDS_MIN)?..];
    let mean = window.iter().sum::<f64>() / window.len() as f64;
    if mean <= 0.0 || !mean.is_finite() {
        return None;
    }
    let highest = window.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let lowest = window.iter().copied().fold(f64::INFINITY, f64::min);
    Some(Rounds {
        mean,
        range_pct: (highest - lowest) / mean * 100.0,
        slope_pct: slope(window) * (window.len() - 1) as f64 / mean * 100.0,
    })
}

/// Slope of the line through equally spaced values, by least squares.
fn slope(values: &[f64]) -> f64 {
    let middle = values.len().saturating_sub(1) as f64 / 2.0;
    let away = |i: usize| i as f64 - middle;
    let spread: f64 = (0..values.len()).map(|i| away(i).powi(2)).sum();
    let along = values.iter().enumerate().map(|(i, v)| away(i) * v);
    along.sum::<f64>() / spread
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64]) -> Rounds {
        rounds(values).unwrap()
    }

    #[test]
    fn golden_rounds() {
        let rising = of(&[100.0, 102.0, 104.0, 106.0, 108.0]);
        assert_eq!(rising.mean, 104.0);
        assert!((rising.range_pct - 800.0 / 104.0).abs() < 1e-9);
        assert!((rising.slope_pct - 800.0 / 104.0).abs() < 1e-9);
        assert!(rising.is_steady() && of(&[7.0; 5]).is_steady());
        // A mean of 100, b = (−2·110 − 95 + 100 + 2·95) / 10 = −2.5.
        let mixed = of(&[110.0, 95.0, 100.0, 100.0, 95.0]);
        assert!((mixed.range_pct - 15.0).abs() < 1e-9 && (mixed.slope_pct + 10.0).abs() < 1e-9);
        assert!(mixed.is_steady());
    }

    #[test]
    fn rounds_beyond_either_limit_are_not_steady() {
        // Scatter of 20.1 % around no trend, and a trend of 10.1 % within the range.
        let scattered = of(&[100.0, 110.05, 100.0, 89.95, 100.0]);
        assert!(!scattered.is_steady() && !scattered.is_trend());
        let rising = of(&[94.95, 97.475, 100.0, 102.525, 105.05]);
        assert!(rising.is_trend() && rising.range_pct < RANGE_PCT_MAX);
        let falling = of(&[105.05, 102.525, 100.0, 97.475, 94.95]);
        assert!(falling.is_trend() && falling.slope_pct < 0.0);
    }

    #[test]
    fn only_the_last_rounds_count_and_fewer_say_nothing() {
        assert!(of(&[900.0, 500.0, 100.0, 100.0, 100.0, 100.0, 100.0]).is_steady());
        assert!(!of(&[500.0, 100.0, 100.0, 100.0, 100.0]).is_steady());
        assert_eq!(rounds(&[100.0; 4]), None);
        assert_eq!((rounds(&[0.0; 5]), rounds(&[f64::NAN; 5])), (None, None));
    }

    #[test]
    fn the_four_verdicts() {
        assert_eq!(judge(&[100.0, 101.0, 99.0, 100.0, 100.0], 0.1), Steady::Yes);
        assert_eq!(
            judge(&[100.0, 110.0, 120.0, 130.0, 140.0], 0.1),
            Steady::Trend
        );
        assert_eq!(judge(&[100.0, 100.0, 20.0, 100.0, 100.0], 0.1), Steady::No);
        assert_eq!(judge(&[100.0, 100.0], 0.1), Steady::Unknown);
        assert_eq!(judge(&[0.0; 8], 0.1), Steady::Unknown);
        assert_eq!(judge(&[f64::NAN; 8], 0.1), Steady::Unknown);
    }
}
