//! Resampling methods that were tried and are not used: BCa, and blocks for series whose neighbours depend on each other.

use stats::Interval;
use stats::distribution::{normal_cdf, normal_quantile};
use stats::random::Random;
use stats::summary::quantile;

const CONFIDENCE: f64 = 0.95;

/// The mean, and the sorted means of resamples that are put together from blocks of neighbours, the values closed to a
/// circle.
fn replicates(values: &[f64], block: usize, resamples: usize) -> (f64, Vec<f64>) {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let n = values.len();
    let mut random = Random::new(1);
    let mut resample = vec![0.0; n];
    let means = (0..resamples).map(|_| {
        for chunk in resample.chunks_mut(block) {
            let start = random.index(n);
            for (i, value) in chunk.iter_mut().enumerate() {
                *value = values[(start + i) % n];
            }
        }
        mean(&resample)
    });
    let mut means: Vec<f64> = means.collect();
    means.sort_by(f64::total_cmp);
    (mean(values), means)
}

fn between(estimate: f64, replicates: &[f64], ends: [f64; 2]) -> Option<Interval> {
    let [low, high] = ends.map(|q| quantile(replicates, q));
    Some(Interval::new(estimate, [low?, high?], CONFIDENCE))
}

/// Percentile interval of a mean by the circular block bootstrap (Politis & Romano 1992).
pub fn blocks(series: &[f64], block: usize) -> Option<Interval> {
    let (mean, means) = replicates(series, block, 400);
    let tail = (1.0 - CONFIDENCE) / 2.0;
    between(mean, &means, [tail, 1.0 - tail])
}

/// BCa interval of a mean (Efron 1987): percentiles corrected for bias, and by the jackknife for a spread that changes
/// with the value.
pub fn bca(values: &[f64]) -> Option<Interval> {
    let (mean, means) = replicates(values, 1, 1_000);
    let count = means.len() as f64;
    let ties = means.iter().filter(|m| **m == mean).count() as f64 / 2.0;
    let below = means.iter().filter(|m| **m < mean).count() as f64 + ties;
    // Kept off 0 and 1, where the correction would be infinite.
    let bias = normal_quantile((below / count).clamp(0.5 / count, 1.0 - 0.5 / count));
    let away = values.iter().map(|v| v - mean);
    let squares: f64 = away.clone().map(|d| d.powi(2)).sum();
    let cubes: f64 = away.map(|d| d.powi(3)).sum();
    let bend = cubes / (6.0 * squares.powf(1.5));
    let bend = if bend.is_finite() { bend } else { 0.0 };
    let corrected = |p: f64| {
        let z = bias + normal_quantile(p);
        normal_cdf(bias + z / (1.0 - bend * z).max(1e-6))
    };
    let tail = (1.0 - CONFIDENCE) / 2.0;
    between(mean, &means, [corrected(tail), corrected(1.0 - tail)])
}
