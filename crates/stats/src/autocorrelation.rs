//! Effective sample size of series whose neighbours depend on each other, such as throughput and latency per second.
//! Treated as independent they give intervals several times too narrow.

use crate::interval::VALUES_MAX;
use crate::warning::{Warning, finite, single_valued};

pub const VALUES_MIN: usize = 16;
const BATCHES_MIN: usize = 6;

#[derive(Debug, Clone, PartialEq)]
pub struct Effective {
    /// Autocorrelation time τ ≥ 1, in values: about how far a value's influence reaches.
    pub time: f64,
    pub size: f64,
    pub mean_error: f64,
    /// [`Warning::Autocorrelated`] when τ was not resolved within the series, among others.
    pub warnings: Vec<Warning>,
}

/// Effective sample size by batch means over levels.
///
/// Formula: level l holds the means of 2ˡ neighbours, V_l their variance, t_l = 2ˡ·V_l/V₀. Walking up, τ is
/// the largest t_l so far (at least 1), and the walk ends at the first level with t_l ≤ 0.2·2ˡ, where a
/// batch is five autocorrelation times long. Source: the batch-means method (Fishman 1978) as the
/// benchmark `latte` lays it out in levels.
/// Limits: at least [`VALUES_MIN`] values; a level needs six batches, so τ beyond n/30 is not resolved and
/// comes with [`Warning::Autocorrelated`], as do nearly all series below 48 values. τ of independent
/// values comes out slightly above 1, which widens intervals. A trend counts as autocorrelation.
/// Golden: 1, −1, 1, −1 … has τ = 1; 4 equal values, 4 others, over and over as independent blocks, has τ ≈ 4.
pub fn effective_size(series: &[f64]) -> Result<Effective, Warning> {
    let (values, dropped) = finite(series);
    let mut warnings: Vec<Warning> = dropped.into_iter().collect();
    let n = values.len();
    if n < VALUES_MIN {
        return Err(Warning::too_few(n, VALUES_MIN));
    }
    if n > VALUES_MAX {
        return Err(Warning::too_many(n, VALUES_MAX));
    }
    if single_valued(&values) {
        warnings.push(Warning::SingleValued);
        let (time, size, mean_error) = (1.0, n as f64, 0.0);
        return Ok(Effective {
            time,
            size,
            mean_error,
            warnings,
        });
    }
    let (time, resolved) = time(&values);
    if !resolved {
        warnings.push(Warning::Autocorrelated);
    }
    let size = n as f64 / time;
    let mean_error = (variance(&values) / size).sqrt();
    Ok(Effective {
        time,
        size,
        mean_error,
        warnings,
    })
}

/// Autocorrelation time, and true if the levels sufficed to see its end.
fn time(values: &[f64]) -> (f64, bool) {
    let base = variance(values);
    let (mut level, mut batch, mut time) = (values.to_vec(), 1.0, 1.0_f64);
    while level.len() >= BATCHES_MIN {
        let here = batch * variance(&level) / base;
        time = time.max(here);
        if here <= 0.2 * batch {
            return (time, true);
        }
        level = level
            .chunks_exact(2)
            .map(|pair| f64::midpoint(pair[0], pair[1]))
            .collect();
        batch *= 2.0;
    }
    (time, false)
}

/// Variance with n − 1 in the denominator; 0 for fewer than two values.
pub fn variance(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    squares / (values.len() - 1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn golden_effective_sizes() {
        let alternating: Vec<f64> = (0..16).map(|i| f64::from(1 - 2 * (i % 2))).collect();
        let effective = effective_size(&alternating).unwrap();
        assert_eq!((effective.time, effective.size), (1.0, 16.0));
        // The standard deviation is 1.0328.
        assert!((effective.mean_error - 1.0328 / 4.0).abs() < 1e-4);

        let mut random = Random::new(1);
        let blocks: Vec<f64> = (0..4096).map(|_| random.normal()).collect();
        let blocks: Vec<f64> = blocks.iter().flat_map(|b| [*b; 4]).collect();
        let time = effective_size(&blocks).unwrap().time;
        assert!((3.8..5.0).contains(&time), "{time}");
    }

    #[test]
    fn the_time_of_an_autoregressive_series_is_found() {
        // An AR(1) series with coefficient φ has τ = (1 + φ)/(1 − φ); for 0.8 that is 9.
        let mut random = Random::new(2);
        let mut value = 0.0;
        let series: Vec<f64> = (0..100_000)
            .map(|_| {
                value = 0.8 * value + random.normal();
                value
            })
            .collect();
        let effective = effective_size(&series).unwrap();
        assert!((8.0..10.5).contains(&effective.time), "{}", effective.time);
        assert!(effective.warnings.is_empty());
        let short = effective_size(&series[..40]).unwrap();
        assert_eq!(short.warnings, [Warning::Autocorrelated]);
    }

    #[test]
    fn odd_series_give_warnings() {
        let few = effective_size(&[1.0; 15]);
        assert_eq!(few, Err(Warning::too_few(15, 16)));
        let equal = effective_size(&[3.0; 20]).unwrap();
        assert_eq!(equal.warnings, [Warning::SingleValued]);
        let mut series = vec![f64::NAN, f64::INFINITY];
        series.extend((0..32).map(|i| f64::from(i % 2)));
        let effective = effective_size(&series).unwrap();
        assert_eq!(effective.warnings, [Warning::NotFinite { dropped: 2 }]);
    }
}
