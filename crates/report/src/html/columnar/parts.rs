//! Values, bars and tables of the column-store views.

use archive::{Point, Run, Section, Table};
use stats::summary::median;

use crate::html::figure::{Figure, grouped};
use crate::level::target_name;
use crate::number;
use chart::{Bar, bars};

/// Prefix of codes of points on populated tables.
pub(super) const OF_TABLE: &str = "LIFT-";
/// The reference target of the ratios.
pub(super) const DISK: u32 = 0;

/// A section of a single table.
pub(super) fn of_table(title: String, table: Table, how: String) -> Section {
    Section::new(title).note(how).table(table)
}

/// Mean of a figure over points, weighted by their time; points too short for a sample have no weight.
pub(super) fn averaged<'a>(
    points: impl Iterator<Item = &'a Point>,
    value: impl Fn(&Point) -> Option<f64>,
) -> Option<f64> {
    let (mut sum, mut all_s) = (0.0, 0.0);
    for point in points {
        let elapsed_s = point.figures.elapsed_s?;
        let Some(value) = value(point) else {
            continue;
        };
        sum += value * elapsed_s;
        all_s += elapsed_s;
    }
    (all_s > 0.0).then(|| sum / all_s)
}

pub(super) struct Row {
    pub dop: u32,
    pub name: String,
    pub colour: usize,
    pub value: Option<f64>,
}

/// True if everything populated into a target is valid; a level that failed is not drawn.
pub(super) fn is_sound(run: &Run, target: u32) -> bool {
    let is_lifted = |p: &&Point| p.key.target == target && p.key.test.starts_with(OF_TABLE);
    run.points.iter().filter(is_lifted).all(Point::valid)
}

/// The level of a replica, which is short enough for a bar's label.
pub(super) fn name(run: &Run, target: u32) -> String {
    let whole = target_name(run, target);
    match whole.split_once('+') {
        Some((_, level)) if target != DISK => level.to_owned(),
        _ => whole,
    }
}

/// A figure with its bars; `None` if no value is known.
pub(super) fn figure(caption: String, how: &str, rows: &[Row], published: &str) -> Option<Figure> {
    rows.iter().any(|row| row.value.is_some()).then(|| {
        let bar = |row: &Row| Bar {
            label: format!("{} @{}", row.name, row.dop),
            value: row.value,
            text: number::figure_or_unknown(row.value),
            colour: row.colour,
            hollow: false,
        };
        let drawn: Vec<Bar> = rows.iter().map(bar).collect();
        let table = grouped(
            &["target", "value"],
            rows.iter().map(|row| {
                let cells = vec![row.name.clone(), number::figure_or_unknown(row.value)];
                (format!("{} threads per user", row.dop), cells)
            }),
        );
        let mut figure = Figure::new(caption.clone(), bars(&caption, &drawn), how.into(), table);
        figure.said.push(published.into());
        figure
    })
}

/// Median over the repetitions; `None` if one of them is invalid.
pub(super) fn figure_of<'a>(
    points: impl Iterator<Item = &'a Point>,
    value: impl Fn(&Point) -> Option<f64>,
) -> Option<f64> {
    let mut values = Vec::new();
    for point in points {
        if !point.valid() {
            return None;
        }
        values.push(value(point)?);
    }
    median(&values)
}
