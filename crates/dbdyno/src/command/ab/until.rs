//! Studies that stop once they are decided: their analyses and sentences.

use std::time::{Duration, Instant};

use anyhow::Result;
use archive::{PlannedAnalysis, Run, Until};
use lab::study::Stopping;
use stats::analyses::analyses;
use stats::compare::{Band, Design};
use stats::forecast::{self, Plan};
use stats::multiple::confidence_of_each;
use stats::ratio::fewest_pairs;
use verdict::analyses::at_each_analysis;
use verdict::compare::{CONFIDENCE, Options, Terms, compare};
use verdict::metric::Metric;

use crate::consent::Permission;
use crate::console::say;
use crate::exit::invalid;

pub const PAIRS_DEFAULT: u32 = 100;
/// Time limit if neither it nor the pairs are given.
pub const WITHIN_DEFAULT: Duration = Duration::from_secs(30 * 60);

/// Results of earlier studies of a plan.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// Spreads of the primary metrics, each planned so that it is exceeded once in five.
    pub spreads: Vec<(String, f64)>,
    pub pair: Option<Duration>,
    pub studies: usize,
}

/// The analyses of a study with this many pairs and primary metrics.
fn planned(pairs: u32, metrics: usize) -> Vec<PlannedAnalysis> {
    let analyses = analyses(pairs as usize, confidence_of_each(CONFIDENCE, metrics));
    let analysis = |analysis: &stats::analyses::Analysis| PlannedAnalysis {
        pairs: analysis.pairs as u32,
        spent: analysis.spent,
    };
    analyses.iter().map(analysis).collect()
}

/// A study that stops when an `effect` (a share) is found or excluded; an error if the band hides the effect.
pub fn until(
    effect: f64,
    band: f64,
    primary: &[String],
    pairs: u32,
    metrics: usize,
    within: Option<Duration>,
) -> Result<Until> {
    if effect <= band {
        return invalid(format!(
            "--until {}% lies within the band of ±{} %, where a difference counts as none; name a larger effect, or a smaller --band",
            pct(effect),
            pct(band)
        ));
    }
    Ok(Until {
        effect_pct: pct(effect),
        band_pct: pct(band),
        primary: primary.to_vec(),
        within_s: within.map(|within| within.as_secs_f64()),
        analyses: planned(pairs, metrics),
        ..Until::default()
    })
}

/// A share in percent as it was written: 7 instead of 7.000000000000001.
fn pct(share: f64) -> f64 {
    (share * 1e8).round() / 1e6
}

/// The least effects (shares) that all pairs of the study would find, by metric; the largest first.
fn least(until: &Until, metrics: usize, known: &Known) -> Vec<(String, f64)> {
    let confidences = at_each_analysis(until, confidence_of_each(CONFIDENCE, metrics));
    let plan = Plan {
        design: Design::Paired,
        band: Band::of(until.band_pct / 100.0),
        confidence: confidences.last().copied().unwrap_or(CONFIDENCE),
    };
    let of = |(metric, spread): &(String, f64)| {
        let least = forecast::least_effect(&plan, *spread, until.pairs() as usize)?;
        Some((metric.clone(), least))
    };
    let mut all: Vec<(String, f64)> = known.spreads.iter().filter_map(of).collect();
    all.sort_by(|one, other| other.1.total_cmp(&one.1));
    all
}

/// Announces when the study stops and which effects it can find, and asks for consent if these are larger than requested.
pub fn announce(
    until: &Until,
    metrics: usize,
    known: &Known,
    permission: &Permission,
) -> Result<()> {
    // The estimate rests on the duration of pairs in earlier studies.
    let fewer = known.pair.zip(until.within_s).map(|(pair, within_s)| {
        let pair_s = pair.as_secs_f64();
        (pair_s, (within_s / pair_s).max(1.0) as u32)
    });
    let fewer = fewer.filter(|(_, fit)| *fit < until.pairs());
    let mut reachable = until.clone();
    if let Some((_, fit)) = fewer {
        reachable.analyses = planned(fit, metrics);
    }
    let least = least(&reachable, metrics, known);
    for line in report::planned(&reachable, &least, known.studies).lines() {
        say(line);
    }
    if let Some((pair_s, fit)) = fewer {
        let pair = report::length(pair_s);
        say(&format!(
            "  (a pair took {pair} there, so {fit} fit into the time)"
        ));
    }
    let requested = until.effect_pct / 100.0;
    let too_many = match least.first() {
        Some((metric, least)) if *least > requested => format!(
            "{} pairs would find an effect of {:.1} % of {metric} in four of five studies, but not one of {} %",
            reachable.pairs(),
            least * 100.0,
            until.effect_pct
        ),
        _ => return Ok(()),
    };
    permission.agree(
        &too_many,
        "raise --repeat or --time, name a larger effect, or choose a smaller --band",
    )
}

/// Decides when the study stops, and prints the result of each analysis.
pub struct Watch<T: Fn(&str)> {
    begun: Instant,
    metrics: usize,
    until: Until,
    tell: T,
}

impl<T: Fn(&str)> Watch<T> {
    pub fn new(until: Until, metrics: usize, tell: T) -> Self {
        Self {
            begun: Instant::now(),
            metrics,
            until,
            tell,
        }
    }

    fn compared(&self, a: &Run, b: &Run) -> Option<verdict::compare::Comparison> {
        let primary = self.until.primary.iter().map(|text| text.parse());
        let primary: Vec<Metric> = primary.collect::<Result<_, _>>().ok()?;
        let options = Options {
            terms: Terms {
                band: Band::of(self.until.band_pct / 100.0),
                trust_sequential: false,
            },
            primary: &primary,
            allow_mismatch: true,
            ..Options::default()
        };
        compare(a, b, &options).ok()
    }
}

impl<T: Fn(&str)> Stopping for Watch<T> {
    fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    fn analyses(&self, pairs: u32) -> Vec<PlannedAnalysis> {
        planned(pairs, self.metrics)
    }

    fn is_planned(&mut self, until: &Until, pair: Duration) {
        let seconds = pair.as_secs_f64();
        let pairs = until.pairs();
        (self.tell)(&format!(
            "a pair takes {}: {}; {pairs} pairs take about {}",
            report::length(seconds),
            report::analyses_words(until),
            report::length(seconds * f64::from(pairs))
        ));
        let fewest = fewest_pairs(confidence_of_each(CONFIDENCE, self.metrics));
        if (pairs as usize) < fewest && until.within_s.is_some() {
            (self.tell)(&format!(
                "dbdyno: warning: a verdict needs {fewest} pairs, which do not fit into the time; interrupt the study and begin it again \
                 with a longer --time, or with shorter points"
            ));
        }
    }

    fn is_answered(&mut self, a: &Run, b: &Run) -> bool {
        // Runs that cannot be compared are reported by the comparison at the end of the study.
        let Some(compared) = self.compared(a, b) else {
            return false;
        };
        (self.tell)(&report::analysis(&compared));
        compared.is_answered(self.until.effect_pct / 100.0)
    }
}
