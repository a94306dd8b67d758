//! Common parts of all comparisons: default band and confidence, and results for exports.

use archive::Run;
use stats::Interval;
use stats::compare::{Band, Comparison, Design, Verdict};

/// Default practical band: ratios within 2 % count as alike.
pub const BAND_DEFAULT: f64 = 0.02;
pub const CONFIDENCE: f64 = 0.95;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Terms {
    pub band: Band,
    /// Consecutive runs may carry a verdict: their user vouches that only the intended change differed.
    pub trust_sequential: bool,
}

impl Default for Terms {
    fn default() -> Self {
        Self {
            band: Band::of(BAND_DEFAULT),
            trust_sequential: false,
        }
    }
}

impl Terms {
    /// Order of the repetitions of two runs: pairs, if they are the sides of one study.
    pub fn design(&self, a: &Run, b: &Run) -> Design {
        match (&a.study, &b.study) {
            (Some(x), Some(y)) if x.pairs_with(y) && are_two_servers(a, b) => {
                Design::PairedInstances
            }
            (Some(x), Some(y)) if x.pairs_with(y) => Design::Paired,
            _ => Design::Sequential {
                trusted: self.trust_sequential,
            },
        }
    }
}

/// True for sides of a study on different servers that ran throughout.
fn are_two_servers(a: &Run, b: &Run) -> bool {
    let place = |url: &str| url.split('?').next().unwrap_or_default().to_owned();
    let runs_on = |run: &Run, target: u32| {
        let mut points = run.points.iter().filter(|p| p.key.target == target);
        points.any(|p| p.work.server_since.is_some())
    };
    (0..)
        .zip(a.targets.iter().zip(&b.targets))
        .any(|(number, (x, y))| {
            place(&x.url) != place(&y.url) && (runs_on(a, number) || runs_on(b, number))
        })
}

/// Ratio of a comparison, the ends of its interval, and its confidence.
pub(crate) fn ratio_and_interval(result: &Comparison) -> [Option<f64>; 4] {
    let of = |value: fn(&Interval) -> f64| result.ratio.as_ref().map(value);
    [
        of(|r| r.estimate),
        of(|r| r.low),
        of(|r| r.high),
        of(|r| r.confidence),
    ]
}

/// The interval of the opposite direction.
pub(crate) fn inverse(ratio: Interval) -> Interval {
    Interval {
        estimate: 1.0 / ratio.estimate,
        low: 1.0 / ratio.high,
        high: 1.0 / ratio.low,
        confidence: ratio.confidence,
    }
}

/// Word for a verdict in tables and exports.
pub fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Equivalent => "equivalent",
        Verdict::Inconclusive => "inconclusive",
    }
}
