//! Data of a test's charts: the run's own curves, those of other runs, published ones.

use archive::{FIGURES, Run};

use crate::level::{self, Curve, Level, TestGroup};
use crate::scorecard::{self, Against, published_figure, published_loads};
use chart::{Dash, Shape};

pub struct LevelDrawn {
    pub dop: u32,
    pub rate: Option<f64>,
    pub range: Option<(f64, f64)>,
    /// False if every repetition failed a check.
    pub valid: bool,
    /// True for a labelled extra, which belongs to no curve.
    pub extra: bool,
    pub response_us: [Option<f64>; 3],
}

impl LevelDrawn {
    pub fn counts(&self) -> bool {
        self.valid && !self.extra
    }
}

pub struct Sweep<'a> {
    pub label: String,
    pub colour: usize,
    pub shape: Shape,
    /// Solid for own curves, dashed for others.
    pub dash: Dash,
    /// The curve, unless it was published.
    pub curve: Option<Curve<'a>>,
    pub own: bool,
    /// True for published figures of another engine in a test of the engine's language.
    pub other_runtime: bool,
    pub levels: Vec<LevelDrawn>,
}

impl Sweep<'_> {
    pub fn best(&self) -> Option<f64> {
        let valid = self.levels.iter().filter(|p| p.counts());
        valid.filter_map(|p| p.rate).reduce(f64::max)
    }

    /// Valid throughputs in the form of the scaling functions.
    pub fn loads(&self) -> Vec<stats::scaling::Load> {
        self.levels
            .iter()
            .filter(|p| p.counts())
            .filter_map(|p| p.rate.map(|rate| stats::scaling::Load { dop: p.dop, rate }))
            .collect()
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Rate {
    pub name: &'static str,
    pub unit: &'static str,
}

/// The figure by which a test's levels are ranked.
pub fn rate_figure(group: &TestGroup<'_>) -> Rate {
    let name = scorecard::rate_figure(group);
    name.and_then(|name| FIGURES.iter().find(|f| f.name == name))
        .map_or(
            Rate {
                name: "operations_per_s",
                unit: "ops/s",
            },
            |f| Rate {
                name: f.name,
                unit: f.unit,
            },
        )
}

pub fn sweeps<'a>(
    group: &TestGroup<'a>,
    run: &Run,
    against: &[Against<'a>],
    rate: Rate,
) -> Vec<Sweep<'a>> {
    let mut all: Vec<Sweep<'a>> = Vec::new();
    for curve in &group.curves {
        let index = all.len();
        all.push(of_curve(
            curve,
            curve.label.clone(),
            curve.target as usize,
            index,
            rate,
        ));
    }
    let mut colour = run.targets.len();
    for other in against {
        let index = all.len();
        match other {
            Against::Run(run) => {
                for (at, curve) in level::tests(run, scorecard::rank)
                    .iter()
                    .filter(|g| g.test == group.test)
                    .flat_map(|g| g.curves.clone())
                    .enumerate()
                {
                    let label = format!("{} · {}", run.label, curve.label);
                    let palette_index = colour + curve.target as usize;
                    let mut sweep = of_curve(&curve, label, palette_index, index + at, rate);
                    sweep.own = false;
                    sweep.dash = Dash::Dashed;
                    all.push(sweep);
                }
                colour += run.targets.len();
            }
            Against::Reference(reference) => {
                let levels: Vec<LevelDrawn> = published_loads(reference, group.test)
                    .iter()
                    .map(|rows| published(rows, rate))
                    .collect();
                let other_runtime = scorecard::engine_specific(run, group.test)
                    && scorecard::other_runtime(run, reference);
                let star = if other_runtime { "*" } else { "" };
                if levels.iter().any(|p| p.rate.is_some()) {
                    all.push(Sweep {
                        label: format!("{}{star}", reference.title),
                        other_runtime,
                        colour,
                        shape: Shape::nth(index),
                        dash: Dash::Dashed,
                        curve: None,
                        own: false,
                        levels,
                    });
                }
                colour += 1;
            }
        }
    }
    all
}

fn of_curve<'a>(
    curve: &Curve<'a>,
    label: String,
    colour: usize,
    index: usize,
    rate: Rate,
) -> Sweep<'a> {
    Sweep {
        label,
        colour,
        shape: Shape::nth(index),
        dash: Dash::Solid,
        levels: curve.levels.iter().map(|l| drawn_level(l, rate)).collect(),
        curve: Some(curve.clone()),
        own: true,
        other_runtime: false,
    }
}

fn drawn_level(level: &Level<'_>, rate: Rate) -> LevelDrawn {
    let shown = level.shown();
    LevelDrawn {
        dop: level.dop(),
        rate: shown.figure(rate.name),
        range: shown.range(rate.name),
        valid: level.only_valid().is_some(),
        extra: level.extra(),
        response_us: ["response_us_p50", "response_us_p95", "response_us_p99"]
            .map(|name| shown.figure(name)),
    }
}

fn published(rows: &[&archive::reference::ReferencePoint], rate: Rate) -> LevelDrawn {
    let values: Vec<f64> = rows
        .iter()
        .filter_map(|r| published_figure(r, rate.name))
        .collect();
    LevelDrawn {
        dop: rows[0].jobs * rows[0].threads,
        rate: stats::summary::median(&values),
        range: None,
        valid: true,
        extra: false,
        response_us: [None; 3],
    }
}
