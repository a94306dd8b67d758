//! What lifting tables was worth: their sizes, and the speed of the same queries relative to the disk, beside what
//! was published of another platform.

mod changes;
mod mixed;
mod parts;
mod queries;
mod sizes;
mod speed_up;

use std::collections::BTreeSet;

use archive::{Point, Run};
use askama::Template;
use stats::ratio::quotient;

use super::figure::Figure;
use crate::scorecard::Against;
use parts::{DISK, OF_TABLE, Row, Study, figure, is_sound, name};
use queries::Queries;

/// The section.
#[derive(Template)]
#[template(path = "columnar.html", whitespace = "minimize")]
pub struct View {
    studies: Vec<Study>,
}

impl View {
    /// True where nothing was lifted, nor measured beside order entry.
    pub fn is_empty(&self) -> bool {
        self.studies.is_empty()
    }

    /// What is shown.
    pub fn title(&self) -> &'static str {
        match self.is_lifted() {
            true => "In-memory column store",
            false => "Order entry and queries together",
        }
    }

    /// Whether tables were lifted, not only queries asked beside order entry.
    fn is_lifted(&self) -> bool {
        self.studies.iter().any(|study| !study.sizes.is_empty())
    }
}

/// Builds the view: of the run, of those that it is set beside, and what was published.
pub fn view(run: &Run, against: &[Against<'_>]) -> View {
    let others = against.iter().filter_map(|other| match other {
        Against::Run(other) => Some(*other),
        Against::Reference(_) => None,
    });
    let runs: Vec<&Run> = std::iter::once(run).chain(others).collect();
    let is_alone = runs.len() == 1;
    let mut studies: Vec<Study> = (runs.iter())
        .filter_map(|run| of_run(run, is_alone))
        .collect();
    if studies.iter().any(|study| !study.sizes.is_empty()) {
        studies.extend(sizes::published());
    }
    View { studies }
}

/// What a run found; `None` where nothing was lifted, nor measured beside order entry.
fn of_run(run: &Run, is_alone: bool) -> Option<Study> {
    let is_lifted = |point: &&Point| point.key.test.starts_with(OF_TABLE);
    let replicas: BTreeSet<u32> = (run.points.iter().filter(is_lifted))
        .map(|point| point.key.target)
        .collect();
    let mixed = mixed::grids(run);
    let is_study = !replicas.is_empty();
    if !is_study && mixed.is_empty() {
        return None;
    }
    let own_sizes = is_study.then(|| sizes::own(run, &replicas));
    Some(Study {
        title: match is_alone {
            true => "This platform".into(),
            false => format!("{}: {}", run.label, scale(run)),
        },
        speed_up: is_study.then(|| speed_up::grid(run, &replicas)).flatten(),
        sizes: own_sizes.into_iter().collect(),
        figures: match is_study {
            true => figures(run, &replicas)
                .into_iter()
                .chain(changes::figures(run, &replicas))
                .collect(),
            false => Vec::new(),
        },
        mixed,
    })
}

/// The scale that was loaded, in words.
fn scale(run: &Run) -> String {
    let sizes = run.points.iter().map(|point| point.work.size.as_str());
    let mut scales = sizes.filter(|size| size.starts_with("scale "));
    scales.next().unwrap_or("scale unknown").to_owned()
}

/// Figures 6 to 8 and 12 for one user, 10, 11, 13 and 14 for several.
fn figures(run: &Run, replicas: &BTreeSet<u32>) -> Vec<Figure> {
    let targets: Vec<u32> = std::iter::once(DISK)
        .chain(replicas.iter().copied())
        .collect();
    let mut figures = Vec::new();
    for asked in Queries::of(run) {
        let who = asked.who();
        let named = |what: &str| format!("{who}: {what}");
        figures.extend(figure(
            named("time of all queries, s"),
            "Seconds for the queries of all users; shorter is better.",
            &rows(run, &asked, &targets, |target, dop| {
                asked.elapsed_s(run, target, dop)
            }),
            asked.published_time(),
        ));
        let first = asked.degrees(run).into_iter().min();
        let base_s = first.and_then(|dop| asked.elapsed_s(run, DISK, dop));
        figures.extend(figure(
            named("speed relative to disk at its lowest degree, %"),
            "One baseline for all bars: the time of all queries on disk at the lowest degree of parallelism is 100 %. Bars of \
             different degrees are comparable.",
            &rows(run, &asked, &targets, |target, dop| {
                Some(100.0 * quotient(asked.elapsed_s(run, target, dop)?, base_s?)?)
            }),
            asked.published_speed(),
        ));
        figures.extend(figure(
            named("speed relative to disk, %"),
            "Time of all queries on disk divided by their time at the level. Disk is 100 % at each degree of \
             parallelism, so bars of different degrees are not comparable. Where the engine on disk does not support a \
             degree, its nearest one is used.",
            &rows(run, &asked, &targets, |target, dop| {
                let disk_s = asked.elapsed_s(run, DISK, dop)?;
                Some(100.0 * quotient(asked.elapsed_s(run, target, dop)?, disk_s)?)
            }),
            asked.published_speed(),
        ));
        figures.extend(figure(
            named("average CPU utilisation, %"),
            "Non-idle processor time of the whole machine over the time of all queries.",
            &rows(run, &asked, &targets, |target, dop| {
                asked.cpu_pct_avg(run, target, dop)
            }),
            asked.published_average(),
        ));
        figures.extend(figure(
            named("peak CPU utilisation, %"),
            "The highest sample during any query.",
            &rows(run, &asked, &targets, |target, dop| {
                asked.cpu_pct_peak(run, target, dop)
            }),
            asked.published_peak(),
        ));
    }
    figures
}

fn rows(
    run: &Run,
    asked: &Queries,
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
