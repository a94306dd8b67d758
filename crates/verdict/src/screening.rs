//! Several settings screened at once: the effect of each on every primary metric, judged with multiplicity.
//!
//! The sides of such a study are the rows of a two-level design ([`stats::factorial`]), measured in rounds. The
//! effects of all settings on all primary metrics are one family: their intervals hold simultaneously with
//! [`CONFIDENCE`].

mod json;

use archive::{Better, Factor, Remark, Run, Screened, StudyPart};
use stats::Warning;
use stats::compare::{Band, Verdict, judge};
use stats::contrast::Contrast;
use stats::factorial::{TwoLevel, effects};
use stats::multiple::confidence_of_each;

pub use json::json;

use crate::compare::{CompareError, Named};
use crate::metric::Metric;
use crate::outcome::CONFIDENCE;
pub use crate::rounds::Options;
use crate::rounds::{self, Figures, OfSides, all_sides};

#[derive(Debug, thiserror::Error)]
pub enum ScreeningError {
    /// The runs are no screening, or not all of one.
    #[error(
        "the runs {0} are not all configurations of one screening; name the study whose settings were screened"
    )]
    NotOneStudy(String),
    /// The configurations are no design.
    #[error(
        "the configurations of study {0} do not vary its settings independently of each other, so no effect can be told"
    )]
    NoDesign(String),
    #[error(transparent)]
    Compare(#[from] CompareError),
}

#[derive(Debug, Clone)]
pub struct Screening {
    pub study: String,
    pub factors: Vec<Factor>,
    pub configurations: Vec<Configuration>,
    pub rounds: u32,
    /// Resolution of the design; `None` if all combinations are measured.
    pub resolution: Option<u32>,
    /// Effects that the design cannot separate.
    pub remarks: Vec<Remark>,
    pub cautions: Vec<String>,
    pub named: Named,
    /// Confidence of each interval, so that all hold simultaneously with [`CONFIDENCE`].
    pub confidence: f64,
    /// Number of effects that are judged together.
    pub family: usize,
    pub band: Band,
    pub metrics: Vec<OfMetric>,
}

#[derive(Debug, Clone)]
pub struct Configuration {
    pub side: String,
    pub label: String,
    /// True for settings that are high.
    pub high: Vec<bool>,
    pub medians: Vec<Option<f64>>,
}

#[derive(Debug, Clone)]
pub struct OfMetric {
    pub metric: Metric,
    pub better: Better,
    /// Rounds in which every configuration has a valid figure.
    pub rounds: usize,
    pub effects: Result<Vec<Effect>, Warning>,
}

#[derive(Debug, Clone)]
pub struct Effect {
    pub effect: Contrast,
    /// Verdict on high by the reference low.
    pub verdict: Verdict,
    /// Smallest effect, a share, that this many rounds detect in four of five screenings.
    pub least_effect: Option<f64>,
}

pub fn is_screened(run: &Run) -> bool {
    part_of(run).is_some()
}

pub fn belong_together(run: &Run, other: &Run) -> bool {
    rounds::belong_together(run, other, |part| part.screened.is_some())
}

fn part_of(run: &Run) -> Option<(&StudyPart, &Screened)> {
    let part = run.study.as_ref()?;
    Some((part, part.screened.as_ref()?))
}

/// The effects of a screening, from its configurations in any order.
pub fn screening(runs: &[&Run], options: &Options<'_>) -> Result<Screening, ScreeningError> {
    let sides = all_sides(runs, |part| part.screened.is_some()).ok_or_else(|| not_one(runs))?;
    let Some((part, screened)) = part_of(sides[0]) else {
        return Err(not_one(runs));
    };
    let rows = sides
        .iter()
        .filter_map(|run| Some(part_of(run)?.1.high.clone()));
    let design = TwoLevel::measured(rows.collect())
        .filter(|design| design.factors() == screened.factors.len())
        .ok_or_else(|| ScreeningError::NoDesign(part.name.clone()))?;
    let figures = Figures::of(sides, options)?;
    let family = design.factors() * figures.judged();
    let confidence = confidence_of_each(CONFIDENCE, family);
    let judged = figures.primary.iter();
    let judged = judged.map(|of_sides| of_metric(of_sides, &design, options.band, confidence));
    Ok(Screening {
        study: part.name.clone(),
        factors: screened.factors.clone(),
        configurations: configurations(&figures, &design),
        rounds: figures.sides[0].repetitions,
        resolution: design.resolution(),
        remarks: remarks(&design, &screened.factors),
        cautions: figures.cautions(),
        named: figures.named,
        confidence,
        family,
        band: options.band,
        metrics: judged.collect(),
    })
}

fn not_one(runs: &[&Run]) -> ScreeningError {
    let labels: Vec<&str> = runs.iter().map(|run| run.label.as_str()).collect();
    ScreeningError::NotOneStudy(labels.join(", "))
}

fn of_metric(of_sides: &OfSides, design: &TwoLevel, band: Band, confidence: f64) -> OfMetric {
    let judged = |effect: Contrast| Effect {
        verdict: judge(&effect.ratio, band, of_sides.direction()),
        least_effect: of_sides.least_effect(&effect, band),
        effect,
    };
    OfMetric {
        metric: of_sides.metric.clone(),
        better: of_sides.better,
        rounds: of_sides.whole(),
        effects: effects(design, &of_sides.rounds(), confidence)
            .map(|effects| effects.into_iter().map(judged).collect()),
    }
}

fn configurations(figures: &Figures<'_>, design: &TwoLevel) -> Vec<Configuration> {
    let rows = figures.sides.iter().zip(design.rows()).enumerate();
    let of = |(side, (run, high)): (usize, (&&Run, &Vec<bool>))| Configuration {
        side: part_of(run).map_or(String::new(), |(part, _)| part.side.clone()),
        label: run.label.clone(),
        high: high.clone(),
        medians: figures.medians(side),
    };
    rows.map(of).collect()
}

/// Effects that the design cannot separate: interactions that are aliased with one effect, or with parts of all.
fn remarks(design: &TwoLevel, factors: &[Factor]) -> Vec<Remark> {
    let aliases = design.aliases();
    let is_whole = |share: f64| share.abs() > 0.99;
    if let Some(part) = aliases.iter().find(|alias| !is_whole(alias.share)) {
        let share = part.share.abs();
        return vec![Remark::EffectsPartlyAliased { share }];
    }
    let of = |(number, factor): (usize, &Factor)| {
        let own = aliases.iter().filter(|alias| alias.factor == number);
        let with: Vec<String> = own
            .map(|alias| {
                let [one, other] = alias.with.map(|at| factors[at].key.as_str());
                format!("{one} and {other}")
            })
            .collect();
        (!with.is_empty()).then(|| Remark::EffectAliased {
            factor: factor.key.clone(),
            with,
        })
    };
    let aliased: Vec<Remark> = factors.iter().enumerate().filter_map(of).collect();
    match (aliased.is_empty(), design.resolution()) {
        (true, Some(resolution @ 4)) => vec![Remark::InteractionsAliased { resolution }],
        _ => aliased,
    }
}

impl Screening {
    pub fn effects(&self) -> impl Iterator<Item = (&OfMetric, &Factor, &Effect)> {
        self.metrics.iter().flat_map(|of_metric| {
            let effects = of_metric.effects.iter().flatten();
            let pairs = self.factors.iter().zip(effects);
            pairs.map(move |(factor, effect)| (of_metric, factor, effect))
        })
    }

    pub fn any(&self, verdict: Verdict) -> bool {
        self.effects()
            .any(|(_, _, effect)| effect.verdict == verdict)
    }

    pub fn lacks_effects(&self) -> bool {
        self.metrics
            .iter()
            .any(|of_metric| of_metric.effects.is_err())
    }
}
