//! Time series in the form that charts draw.

use chart::{Axis, Series, tick};

/// Name of the axis of time.
pub const SINCE_START: &str = "since the start of the point";
pub const SAMPLES_MIN: usize = 8;

/// Seconds from the start of the point to the end of the longest series.
pub fn time_axis(series: &[Series]) -> Axis {
    let ends = series.iter().flat_map(|s| s.points.last()).map(|p| p.0);
    Axis::span(
        "seconds since the start of the point",
        ends.fold(0.0, f64::max),
        tick,
    )
}

/// Joins neighbouring samples until no more than `samples_max` are left: rates by their mean, latencies by their
/// maximum, so that no stall disappears.
pub fn thin(
    samples: &[(f64, Option<f64>)],
    samples_max: usize,
    keep_largest: bool,
) -> Vec<(f64, Option<f64>)> {
    let every = samples.len().div_ceil(samples_max).max(1);
    samples
        .chunks(every)
        .map(|chunk| {
            let known: Vec<f64> = chunk.iter().filter_map(|s| s.1).collect();
            let value = if keep_largest {
                stats::summary::max(&known)
            } else {
                stats::summary::mean(&known)
            };
            (chunk[chunk.len() - 1].0, value)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_the_stall() {
        let mut samples: Vec<(f64, Option<f64>)> =
            (0..1000).map(|i| (f64::from(i), Some(1.0))).collect();
        samples[500].1 = Some(1e6);
        samples[700].1 = None;
        let stalls = thin(&samples, 150, true);
        assert!(stalls.len() <= 150);
        assert!(stalls.iter().any(|s| s.1 == Some(1e6)));
        assert_eq!(stalls.last().map(|s| s.0), Some(999.0));
        assert_eq!(thin(&samples[..10], 150, false).len(), 10);
        assert_eq!(thin(&samples[700..701], 150, false)[0].1, None);
    }
}
