//! Activity of each block device: a table per level, and request times over time at the best level.

mod charts;

use archive::{Component, Point};
use askama::Template;

use super::figure::Figure;
use super::sweep::Rate;
use crate::devices::{AtLevel, Kind, Used, best, of_level};
use crate::level::{Curve, Level, TestGroup};
use crate::number;

/// Most devices of one level; the archive and the JSON have all.
const DEVICES_MAX: usize = 24;
/// Most levels of one test besides the best ones.
const LEVELS_MAX: usize = 24;
const FIGURES_MAX: usize = 12;
const CELLS: usize = 15;

#[derive(Template)]
#[template(path = "devices.html", whitespace = "minimize")]
pub struct View {
    code: String,
    best: Vec<LevelView>,
    others: Vec<LevelView>,
    levels_more: usize,
    /// Request times over time at the best levels.
    figures: Vec<Figure>,
    figures_more: usize,
    /// Work that does not aim at the devices has its charts folded.
    is_folded: bool,
}

struct LevelView {
    /// "sqlite @4".
    title: String,
    rows: Vec<RowView>,
    more: usize,
}

struct RowView {
    name: String,
    place: String,
    cells: [String; CELLS],
}

/// Builds the part; empty if devices were not sampled.
pub fn view(group: &TestGroup<'_>, rate: Rate) -> View {
    let mut view = View {
        code: group.test.to_owned(),
        best: Vec::new(),
        others: Vec::new(),
        levels_more: 0,
        figures: Vec::new(),
        figures_more: 0,
        is_folded: group.component != Component::Storage,
    };
    for curve in &group.curves {
        view.add(curve, rate);
    }
    view.levels_more = view.others.len().saturating_sub(LEVELS_MAX);
    view.others.truncate(LEVELS_MAX);
    view.figures_more = view.figures.len().saturating_sub(FIGURES_MAX);
    view.figures.truncate(FIGURES_MAX);
    view
}

impl View {
    pub fn is_empty(&self) -> bool {
        self.best.is_empty()
    }

    fn add(&mut self, curve: &Curve<'_>, rate: Rate) {
        let Some(best) = best(curve, rate.name) else {
            return;
        };
        let others = curve.levels.iter().filter(|l| l.number != best.number);
        self.others
            .extend(others.filter_map(|level| level_view(curve, &level.shown())));
        // The repetition with the most samples.
        let samples =
            |point: &Point| -> usize { point.devices.iter().map(|d| d.samples.len()).sum() };
        let point = best.points.iter().max_by_key(|point| samples(point));
        let Some(view) = level_view(curve, &best) else {
            return;
        };
        for row in &view.rows {
            let mut devices = point.into_iter().flat_map(|point| &point.devices);
            if let Some(device) = devices.find(|device| device.name == row.name) {
                let title = format!("{} · {}", view.title, row.name);
                self.figures.extend(charts::figures(&title, device));
            }
        }
        self.best.push(view);
    }
}

fn place(curve: &Curve<'_>, level: &Level<'_>) -> String {
    format!("{} @{}", curve.label, level.dop())
}

fn level_view(curve: &Curve<'_>, level: &Level<'_>) -> Option<LevelView> {
    let AtLevel { devices, more } = of_level(level, DEVICES_MAX);
    (!devices.is_empty()).then(|| LevelView {
        title: place(curve, level),
        rows: devices.into_iter().map(row).collect(),
        more,
    })
}

fn row(used: Used) -> RowView {
    let [reads, writes] = [&used.reads, &used.writes].map(moved);
    let flushes = &used.flushes;
    let of_flushes = [
        number::figure_or_unknown(flushes.iops),
        number::latency(flushes.mean_us),
        number::latency(flushes.p99_us),
    ];
    let load = [
        number::figure_or_unknown(used.queue_mean),
        number::figure_or_unknown(used.busy_pct),
    ];
    let mut all = reads
        .into_iter()
        .chain(writes)
        .chain(of_flushes)
        .chain(load);
    RowView {
        name: used.name,
        place: used.place,
        cells: std::array::from_fn(|_| all.next().unwrap_or_default()),
    }
}

fn moved(kind: &Kind) -> [String; 5] {
    [
        number::figure_or_unknown(kind.iops),
        number::figure_or_unknown(kind.mb_per_s),
        number::figure_or_unknown(kind.kb_mean),
        number::latency(kind.mean_us),
        number::latency(kind.p99_us),
    ]
}
