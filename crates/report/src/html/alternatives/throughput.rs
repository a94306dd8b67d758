//! Throughput and request times of the devices below each alternative, by test.

use archive::{Cell, Run, Table};
use stats::summary;
use verdict::contrasts::OfMetric;

use crate::devices::{self, COLUMNS, cells};
use crate::html::section::Fragment;
use crate::level::{self, Level};
use crate::scorecard;

/// Most devices per alternative; the archive and the JSON have all.
const DEVICES_MAX: usize = 8;
const MOVED: &str = "alternative | peak [MB/s] | p95 [MB/s] | mean [MB/s] | reads [MB/s] | writes [MB/s] | time [s]";
const HOW: &str = "Devices that hold files of the database, sums counted once. Peak and p95: of the samples of all rounds. Mean, reads, \
     writes, time: median of the rounds. mean, p99 of requests: response times at the device.";

pub fn of_tests(runs: &[(&str, &Run)], metrics: &[OfMetric]) -> Fragment {
    let mut parts = Fragment::default();
    let mut tests: Vec<&str> = Vec::new();
    for of_metric in metrics {
        let test = of_metric.metric.test.as_str();
        if !tests.contains(&test) {
            tests.push(test);
            add(&mut parts, runs, test, &of_metric.metric.figure);
        }
    }
    if !parts.is_empty() {
        parts.how(HOW);
    }
    parts
}

fn add(parts: &mut Fragment, runs: &[(&str, &Run)], test: &str, figure: &str) {
    let (mut of_all, mut of_each) = (Table::new(MOVED), Table::new(COLUMNS));
    let mut title = String::new();
    for (name, run) in runs {
        let groups = level::tests(run, scorecard::rank);
        let group = groups.iter().find(|group| group.test == test);
        let curve = group.and_then(|group| group.curves.first());
        let Some(level) = curve.and_then(|curve| devices::best(curve, figure)) else {
            continue;
        };
        title = format!("{test} {}: devices", level.first().title);
        of_all.row(moved(name, &level));
        let at_level = devices::of_level(&level, DEVICES_MAX);
        of_each.heading(*name);
        at_level
            .devices
            .iter()
            .for_each(|device| of_each.row(cells(device)));
        if at_level.more > 0 {
            of_each.heading(format!("\nand {} more; see the archive", at_level.more));
        }
    }
    parts
        .heading(3, &title)
        .table("", &format!("Throughput of the devices, {test}"), &of_all)
        .table("devices", &format!("Each device, {test}"), &of_each);
}

fn moved(name: &str, level: &Level<'_>) -> [Cell; 7] {
    let samples = level.points.iter().flat_map(|point| &point.samples);
    let of_sample = |sample: &archive::Sample| Some(sample.read_mb_per_s? + sample.write_mb_per_s?);
    let each: Vec<f64> = samples.filter_map(of_sample).collect();
    let means = level.points.iter().filter_map(|point| {
        let figures = &point.figures;
        Some(figures.read_mb_per_s? + figures.write_mb_per_s?)
    });
    let means: Vec<f64> = means.collect();
    [
        name.into(),
        each.iter().copied().reduce(f64::max).into(),
        summary::quantile(&each, 0.95).into(),
        summary::median(&means).into(),
        level.figure("read_mb_per_s").into(),
        level.figure("write_mb_per_s").into(),
        level.figure("elapsed_s").into(),
    ]
}
