//! Small summaries of a handful of figures.

/// Median: the middle value, or the mean of the two middle ones. `None` for an empty slice or a NaN.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// Quantile `q` (0–1) by linear interpolation between order statistics
/// (Hyndman & Fan 1996, type 7: position `(n − 1)·q`). `None` for an empty slice or a NaN.
///
/// Golden: the 0.25 quantile of 1, 2, 3, 4 is 1.75.
pub fn quantile(values: &[f64], q: f64) -> Option<f64> {
    if values.is_empty() || values.iter().any(|v| v.is_nan()) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let position = (sorted.len() - 1) as f64 * q.clamp(0.0, 1.0);
    let (below, above) = (position.floor() as usize, position.ceil() as usize);
    let fraction = position - below as f64;
    Some(sorted[below] + (sorted[above] - sorted[below]) * fraction)
}

pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

pub fn max(values: &[f64]) -> Option<f64> {
    values.iter().copied().reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_quantiles() {
        assert_eq!(quantile(&[4.0, 1.0, 3.0, 2.0], 0.25), Some(1.75));
        assert_eq!(median(&[5.0, 1.0, 9.0]), Some(5.0));
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[f64::NAN, 1.0]), None);
        assert_eq!(
            (mean(&[1.0, 2.0]), max(&[1.0, 2.0])),
            (Some(1.5), Some(2.0))
        );
    }
}
