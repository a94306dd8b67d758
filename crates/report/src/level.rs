//! A run's points in order: tests → curves (one per target and step) → levels (one per degree of parallelism, with its repetitions). Every
//! chart and table starts here.

use archive::{Component, Figures, Latency, Point, Remark, Run, Section, Table};
use stats::summary;
use stats::{Histogram, HistogramSnapshot};

use crate::component::place;

/// Repetitions with the same test, target and parallelism.
#[derive(Debug, Clone)]
pub struct Level<'a> {
    /// Number of its first point within the run, from 1 (the column "Tst").
    pub number: usize,
    /// Its points in the order of the repetitions; never empty.
    pub points: Vec<&'a Point>,
}

impl<'a> Level<'a> {
    /// The first repetition, which represents the shared key, title and work.
    pub fn first(&self) -> &'a Point {
        self.points
            .first()
            .expect("a level is made from at least one point")
    }

    pub fn dop(&self) -> u32 {
        self.first().key.dop()
    }

    pub fn invalid(&self) -> usize {
        self.points.iter().filter(|p| !p.valid()).count()
    }

    /// Only the valid repetitions; `None` if there are none.
    pub fn only_valid(&self) -> Option<Level<'a>> {
        let points: Vec<_> = self.points.iter().copied().filter(|p| p.valid()).collect();
        (!points.is_empty()).then_some(Level {
            number: self.number,
            points,
        })
    }

    /// True if most repetitions were to read from the device and read from a cache, so that their rates say nothing about the device.
    pub fn is_from_cache(&self) -> bool {
        let is_served = |point: &&&Point| {
            let notes = &mut point.notes.iter();
            notes.any(|note| matches!(note, Remark::ServedFromCache { .. }))
        };
        self.points.iter().filter(is_served).count() * 2 > self.points.len()
    }

    /// The tabulated repetitions: the valid ones if any, else all of them (marked).
    pub fn shown(&self) -> Level<'a> {
        self.only_valid().unwrap_or_else(|| self.clone())
    }

    /// Median over the repetitions of the figure `name`, or of a percentile such as `response_us_p99`, which is read from the merged
    /// histogram and never averaged.
    pub fn figure(&self, name: &str) -> Option<f64> {
        match latency_name(name) {
            Some((kind, end)) => self.latency(kind, end),
            None => summary::median(&self.each(name)),
        }
    }

    /// Smallest and largest value over the repetitions, if at least two have the figure.
    pub fn range(&self, name: &str) -> Option<(f64, f64)> {
        span(self.each(name))
    }

    /// True for a labelled extra: contention on an engine that scales no further. It explains the engine and is no figure of the platform,
    /// so it wins no rule and joins no curve.
    pub fn extra(&self) -> bool {
        let mut notes = self.points.iter().flat_map(|p| &p.notes);
        notes.any(|note| matches!(note, Remark::ContentionExtra { .. }))
    }

    /// Mean service time of one row, for tests whose operation is a batch of rows.
    pub fn row_us_mean(&self) -> Option<f64> {
        row_us_mean(&self.points)
    }

    /// Smallest and largest [`Level::row_us_mean`] over the repetitions, if at least two have it.
    pub fn row_us_range(&self) -> Option<(f64, f64)> {
        let each = self.points.iter().filter_map(|p| row_us_mean(&[p]));
        span(each.collect())
    }

    /// Idle hardware threads at the CPU share `cpu` (average or peak); `None` if the host does not report both.
    pub fn cores_left(&self, threads: Option<u32>, cpu: &str) -> Option<f64> {
        let busy = (self.figure(cpu)? / 100.0).clamp(0.0, 1.0);
        Some(f64::from(threads?) * (1.0 - busy))
    }

    pub fn service(&self) -> HistogramSnapshot {
        self.merged(Kind::Service)
    }

    pub fn response(&self) -> HistogramSnapshot {
        self.merged(Kind::Response)
    }

    /// Known values of a figure, one per repetition.
    fn each(&self, name: &str) -> Vec<f64> {
        self.points
            .iter()
            .filter_map(|p| match latency_name(name) {
                Some((kind, end)) => named(kind.of(p), end),
                None => p.figures.get(name),
            })
            .filter(|v| v.is_finite())
            .collect()
    }

    fn latency(&self, kind: Kind, end: &str) -> Option<f64> {
        named(&self.merged(kind), end)
    }

    fn merged(&self, kind: Kind) -> HistogramSnapshot {
        if let [only] = self.points[..] {
            return kind.of(only).clone();
        }
        let mut whole = Histogram::new();
        for point in &self.points {
            whole.merge_snapshot(kind.of(point));
        }
        (&whole).into()
    }
}

fn span(values: Vec<f64>) -> Option<(f64, f64)> {
    let low = values.iter().copied().reduce(f64::min)?;
    let high = values.iter().copied().reduce(f64::max)?;
    (values.len() > 1).then_some((low, high))
}

/// Time in the target divided by the rows returned.
fn row_us_mean(points: &[&Point]) -> Option<f64> {
    let (mut time_us, mut rows) = (0.0, 0.0);
    for point in points {
        let service = Latency::of(&point.histograms.service)?;
        time_us += service.mean_us * point.figures.operations?;
        rows += point.figures.rows?;
    }
    (rows > 0.0).then(|| time_us / rows)
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Service,
    Response,
}

impl Kind {
    fn of(self, point: &Point) -> &HistogramSnapshot {
        match self {
            Self::Service => &point.histograms.service,
            Self::Response => &point.histograms.response,
        }
    }
}

/// Splits `service_us_p99`.
fn latency_name(name: &str) -> Option<(Kind, &str)> {
    name.strip_prefix("service_us_")
        .map(|end| (Kind::Service, end))
        .or_else(|| {
            name.strip_prefix("response_us_")
                .map(|end| (Kind::Response, end))
        })
}

fn named(histogram: &HistogramSnapshot, end: &str) -> Option<f64> {
    let latency = Latency::of(histogram)?;
    latency
        .named()
        .into_iter()
        .find(|(name, _)| *name == end)
        .map(|(_, value)| value)
}

/// True when `name` is a figure of a result row or a latency percentile.
pub fn is_figure(name: &str) -> bool {
    Figures::default().set(name, None)
        || latency_name(name).is_some_and(|(_, end)| {
            ["mean", "p50", "p90", "p95", "p99", "p99_9", "max"].contains(&end)
        })
}

/// The sweep of one test on one target.
#[derive(Debug, Clone)]
pub struct Curve<'a> {
    /// Target, as an index into the run's targets.
    pub target: u32,
    pub step: u32,
    /// Name of the target, with the step if a test occurs in several.
    pub label: String,
    /// Levels in ascending parallelism.
    pub levels: Vec<Level<'a>>,
}

impl<'a> Curve<'a> {
    pub fn points(&self) -> impl Iterator<Item = &'a Point> {
        self.levels
            .iter()
            .flat_map(|level| level.points.iter().copied())
    }

    /// The level with the largest `figure`, reduced to its valid points; never an extra or one that a cache answered, and the smallest
    /// parallelism of equals.
    pub fn peak(&self, figure: &str) -> Option<Level<'a>> {
        self.levels
            .iter()
            .filter(|level| !level.extra())
            .filter_map(Level::only_valid)
            .filter(|level| !level.is_from_cache())
            .filter_map(|level| level.figure(figure).map(|value| (value, level)))
            .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.dop().cmp(&a.1.dop())))
            .map(|(_, level)| level)
    }
}

#[derive(Debug, Clone)]
pub struct TestGroup<'a> {
    pub test: &'a str,
    pub title: &'a str,
    pub component: Component,
    pub curves: Vec<Curve<'a>>,
}

impl TestGroup<'_> {
    /// True if I/Os went straight to files or devices.
    pub fn below_database(&self) -> bool {
        let mut levels = self.curves.iter().flat_map(|c| &c.levels);
        levels.any(|level| level.first().work.below_database)
    }

    fn first_step(&self) -> Option<u32> {
        self.curves.iter().map(|curve| curve.step).min()
    }
}

/// The tests of a run in the order of the scorecard: by component, then by `rank`, then by the plan's step, then by code.
pub fn tests<'a>(run: &'a Run, rank: impl Fn(&str) -> usize) -> Vec<TestGroup<'a>> {
    let mut groups: Vec<TestGroup<'a>> = Vec::new();
    for (index, point) in run.points.iter().enumerate() {
        let group = match groups.iter().position(|g| g.test == point.key.test) {
            Some(at) => at,
            None => {
                groups.push(TestGroup {
                    test: &point.key.test,
                    title: &point.title,
                    component: point.component,
                    curves: Vec::new(),
                });
                groups.len() - 1
            }
        };
        add(&mut groups[group], index + 1, point);
    }
    for group in &mut groups {
        finish(group, run);
    }
    groups.sort_by_key(|g| (place(g.component), rank(g.test), g.first_step(), g.test));
    groups
}

/// Adds a point to its curve and level.
fn add<'a>(group: &mut TestGroup<'a>, number: usize, point: &'a Point) {
    let key = &point.key;
    let same = |c: &Curve<'_>| c.target == key.target && c.step == key.step;
    let at = match group.curves.iter().position(same) {
        Some(at) => at,
        None => {
            group.curves.push(Curve {
                target: key.target,
                step: key.step,
                label: String::new(),
                levels: Vec::new(),
            });
            group.curves.len() - 1
        }
    };
    let levels = &mut group.curves[at].levels;
    let shape = |p: &Point| (p.key.nodes, p.key.jobs, p.key.threads);
    match levels.iter_mut().find(|l| shape(l.first()) == shape(point)) {
        Some(level) => level.points.push(point),
        None => levels.push(Level {
            number,
            points: vec![point],
        }),
    }
}

/// Names and sorts the curves and their levels.
fn finish(group: &mut TestGroup<'_>, run: &Run) {
    group.curves.sort_by_key(|c| (c.target, c.step));
    let targets: Vec<u32> = group.curves.iter().map(|c| c.target).collect();
    for curve in &mut group.curves {
        let name = target_name(run, curve.target);
        let several = targets.iter().filter(|t| **t == curve.target).count() > 1;
        curve.label = if several {
            format!("{name} (step {})", curve.step)
        } else {
            name
        };
        curve.levels.sort_by_key(|l| {
            let key = &l.first().key;
            (key.dop(), key.nodes, key.jobs)
        });
        for level in &mut curve.levels {
            level.points.sort_by_key(|p| p.key.repetition);
        }
    }
}

/// Name of a target for tables, defined for any index.
/// Pseudo-figures, derived from a figure and the host's hardware threads.
pub const CORES_LEFT_AVG: &str = "cores_left_avg";
pub const CORES_LEFT_PEAK: &str = "cores_left_peak";

/// A figure of a level, measured or derived.
pub fn derived(run: &Run, level: &Level<'_>, figure: &str) -> Option<f64> {
    match figure {
        CORES_LEFT_AVG => level.cores_left(run.platform.threads, "cpu_pct_avg"),
        CORES_LEFT_PEAK => level.cores_left(run.platform.threads, "cpu_pct_peak"),
        figure => level.figure(figure),
    }
}

/// Tests that a target cannot run.
pub fn missing(run: &Run) -> Section {
    let mut table = Table::new("target | test | reason");
    for missing in &run.missing {
        let test = format!("{} {}", missing.test, missing.title);
        table.row([
            target_name(run, missing.target),
            test,
            missing.reason.to_string(),
        ]);
    }
    let section = Section::new("Missing capabilities");
    if table.rows.is_empty() {
        return section;
    }
    section
        .note("Tests that a target cannot run; their figures are not estimated.")
        .table(table)
}

pub fn target_name(run: &Run, target: u32) -> String {
    if run.is_of_parameter_file() {
        return storage_name(run);
    }
    run.targets
        .get(target as usize)
        .map(|t| t.name.clone())
        .filter(|n| !n.is_empty())
        .unwrap_or_else(|| format!("target {}", target + 1))
}

/// The files and devices of a parameter file: "/dev/vdb and 2 more".
pub fn storage_name(run: &Run) -> String {
    let settings = run.targets.iter().flat_map(|target| &target.settings);
    let paths = settings.filter(|(name, _)| name.starts_with("sd "));
    let mut paths: Vec<&str> = paths
        .filter_map(|(_, opened)| opened.split(", ").next())
        .collect();
    paths.sort_unstable();
    paths.dedup();
    match paths[..] {
        [] => archive::OF_PARAMETER_FILES.to_owned(),
        [one] => one.to_owned(),
        [first, ref rest @ ..] => format!("{first} and {} more", rest.len()),
    }
}
