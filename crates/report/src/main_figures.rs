//! The main figures of a run: those of the first screen, of the summary and of the grade.

use std::collections::BTreeSet;

use archive::{Component, FIGURES, PointKey, Run};

use crate::level::{Curve, Level, TestGroup};
use crate::scorecard::{self, Line, Rule};

/// The best level of one test on one target.
#[derive(Debug, Clone)]
pub struct MainFigure<'a> {
    pub component: Component,
    /// "Random read", without the code of its test.
    pub name: String,
    pub test: &'a str,
    pub target: u32,
    pub figure: &'static str,
    pub unit: &'static str,
    /// Printed value = figure × scale.
    pub scale: f64,
    pub line: Option<&'static Line>,
    /// Its valid repetitions.
    pub level: Level<'a>,
    pub curve: Curve<'a>,
}

impl MainFigure<'_> {
    /// Median over the repetitions, in its unit.
    pub fn value(&self) -> f64 {
        self.level.figure(self.figure).unwrap_or(0.0) * self.scale
    }

    /// Largest distance of a repetition from the median, in percent of it; `None` if it was measured once.
    pub fn spread_pct(&self) -> Option<f64> {
        let (low, high) = self.level.range(self.figure)?;
        let middle = self.level.figure(self.figure).filter(|v| *v > 0.0)?;
        Some((high - middle).max(middle - low) / middle * 100.0)
    }

    /// A percentile of its response times, µs. A time of a processor test covers many operations, that of a storage test a batch of I/Os.
    pub fn latency(&self, percentile: &str) -> Option<f64> {
        const OF_DEVICE: [&str; 4] = ["read_iops", "write_iops", "read_mb_per_s", "write_mb_per_s"];
        let name = format!("response_us_{percentile}");
        let is_of_operations =
            self.component != Component::Cpu && !OF_DEVICE.contains(&self.figure);
        self.level.figure(&name).filter(|_| is_of_operations)
    }

    pub fn says(&self) -> Option<&'static str> {
        self.line?.says.as_deref()
    }

    pub fn is_observation(&self) -> bool {
        self.test == PointKey::OBSERVATION
    }

    /// "Random read (T626)"
    pub fn title(&self) -> String {
        match self.is_observation() {
            true => self.name.clone(),
            false => format!("{} ({})", self.name, self.test),
        }
    }

    /// Values of the curve by degree of parallelism, valid levels only.
    pub fn by_degree(&self) -> Vec<(u32, f64)> {
        let levels = self.curve.levels.iter().filter(|level| !level.extra());
        let valid = levels.filter_map(Level::only_valid);
        valid
            .filter_map(|level| Some((level.dop(), level.figure(self.figure)? * self.scale)))
            .collect()
    }
}

/// Transactions before storage, and the processor's own tests last: readers of the first screen ask in this order.
const ORDER: [Component; 4] = [
    Component::Database,
    Component::Storage,
    Component::Server,
    Component::Cpu,
];

/// The headlines of the scorecard; for a component without any, the best level of each of its tests.
pub fn main_figures<'a>(run: &Run, groups: &[TestGroup<'a>]) -> Vec<MainFigure<'a>> {
    let of_lines = scorecard::lines().iter().filter(|line| line.headline);
    let mut found: Vec<MainFigure<'a>> = of_lines
        .flat_map(|line| of_line(run, groups, line))
        .collect();
    let with_headline: BTreeSet<Component> = found.iter().map(|main| main.component).collect();
    let others = groups
        .iter()
        .filter(|g| !with_headline.contains(&g.component));
    found.extend(others.flat_map(|group| best_of(run, group)));
    found.sort_by_key(|main| ORDER.iter().position(|each| *each == main.component));
    found
}

fn of_line<'a>(run: &Run, groups: &[TestGroup<'a>], line: &'static Line) -> Vec<MainFigure<'a>> {
    debug_assert_eq!(line.rule, Rule::Maximum, "a headline is the best level");
    let groups = groups.iter().filter(|group| group.test == line.test);
    let name = match line.label.as_str() {
        "throughput" => line.group.clone(),
        label => format!("{}, {label}", line.group),
    };
    let of_group = |group: &TestGroup<'a>| {
        let shape = |level: Level<'a>, curve: Curve<'a>| MainFigure {
            component: line.component,
            name: name.clone(),
            test: group.test,
            target: curve.target,
            figure: line.figure.as_str(),
            unit: line.unit.as_str(),
            scale: line.scale,
            line: Some(line),
            level,
            curve,
        };
        peaks(run, group, &line.figure, shape)
    };
    groups.flat_map(of_group).collect()
}

/// The best level of a test on each target.
pub(crate) fn best_of<'a>(run: &Run, group: &TestGroup<'a>) -> Vec<MainFigure<'a>> {
    let name = scorecard::rate_figure(group).unwrap_or("operations_per_s");
    let Some(info) = FIGURES.iter().find(|info| info.name == name) else {
        return Vec::new();
    };
    let shape = |level: Level<'a>, curve: Curve<'a>| MainFigure {
        component: group.component,
        name: group.title.to_owned(),
        test: group.test,
        target: curve.target,
        figure: info.name,
        unit: info.unit,
        scale: 1.0,
        line: None,
        level,
        curve,
    };
    peaks(run, group, info.name, shape)
}

/// The best curve of each target by its best level.
fn peaks<'a>(
    run: &Run,
    group: &TestGroup<'a>,
    figure: &str,
    shape: impl Fn(Level<'a>, Curve<'a>) -> MainFigure<'a>,
) -> Vec<MainFigure<'a>> {
    let of_target = |target: u32| {
        let curves = group.curves.iter().filter(|curve| curve.target == target);
        let peaks = curves.filter_map(|curve| {
            let peak = curve.peak(figure)?;
            Some((peak.figure(figure)?, peak, curve))
        });
        let (_, level, curve) = peaks.max_by(|a, b| a.0.total_cmp(&b.0))?;
        Some(shape(level, curve.clone()))
    };
    (0..run.targets.len() as u32)
        .filter_map(of_target)
        .collect()
}
