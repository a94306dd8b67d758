//! Several settings screened at once: the effect of each on every primary metric, judged with multiplicity.
//!
//! The sides of such a study are the rows of a two-level design ([`stats::factorial`]), measured in rounds. The effects of all settings
//! on all primary metrics are one family: their intervals hold together with [`CONFIDENCE`].

mod json;

use archive::{Better, Factor, Remark, Run, RunState, Screened, StudyPart};
use stats::Warning;
use stats::compare::{Band, Direction, Verdict, judge};
use stats::factorial::{TwoLevel, effects, least_effect};
use stats::multiple::confidence_of_each;

pub use json::json;

use crate::compare::{CompareError, Named, Pairing, comparable, metrics};
use crate::metric::{self, Metric};
use crate::outcome::{BAND_DEFAULT, CONFIDENCE, Terms};

/// What is asked of a screening.
#[derive(Debug, Clone, Copy)]
pub struct Options<'a> {
    /// What is too small for a verdict.
    pub band: Band,
    /// Primary metrics that replace those of the plan.
    pub primary: &'a [Metric],
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            band: Band::of(BAND_DEFAULT),
            primary: &[],
        }
    }
}

/// Why there is no screening.
#[derive(Debug, thiserror::Error)]
pub enum ScreeningError {
    /// Runs that are no screening, or not all of one.
    #[error(
        "the runs {0} are not all configurations of one screening; name the study whose settings were screened"
    )]
    NotOneStudy(String),
    /// The configurations are those of no design.
    #[error(
        "the configurations of study {0} do not vary its settings independently of each other, so no effect can be told"
    )]
    NoDesign(String),
    /// The configurations cannot be compared.
    #[error(transparent)]
    Compare(#[from] CompareError),
}

/// A screening with its results.
#[derive(Debug, Clone)]
pub struct Screening {
    /// Name of the study.
    pub study: String,
    pub factors: Vec<Factor>,
    /// The rows of the design.
    pub configurations: Vec<Configuration>,
    /// Rounds that were planned.
    pub rounds: u32,
    /// Resolution of the design; `None` where all combinations are measured.
    pub resolution: Option<u32>,
    /// What the design cannot tell apart.
    pub remarks: Vec<Remark>,
    /// What weakens the screening as a whole, one sentence each.
    pub cautions: Vec<String>,
    /// Who named the primary metrics.
    pub named: Named,
    /// Confidence of each interval, so that all hold together with [`CONFIDENCE`].
    pub confidence: f64,
    /// Effects that are judged together.
    pub family: usize,
    /// What is too small for a verdict.
    pub band: Band,
    /// The primary metrics.
    pub metrics: Vec<OfMetric>,
}

/// A row of the design.
#[derive(Debug, Clone)]
pub struct Configuration {
    /// Letter of the side.
    pub side: String,
    /// Label of its run.
    pub label: String,
    /// Whether each setting is high.
    pub high: Vec<bool>,
    /// Median of each primary metric, in their order.
    pub medians: Vec<Option<f64>>,
}

/// What a primary metric shows.
#[derive(Debug, Clone)]
pub struct OfMetric {
    /// The metric, with its target.
    pub metric: Metric,
    /// Which direction is good.
    pub better: Better,
    /// Rounds in which every configuration has a valid figure.
    pub rounds: usize,
    /// The effect of each setting, or why there is none.
    pub effects: Result<Vec<Effect>, Warning>,
}

/// The effect of one setting on one metric.
#[derive(Debug, Clone)]
pub struct Effect {
    /// Ratio of high to low, with interval and spread.
    pub effect: stats::factorial::Effect,
    /// Whether high is better than low.
    pub verdict: Verdict,
    /// The least effect, a share, that so many rounds find in four of five screenings.
    pub least_effect: Option<f64>,
}

/// Whether a run is a configuration of a screening.
pub fn is_screened(run: &Run) -> bool {
    part_of(run).is_some()
}

/// Whether two runs are configurations of the same screening.
pub fn belong_together(run: &Run, other: &Run) -> bool {
    match (part_of(run), part_of(other)) {
        (Some((x, _)), Some((y, _))) => x.pairs_with(y),
        _ => false,
    }
}

fn part_of(run: &Run) -> Option<(&StudyPart, &Screened)> {
    let part = run.study.as_ref()?;
    Some((part, part.screened.as_ref()?))
}

/// The effects that all configurations of a screening show; they may come in any order.
///
/// # Errors
/// Runs that are not all configurations of one screening, or cannot be compared.
pub fn screening(runs: &[&Run], options: &Options<'_>) -> Result<Screening, ScreeningError> {
    let sides = sides(runs)?;
    let Some((part, screened)) = part_of(sides[0]) else {
        return Err(not_one(runs));
    };
    let rows = sides
        .iter()
        .filter_map(|run| Some(part_of(run)?.1.high.clone()));
    let design = TwoLevel::measured(rows.collect())
        .filter(|design| design.factors() == screened.factors.len())
        .ok_or_else(|| ScreeningError::NoDesign(part.name.clone()))?;
    let pairings = sides[1..].iter().map(|run| {
        let terms = Terms {
            band: options.band,
            trust_sequential: false,
        };
        let pairing = comparable::pairing(sides[0], run, &terms, true);
        Ok(pairing.map_err(CompareError::from)?)
    });
    let pairings: Vec<Pairing> = pairings.collect::<Result<_, ScreeningError>>()?;
    let (primary, named) = metrics::primary(sides[0], sides[1], options.primary, &pairings[0])?;
    let values: Vec<Vec<Vec<Option<f64>>>> = primary
        .iter()
        .map(|metric| values(&sides, &pairings, metric))
        .collect();
    let is_told = |of_metric: &&Vec<Vec<Option<f64>>>| {
        of_metric
            .iter()
            .all(|side| side.iter().any(Option::is_some))
    };
    let family = design.factors() * values.iter().filter(is_told).count();
    let confidence = confidence_of_each(CONFIDENCE, family);
    let judged = primary.iter().zip(&values);
    let judged =
        judged.map(|(metric, values)| of_metric(metric, values, &design, options.band, confidence));
    Ok(Screening {
        study: part.name.clone(),
        factors: screened.factors.clone(),
        configurations: configurations(&sides, &design, &values),
        rounds: sides[0].repetitions,
        resolution: design.resolution(),
        remarks: remarks(&design, &screened.factors),
        cautions: cautions(&sides, &pairings),
        named,
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

/// The runs of all sides, A first.
fn sides<'r>(runs: &[&'r Run]) -> Result<Vec<&'r Run>, ScreeningError> {
    let mut sides = runs.to_vec();
    let letter = |run: &&Run| part_of(run).map(|(part, _)| part.side.clone());
    sides.sort_by_key(letter);
    sides.dedup_by_key(|run| letter(run));
    let first = sides.first().and_then(|run| part_of(run));
    let of_study = first.map_or(0, |(part, _)| part.sides as usize);
    let are_sides = sides
        .iter()
        .skip(1)
        .all(|run| belong_together(sides[0], run));
    match of_study >= 2 && sides.len() == of_study && are_sides {
        true => Ok(sides),
        false => Err(not_one(runs)),
    }
}

/// The figures of a metric by side and repetition.
fn values(sides: &[&Run], pairings: &[Pairing], metric: &Metric) -> Vec<Vec<Option<f64>>> {
    let others = sides[1..].iter().zip(pairings);
    let others = others.map(|(run, pairing)| pairing.in_b(metric).values(run));
    std::iter::once(metric.values(sides[0]))
        .chain(others)
        .collect()
}

fn of_metric(
    metric: &Metric,
    values: &[Vec<Option<f64>>],
    design: &TwoLevel,
    band: Band,
    confidence: f64,
) -> OfMetric {
    let repetitions = values.iter().map(Vec::len).min().unwrap_or(0);
    let round = |at: usize| -> Vec<f64> {
        let of_sides = values.iter();
        of_sides.map(|side| side[at].unwrap_or(f64::NAN)).collect()
    };
    let rounds: Vec<Vec<f64>> = (0..repetitions).map(round).collect();
    let is_whole = |round: &&Vec<f64>| round.iter().all(|value| value.is_finite());
    let whole = rounds.iter().filter(is_whole).count();
    let better = metric::better(&metric.figure);
    let direction = match better {
        Better::Lower => Direction::LowerIsBetter,
        Better::Higher | Better::Neither => Direction::HigherIsBetter,
    };
    let judged = |effect: stats::factorial::Effect| Effect {
        verdict: judge(&effect.ratio, band, direction),
        least_effect: least_effect(effect.sd_log, whole, confidence, band.effect()),
        effect,
    };
    OfMetric {
        metric: metric.clone(),
        better,
        rounds: whole,
        effects: effects(design, &rounds, confidence)
            .map(|effects| effects.into_iter().map(judged).collect()),
    }
}

fn configurations(
    sides: &[&Run],
    design: &TwoLevel,
    values: &[Vec<Vec<Option<f64>>>],
) -> Vec<Configuration> {
    let rows = sides.iter().zip(design.rows()).enumerate();
    let of = |(side, (run, high)): (usize, (&&Run, &Vec<bool>))| Configuration {
        side: part_of(run).map_or(String::new(), |(part, _)| part.side.clone()),
        label: run.label.clone(),
        high: high.clone(),
        medians: (values.iter())
            .map(|of_metric| {
                let known: Vec<f64> = of_metric[side].iter().flatten().copied().collect();
                stats::summary::median(&known)
            })
            .collect(),
    };
    rows.map(of).collect()
}

/// What the design cannot tell apart: interactions that are whole in an effect, or a part of all.
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

fn cautions(sides: &[&Run], pairings: &[Pairing]) -> Vec<String> {
    let mut cautions: Vec<String> = Vec::new();
    let incomplete = sides.iter().any(|run| run.state != RunState::Complete);
    if incomplete {
        cautions
            .push("the study is not complete: only rounds that are whole count; resume it".into());
    }
    let invalid = sides
        .iter()
        .filter(|run| run.points.iter().any(|point| !point.valid()));
    let invalid: Vec<&str> = invalid.map(|run| run.label.as_str()).collect();
    if !invalid.is_empty() {
        cautions.push(format!(
            "points are invalid in {}: their rounds are left out",
            invalid.join(", ")
        ));
    }
    for caution in pairings.iter().flat_map(|pairing| &pairing.cautions) {
        if !cautions.contains(caution) {
            cautions.push(caution.clone());
        }
    }
    cautions
}

impl Screening {
    /// All effects: metric, setting, effect.
    pub fn effects(&self) -> impl Iterator<Item = (&OfMetric, &Factor, &Effect)> {
        self.metrics.iter().flat_map(|of_metric| {
            let effects = of_metric.effects.iter().flatten();
            let pairs = self.factors.iter().zip(effects);
            pairs.map(move |(factor, effect)| (of_metric, factor, effect))
        })
    }

    /// Whether any effect has this verdict.
    pub fn any(&self, verdict: Verdict) -> bool {
        self.effects()
            .any(|(_, _, effect)| effect.verdict == verdict)
    }

    /// Whether some metric has no effects at all.
    pub fn lacks_effects(&self) -> bool {
        self.metrics
            .iter()
            .any(|of_metric| of_metric.effects.is_err())
    }
}
