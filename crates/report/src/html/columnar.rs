//! Column-store results: sizes of tables, and the speed of the same queries relative to disk, next to published results.

mod changes;
mod mixed;
mod parts;
mod queries;
mod sizes;
mod speed_up;

use std::collections::BTreeSet;

use archive::{Point, Run};
use stats::ratio::quotient;

use super::figure::Figure;
use super::section::Fragment;
use crate::number;
use crate::scorecard::Against;
use parts::{DISK, OF_TABLE, Row, figure, is_sound, name};
use queries::Queries;

const HOW: &str = "The same queries on the same rows: on disk in the database, and in an in-memory copy at each level. The copy follows no \
     changes of the source except those of this run. Every answer was compared with the answer from disk or with the correct answer; a \
     figure that failed is “–” here and explained with its test.";

/// True if tables were populated, beyond queries that ran with order entry.
pub fn is_populated<'a>(mut runs: impl Iterator<Item = &'a Run>) -> bool {
    runs.any(|run| !replicas(run).is_empty())
}

pub fn title(run: &Run, against: &[Against<'_>]) -> &'static str {
    if is_populated(runs(run, against)) {
        "In-memory column store"
    } else {
        "Order entry and queries together"
    }
}

fn runs<'a>(run: &'a Run, against: &[Against<'a>]) -> impl Iterator<Item = &'a Run> {
    let others = against.iter().filter_map(|other| match other {
        Against::Run(other) => Some(*other),
        Against::Reference(_) => None,
    });
    std::iter::once(run).chain(others)
}

/// The results of the run, of its comparisons, and of the published study; empty without populated tables and queries that
/// ran with order entry.
pub fn view(run: &Run, against: &[Against<'_>]) -> Fragment {
    let all: Vec<&Run> = runs(run, against).collect();
    let is_populated = is_populated(all.iter().copied());
    let mut studies = Fragment::default();
    for run in &all {
        let title = match all.len() {
            1 => "This platform".to_owned(),
            _ => format!("{}: {}", run.label, scale(run)),
        };
        add(&mut studies, &title, run);
    }
    if let Some((title, sizes)) = sizes::published().filter(|_| is_populated) {
        studies.heading(3, &title);
        sizes.iter().for_each(|table| _ = studies.results(4, table));
    }
    let mut parts = Fragment::default();
    if is_populated {
        parts.how(HOW);
    }
    parts.add(&studies);
    parts.section("columnar", title(run, against))
}

/// The speed-up of each level over disk for one user, with the memory needed: a sentence per level of the run and its comparisons.
pub fn answer(run: &Run, against: &[Against<'_>]) -> Vec<String> {
    runs(run, against)
        .flat_map(|run| {
            let each = replicas(run).into_iter();
            each.filter_map(move |target| level_words(run, target))
                .collect::<Vec<_>>()
        })
        .collect()
}

/// "Scale 0.1, query-high: memory answers 3.90 × as fast as disk (geometric mean of 22 queries, 1 user, 2 threads) and needs
/// 23.1 MB for tables of 111 MB (21 %, factor 4.82)."
fn level_words(run: &Run, target: u32) -> Option<String> {
    let speed = speed_up::of_level(run, target)?;
    let times = match speed.mean {
        Some(mean) => format!(
            "memory answers {} × as fast as disk (geometric mean of {}, 1 user, {})",
            number::figure(mean),
            match speed.queries {
                1 => "1 query".to_owned(),
                queries => format!("{queries} queries"),
            },
            number::counted(u64::from(speed.dop), "thread"),
        ),
        None => "how fast memory answers is unknown: not every query is valid on both".to_owned(),
    };
    let whole = run.points.iter().find(|point| {
        point.key.target == target && point.key.test == format!("{OF_TABLE}ALL") && point.valid()
    });
    let sizes = whole.and_then(|point| {
        let figures = &point.figures;
        Some((figures.table_memory_mb?, figures.table_disk_mb?))
    });
    let needs = match sizes {
        Some((memory_mb, disk_mb)) => format!(
            "needs {} MB for tables of {} MB ({} %, factor {})",
            number::figure(memory_mb),
            number::figure(disk_mb),
            number::figure_or_unknown(quotient(disk_mb, memory_mb).map(|share| 100.0 * share)),
            number::figure_or_unknown(quotient(memory_mb, disk_mb)),
        ),
        None => "what it needs is unknown".to_owned(),
    };
    let scale = crate::remarks::capitalised(&scale(run));
    Some(format!(
        "{scale}, {}: {times}; it {needs}.",
        name(run, target)
    ))
}

fn replicas(run: &Run) -> BTreeSet<u32> {
    let is_lifted = |point: &&Point| point.key.test.starts_with(OF_TABLE);
    let lifted = run.points.iter().filter(is_lifted);
    lifted.map(|point| point.key.target).collect()
}

/// Results of a run, under a heading.
fn add(parts: &mut Fragment, title: &str, run: &Run) {
    let replicas = replicas(run);
    let mixed = mixed::tables(run);
    if replicas.is_empty() && mixed.is_empty() {
        return;
    }
    parts.heading(3, title);
    if !replicas.is_empty() {
        let figures = figures(run, &replicas).into_iter();
        let figures: Vec<Figure> = figures.chain(changes::figures(run, &replicas)).collect();
        parts
            .results(4, &sizes::own(run, &replicas))
            .figures(&figures);
        if let Some(speed_up) = speed_up::table(run, &replicas) {
            parts.results(4, &speed_up);
        }
    }
    mixed.iter().for_each(|table| _ = parts.results(4, table));
}

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
    for queries in Queries::of(run) {
        let who = queries.who();
        let named = |what: &str| format!("{who}: {what}");
        figures.extend(figure(
            named("time of all queries, s"),
            "Seconds for the queries of all users; shorter is better.",
            &rows(run, &queries, &targets, |target, dop| {
                queries.elapsed_s(run, target, dop)
            }),
            queries.published_time(),
        ));
        let first = queries.degrees(run).into_iter().min();
        let base_s = first.and_then(|dop| queries.elapsed_s(run, DISK, dop));
        figures.extend(figure(
            named("speed relative to disk at its lowest degree, %"),
            "One baseline for all bars: the time of all queries on disk at the lowest degree of parallelism is 100 %. Bars of \
             different degrees are comparable.",
            &rows(run, &queries, &targets, |target, dop| {
                Some(100.0 * quotient(queries.elapsed_s(run, target, dop)?, base_s?)?)
            }),
            queries.published_speed(),
        ));
        figures.extend(figure(
            named("speed relative to disk, %"),
            "Time of all queries on disk divided by their time at the level. Disk is 100 % at each degree of \
             parallelism, so bars of different degrees are not comparable. Where the engine on disk does not support a \
             degree, its nearest one is used.",
            &rows(run, &queries, &targets, |target, dop| {
                let disk_s = queries.elapsed_s(run, DISK, dop)?;
                Some(100.0 * quotient(queries.elapsed_s(run, target, dop)?, disk_s)?)
            }),
            queries.published_speed(),
        ));
        figures.extend(figure(
            named("average CPU utilisation, %"),
            "Non-idle processor time of the whole machine over the time of all queries.",
            &rows(run, &queries, &targets, |target, dop| {
                queries.cpu_pct_avg(run, target, dop)
            }),
            queries.published_average(),
        ));
        figures.extend(figure(
            named("peak CPU utilisation, %"),
            "The highest sample during any query.",
            &rows(run, &queries, &targets, |target, dop| {
                queries.cpu_pct_peak(run, target, dop)
            }),
            queries.published_peak(),
        ));
    }
    figures
}

fn rows(
    run: &Run,
    queries: &Queries,
    targets: &[u32],
    value: impl Fn(u32, u32) -> Option<f64>,
) -> Vec<Row> {
    let mut rows = Vec::new();
    for dop in queries.degrees(run) {
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
