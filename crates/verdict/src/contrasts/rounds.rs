//! The runs of all sides of a study, and the figures by which they are judged together.

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

/// Relation of the sides of a study.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Combinations of settings with two values each.
    Screening,
    /// Configurations that are compared with each other in all pairs.
    Alternatives,
}

impl Kind {
    /// The kind of study that a run is a side of; `None` for other runs.
    pub fn of(run: &Run) -> Option<Self> {
        Self::of_part(run.study.as_ref()?)
    }

    fn of_part(part: &StudyPart) -> Option<Self> {
        let screening = part.screened.as_ref().map(|_| Self::Screening);
        screening.or(part.alternative.as_ref().map(|_| Self::Alternatives))
    }
}

/// The parts of all sides and their runs, A first, if these are all of one study of this kind.
pub fn all_sides<'r>(runs: &[&'r Run], kind: Kind) -> Option<(Vec<&'r StudyPart>, Vec<&'r Run>)> {
    let part = |run: &&'r Run| {
        let part = run.study.as_ref();
        let part = part.filter(|part| Kind::of_part(part) == Some(kind))?;
        Some((part, *run))
    };
    let mut sides = runs.iter().map(part).collect::<Option<Vec<_>>>()?;
    sides.sort_by_key(|(part, _)| part.side.clone());
    sides.dedup_by_key(|(part, _)| part.side.clone());
    let (first, _) = sides.first()?;
    let belong = sides[1..].iter().all(|(part, _)| part.pairs_with(first));
    let is_whole = sides.len() >= 2 && sides.len() == first.sides as usize;
    (belong && is_whole).then(|| sides.into_iter().unzip())
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

pub struct Figures<'r> {
    pub sides: Vec<&'r Run>,
    pairings: Vec<Pairing>,
    pub primary: Vec<OfSides>,
    pub named: Named,
}

pub struct OfSides {
    pub metric: Metric,
    pub better: Better,
    values: Vec<Vec<Option<f64>>>,
}

impl<'r> Figures<'r> {
    pub fn of(sides: Vec<&'r Run>, options: &Options<'_>) -> Result<Self, CompareError> {
        let terms = Terms {
            band: options.band,
            trust_sequential: false,
        };
        let pairing = |run: &&Run| comparable::pairing(sides[0], run, &terms, true);
        let pairings: Vec<Pairing> = sides[1..].iter().map(pairing).collect::<Result<_, _>>()?;
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

    /// A statistic of a side for each primary metric.
    pub fn of_side(&self, side: usize, of: fn(&OfSides, usize) -> Option<f64>) -> Vec<Option<f64>> {
        self.primary.iter().map(|metric| of(metric, side)).collect()
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
        for of in self.primary.iter().filter(|of| of.whole() < planned) {
            cautions.push(format!(
                "{}: {} of {planned} rounds left out, in which a side lacks a valid figure",
                of.metric,
                planned - of.whole()
            ));
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
    pub fn sides(&self) -> usize {
        self.values.len()
    }

    /// The figures of each round by side; NaN if one is missing.
    pub fn rounds(&self) -> Vec<Vec<f64>> {
        let repetitions = self.values.iter().map(Vec::len).min().unwrap_or(0);
        let round = |at: usize| {
            let of_sides = self.values.iter();
            of_sides.map(|side| side[at].unwrap_or(f64::NAN)).collect()
        };
        (0..repetitions).map(round).collect()
    }

    fn whole_rounds(&self) -> Vec<Vec<f64>> {
        let mut rounds = self.rounds();
        rounds.retain(|round| round.iter().all(|value| value.is_finite()));
        rounds
    }

    /// Rounds in which every side has a valid figure.
    pub fn whole(&self) -> usize {
        self.whole_rounds().len()
    }

    /// Median of a side over the complete rounds, so that the sides are comparable.
    pub fn median(&self, side: usize) -> Option<f64> {
        let rounds = self.whole_rounds();
        stats::summary::median(&rounds.iter().map(|round| round[side]).collect::<Vec<_>>())
    }

    /// Geometric mean of a side over the same rounds: the quotient of two is the ratio that a contrast estimates.
    pub fn geometric_mean(&self, side: usize) -> Option<f64> {
        let rounds = self.whole_rounds();
        let logs: Vec<f64> = rounds.iter().map(|round| round[side].ln()).collect();
        let mean = stats::summary::mean(&logs)?.exp();
        mean.is_finite().then_some(mean)
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
