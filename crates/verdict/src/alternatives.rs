//! Several alternatives against each other: every pair on every primary metric, judged with multiplicity.
//!
//! All pairs on all primary metrics are one family: their intervals hold simultaneously with [`CONFIDENCE`].

mod json;

use archive::{Alternative, Better, Run, StudyPart};
use stats::Warning;
use stats::compare::{Band, Verdict, judge};
use stats::contrast::{Contrast, all_pairs, pairs};
use stats::multiple::confidence_of_each;

pub use json::json;

use crate::compare::{CompareError, Named, title};
use crate::metric::Metric;
use crate::outcome::CONFIDENCE;
pub use crate::rounds::Options;
use crate::rounds::{self, Figures, OfSides, all_sides};

#[derive(Debug, thiserror::Error)]
pub enum AlternativesError {
    /// The runs are no study of alternatives, or not all of one.
    #[error("the runs {0} are not all alternatives of one study; name the study")]
    NotOneStudy(String),
    #[error(transparent)]
    Compare(#[from] CompareError),
}

#[derive(Debug, Clone)]
pub struct Alternatives {
    pub study: String,
    pub sides: Vec<Side>,
    pub rounds: u32,
    pub cautions: Vec<String>,
    pub named: Named,
    /// Confidence of each interval, so that all hold simultaneously with [`CONFIDENCE`].
    pub confidence: f64,
    pub family: usize,
    pub band: Band,
    pub metrics: Vec<OfMetric>,
}

#[derive(Debug, Clone)]
pub struct Side {
    pub side: String,
    pub label: String,
    pub alternative: Alternative,
    pub medians: Vec<Option<f64>>,
    /// Geometric mean of each primary metric: their quotients are the ratios of the pairs.
    pub means: Vec<Option<f64>>,
}

/// Result of a primary metric.
#[derive(Debug, Clone)]
pub struct OfMetric {
    pub metric: Metric,
    pub title: String,
    pub better: Better,
    /// Rounds in which every alternative has a valid figure.
    pub rounds: usize,
    /// Numbers of the alternatives with this figure, the best mean first.
    pub order: Vec<usize>,
    pub pairs: Result<Vec<Pair>, Warning>,
}

#[derive(Debug, Clone)]
pub struct Pair {
    /// Number of the reference.
    pub a: usize,
    /// Number of the judged one.
    pub b: usize,
    pub ratio: Contrast,
    /// Verdict on b by the reference a.
    pub verdict: Verdict,
    /// Smallest effect, as a share, that this many rounds detect in four of five studies.
    pub least_effect: Option<f64>,
}

pub fn is_alternative(run: &Run) -> bool {
    part_of(run).is_some()
}

pub fn belong_together(run: &Run, other: &Run) -> bool {
    rounds::belong_together(run, other, |part| part.alternative.is_some())
}

fn part_of(run: &Run) -> Option<(&StudyPart, &Alternative)> {
    let part = run.study.as_ref()?;
    Some((part, part.alternative.as_ref()?))
}

/// All alternatives of a study, in any order, compared with each other.
pub fn alternatives(
    runs: &[&Run],
    options: &Options<'_>,
) -> Result<Alternatives, AlternativesError> {
    let not_one = || {
        let labels: Vec<&str> = runs.iter().map(|run| run.label.as_str()).collect();
        AlternativesError::NotOneStudy(labels.join(", "))
    };
    let sides = all_sides(runs, |part| part.alternative.is_some()).ok_or_else(not_one)?;
    let (part, _) = part_of(sides[0]).ok_or_else(not_one)?;
    let figures = Figures::of(sides, options)?;
    let family = pairs(figures.sides.len()).len() * figures.judged();
    let confidence = confidence_of_each(CONFIDENCE, family);
    let side = |(number, run): (usize, &&Run)| {
        let (part, alternative) = part_of(run)?;
        Some(Side {
            side: part.side.clone(),
            label: run.label.clone(),
            alternative: alternative.clone(),
            medians: figures.medians(number),
            means: (figures.primary.iter())
                .map(|of| of.geometric_mean(number))
                .collect(),
        })
    };
    let judged = figures.primary.iter().map(|of| {
        let title = title(figures.sides[0], &of.metric);
        of_metric(of, figures.sides.len(), title, options.band, confidence)
    });
    Ok(Alternatives {
        study: part.name.clone(),
        sides: (figures.sides.iter().enumerate())
            .filter_map(side)
            .collect(),
        rounds: figures.sides[0].repetitions,
        cautions: figures.cautions(),
        named: figures.named,
        confidence,
        family,
        band: options.band,
        metrics: judged.collect(),
    })
}

fn of_metric(
    of_sides: &OfSides,
    sides: usize,
    title: String,
    band: Band,
    confidence: f64,
) -> OfMetric {
    let judged = |([a, b], ratio): ([usize; 2], Contrast)| Pair {
        a,
        b,
        verdict: judge(&ratio.ratio, band, of_sides.direction()),
        least_effect: of_sides.least_effect(&ratio, band),
        ratio,
    };
    let mut order: Vec<(usize, f64)> = (0..sides)
        .filter_map(|side| Some((side, of_sides.geometric_mean(side)?)))
        .collect();
    order.sort_by(|(_, x), (_, y)| match of_sides.better {
        Better::Lower => x.total_cmp(y),
        Better::Higher | Better::Neither => y.total_cmp(x),
    });
    OfMetric {
        metric: of_sides.metric.clone(),
        title,
        better: of_sides.better,
        rounds: of_sides.whole(),
        order: order.into_iter().map(|(side, _)| side).collect(),
        pairs: all_pairs(sides, &of_sides.rounds(), confidence)
            .map(|found| pairs(sides).into_iter().zip(found).map(judged).collect()),
    }
}

impl OfMetric {
    /// Verdict on `one` and its ratio to `other`, inverted from the stored pair if necessary.
    pub fn between(&self, one: usize, other: usize) -> Option<(Verdict, stats::Interval)> {
        let pairs = self.pairs.as_ref().ok()?;
        let is_it =
            |pair: &&Pair| [pair.a, pair.b] == [one, other] || [pair.b, pair.a] == [one, other];
        let pair = pairs.iter().find(is_it)?;
        let ratio = pair.ratio.ratio;
        Some(if pair.b == one {
            (pair.verdict, ratio)
        } else {
            (turned(pair.verdict), inverse(ratio))
        })
    }
}

fn turned(verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::Better => Verdict::Worse,
        Verdict::Worse => Verdict::Better,
        other => other,
    }
}

fn inverse(ratio: stats::Interval) -> stats::Interval {
    stats::Interval {
        estimate: 1.0 / ratio.estimate,
        low: 1.0 / ratio.high,
        high: 1.0 / ratio.low,
        confidence: ratio.confidence,
    }
}

impl Alternatives {
    pub fn pairs(&self) -> impl Iterator<Item = (&OfMetric, &Pair)> {
        self.metrics.iter().flat_map(|of_metric| {
            let pairs = of_metric.pairs.iter().flatten();
            pairs.map(move |pair| (of_metric, pair))
        })
    }

    pub fn any(&self, verdict: Verdict) -> bool {
        self.pairs().any(|(_, pair)| pair.verdict == verdict)
    }

    pub fn lacks_verdicts(&self) -> bool {
        self.metrics
            .iter()
            .any(|of_metric| of_metric.pairs.is_err())
    }
}
