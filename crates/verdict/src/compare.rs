//! Two runs set against each other: for every metric the ratio with its interval and a verdict.
//!
//! The two sides of one study are compared in pairs, as they were measured; any other two runs one after
//! the other, which is said. Primary metrics were named before the first point was measured, in the plan or,
//! when it names none, by rule: the throughput of every test, at its best level.

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

use crate::difference::{Difference, differences};
use crate::looks::{Looks, at_end, confidence, looks, seen};
use crate::metric::{self, Metric};
pub use crate::outcome::{BAND_DEFAULT, CONFIDENCE, Terms, verdict_word};

/// Effect for which repetitions are advised when nothing else is asked for.
pub const EFFECT_DEFAULT: f64 = 0.05;
/// Most noise that is learned; beyond it nothing could be told.
pub const NOISE_MAX: f64 = 0.25;
/// Fewest pairs of earlier A/A studies from which the noise is learned.
pub const LEARNED_PAIRS_MIN: usize = 8;

/// What is asked of a comparison.
#[derive(Debug, Clone, Copy)]
pub struct Options<'a> {
    /// The practical band, and whether runs made one after the other may carry a verdict.
    pub terms: Terms,
    /// Studies of the same configuration on both sides, from which the noise of each metric is learned; none to learn
    /// nothing.
    pub studies: &'a [(Run, Run)],
    /// The effect, as a share, that must be found: repetitions are advised for it.
    pub effect: f64,
    /// Primary metrics that replace those of the plan; said in the result, because they were named later.
    pub primary: &'a [Metric],
    /// Compare also what is measured differently, labelled.
    pub anyway: bool,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            terms: Terms::default(),
            studies: &[],
            effect: EFFECT_DEFAULT,
            primary: &[],
            anyway: false,
        }
    }
}

/// Two runs compared. B is judged against A.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// Label of the run that is the measure.
    pub a: String,
    /// Label of the run that is judged.
    pub b: String,
    /// How the repetitions of the two lie in time.
    pub design: Design,
    /// Length of the slices in which both sides of a pair took turns, in milliseconds, if they did.
    pub slice_ms: Option<u32>,
    /// How the study was looked at before its end, if it was.
    pub looks: Option<Looks>,
    /// How the two sides of a study were measured and why, where that was recorded.
    pub arranged: Option<Arranged>,
    /// What was set for A alone, and for B.
    pub settings: [Vec<String>; 2],
    /// Repetitions of A and of B; up to the last look that was taken.
    pub repetitions: (u32, u32),
    pub differences: Vec<Difference>,
    /// What weakens the comparison as a whole, one sentence each.
    pub cautions: Vec<String>,
    /// Who named the primary metrics.
    pub named: Named,
    /// The effect for which repetitions are advised.
    pub effect: f64,
    /// Confidence of the interval of each primary metric, as a share: together, and at all looks, they hold with
    /// [`CONFIDENCE`].
    pub confidence: f64,
    /// That of each secondary one: these hold with [`CONFIDENCE`] each, and not together.
    pub confidence_secondary: f64,
    /// Metrics, the primary ones first.
    pub rows: Vec<Row>,
}

#[derive(Debug, Clone)]
pub struct Row {
    /// The metric, with its target.
    pub metric: Metric,
    pub title: String,
    pub primary: bool,
    pub better: Better,
    /// What was too small for a verdict.
    pub band: Band,
    /// Values of A by repetition, those without a valid figure left out.
    pub a: Vec<f64>,
    pub b: Vec<f64>,
    pub result: stats::compare::Comparison,
    /// The rank test's p of "no difference at all", adjusted for all primary metrics (Holm); only for those. The verdict
    /// comes from the interval.
    pub holm_p: Option<f64>,
    /// What is odd about its pairs; only for the primary ones of a study.
    pub oddities: Vec<Oddity>,
    /// Its pairs with both halves; only for the primary ones of a study.
    pub pairs: Vec<Pair>,
    /// Where their scatter comes from; only for the primary ones of a study, and where their series tell it.
    pub scatter: Option<Scatter>,
    /// Pairs, or repetitions a side, that find the asked effect in four of five cases; only for the primary ones.
    pub advised: Option<usize>,
    /// The least effect, as a share, that as many as there are find in four of five cases; only for the primary ones.
    pub least_effect: Option<f64>,
    /// The same at the last look that is planned, if this scatter is the true one; only of a study with looks.
    pub least_effect_at_end: Option<f64>,
}

/// Compares run `b` with run `a`.
///
/// # Errors
/// Runs that do not measure the same, or primary metrics that cannot be judged.
pub fn compare(a: &Run, b: &Run, options: &Options<'_>) -> Result<Comparison, CompareError> {
    checked(options)?;
    let pairing = comparable::pairing(a, b, &options.terms, options.anyway)?;
    let (looks, whole) = (looks(a, b), (a, b));
    let [a, b] = &seen(a, b);
    let (primary, named) = metrics::primary(a, b, options.primary, &pairing)?;
    let secondary = metrics::secondary(a, &pairing, &primary);
    // A test that tells no such figure, as a load or a check, buys nothing by chance.
    let is_told = |metric: &&Metric| {
        let tells = |run: &Run, metric: &Metric| metric.values(run).iter().any(Option::is_some);
        tells(a, metric) && tells(b, &pairing.in_b(metric))
    };
    let told = primary.iter().filter(is_told).count();
    let confidence_of = |metrics| confidence(whole.0, whole.1, metrics);
    let at_end = at_end(whole.0, whole.1, told);
    let judge = Judge {
        a,
        b,
        pairing: &pairing,
        options,
        confidence: confidence_of(told),
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
    cautions.extend(looks.as_ref().and_then(of_looks));
    cautions.extend(of_more_sides(a).filter(|_| pairing.design.is_paired()));
    let differences = differences(a, b);
    if differences.is_empty() && !is_same_on_purpose(a, b) {
        cautions.push("nothing that is recorded differs between the two runs; if something was changed, note what".into());
    }
    Ok(Comparison {
        a: a.label.clone(),
        b: b.label.clone(),
        design: pairing.design,
        slice_ms: (a.study.as_ref().filter(|_| pairing.design.is_paired()))
            .and_then(|study| study.slice_ms),
        looks,
        arranged: (a.study.as_ref().filter(|_| pairing.design.is_paired()))
            .and_then(|study| study.arranged.clone()),
        settings: [a, b].map(|run| {
            let study = run.study.as_ref();
            study.map_or_else(Vec::new, |study| study.settings.clone())
        }),
        repetitions: (a.repetitions, b.repetitions),
        differences,
        cautions,
        named,
        effect: options.effect,
        confidence: judge.confidence,
        confidence_secondary: judge.confidence_secondary,
        rows,
    })
}

/// What is to be said of a study that was not looked at to its end.
fn of_looks(looks: &Looks) -> Option<String> {
    let Looks { taken, pairs, .. } = looks;
    match looks.ended {
        Some(_) => None,
        None if *taken == 0 => Some("the study was interrupted before its first look, so there is no interval yet; resume it".into()),
        None => Some(format!("the study was interrupted after look {taken}: only its first {pairs} pairs count until the next look; resume it")),
    }
}

/// What is to be said of two sides of a study that has more.
fn of_more_sides(run: &Run) -> Option<String> {
    let sides = run.study.as_ref().map(|study| study.sides)?;
    (sides > 2).then(|| {
        format!(
            "these are two of the {sides} sides of a study: the intervals hold for these two, not for all {} pairs of sides together",
            sides * (sides - 1) / 2
        )
    })
}

/// Whether two runs are the sides of a study that sets nothing: the same configuration, twice.
pub fn is_same_on_purpose(a: &Run, b: &Run) -> bool {
    matches!((&a.study, &b.study), (Some(a), Some(b))
        if a.pairs_with(b) && a.settings.is_empty() && b.settings.is_empty())
}

fn checked(options: &Options<'_>) -> Result<(), CompareError> {
    let is_share = |share: f64| share > 0.0 && share < 1.0;
    if !is_share(options.effect) {
        return Err(CompareError::NotAShare("effect"));
    }
    // Without a band: whatever is not the very same matters.
    if (0.0..1.0).contains(&options.terms.band.equivalence) {
        Ok(())
    } else {
        Err(CompareError::NotAShare("practical band"))
    }
}

struct Judge<'a> {
    a: &'a Run,
    b: &'a Run,
    pairing: &'a Pairing,
    options: &'a Options<'a>,
    confidence: f64,
    confidence_secondary: f64,
    /// Pairs of the last look that is planned, and the confidence of each primary metric's interval then.
    at_end: Option<(usize, f64)>,
}

impl Row {
    /// What each side comes to, and of these the ratio: medians, which agree with the ratio that the verdict is about.
    pub fn sides(&self) -> [Option<f64>; 2] {
        sides([&self.a, &self.b].map(|side| median(side)), &self.result)
    }

    /// The ratio, or that of the medians where the data carry no interval.
    pub fn ratio(&self) -> Option<f64> {
        let [a, b] = self.sides();
        let estimate = self.result.ratio.map(|ratio| ratio.estimate);
        estimate.or_else(|| quotient(a?, b?))
    }
}

/// Two medians that agree with the ratio that the verdict is about, where there is one.
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
            // They would be right for one look, of a study whose length does not depend on them.
            result.rank_p = None;
        }
        let pairs = if primary && self.pairing.design.is_paired() {
            pairs::pairs(self.a, self.b, metric, &self.pairing.in_b(metric))
        } else {
            Vec::new()
        };
        let (sd, n) = (result.sd_log.filter(|_| primary), a.len().min(b.len()));
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
            // Simulated, so only for what decides.
            advised: sd.and_then(|sd| self.advised(sd, n, band)),
            least_effect: sd.and_then(|sd| self.least_effect(sd, n, band)),
            least_effect_at_end: sd.and_then(|sd| self.least_effect_at_end(sd, n, band)),
            metric: metric.clone(),
            a: a.into_iter().filter(|v| v.is_finite()).collect(),
            b: b.into_iter().filter(|v| v.is_finite()).collect(),
            result,
        }
    }

    /// Repetitions that find the asked effect, planned with a spread that is exceeded only once in five.
    fn advised(&self, sd_log: f64, n: usize, band: Band) -> Option<usize> {
        let upper = forecast::spread_upper(sd_log, n).ok()?;
        forecast::repetitions(&self.plan(band), upper, 1.0 + self.options.effect).ok()?
    }

    /// The effect that `n` repetitions find, with the same spread.
    fn least_effect(&self, sd_log: f64, n: usize, band: Band) -> Option<f64> {
        let upper = forecast::spread_upper(sd_log, n).ok()?;
        forecast::least_effect(&self.plan(band), upper, n)
    }

    fn least_effect_at_end(&self, sd_log: f64, n: usize, band: Band) -> Option<f64> {
        let (pairs, confidence) = self.at_end?;
        let upper = forecast::spread_upper(sd_log, n).ok()?;
        let plan = forecast::Plan {
            confidence,
            ..self.plan(band)
        };
        forecast::least_effect(&plan, upper, pairs)
    }

    fn plan(&self, band: Band) -> forecast::Plan {
        forecast::Plan {
            design: self.pairing.design,
            band,
            confidence: self.confidence,
        }
    }

    /// With so much noise, no study would find anything.
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

/// The noise that earlier A/A studies show for a metric, a share; `None` when they hold too few pairs.
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

/// The series of both sides. Pairs keep their places, with NaN for a half that is missing, so that the
/// statistics can say how many were left out.
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

/// Holm's adjustment over the primary metrics.
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
    /// Whether its interval gives a verdict, or excludes an effect of this size, a share. A metric without a ratio never will, and
    /// nobody waits for it.
    pub fn is_answered(&self, effect: f64) -> bool {
        let waits_for_ratio = self.result.further.is_some();
        match self.result.ratio {
            Some(_) => self.has_verdict() || self.excludes(effect),
            None => !waits_for_ratio,
        }
    }

    /// Whether it is better, worse or equivalent.
    pub fn has_verdict(&self) -> bool {
        self.result.verdict != Verdict::Inconclusive
    }

    /// Whether the whole interval lies within this effect, a share.
    pub fn excludes(&self, effect: f64) -> bool {
        let within = |ratio| judge(ratio, Band::of(effect), Direction::HigherIsBetter);
        self.result.ratio.as_ref().map(within) == Some(Verdict::Equivalent)
    }
}

impl Comparison {
    /// Whether every primary metric has a verdict, or excludes an effect of this size, a share; also where no number of pairs
    /// would carry a verdict.
    pub fn is_answered(&self, effect: f64) -> bool {
        !self.design.decides() || self.primary().all(|row| row.is_answered(effect))
    }

    pub fn primary(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|r| r.primary)
    }

    /// Whether any primary metric has this verdict.
    pub fn any_primary(&self, verdict: Verdict) -> bool {
        self.primary().any(|r| r.result.verdict == verdict)
    }

    /// Whether each side was measured once: then nothing can be said of the noise, and so of an effect.
    pub fn is_one_each(&self) -> bool {
        self.repetitions == (1, 1)
    }
}
