//! What the views of tables in memory by columns are made of: their values, bars and tables.

use archive::{Point, Run};
use stats::summary::median;

use crate::html::figure::{Figure, Table};
use crate::level::target_name;
use crate::number;
use crate::svg::{Bar, bars};

/// In front of the codes of points that are of lifted tables.
pub(super) const OF_TABLE: &str = "LIFT-";
/// The target that the others are relative to.
pub(super) const DISK: u32 = 0;

/// What was found at one scale, or published.
pub(super) struct Study {
    pub title: String,
    pub sizes: Vec<Grid>,
    pub figures: Vec<Figure>,
    pub speed_up: Option<Grid>,
    /// What order entry and queries cost each other.
    pub mixed: Vec<Grid>,
}

/// A table with what it says.
pub(super) struct Grid {
    pub title: String,
    pub heads: Vec<String>,
    pub rows: Vec<Vec<String>>,
    pub how: String,
}

/// Average of a figure over points, each by its time; those that are too short to be sampled do not matter.
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

/// One bar: degree, target and value.
pub(super) struct Row {
    pub dop: u32,
    pub name: String,
    pub colour: usize,
    pub value: Option<f64>,
}

/// Whether everything that was lifted into a target, if anything was, is what it should be: of a level that failed
/// nothing is drawn.
pub(super) fn is_sound(run: &Run, target: u32) -> bool {
    let is_lifted = |p: &&Point| p.key.target == target && p.key.test.starts_with(OF_TABLE);
    run.points.iter().filter(is_lifted).all(Point::valid)
}

/// A replica by its level alone, so that bars have room for it.
pub(super) fn name(run: &Run, target: u32) -> String {
    let whole = target_name(run, target);
    match whole.split_once('+') {
        Some((_, level)) if target != DISK => level.to_owned(),
        _ => whole,
    }
}

/// A figure with its bars; nothing where no value is known.
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
        let table = Table::new(
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

/// Median over the repetitions; `None` where a repetition is not valid.
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
