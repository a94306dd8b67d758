//! Studies of several sides, measured in rounds: the runs of all sides, and the figures by which they are judged
//! together.

use archive::{Better, Run, RunState, StudyPart};
use stats::compare::{Band, Direction};
use stats::contrast::{Contrast, least_effect};
use stats::forecast::spread_upper;

use crate::compare::{CompareError, Named, Pairing, comparable, metrics};
use crate::metric::{self, Metric};
use crate::outcome::{BAND_DEFAULT, Terms};

#[derive(Debug, Clone, Copy)]
pub struct Options<'a> {
    pub band: Band,
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

/// The runs of all sides, A first, if these are all of one study. `is_side` is true for a run with a part of the
/// right kind.
pub(crate) fn all_sides<'r>(
    runs: &[&'r Run],
    is_side: impl Fn(&StudyPart) -> bool,
) -> Option<Vec<&'r Run>> {
    let mut sides = Vec::new();
    for run in runs {
        let part = run.study.as_ref().filter(|part| is_side(part))?;
        sides.push((part, *run));
    }
    sides.sort_by_key(|(part, _)| part.side.clone());
    sides.dedup_by_key(|(part, _)| part.side.clone());
    let (first, _) = sides.first()?;
    let belong = sides[1..].iter().all(|(part, _)| part.pairs_with(first));
    let is_whole = sides.len() >= 2 && sides.len() == first.sides as usize;
    (belong && is_whole).then(|| sides.iter().map(|(_, run)| *run).collect())
}

/// The metric's value in each repetition; `None` if a point of it is invalid, because the best of the remaining
/// levels could be of another level than in the other rounds.
fn valid_values(metric: &Metric, run: &Run) -> Vec<Option<f64>> {
    let mut values = metric.values(run);
    let points = run.points.iter();
    for point in points.filter(|point| !point.valid() && metric.covers(run, point)) {
        let at = (point.key.repetition as usize).checked_sub(1);
        if let Some(value) = at.and_then(|at| values.get_mut(at)) {
            *value = None;
        }
    }
    values
}

/// True for sides of the same study, each with a part of the right kind.
pub(crate) fn belong_together(
    run: &Run,
    other: &Run,
    is_side: impl Fn(&StudyPart) -> bool,
) -> bool {
    match (&run.study, &other.study) {
        (Some(x), Some(y)) => is_side(x) && is_side(y) && x.pairs_with(y),
        _ => false,
    }
}

pub(crate) struct Figures<'r> {
    pub sides: Vec<&'r Run>,
    pairings: Vec<Pairing>,
    pub primary: Vec<OfSides>,
    pub named: Named,
}

pub(crate) struct OfSides {
    pub metric: Metric,
    pub better: Better,
    values: Vec<Vec<Option<f64>>>,
}

impl<'r> Figures<'r> {
    pub fn of(sides: Vec<&'r Run>, options: &Options<'_>) -> Result<Self, CompareError> {
        let pairings = sides[1..].iter().map(|run| {
            let terms = Terms {
                band: options.band,
                trust_sequential: false,
            };
            Ok(comparable::pairing(sides[0], run, &terms, true)?)
        });
        let pairings: Vec<Pairing> = pairings.collect::<Result<_, CompareError>>()?;
        let (primary, named) = metrics::primary(sides[0], sides[1], options.primary, &pairings[0])?;
        let of_sides = |metric: Metric| {
            let others = sides[1..].iter().zip(&pairings);
            let others = others.map(|(run, pairing)| valid_values(&pairing.in_b(&metric), run));
            let values = std::iter::once(valid_values(&metric, sides[0])).chain(others);
            OfSides {
                values: values.collect(),
                better: metric::better(&metric.figure),
                metric,
            }
        };
        let primary = primary.into_iter().map(of_sides).collect();
        Ok(Self {
            sides,
            pairings,
            primary,
            named,
        })
    }

    /// Number of metrics that every side has: only these can be judged.
    pub fn judged(&self) -> usize {
        let is_judged = |of_sides: &&OfSides| {
            let mut sides = of_sides.values.iter();
            sides.all(|side| side.iter().any(Option::is_some))
        };
        self.primary.iter().filter(is_judged).count()
    }

    pub fn medians(&self, side: usize) -> Vec<Option<f64>> {
        self.primary.iter().map(|of| of.median(side)).collect()
    }

    pub fn cautions(&self) -> Vec<String> {
        let mut cautions: Vec<String> = Vec::new();
        let is_incomplete = |run: &&Run| run.state != RunState::Complete;
        if self.sides.iter().any(is_incomplete) {
            cautions.push(
                "the study is not complete: only rounds that are whole count; resume it".into(),
            );
        }
        let planned = self.sides[0].repetitions as usize;
        for of in &self.primary {
            let whole = of.whole();
            if whole < planned {
                cautions.push(format!(
                    "{}: {} of {planned} rounds left out, in which a side lacks a valid figure",
                    of.metric,
                    planned - whole
                ));
            }
        }
        for caution in self.pairings.iter().flat_map(|pairing| &pairing.cautions) {
            if !cautions.contains(caution) {
                cautions.push(caution.clone());
            }
        }
        cautions
    }
}

impl OfSides {
    /// The figures of each round by side; NaN if one is missing.
    pub fn rounds(&self) -> Vec<Vec<f64>> {
        let repetitions = self.values.iter().map(Vec::len).min().unwrap_or(0);
        let round = |at: usize| {
            let of_sides = self.values.iter();
            of_sides.map(|side| side[at].unwrap_or(f64::NAN)).collect()
        };
        (0..repetitions).map(round).collect()
    }

    /// Rounds in which every side has a valid figure.
    pub fn whole(&self) -> usize {
        let is_whole = |round: &&Vec<f64>| round.iter().all(|value| value.is_finite());
        self.rounds().iter().filter(is_whole).count()
    }

    /// Median of a side over the complete rounds, so that the sides are comparable.
    pub fn median(&self, side: usize) -> Option<f64> {
        stats::summary::median(&self.of_whole_rounds(side))
    }

    /// Geometric mean of a side over the same rounds: the quotient of two is the ratio that a contrast estimates.
    pub fn geometric_mean(&self, side: usize) -> Option<f64> {
        let logs = self.of_whole_rounds(side).into_iter().map(f64::ln);
        let mean = stats::summary::mean(&logs.collect::<Vec<_>>())?.exp();
        mean.is_finite().then_some(mean)
    }

    fn of_whole_rounds(&self, side: usize) -> Vec<f64> {
        let rounds = self.rounds();
        let whole = rounds
            .iter()
            .filter(|round| round.iter().all(|value| value.is_finite()));
        whole.map(|round| round[side]).collect()
    }

    pub fn direction(&self) -> Direction {
        match self.better {
            Better::Lower => Direction::LowerIsBetter,
            Better::Higher | Better::Neither => Direction::HigherIsBetter,
        }
    }

    /// Smallest effect, a share, that this many rounds detect in four of five studies, by a spread that the true one
    /// exceeds in one of five.
    pub fn least_effect(&self, contrast: &Contrast, band: Band) -> Option<f64> {
        let confidence = contrast.ratio.confidence;
        let upper = spread_upper(contrast.sd_log, self.whole()).ok()?;
        least_effect(upper, self.whole(), confidence, band.effect())
    }
}
