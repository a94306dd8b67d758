//! What lifting tables was worth: their sizes, and the speed of the same queries relative to the disk, beside what
//! was published of another platform.

mod asked;
mod changes;
mod mixed;
mod sizes;

use std::collections::BTreeSet;

use archive::{Point, Run};
use askama::Template;
use stats::ratio::quotient;
use stats::summary::median;

use super::{Figure, Table};
use crate::level::target_name;
use crate::number;
use crate::svg::{Bar, bars};

use asked::Asked;

/// In front of the codes of points that are of lifted tables.
const OF_TABLE: &str = "LIFT-";
/// The target that the others are relative to.
const DISK: u32 = 0;

/// The section.
#[derive(Template)]
#[template(path = "columnar.html", whitespace = "minimize")]
pub struct View {
    studies: Vec<Study>,
}

/// What was found at one scale, or published.
struct Study {
    title: String,
    sizes: Vec<Grid>,
    figures: Vec<Figure>,
    /// What order entry and queries cost each other.
    mixed: Option<Grid>,
}

/// A table with what it says.
struct Grid {
    title: String,
    heads: Vec<String>,
    rows: Vec<Vec<String>>,
    how: String,
}

impl View {
    /// True where nothing was lifted, nor measured beside order entry.
    pub fn is_empty(&self) -> bool {
        self.studies.is_empty()
    }
}

/// Builds the view.
pub fn view(run: &Run) -> View {
    let is_lifted = |point: &&Point| point.key.test.starts_with(OF_TABLE);
    let replicas: BTreeSet<u32> = (run.points.iter().filter(is_lifted))
        .map(|point| point.key.target)
        .collect();
    let mixed = mixed::grid(run);
    let is_study = !replicas.is_empty();
    if !is_study && mixed.is_none() {
        return View {
            studies: Vec::new(),
        };
    }
    let own_sizes = is_study.then(|| sizes::own(run, &replicas));
    let own = Study {
        title: "This platform".into(),
        sizes: own_sizes.into_iter().collect(),
        figures: match is_study {
            true => figures(run, &replicas)
                .into_iter()
                .chain(changes::figures(run, &replicas))
                .collect(),
            false => Vec::new(),
        },
        mixed,
    };
    let published = sizes::published().filter(|_| is_study);
    View {
        studies: std::iter::once(own).chain(published).collect(),
    }
}

/// Figures 6 to 8 and 12 for one user, 10, 11, 13 and 14 for several.
fn figures(run: &Run, replicas: &BTreeSet<u32>) -> Vec<Figure> {
    let targets: Vec<u32> = std::iter::once(DISK)
        .chain(replicas.iter().copied())
        .collect();
    let mut figures = Vec::new();
    for asked in Asked::of(run) {
        let who = asked.who();
        let named = |what: &str| format!("{who}: {what}");
        figures.extend(figure(
            named("speed relative to disk, in percent"),
            "The time that all queries took on disk, divided by their time at the level. At each degree of parallelism \
             the disk is 100 %, so that bars of different degrees do not compare; where the disk's engine takes no such \
             degree its nearest one stands for it.",
            &rows(run, &asked, &targets, |target, dop| {
                let disk_s = asked.elapsed_s(run, DISK, dop)?;
                Some(100.0 * quotient(asked.elapsed_s(run, target, dop)?, disk_s)?)
            }),
            asked.published_speed(),
        ));
        figures.extend(figure(
            named("average CPU utilisation, in percent"),
            "Processor time of the whole machine that was not idle, over the time of all queries.",
            &rows(run, &asked, &targets, |target, dop| {
                asked.cpu_pct_avg(run, target, dop)
            }),
            asked.published_average(),
        ));
        figures.extend(figure(
            named("peak CPU utilisation, in percent"),
            "The busiest sample of any query: how hard the machine was pushed, be it once.",
            &rows(run, &asked, &targets, |target, dop| {
                asked.cpu_pct_peak(run, target, dop)
            }),
            asked.published_peak(),
        ));
    }
    figures
}

/// Average of a figure over points, each by its time; those that are too short to be sampled do not matter.
fn averaged<'a>(
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
struct Row {
    dop: u32,
    name: String,
    colour: usize,
    value: Option<f64>,
}

fn rows(
    run: &Run,
    asked: &Asked,
    targets: &[u32],
    value: impl Fn(u32, u32) -> Option<f64>,
) -> Vec<Row> {
    let mut rows = Vec::new();
    for dop in asked.degrees(run) {
        for (colour, target) in targets.iter().enumerate() {
            rows.push(Row {
                dop,
                name: name(run, *target),
                colour,
                value: value(*target, dop).filter(|_| is_sound(run, *target)),
            });
        }
    }
    rows
}

/// Whether everything that was lifted into a target, if anything was, is what it should be: of a level that failed
/// nothing is drawn.
fn is_sound(run: &Run, target: u32) -> bool {
    let is_lifted = |p: &&Point| p.key.target == target && p.key.test.starts_with(OF_TABLE);
    run.points.iter().filter(is_lifted).all(Point::valid)
}

/// A replica by its level alone, so that bars have room for it.
fn name(run: &Run, target: u32) -> String {
    let whole = target_name(run, target);
    match whole.split_once('+') {
        Some((_, level)) if target != DISK => level.to_owned(),
        _ => whole,
    }
}

/// A figure with its bars; nothing where no value is known.
fn figure(caption: String, how: &str, rows: &[Row], published: &str) -> Option<Figure> {
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
                (format!("{} threads a user", row.dop), cells)
            }),
        );
        let mut figure = Figure::new(caption.clone(), bars(&caption, &drawn), how.into(), table);
        figure.said.push(published.into());
        figure
    })
}

/// Median over the repetitions; `None` where a repetition is not valid.
fn figure_of<'a>(
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
