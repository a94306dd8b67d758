//! What comparisons of all kinds share: their usual band and confidence, and what they found, for exports.

use stats::Interval;
use stats::compare::{Comparison, Verdict};

/// Practical band when nothing else is asked for: ratios within 2 % count as alike.
pub const BAND_DEFAULT: f64 = 0.02;
/// Confidence of the intervals.
pub const CONFIDENCE: f64 = 0.95;

/// The ratio of a comparison, the ends of its interval, and with what confidence the truth lies between them.
pub(crate) fn ratio_and_interval(result: &Comparison) -> [Option<f64>; 4] {
    let of = |value: fn(&Interval) -> f64| result.ratio.as_ref().map(value);
    [
        of(|r| r.estimate),
        of(|r| r.low),
        of(|r| r.high),
        of(|r| r.confidence),
    ]
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
