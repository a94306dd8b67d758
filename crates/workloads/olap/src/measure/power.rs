//! Aggregates of a run: the geometric mean of one user's queries, in which each has the same weight, and the geometric
//! mean of that power and the throughput of several users.

use archive::{Figures, Point, PointKey, Remark};
use lab::Measured;

use super::points::PointContext;
use super::{COMPOSITE, POWER, THROUGHPUT, of_code};
use crate::Function;
use crate::step::OlapStep;

/// No query counts as faster than the slowest by more than this factor (clause 5.4.1.4).
const SPREAD_MAX: f64 = 1000.0;

/// Codes of the points that a test aggregates.
pub(super) fn parts(olap: &OlapStep, test: &str) -> Vec<String> {
    if test == COMPOSITE {
        return [POWER, THROUGHPUT].map(str::to_owned).into();
    }
    let queries = olap.queries().into_iter();
    let mut codes: Vec<String> = queries.map(|number| format!("Q{number}")).collect();
    if olap.refresh {
        codes.extend(Function::ALL.map(|function| function.code().to_owned()));
    }
    codes
}

/// True for a point with one of the codes and the step, target, repetition and degree of the key.
pub(super) fn is_part(part: &PointKey, codes: &[String], key: &PointKey) -> bool {
    let of = |key: &PointKey| (key.repetition, key.step, key.target, key.threads);
    of(part) == of(key) && codes.contains(&part.test)
}

/// Aggregates points of the archive; a missing or invalid one makes the aggregate invalid.
pub(super) fn of_parts(place: &PointContext, parts: &[Point], expected: usize) -> Measured {
    let mut point = place.blank();
    let is_query = |point: &&Point| of_code(&point.key.test).is_some();
    if let Some(part) = parts.iter().find(is_query).or(parts.last()) {
        point.work = part.work.clone();
        point.work.operations_per_job = None;
        point.work.plan = None;
    }
    place.note_degree(&mut point);
    let made = all_valid(parts, expected).and_then(|()| {
        if place.key.test == COMPOSITE {
            composite(parts)
        } else {
            power(place, parts)
        }
    });
    match made {
        Ok((figures, note)) => {
            point.figures = figures;
            point.notes.push(note);
            // Not even scaled queries per hour are comparable: data that fit into caches at one scale do not at
            // another.
            let scale = place.scale().ok();
            point
                .notes
                .extend(scale.and_then(|scale| place.other_scale(scale)));
        }
        Err(reason) => point.reasons = vec![reason],
    }
    Measured::Points(vec![point])
}

/// Geometric mean of all times.
fn power(place: &PointContext, parts: &[Point]) -> Result<(Figures, Remark), Remark> {
    let scale = place.scale().map_err(|error| Remark::OlapFailed {
        error: error.to_string(),
    })?;
    let times_s: Option<Vec<f64>> = parts.iter().map(time_s).collect();
    let times_s = times_s.ok_or(Remark::PartWithoutTime)?;
    let mean_s = geometric_mean(&times_s);
    let figures = Figures {
        operations: Some(times_s.len() as f64),
        queries_per_min: Some(60.0 / mean_s),
        scaled_queries_per_h: Some(3600.0 * scale / mean_s),
        elapsed_s: Some(times_s.iter().sum()),
        ..Figures::default()
    };
    let refreshed = place.olap.refresh;
    let refreshes = if refreshed { Function::ALL.len() } else { 0 };
    let note = Remark::GeometricMean {
        queries: (times_s.len() - refreshes) as u64,
        refreshed,
        mean_s,
    };
    Ok((figures, note))
}

/// Square root of power × throughput.
fn composite(parts: &[Point]) -> Result<(Figures, Remark), Remark> {
    let each: Option<Vec<f64>> = (parts.iter())
        .map(|point| point.figures.scaled_queries_per_h)
        .collect();
    let each = each.ok_or(Remark::PartWithoutFigure)?;
    let figures = Figures {
        scaled_queries_per_h: Some(each.iter().product::<f64>().sqrt()),
        elapsed_s: parts.iter().map(|point| point.figures.elapsed_s).sum(),
        ..Figures::default()
    };
    Ok((figures, Remark::RootOfProduct))
}

fn all_valid(parts: &[Point], expected: usize) -> Result<(), Remark> {
    let invalid: Vec<String> = (parts.iter())
        .filter(|point| !point.valid())
        .map(|point| point.key.test.clone())
        .collect();
    if !invalid.is_empty() {
        return Err(Remark::PartsInvalid {
            invalid,
            requested: expected as u64,
        });
    }
    if parts.len() == expected {
        Ok(())
    } else {
        Err(Remark::PartsMissing {
            measured: parts.len() as u64,
            requested: expected as u64,
        })
    }
}

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
