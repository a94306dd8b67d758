//! Speed-up of each query of one user over disk, by level.

use std::collections::BTreeSet;

use archive::Run;
use stats::ratio::quotient;

use super::parts::{DISK, Grid, is_sound, name};
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
pub(super) fn grid(run: &Run, replicas: &BTreeSet<u32>) -> Option<Grid> {
    let users = Queries::alone();
    let dop = users.degrees(run).into_iter().max()?;
    let queries = users.codes(run, dop);
    let speed_up = |target: u32, code: &str| speed_up(run, &users, target, dop, code);
    let mut heads = vec!["Query".to_owned(), "on disk s".to_owned()];
    heads.extend(replicas.iter().map(|target| name(run, *target)));
    let row = |code: &String| {
        let disk_s = users.query_s(run, DISK, dop, code);
        let cells = replicas.iter().map(|target| speed_up(*target, code));
        let mut row = vec![code.clone(), number::figure_or_unknown(disk_s)];
        row.extend(cells.map(times));
        row
    };
    let mut rows: Vec<Vec<String>> = queries.iter().map(row).collect();
    let mut mean = vec!["Geometric mean".to_owned(), String::new()];
    mean.extend(
        replicas
            .iter()
            .map(|target| times(of_level(run, *target).and_then(|level| level.mean))),
    );
    rows.push(mean);
    let has_values = rows
        .iter()
        .any(|row| row[2..].iter().any(|cell| cell != "–"));
    has_values.then(|| Grid {
        title: format!("Speed-up of each query, 1 user, {dop} threads"),
        heads,
        rows,
        how: "Time on disk divided by the time at the level: above 1 the level is faster. The geometric mean gives every query \
              the same weight, the time of all queries gives the slow ones more. “–”: not measured, or not valid."
            .into(),
    })
}

fn times(speed_up: Option<f64>) -> String {
    speed_up.map_or("–".into(), |n| format!("{} ×", number::figure(n)))
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
