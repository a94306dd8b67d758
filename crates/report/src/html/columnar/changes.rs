//! The cost of changes on the source alone and with copies that follow them.

use std::collections::BTreeSet;

use archive::reference;
use archive::{Point, Run};
use stats::ratio::quotient;

use super::parts::{DISK, Row, averaged, figure, figure_of, is_sound, name};
use crate::html::figure::Figure;

/// Orders are inserted, updated and deleted.
const CYCLE: [&str; 3] = ["COLUMNAR-INSERT", "COLUMNAR-UPDATE", "COLUMNAR-DELETE"];
/// Suffix of a change's code for the time until the copy caught up.
const LAG: &str = "-LAG";
/// The study whose chart of changes has no numbers, and the location of that chart.
const STUDY: &str = "dl580-inmemory";
const CHART: &str = "Figure 9";
const PUBLISHED_NONE: &str = "HPE's study has no such figure: there, tables in memory and on disk change in one transaction.";

/// The study's sentence on its chart.
fn published() -> String {
    let study = reference::load(STUDY).ok();
    let charts = study.iter().flat_map(|study| &study.charts);
    let notes = charts.filter(|chart| chart.place == CHART);
    let notes = notes.filter_map(|chart| chart.note.as_deref());
    std::iter::once("Figure 9 of HPE's study shows the same without numbers.")
        .chain(notes)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Time, lag and CPU of the cycles of changes; empty without cycles.
pub(super) fn figures(run: &Run, replicas: &BTreeSet<u32>) -> Vec<Figure> {
    let cycles = Cycle::of(run);
    let published = published();
    let copies: Vec<u32> = replicas.iter().copied().collect();
    let all: Vec<u32> = std::iter::once(DISK).chain(copies.clone()).collect();
    let time = rows(&cycles, &all, |cycle, target| {
        let disk_s = cycle.elapsed_s(DISK)?;
        Some(100.0 * quotient(disk_s, cycle.elapsed_s(target)?)?)
    });
    let lag = rows(&cycles, &copies, |cycle, target| cycle.lag_ms(target));
    let average = rows(&cycles, &all, |cycle, target| {
        averaged(cycle.points(target), |point| point.figures.cpu_pct_avg)
    });
    let peak = rows(&cycles, &all, |cycle, target| {
        let peaks = cycle.points(target);
        peaks
            .filter_map(|point| point.figures.cpu_pct_peak)
            .reduce(f64::max)
    });
    [
        figure(
            "Changes: time relative to disk, %".into(),
            "One thousandth of all orders is inserted, updated and deleted in the source, in three transactions. 100 % \
             is the source alone; at a level, the time includes the wait until each change was visible in the copy.",
            &time,
            &published,
        ),
        figure(
            "Changes: lag of the copy, ms".into(),
            "From the commit in the source until the change was visible in the copy; the longest of the three.",
            &lag,
            PUBLISHED_NONE,
        ),
        figure(
            "Changes: average CPU utilisation, %".into(),
            "Non-idle processor time of the whole machine; unknown for changes shorter than the sampling interval.",
            &average,
            &published,
        ),
        figure(
            "Changes: peak CPU utilisation, %".into(),
            "The highest sample during any change.",
            &peak,
            &published,
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn rows(
    cycles: &[Cycle<'_>],
    targets: &[u32],
    value: impl Fn(&Cycle<'_>, u32) -> Option<f64>,
) -> Vec<Row> {
    let row = |cycle: &Cycle<'_>, target: u32| Row {
        dop: cycle.dop,
        name: format!("{} {}", name(cycle.run, target), cycle.when),
        colour: target as usize,
        value: value(cycle, target).filter(|_| is_sound(cycle.run, target)),
    };
    let of_cycle = |cycle| targets.iter().map(move |target| (cycle, *target));
    let all = cycles.iter().flat_map(of_cycle);
    all.map(|(cycle, target)| row(cycle, target)).collect()
}

/// The changes of one step at one degree of parallelism.
struct Cycle<'a> {
    run: &'a Run,
    step: u32,
    dop: u32,
    /// Before or after the queries, if there are cycles of both kinds.
    when: &'static str,
}

impl<'a> Cycle<'a> {
    fn of(run: &'a Run) -> Vec<Self> {
        let points = run.points.iter().filter(|point| is_change(point));
        let keys: BTreeSet<(u32, u32)> = (points.clone())
            .filter(|point| point.key.target != DISK)
            .map(|point| (point.key.threads, point.key.step))
            .collect();
        let steps: BTreeSet<u32> = points.map(|point| point.key.step).collect();
        let when = |step: u32| match (steps.len(), steps.first() == Some(&step)) {
            (2, true) => "before",
            (2, false) => "after",
            _ => "",
        };
        let cycle = |(dop, step): (u32, u32)| Self {
            run,
            step,
            dop,
            when: when(step),
        };
        keys.into_iter().map(cycle).collect()
    }

    fn points(&self, target: u32) -> impl Iterator<Item = &'a Point> {
        let (run, step) = (self.run, self.step);
        let mine = move |point: &&Point| {
            is_change(point) && (point.key.target, point.key.step) == (target, step)
        };
        // The engine clamped a degree that it does not support.
        let degrees = run.points.iter().filter(mine).map(|p| p.key.threads);
        let taken = degrees.filter(|degree| *degree <= self.dop).max();
        run.points
            .iter()
            .filter(mine)
            .filter(move |point| Some(point.key.threads) == taken)
    }

    /// Sum of the three changes, each the median over its repetitions.
    fn elapsed_s(&self, target: u32) -> Option<f64> {
        let of = |code: &str| {
            let points = self.points(target).filter(|p| p.key.test == code);
            figure_of(points, |point| point.figures.elapsed_s)
        };
        CYCLE.into_iter().map(of).sum()
    }

    fn lag_ms(&self, target: u32) -> Option<f64> {
        let of = |code: &str| {
            let code = format!("{code}{LAG}");
            let points = self.run.points.iter().filter(|point| {
                point.key.test == code
                    && (point.key.target, point.key.step, point.key.threads)
                        == (target, self.step, self.dop)
            });
            figure_of(points, |point| point.figures.elapsed_s)
        };
        let lags: Option<Vec<f64>> = CYCLE.into_iter().map(of).collect();
        lags?.into_iter().reduce(f64::max).map(|s| s * 1e3)
    }
}

fn is_change(point: &Point) -> bool {
    CYCLE.contains(&point.key.test.as_str())
}
