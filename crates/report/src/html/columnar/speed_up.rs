//! Speed-up of each query of one user over disk, by level.

use std::collections::BTreeSet;

use archive::{Cell, Column, Run, Section, Table};
use stats::ratio::quotient;

use super::parts::{DISK, is_sound, name, of_table};
use super::queries::Queries;
use crate::number;

/// Speed-up of a level for one user at the highest degree of parallelism.
pub(super) struct OfLevel {
    pub dop: u32,
    pub queries: usize,
    /// Geometric mean over all queries; `None` if one of them is unknown.
    pub mean: Option<f64>,
}

/// The speed-up of one level; `None` without queries of one user.
pub(super) fn of_level(run: &Run, target: u32) -> Option<OfLevel> {
    let users = Queries::alone();
    let dop = users.degrees(run).into_iter().max()?;
    let queries = users.codes(run, dop);
    let each = queries
        .iter()
        .map(|code| speed_up(run, &users, target, dop, code));
    let each: Option<Vec<f64>> = each.collect();
    Some(OfLevel {
        dop,
        queries: queries.len(),
        mean: each.as_deref().and_then(geometric_mean),
    })
}

fn speed_up(run: &Run, users: &Queries, target: u32, dop: u32, code: &str) -> Option<f64> {
    let disk_s = users.query_s(run, DISK, dop, code)?;
    let level_s = users.query_s(run, target, dop, code)?;
    quotient(level_s, disk_s).filter(|_| is_sound(run, target))
}

/// A row for each query at the highest degree of parallelism, and the geometric mean; `None` without queries of one user.
pub(super) fn table(run: &Run, replicas: &BTreeSet<u32>) -> Option<Section> {
    let users = Queries::alone();
    let dop = users.degrees(run).into_iter().max()?;
    let mut table = Table::new("Query | on disk [s]");
    let names = replicas
        .iter()
        .map(|target| Column::new(&name(run, *target), ""));
    table.columns.extend(names);
    let mut is_known = false;
    for code in users.codes(run, dop) {
        let disk_s = users.query_s(run, DISK, dop, &code);
        let each: Vec<Option<f64>> = (replicas.iter())
            .map(|target| speed_up(run, &users, *target, dop, &code))
            .collect();
        is_known |= disk_s.is_some() || each.iter().any(Option::is_some);
        let first: [Cell; 2] = [code.into(), disk_s.into()];
        table.row(first.into_iter().chain(each.into_iter().map(times)));
    }
    let means = replicas.iter().map(|target| of_level(run, *target)?.mean);
    let first: [Cell; 2] = ["Geometric mean".into(), "".into()];
    table.row(first.into_iter().chain(means.map(times)));
    let how = "Time on disk divided by the time at the level: above 1 the level is faster. The geometric mean gives every query \
              the same weight, the time of all queries gives the slow ones more. “–”: not measured, or not valid.";
    let title = format!("Speed-up of each query, 1 user, {dop} threads");
    is_known.then(|| of_table(title, table, how.into()))
}

fn times(speed_up: Option<f64>) -> Cell {
    speed_up.map_or(None.into(), |n| format!("{} ×", number::figure(n)).into())
}

/// (x₁·x₂·…·xₙ)^(1/n), for positive values.
fn geometric_mean(values: &[f64]) -> Option<f64> {
    let are_positive = values.iter().all(|value| *value > 0.0);
    let logs: f64 = values.iter().map(|value| value.ln()).sum();
    (are_positive && !values.is_empty()).then(|| (logs / values.len() as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twice_and_half_as_fast_are_together_as_fast() {
        let near = |value: Option<f64>, right: f64| (value.unwrap() / right - 1.0).abs() < 1e-12;
        assert!(near(geometric_mean(&[2.0, 0.5]), 1.0));
        assert!(near(geometric_mean(&[1.0, 3.0, 9.0]), 3.0));
        assert_eq!(geometric_mean(&[]), None);
        assert_eq!(geometric_mean(&[1.0, 0.0]), None);
    }
}
