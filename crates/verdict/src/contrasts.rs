//! Studies of more than two sides, measured in rounds: contrasts of the sides on every primary metric, judged with
//! multiplicity.
//!
//! The sides of a screening are the rows of a two-level design ([`stats::factorial`]), and its contrasts are the
//! effects of the settings; alternatives are compared in all pairs. All contrasts on all primary metrics are one
//! family: their intervals hold simultaneously with [`CONFIDENCE`].

mod json;
mod rounds;

use archive::{Alternative, Better, Factor, Remark, Run, StudyPart};
use stats::compare::{Band, Verdict, judge};
use stats::contrast::{Contrast, all_pairs, pairs};
use stats::factorial::{TwoLevel, effects};
use stats::multiple::confidence_of_each;
use stats::{Interval, Warning};

pub use json::json;
pub use rounds::{Kind, Options};

use crate::compare::{CompareError, Named, title};
use crate::metric::Metric;
use crate::outcome::{CONFIDENCE, inverse};
use rounds::{Figures, OfSides, all_sides};

#[derive(Debug, thiserror::Error)]
pub enum ContrastsError {
    #[error(
        "the runs {0} are not all configurations of one screening; name the study whose settings were screened"
    )]
    NotOneScreening(String),
    #[error("the runs {0} are not all alternatives of one study; name the study")]
    NotOneStudy(String),
    #[error(
        "the configurations of study {0} do not vary its settings independently of each other, so no effect can be separated"
    )]
    NoDesign(String),
    #[error(transparent)]
    Compare(#[from] CompareError),
}

#[derive(Debug, Clone)]
pub struct Contrasts {
    pub study: String,
    /// Settings of a screening; empty for alternatives.
    pub factors: Vec<Factor>,
    pub sides: Vec<Side>,
    pub rounds: u32,
    /// Resolution of the design of a screening; `None` if all combinations are measured.
    pub resolution: Option<u32>,
    /// Effects that the design cannot separate.
    pub remarks: Vec<Remark>,
    pub cautions: Vec<String>,
    pub named: Named,
    /// Confidence of each interval, so that all hold simultaneously with [`CONFIDENCE`].
    pub confidence: f64,
    /// Number of contrasts that are judged together.
    pub family: usize,
    pub band: Band,
    pub metrics: Vec<OfMetric>,
}

#[derive(Debug, Clone)]
pub struct Side {
    pub side: String,
    pub label: String,
    /// True for settings that are high; empty for an alternative.
    pub high: Vec<bool>,
    /// Blank for a row of a screening.
    pub alternative: Alternative,
    pub medians: Vec<Option<f64>>,
    /// Geometric mean of each primary metric: the quotients of alternatives are the ratios of their pairs.
    pub means: Vec<Option<f64>>,
}

/// Result of a primary metric.
#[derive(Debug, Clone)]
pub struct OfMetric {
    pub metric: Metric,
    pub title: String,
    pub better: Better,
    /// Rounds in which every side has a valid figure.
    pub rounds: usize,
    /// Numbers of the sides with this figure, the best mean first.
    pub order: Vec<usize>,
    /// Effects in the order of the settings, or pairs of alternatives.
    pub contrasts: Result<Vec<Judged>, Warning>,
}

#[derive(Debug, Clone)]
pub struct Judged {
    /// Numbers of the reference and the judged alternative; `None` for an effect, of high on the reference low.
    pub pair: Option<[usize; 2]>,
    pub contrast: Contrast,
    pub verdict: Verdict,
    /// Smallest effect, as a share, that this many rounds detect in four of five studies.
    pub least_effect: Option<f64>,
}

/// True for sides of the same study of more than two.
pub fn belong_together(run: &Run, other: &Run) -> bool {
    match (&run.study, &other.study) {
        (Some(x), Some(y)) => {
            x.pairs_with(y) && Kind::of(run).is_some() && Kind::of(run) == Kind::of(other)
        }
        _ => false,
    }
}

/// The contrasts of a study, from all of its sides in any order.
pub fn contrasts(
    kind: Kind,
    runs: &[&Run],
    options: &Options<'_>,
) -> Result<Contrasts, ContrastsError> {
    let not_one = || {
        let labels: Vec<&str> = runs.iter().map(|run| run.label.as_str()).collect();
        match kind {
            Kind::Screening => ContrastsError::NotOneScreening(labels.join(", ")),
            Kind::Alternatives => ContrastsError::NotOneStudy(labels.join(", ")),
        }
    };
    let (parts, sides) = all_sides(runs, kind).ok_or_else(not_one)?;
    let study = parts[0].name.clone();
    let screened = parts[0].screened.as_ref();
    let design = screened.map(|screened| {
        let rows = parts.iter().filter_map(|part| part.screened.as_ref());
        TwoLevel::measured(rows.map(|row| row.high.clone()).collect())
            .filter(|design| design.factors() == screened.factors.len())
            .ok_or_else(|| ContrastsError::NoDesign(study.clone()))
    });
    let design = design.transpose()?;
    let factors = screened.map_or_else(Vec::new, |screened| screened.factors.clone());
    let figures = Figures::of(sides, options)?;
    let of_each = match &design {
        Some(design) => design.factors(),
        None => pairs(figures.sides.len()).len(),
    };
    let family = of_each * figures.judged();
    let confidence = confidence_of_each(CONFIDENCE, family);
    let side = |(number, part): (usize, &&StudyPart)| Side {
        side: part.side.clone(),
        label: figures.sides[number].label.clone(),
        high: (part.screened.as_ref()).map_or_else(Vec::new, |row| row.high.clone()),
        alternative: part.alternative.clone().unwrap_or_default(),
        medians: figures.of_side(number, OfSides::median),
        means: figures.of_side(number, OfSides::geometric_mean),
    };
    let metrics = figures.primary.iter().map(|of| OfMetric {
        title: title(figures.sides[0], &of.metric),
        ..of_metric(of, design.as_ref(), options.band, confidence)
    });
    Ok(Contrasts {
        sides: parts.iter().enumerate().map(side).collect(),
        rounds: figures.sides[0].repetitions,
        resolution: design.as_ref().and_then(TwoLevel::resolution),
        remarks: (design.as_ref()).map_or_else(Vec::new, |design| remarks(design, &factors)),
        cautions: figures.cautions(),
        named: figures.named,
        confidence,
        family,
        band: options.band,
        metrics: metrics.collect(),
        study,
        factors,
    })
}

fn of_metric(of: &OfSides, design: Option<&TwoLevel>, band: Band, confidence: f64) -> OfMetric {
    let sides = of.sides();
    let judged = |(pair, contrast): (Option<[usize; 2]>, Contrast)| Judged {
        pair,
        verdict: judge(&contrast.ratio, band, of.direction()),
        least_effect: of.least_effect(&contrast, band),
        contrast,
    };
    let found = match design {
        Some(design) => effects(design, &of.rounds(), confidence),
        None => all_pairs(sides, &of.rounds(), confidence),
    };
    let mut numbers = pairs(if design.is_some() { 0 } else { sides }).into_iter();
    let numbered = found.map(|found| found.into_iter().map(|each| (numbers.next(), each)));
    let mut order: Vec<(usize, f64)> = (0..sides)
        .filter_map(|side| Some((side, of.geometric_mean(side)?)))
        .collect();
    order.sort_by(|(_, x), (_, y)| match of.better {
        Better::Lower => x.total_cmp(y),
        Better::Higher | Better::Neither => y.total_cmp(x),
    });
    OfMetric {
        metric: of.metric.clone(),
        title: String::new(),
        better: of.better,
        rounds: of.whole(),
        order: order.into_iter().map(|(side, _)| side).collect(),
        contrasts: numbered.map(|each| each.map(judged).collect()),
    }
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
        let factor = factor.key.clone();
        (!with.is_empty()).then_some(Remark::EffectAliased { factor, with })
    };
    let aliased: Vec<Remark> = factors.iter().enumerate().filter_map(of).collect();
    match (aliased.is_empty(), design.resolution()) {
        (true, Some(resolution @ 4)) => vec![Remark::InteractionsAliased { resolution }],
        _ => aliased,
    }
}

impl OfMetric {
    /// Verdict on the alternative `one` and its ratio to `other`, inverted from the stored pair if necessary.
    pub fn between(&self, one: usize, other: usize) -> Option<(Verdict, Interval)> {
        let stored = |pair| {
            let mut contrasts = self.contrasts.iter().flatten();
            contrasts.find(|judged| judged.pair == Some(pair))
        };
        if let Some(found) = stored([other, one]) {
            return Some((found.verdict, found.contrast.ratio));
        }
        let found = stored([one, other])?;
        let verdict = match found.verdict {
            Verdict::Better => Verdict::Worse,
            Verdict::Worse => Verdict::Better,
            other => other,
        };
        Some((verdict, inverse(found.contrast.ratio)))
    }
}

impl Contrasts {
    pub fn kind(&self) -> Kind {
        if self.factors.is_empty() {
            Kind::Alternatives
        } else {
            Kind::Screening
        }
    }

    pub fn any(&self, verdict: Verdict) -> bool {
        let mut all = self.metrics.iter().flat_map(|of| of.contrasts.iter());
        all.any(|of| of.iter().any(|judged| judged.verdict == verdict))
    }

    pub fn lacks_verdicts(&self) -> bool {
        self.metrics.iter().any(|of| of.contrasts.is_err())
    }
}
