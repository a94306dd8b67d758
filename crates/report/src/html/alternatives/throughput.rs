//! Throughput and request times of the devices below each alternative, by test.

use archive::Run;
use stats::summary;
use verdict::contrasts::OfMetric;

use crate::devices::{self, Kind, Used};
use crate::level::{self, Level};
use crate::{number, scorecard};

/// Most devices per alternative; the archive and the JSON have all.
const DEVICES_MAX: usize = 8;

pub struct OfTest {
    pub code: String,
    pub title: String,
    pub moved: Vec<Moved>,
    pub devices: Vec<OfAlternative>,
}

pub struct Moved {
    pub name: String,
    /// Peak, 95th percentile and mean of reads and writes together, then means of reads and of writes, MB/s; median time.
    pub cells: [String; 6],
}

pub struct OfAlternative {
    pub name: String,
    pub rows: Vec<DeviceRow>,
    pub more: usize,
}

/// One device: its name, the files on it, and its requests.
pub struct DeviceRow {
    pub name: String,
    pub place: String,
    pub cells: [String; 10],
}

pub fn of_tests(runs: &[(&str, &Run)], metrics: &[OfMetric]) -> Vec<OfTest> {
    let mut tests: Vec<OfTest> = Vec::new();
    for of_metric in metrics {
        let metric = &of_metric.metric;
        if tests.iter().any(|test| test.code == metric.test) {
            continue;
        }
        let mut test = OfTest {
            code: metric.test.clone(),
            title: String::new(),
            moved: Vec::new(),
            devices: Vec::new(),
        };
        for (name, run) in runs {
            test.add(name, run, &metric.figure);
        }
        if !test.moved.is_empty() {
            tests.push(test);
        }
    }
    tests
}

impl OfTest {
    fn add(&mut self, name: &str, run: &Run, figure: &str) {
        let groups = level::tests(run, scorecard::rank);
        let group = groups.iter().find(|group| group.test == self.code);
        let curve = group.and_then(|group| group.curves.first());
        let Some(level) = curve.and_then(|curve| devices::best(curve, figure)) else {
            return;
        };
        self.title = level.first().title.clone();
        self.moved.push(Moved {
            name: name.to_owned(),
            cells: moved(&level),
        });
        let at_level = devices::of_level(&level, DEVICES_MAX);
        self.devices.push(OfAlternative {
            name: name.to_owned(),
            rows: at_level.devices.into_iter().map(row).collect(),
            more: at_level.more,
        });
    }
}

fn moved(level: &Level<'_>) -> [String; 6] {
    let samples = level.points.iter().flat_map(|point| &point.samples);
    let of_sample = |sample: &archive::Sample| Some(sample.read_mb_per_s? + sample.write_mb_per_s?);
    let each: Vec<f64> = samples.filter_map(of_sample).collect();
    let means = level.points.iter().filter_map(|point| {
        let figures = &point.figures;
        Some(figures.read_mb_per_s? + figures.write_mb_per_s?)
    });
    let means: Vec<f64> = means.collect();
    [
        each.iter().copied().reduce(f64::max),
        summary::quantile(&each, 0.95),
        summary::median(&means),
        level.figure("read_mb_per_s"),
        level.figure("write_mb_per_s"),
        level.figure("elapsed_s"),
    ]
    .map(number::figure_or_unknown)
}

fn row(used: Used) -> DeviceRow {
    let of = |kind: &Kind| {
        [
            number::figure_or_unknown(kind.iops),
            number::figure_or_unknown(kind.mb_per_s),
            number::latency(kind.mean_us),
            number::latency(kind.p99_us),
        ]
    };
    let load = [
        number::figure_or_unknown(used.queue_mean),
        number::figure_or_unknown(used.busy_pct),
    ];
    let [reads, writes] = [of(&used.reads), of(&used.writes)];
    let mut all = reads.into_iter().chain(writes).chain(load);
    DeviceRow {
        name: used.name,
        place: used.place,
        cells: std::array::from_fn(|_| all.next().unwrap_or_default()),
    }
}
