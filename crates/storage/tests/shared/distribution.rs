//! Comparisons of random draws with their distribution.

/// Greatest distance between the distribution of the gaps of `starts`, in means, and `expected` (Kolmogorov and
/// Smirnov).
pub fn distance(starts: &[u64], mean_ns: f64, expected: fn(f64) -> f64) -> f64 {
    let mut sorted = starts.to_vec();
    sorted.sort_unstable();
    let mut gaps: Vec<f64> = sorted
        .windows(2)
        .map(|pair| (pair[1] - pair[0]) as f64 / mean_ns)
        .collect();
    gaps.sort_by(f64::total_cmp);
    let n = gaps.len() as f64;
    let of_one = |(i, gap): (usize, &f64)| {
        let want = expected(*gap);
        (want - i as f64 / n)
            .abs()
            .max(((i + 1) as f64 / n - want).abs())
    };
    gaps.iter().enumerate().map(of_one).fold(0.0, f64::max)
}

pub fn exponential(x: f64) -> f64 {
    1.0 - (-x).exp()
}

pub fn uniform(x: f64) -> f64 {
    (x / 2.0).min(1.0)
}

/// Asserts that `found` of `of` is `wanted`, within five standard deviations of a binomial and `slack`, the share
/// that may be misclassified.
pub fn assert_share(what: &str, found: usize, of: usize, wanted: f64, beside: f64) {
    assert!(of >= 100, "{what}: {of} are too few to judge by");
    let allowed = 5.0 * (wanted * (1.0 - wanted) / of as f64).sqrt() + beside;
    let seen = found as f64 / of as f64;
    assert!(
        (seen - wanted).abs() <= allowed,
        "{what}: {seen} of {of}, not {wanted} ± {allowed}"
    );
}
