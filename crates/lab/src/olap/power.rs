//! What one user's queries amount to: their geometric mean, so that each counts alike.

use archive::{Figures, Point, PointKey};

use super::of_code;
use super::points::Place;
use crate::done::Measured;

/// A query is not counted as faster than the slowest by more than this (clause 5.4.1.4).
const SPREAD_MAX: f64 = 1000.0;

/// From the points of the queries, which are in the archive; one that is invalid makes the power invalid.
pub(super) fn power(place: &Place, queries: &[Point]) -> Measured {
    let asked = place.olap.queries().len();
    let mut point = place.blank();
    if let Some(first) = queries.first() {
        point.work = first.work.clone();
    }
    let invalid: Vec<&str> = (queries.iter())
        .filter(|point| !point.valid())
        .map(|point| point.key.test.as_str())
        .collect();
    if !invalid.is_empty() {
        point.reasons = vec![format!(
            "{} of {asked} queries are invalid, and the mean of the others would be that of other work: {}",
            invalid.len(),
            invalid.join(", ")
        )];
        return Measured::Points(vec![point]);
    }
    let times_s: Vec<f64> = queries.iter().filter_map(time_s).collect();
    if times_s.len() != asked {
        let found = times_s.len();
        point.reasons = vec![format!("{found} of {asked} queries were measured")];
        return Measured::Points(vec![point]);
    }
    let mean_s = geometric_mean(&times_s);
    point.figures = Figures {
        operations: Some(asked as f64),
        queries_per_min: Some(60.0 / mean_s),
        elapsed_s: Some(times_s.iter().sum()),
        ..Figures::default()
    };
    point.notes = vec![
        format!(
            "geometric mean of {asked} queries: {mean_s:.6} s; times are not rounded to tenths of a second"
        ),
        "without refreshes of the data".into(),
    ];
    if let Some(scale) = point.work.size.strip_prefix("scale ") {
        let scale: f64 = scale.parse().unwrap_or_default();
        let per_hour = 3600.0 * scale / mean_s;
        point.notes.push(format!(
            "an hour by the geometric mean, times the scale: {per_hour:.1}"
        ));
    }
    Measured::Points(vec![point])
}

/// Whether a point is a query of the step, target and repetition of a key.
pub(super) fn is_query_of(query: &PointKey, key: &PointKey) -> bool {
    let of = |key: &PointKey| (key.repetition, key.step, key.target);
    of(query) == of(key) && of_code(&query.test).is_some()
}

/// Mean time of one execution.
fn time_s(point: &Point) -> Option<f64> {
    let (elapsed_s, operations) = (point.figures.elapsed_s?, point.figures.operations?);
    (operations > 0.0 && elapsed_s > 0.0).then(|| elapsed_s / operations)
}

fn geometric_mean(times_s: &[f64]) -> f64 {
    let slowest = times_s.iter().copied().fold(0.0, f64::max);
    let least = slowest / SPREAD_MAX;
    let logs: f64 = times_s.iter().map(|s| s.max(least).ln()).sum();
    (logs / times_s.len().max(1) as f64).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_query_counts_alike_within_the_spread() {
        let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-12;
        assert!(near(geometric_mean(&[1.0, 4.0]), 2.0));
        assert!(near(geometric_mean(&[2.0]), 2.0));
        // A thousandth of the slowest is the least that counts.
        assert!(near(
            geometric_mean(&[1e-6, 10.0]),
            (0.01_f64 * 10.0).sqrt()
        ));
    }
}
