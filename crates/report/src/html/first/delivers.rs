//! Performance of the platform: its best figures by component, next to the first compared platform.

use std::collections::HashSet;

use archive::{Component, PointKey, Run};

use crate::html::figure::id_of;
use crate::html::sweep;
use crate::level::TestGroup;
use crate::number;
use crate::scorecard::{self, Against, Cell, Column, Row};

/// Most rows, and most columns of this run.
const ROWS_MAX: usize = 16;
const OWN_MAX: usize = 3;

pub struct Delivers {
    pub heads: Vec<String>,
    /// True if the last column is the ratio to the column before it.
    pub has_ratio: bool,
    pub rows: Vec<RowView>,
    pub more: usize,
}

pub struct RowView {
    pub component: Option<&'static str>,
    pub what: String,
    /// Link to the test's section; empty if this run did not measure it.
    pub id: String,
    pub unit: String,
    /// Value and degree of parallelism under each head.
    pub cells: Vec<(String, String)>,
}

impl Delivers {
    /// True if any figure has a degree of parallelism.
    pub fn has_degrees(&self) -> bool {
        let mut cells = self.rows.iter().flat_map(|row| &row.cells);
        cells.any(|(_, degree)| !degree.is_empty())
    }
}

pub fn view(run: &Run, groups: &[TestGroup<'_>], against: &[Against<'_>]) -> Delivers {
    let card = scorecard::scorecard(run, against);
    let other = card.columns.iter().position(|column| !column.own);
    let own = card.columns.iter().filter(|column| column.own).count();
    let shown: Vec<usize> = (0..own.min(OWN_MAX)).chain(other).collect();
    let ratio = other.filter(|_| own == 1);
    let measured: HashSet<&str> = groups.iter().map(|group| group.test).collect();
    let mut rows: Vec<RowView> = Vec::new();
    let mut component = None;
    for row in chosen(&card.rows, own) {
        let is_new = component.replace(row.line.component) != Some(row.line.component);
        rows.push(RowView {
            component: is_new.then(|| row.line.component.name()),
            what: match row.line.label.as_str() {
                "throughput" => row.line.group.clone(),
                label => format!("{}, {label}", row.line.group),
            },
            id: if measured.contains(row.line.test.as_str()) {
                id_of(&row.line.test)
            } else {
                String::new()
            },
            unit: row.line.unit.clone(),
            cells: cells(row, &shown, ratio),
        });
    }
    if rows.is_empty() {
        return best_of_tests(run, groups);
    }
    Delivers {
        heads: heads(&card.columns, &shown, ratio.is_some()),
        has_ratio: ratio.is_some(),
        more: rows.len().saturating_sub(ROWS_MAX) + own.saturating_sub(OWN_MAX),
        rows: rows.into_iter().take(ROWS_MAX).collect(),
    }
}

/// The headlines with a figure of this run; for a component without any, its first row with a figure.
fn chosen(rows: &[Row], own: usize) -> Vec<&Row> {
    let has_own_figure = |row: &&Row| {
        let own = row.cells.iter().take(own);
        own.into_iter().any(|cell| matches!(cell, Cell::Value(_)))
    };
    let of = |component: Component| {
        let all = || {
            rows.iter()
                .filter(has_own_figure)
                .filter(move |row| row.line.component == component)
        };
        let mut headlines: Vec<&Row> = all().filter(|row| row.line.headline).collect();
        if headlines.is_empty() {
            headlines.extend(all().next());
        }
        headlines
    };
    let mut components: Vec<Component> = rows.iter().map(|row| row.line.component).collect();
    components.dedup();
    components.into_iter().flat_map(of).collect()
}

fn heads(columns: &[Column], shown: &[usize], has_ratio: bool) -> Vec<String> {
    let titles = shown.iter().map(|at| columns[*at].title.clone());
    let ratio = has_ratio.then(|| "ratio".to_owned());
    titles.chain(ratio).collect()
}

fn cells(row: &Row, shown: &[usize], ratio: Option<usize>) -> Vec<(String, String)> {
    let value = |at: usize| match &row.cells[at] {
        Cell::Value(measured) => Some(measured),
        Cell::Absent { .. } => None,
    };
    let mut cells: Vec<(String, String)> = shown
        .iter()
        .map(|at| match value(*at) {
            Some(measured) if measured.dop > 0 => {
                (number::full(measured.value), format!("@{}", measured.dop))
            }
            Some(measured) => (number::full(measured.value), String::new()),
            None => (number::UNKNOWN.to_owned(), String::new()),
        })
        .collect();
    if let Some(other) = ratio {
        // Figures of executors in different languages have no meaningful ratio.
        let both = value(0).zip(value(other)).filter(|_| row.caution.is_none());
        let ratio = both.and_then(|(own, other)| stats::ratio::quotient(other.value, own.value));
        let text = ratio.map_or_else(
            || number::UNKNOWN.to_owned(),
            |ratio| format!("{} ×", number::figure(ratio)),
        );
        cells.push((text, String::new()));
    }
    cells
}

/// The best level of each test, for runs without figures of the scorecard.
fn best_of_tests(run: &Run, groups: &[TestGroup<'_>]) -> Delivers {
    let targets = run.targets.len().min(OWN_MAX);
    let mut component = None;
    let mut rows = Vec::new();
    for group in groups {
        let rate = sweep::rate_figure(group);
        let best = |target: usize| {
            let curves = group
                .curves
                .iter()
                .filter(|curve| curve.target as usize == target);
            let peaks = curves.filter_map(|curve| curve.peak(rate.name));
            let known = peaks.filter_map(|peak| Some((peak.figure(rate.name)?, peak.dop())));
            known.max_by(|a, b| a.0.total_cmp(&b.0))
        };
        let cells: Vec<_> = (0..targets).map(best).collect();
        if cells.iter().all(Option::is_none) {
            continue;
        }
        let is_new = component.replace(group.component) != Some(group.component);
        let cell = |best: &Option<(f64, u32)>| match best {
            // The number of other users' sessions is not a setting of the run.
            Some((value, _)) if group.test == PointKey::OBSERVATION => {
                (number::full(*value), String::new())
            }
            Some((value, dop)) => (number::full(*value), format!("@{dop}")),
            None => (number::UNKNOWN.to_owned(), String::new()),
        };
        rows.push(RowView {
            component: is_new.then(|| group.component.name()),
            what: format!("{} {}", group.test, group.title),
            id: id_of(group.test),
            unit: rate.unit.to_owned(),
            cells: cells.iter().map(cell).collect(),
        });
    }
    Delivers {
        heads: (0..targets)
            .map(|target| crate::level::target_name(run, target as u32))
            .collect(),
        has_ratio: false,
        more: rows.len().saturating_sub(ROWS_MAX) + run.targets.len() - targets,
        rows: rows.into_iter().take(ROWS_MAX).collect(),
    }
}
