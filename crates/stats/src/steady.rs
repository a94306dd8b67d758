//! Was the throughput steady while it was measured?

/// Verdict on one point's throughput over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Steady {
    /// Slope and deviation within the limits.
    Yes,
    /// Scattered beyond the limit, without direction.
    No,
    /// Rising or falling by more than the limit over the window.
    Trend,
    /// Too few intervals to say.
    Unknown,
}

/// Fewest intervals on which a verdict rests.
pub const INTERVALS_MIN: usize = 5;

/// Judges a series of equally spaced rates, in the manner of fio's `steadystate`:
/// the least-squares slope over the whole window, relative to the mean, decides *trend*
/// (`|slope · n| / mean > limit`), and the largest deviation from the fitted line decides *no*
/// (`max |x − fit| / mean > 3 · limit`).
///
/// Limits: at least [`INTERVALS_MIN`] intervals and a positive mean, else [`Steady::Unknown`].
/// Source: fio HOWTO, `steadystate=iops_slope`.
/// Golden: 100, 110, 120, 130, 140 with a limit of 0.1 is a trend (slope 10 an interval).
pub fn judge(rates: &[f64], limit: f64) -> Steady {
    let n = rates.len();
    let mean = rates.iter().sum::<f64>() / n.max(1) as f64;
    if n < INTERVALS_MIN || mean <= 0.0 || !mean.is_finite() {
        return Steady::Unknown;
    }
    let middle = (n - 1) as f64 / 2.0;
    let spread: f64 = (0..n).map(|i| (i as f64 - middle).powi(2)).sum();
    let slope: f64 = rates
        .iter()
        .enumerate()
        .map(|(i, r)| (i as f64 - middle) * (r - mean))
        .sum::<f64>()
        / spread;
    if (slope * n as f64 / mean).abs() > limit {
        return Steady::Trend;
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

#[cfg(test)]
mod tests {
    use super::*;

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
