//! Comparison of two runs: for every metric the ratio with its interval and a verdict.
//!
//! The two sides of one study are compared in pairs, as they were measured; other runs as consecutive, which the
//! result says. Primary metrics were named before the first point was measured, in the plan or by rule: the
//! throughput of every test, at its best level.

pub(crate) mod comparable;
mod error;
mod json;
pub(crate) mod metrics;
mod oddities;
mod pairs;
mod scatter;

use archive::{Arranged, Better, Run};
use stats::compare::{Band, Design, Direction, Question, Verdict, judge};
use stats::forecast;
use stats::multiple::holm;
use stats::ratio::{quotient, sides_of};
use stats::summary::median;

pub use comparable::{NotComparable, Pairing, differ_in_size};
pub use error::CompareError;
pub use json::json;
pub use metrics::Named;
pub use oddities::{Oddity, oddities};
pub use pairs::{ByOrder, Pair};
pub use scatter::{Between, Remedy, Scatter, Within};

use crate::analyses::{Analyses, analyses, at_end, confidence, seen};
use crate::difference::{Difference, are_set_apart, differences};
use crate::metric::{self, Metric};
pub use crate::outcome::{BAND_DEFAULT, CONFIDENCE, Terms, verdict_word};

/// Effect, as a share, for which repetitions are advised.
pub const EFFECT: f64 = 0.05;
/// Largest noise from which a band is learned; beyond it no study would find anything.
pub const NOISE_MAX: f64 = 0.25;
/// Smallest number of pairs of earlier A/A studies for learning the noise.
pub const LEARNED_PAIRS_MIN: usize = 8;

#[derive(Debug, Clone, Copy, Default)]
pub struct Options<'a> {
    pub terms: Terms,
    /// A/A studies from which the noise of each metric is learned; empty for none.
    pub studies: &'a [(Run, Run)],
    /// Primary metrics that replace those of the plan; the result says so, because they were named later.
    pub primary: &'a [Metric],
    /// Also compare, with a label, points that were measured differently.
    pub allow_mismatch: bool,
}

/// Comparison of two runs. B is judged against A.
#[derive(Debug, Clone)]
pub struct Comparison {
    pub a: String,
    pub b: String,
    pub design: Design,
    pub slice_ms: Option<u32>,
    pub analyses: Option<Analyses>,
    /// Arrangement of the two sides of a study and its reason, if recorded.
    pub arranged: Option<Arranged>,
    pub settings: [Vec<String>; 2],
    /// Both ran a parameter file, whose command has options of its own.
    pub is_of_parameter_files: bool,
    /// Repetitions of A and of B, up to the last interim analysis.
    pub repetitions: (u32, u32),
    pub differences: Vec<Difference>,
    pub cautions: Vec<String>,
    pub named: Named,
    /// Confidence of the interval of each primary metric, as a share: simultaneously, and at all interim analyses,
    /// they hold with [`CONFIDENCE`].
    pub confidence: f64,
    /// Confidence of each secondary interval: [`CONFIDENCE`] each, and not simultaneously.
    pub confidence_secondary: f64,
    pub rows: Vec<Row>,
}

#[derive(Debug, Clone)]
pub struct Row {
    pub metric: Metric,
    pub title: String,
    pub primary: bool,
    pub better: Better,
    pub band: Band,
    /// Valid values of A by repetition.
    pub a: Vec<f64>,
    pub b: Vec<f64>,
    pub result: stats::compare::Comparison,
    /// The rank test's p of "no difference at all", adjusted for all primary metrics (Holm); only for those. The
    /// verdict comes from the interval.
    pub holm_p: Option<f64>,
    /// Oddities of its pairs; only for the primary metrics of a study.
    pub oddities: Vec<Oddity>,
    /// Complete pairs; only for the primary metrics of a study.
    pub pairs: Vec<Pair>,
    /// Sources of the pairs' scatter; only for the primary metrics of a study with a time series.
    pub scatter: Option<Scatter>,
    /// Pairs, or repetitions per side, that detect the requested effect in four of five cases; only for primary
    /// metrics.
    pub advised: Option<usize>,
    /// Smallest effect, as a share, that the existing number detects in four of five cases; only for primary metrics.
    pub least_effect: Option<f64>,
    /// The same at the last planned interim analysis, if this scatter is the true one.
    pub least_effect_at_end: Option<f64>,
}

pub fn compare(a: &Run, b: &Run, options: &Options<'_>) -> Result<Comparison, CompareError> {
    checked(options)?;
    let pairing = comparable::pairing(a, b, &options.terms, options.allow_mismatch)?;
    let (analyses, whole) = (analyses(a, b), (a, b));
    let [a, b] = &seen(a, b);
    let (primary, named) = metrics::primary(a, b, options.primary, &pairing)?;
    let secondary = metrics::secondary(a, &pairing, &primary);
    // A test without such a figure, such as a load or a check, takes no share of the error rate.
    let is_measured = |metric: &&Metric| {
        let has = |run: &Run, metric: &Metric| metric.values(run).iter().any(Option::is_some);
        has(a, metric) && has(b, &pairing.in_b(metric))
    };
    let judged = primary.iter().filter(is_measured).count();
    let confidence_of = |metrics| confidence(whole.0, whole.1, metrics);
    let at_end = at_end(whole.0, whole.1, judged);
    let judge = Judge {
        a,
        b,
        pairing: &pairing,
        options,
        confidence: confidence_of(judged),
        confidence_secondary: confidence_of(1),
        at_end,
    };
    for metric in &primary {
        judge.refuse_noise(metric)?;
    }
    let rows = primary.iter().map(|m| judge.row(m, true));
    let rows = rows.chain(secondary.iter().map(|m| judge.row(m, false)));
    let mut rows: Vec<Row> = rows.collect();
    adjust(&mut rows);
    let mut cautions = [&pairing.left_out[..], &pairing.cautions].concat();
    cautions.extend(analyses.as_ref().and_then(of_analyses));
    cautions.extend(of_more_sides(a).filter(|_| pairing.design.is_paired()));
    let differences = differences(a, b);
    if differences.is_empty() && !is_same_on_purpose(a, b) && !are_set_apart(a, b) {
        cautions.push("nothing that is recorded differs between the two runs; if something was changed, note what".into());
    }
    Ok(Comparison {
        a: a.label.clone(),
        b: b.label.clone(),
        design: pairing.design,
        slice_ms: (a.study.as_ref().filter(|_| pairing.design.is_paired()))
            .and_then(|study| study.slice_ms),
        analyses,
        arranged: (a.study.as_ref().filter(|_| pairing.design.is_paired()))
            .and_then(|study| study.arranged.clone()),
        settings: [a, b].map(|run| {
            let study = run.study.as_ref();
            study.map_or_else(Vec::new, |study| study.settings.clone())
        }),
        is_of_parameter_files: a.is_of_parameter_file() && b.is_of_parameter_file(),
        repetitions: (a.repetitions, b.repetitions),
        differences,
        cautions,
        named,
        confidence: judge.confidence,
        confidence_secondary: judge.confidence_secondary,
        rows,
    })
}

/// Sentence on a study that stopped before its last interim analysis.
fn of_analyses(analyses: &Analyses) -> Option<String> {
    let Analyses { taken, pairs, .. } = analyses;
    match analyses.ended {
        Some(_) => None,
        None if *taken == 0 => Some("the study was interrupted before its first analysis, so there is no interval yet; resume it".into()),
        None => Some(format!("the study was interrupted after analysis {taken}: only its first {pairs} pairs count until the next analysis; resume it")),
    }
}

/// Sentence on two sides of a study that has more.
fn of_more_sides(run: &Run) -> Option<String> {
    let sides = run.study.as_ref().map(|study| study.sides)?;
    (sides > 2).then(|| {
        format!(
            "these are two of the {sides} sides of a study: the intervals hold for these two, not for all {} pairs of sides together",
            sides * (sides - 1) / 2
        )
    })
}

/// True for the sides of an A/A study: the same configuration twice.
pub fn is_same_on_purpose(a: &Run, b: &Run) -> bool {
    matches!((&a.study, &b.study), (Some(a), Some(b))
        if a.pairs_with(b) && a.settings.is_empty() && b.settings.is_empty())
}

fn checked(options: &Options<'_>) -> Result<(), CompareError> {
    // Without a band any difference matters.
    if (0.0..1.0).contains(&options.terms.band.equivalence) {
        Ok(())
    } else {
        Err(CompareError::NotAShare)
    }
}

struct Judge<'a> {
    a: &'a Run,
    b: &'a Run,
    pairing: &'a Pairing,
    options: &'a Options<'a>,
    confidence: f64,
    confidence_secondary: f64,
    /// Pairs at the last planned interim analysis, and the confidence of each primary metric's interval there.
    at_end: Option<(usize, f64)>,
}

impl Row {
    /// Values of both sides, and their ratio: medians that agree with the ratio of the verdict.
    pub fn sides(&self) -> [Option<f64>; 2] {
        sides([&self.a, &self.b].map(|side| median(side)), &self.result)
    }

    /// The ratio, or that of the medians if the data allow no interval.
    pub fn ratio(&self) -> Option<f64> {
        let [a, b] = self.sides();
        let estimate = self.result.ratio.map(|ratio| ratio.estimate);
        estimate.or_else(|| quotient(a?, b?))
    }
}

/// Two medians that agree with the ratio of the verdict, if there is one.
pub fn sides(medians: [Option<f64>; 2], found: &stats::compare::Comparison) -> [Option<f64>; 2] {
    match (medians, found.ratio) {
        ([Some(a), Some(b)], Some(ratio)) => sides_of(ratio.estimate, [a, b]).map(Some),
        _ => medians,
    }
}

impl Judge<'_> {
    fn row(&self, metric: &Metric, primary: bool) -> Row {
        let values_a = metric.values(self.a);
        let values_b = self.pairing.in_b(metric).values(self.b);
        let (a, b) = series(&values_a, &values_b, self.pairing.design);
        let band = self.band(metric);
        let question = Question {
            design: self.pairing.design,
            direction: match metric::better(&metric.figure) {
                Better::Lower => Direction::LowerIsBetter,
                Better::Higher | Better::Neither => Direction::HigherIsBetter,
            },
            band,
            confidence: if primary {
                self.confidence
            } else {
                self.confidence_secondary
            },
        };
        let mut result = stats::compare::compare(&a, &b, &question);
        if self.at_end.is_some() {
            // Rank tests are valid for a single analysis of a study with a fixed length.
            result.rank_p = None;
        }
        let pairs = if primary && self.pairing.design.is_paired() {
            pairs::pairs(self.a, self.b, metric, &self.pairing.in_b(metric))
        } else {
            Vec::new()
        };
        let n = a.len().min(b.len());
        // The advice is simulated, so only primary metrics have it. It is planned with a spread that is exceeded only in
        // one of five studies.
        let sd = result.sd_log.filter(|_| primary);
        let upper = sd.and_then(|sd| forecast::spread_upper(sd, n).ok());
        let plan = forecast::Plan {
            design: self.pairing.design,
            band,
            confidence: self.confidence,
        };
        let at_end = self
            .at_end
            .map(|(pairs, confidence)| (pairs, forecast::Plan { confidence, ..plan }));
        Row {
            title: title(self.a, metric),
            better: metric::better(&metric.figure),
            primary,
            band,
            holm_p: None,
            oddities: oddities::oddities(&pairs, 1.0 - self.confidence),
            scatter: (self.a.study.as_ref())
                .and_then(|study| scatter::scatter(study, metric, &pairs)),
            pairs,
            advised: upper
                .and_then(|upper| forecast::repetitions(&plan, upper, 1.0 + EFFECT).ok()?),
            least_effect: upper.and_then(|upper| forecast::least_effect(&plan, upper, n)),
            least_effect_at_end: (upper.zip(at_end))
                .and_then(|(upper, (pairs, plan))| forecast::least_effect(&plan, upper, pairs)),
            metric: metric.clone(),
            a: a.into_iter().filter(|v| v.is_finite()).collect(),
            b: b.into_iter().filter(|v| v.is_finite()).collect(),
            result,
        }
    }

    fn refuse_noise(&self, metric: &Metric) -> Result<(), CompareError> {
        match self.band(metric).noise {
            noise if noise > NOISE_MAX => Err(CompareError::TooNoisy {
                metric: metric.clone(),
                pct: noise * 100.0,
            }),
            _ => Ok(()),
        }
    }

    fn band(&self, metric: &Metric) -> Band {
        let given = self.options.terms.band;
        match learned(self.options.studies, metric) {
            Some(noise) => Band { noise, ..given },
            None => given,
        }
    }
}

/// Noise of a metric in earlier A/A studies, as a share; `None` for too few pairs.
pub fn learned(studies: &[(Run, Run)], metric: &Metric) -> Option<f64> {
    let ratios: Vec<f64> = studies
        .iter()
        .flat_map(|(a, b)| {
            let pairs = metric.values(a).into_iter().zip(metric.values(b));
            pairs
                .filter_map(|(a, b)| quotient(a?, b?))
                .collect::<Vec<_>>()
        })
        .collect();
    stats::compare::learned_band(&ratios).ok()
}

/// Series of both sides. Pairs stay aligned, with NaN for a missing half, so that the statistics can count the
/// dropped ones.
fn series(a: &[Option<f64>], b: &[Option<f64>], design: Design) -> (Vec<f64>, Vec<f64>) {
    let known = |side: &[Option<f64>]| -> Vec<f64> { side.iter().flatten().copied().collect() };
    match design {
        Design::Paired | Design::PairedInstances => {
            let pairs = a.iter().zip(b);
            let nan = |v: &Option<f64>| v.unwrap_or(f64::NAN);
            pairs.map(|(a, b)| (nan(a), nan(b))).unzip()
        }
        Design::Interleaved | Design::Sequential { .. } => (known(a), known(b)),
    }
}

pub(crate) fn title(run: &Run, metric: &Metric) -> String {
    let point = run.points.iter().find(|p| p.key.test == metric.test);
    point.map_or_else(String::new, |p| p.title.clone())
}

fn adjust(rows: &mut [Row]) {
    let p: Vec<f64> = rows
        .iter()
        .filter(|r| r.primary)
        .filter_map(|r| r.result.rank_p)
        .collect();
    let Ok(adjusted) = holm(&p) else { return };
    let judged = rows
        .iter_mut()
        .filter(|r| r.primary && r.result.rank_p.is_some());
    for (row, p) in judged.zip(adjusted) {
        row.holm_p = Some(p);
    }
}

impl Row {
    /// True if its interval gives a verdict or excludes an effect of this size. A metric without a ratio never will,
    /// so it counts as answered.
    pub fn is_answered(&self, effect: f64) -> bool {
        let waits_for_ratio = self.result.further.is_some();
        match self.result.ratio {
            Some(_) => self.has_verdict() || self.excludes(effect),
            None => !waits_for_ratio,
        }
    }

    pub fn has_verdict(&self) -> bool {
        self.result.verdict != Verdict::Inconclusive
    }

    pub fn excludes(&self, effect: f64) -> bool {
        let within = |ratio| judge(ratio, Band::of(effect), Direction::HigherIsBetter);
        self.result.ratio.as_ref().map(within) == Some(Verdict::Equivalent)
    }
}

impl Comparison {
    /// True if every primary metric is answered, or if no number of pairs would carry a verdict.
    pub fn is_answered(&self, effect: f64) -> bool {
        !self.design.decides() || self.primary().all(|row| row.is_answered(effect))
    }

    pub fn primary(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|r| r.primary)
    }

    pub fn any_primary(&self, verdict: Verdict) -> bool {
        self.primary().any(|r| r.result.verdict == verdict)
    }

    /// True if each side was measured once, so that the noise is unknown.
    pub fn is_one_each(&self) -> bool {
        self.repetitions == (1, 1)
    }
}
