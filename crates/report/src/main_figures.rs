//! The main figures of a run: those of the first screen, of the summary and of the grade.

use std::collections::BTreeSet;

use archive::{Component, FIGURES, PointKey, Run};

use crate::component::place;
use crate::level::{Level, TestGroup};
use crate::scorecard::{self, Line, Rule};

/// With two, chance alone decides how far they lie apart.
pub const REPETITIONS_MIN: usize = 3;

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
    /// The figure of each degree of parallelism, in ascending order.
    pub by_degree: Vec<(u32, f64)>,
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
}

/// The headlines of the scorecard; for a component without any, the best level of each of its tests. The processor's own tests measure the
/// language of an engine, and are main figures only of a run without others.
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
    if found.iter().any(|main| main.component != Component::Cpu) {
        found.retain(|main| main.component != Component::Cpu);
    }
    found.sort_by_key(|main| place(main.component));
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
        let shape = |level: Level<'a>, by_degree| MainFigure {
            component: line.component,
            name: name.clone(),
            test: group.test,
            target: level.first().key.target,
            figure: line.figure.as_str(),
            unit: line.unit.as_str(),
            scale: line.scale,
            line: Some(line),
            level,
            by_degree,
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
    let shape = |level: Level<'a>, by_degree| MainFigure {
        component: group.component,
        name: group.title.to_owned(),
        test: group.test,
        target: level.first().key.target,
        figure: info.name,
        unit: info.unit,
        scale: 1.0,
        line: None,
        level,
        by_degree,
    };
    peaks(run, group, info.name, shape)
}

/// The best level of each target. Where some levels are repeated, one of those: the largest of many single measurements owes it to noise.
fn peaks<'a>(
    run: &Run,
    group: &TestGroup<'a>,
    figure: &str,
    shape: impl Fn(Level<'a>, Vec<(u32, f64)>) -> MainFigure<'a>,
) -> Vec<MainFigure<'a>> {
    let of_target = |target: u32| {
        let curves = group.curves.iter().filter(|curve| curve.target == target);
        let levels = curves.flat_map(|curve| &curve.levels);
        let valid = levels
            .filter(|level| !level.extra())
            .filter_map(Level::only_valid)
            .filter(|level| !level.is_from_cache());
        let known: Vec<(f64, Level<'a>)> = valid
            .filter_map(|level| Some((level.figure(figure)?, level)))
            .collect();
        let rank = |value: f64, level: &Level<'_>| {
            let repetitions = level.points.len().min(REPETITIONS_MIN);
            (repetitions, value, std::cmp::Reverse(level.dop()))
        };
        let best = known.iter().reduce(|best, other| {
            let [a, b] = [best, other].map(|(value, level)| rank(*value, level));
            match a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)) {
                std::cmp::Ordering::Less => other,
                _ => best,
            }
        })?;
        let mut by_degree: Vec<(u32, f64)> = known
            .iter()
            .map(|(value, level)| (level.dop(), *value))
            .collect();
        by_degree.sort_by_key(|(degree, _)| *degree);
        by_degree.dedup_by_key(|(degree, _)| *degree);
        Some(shape(best.1.clone(), by_degree))
    };
    (0..run.targets.len() as u32)
        .filter_map(of_target)
        .collect()
}
