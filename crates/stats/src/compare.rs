//! Two configurations compared on one metric: better, worse, equivalent or inconclusive.

use crate::forecast::{Further, Plan, further};
use crate::interval::Interval;
use crate::rank::{cliffs_delta, mann_whitney, signed_rank};
use crate::ratio::{paired, unpaired};
use crate::summary::quantile;
use crate::warning::Warning;

pub use crate::verdict::{Band, Design, Direction, Verdict, judge};

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Question {
    pub design: Design,
    pub direction: Direction,
    pub band: Band,
    /// Confidence of the interval, as a share: 0.95 for one metric, [`crate::multiple::confidence_of_each`] for one
    /// of several.
    pub confidence: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    pub verdict: Verdict,
    pub ratio: Option<Interval>,
    pub sd_log: Option<f64>,
    /// Two-sided p of the rank test that belongs to the interval.
    pub rank_p: Option<f64>,
    /// Cliff's delta of B against A; above 0 when B's values are higher.
    pub cliffs_delta: Option<f64>,
    pub further: Option<Further>,
    pub warnings: Vec<Warning>,
}

/// Compares two configurations, one figure a repetition on either side.
///
/// Method: the ratio of [`crate::ratio`] with its interval (paired or not), judged by [`judge`]. Swapping A
/// and B swaps better and worse and nothing else. Limits: those of the ratio. What cannot be compared is
/// inconclusive, with the reason among the warnings.
/// Golden: 100 … 105 against the same plus 10 %, in six pairs, is better with a ratio of 1.1.
pub fn compare(a: &[f64], b: &[f64], question: &Question) -> Comparison {
    let mut warnings = Vec::new();
    if matches!(question.design, Design::Sequential { .. }) {
        warnings.push(Warning::NotInterleaved);
    }
    if let Err(reason) = question.band.checked() {
        warnings.push(reason);
        return Comparison::without_ratio(warnings, None);
    }
    let ratio = match question.design {
        Design::Paired | Design::PairedInstances => paired(a, b, question.confidence),
        Design::Interleaved | Design::Sequential { .. } => unpaired(a, b, question.confidence),
    };
    let ratio = match ratio {
        Ok(ratio) => ratio,
        Err(reason) => {
            warnings.push(reason);
            let more = match reason {
                Warning::TooFew { have, need } if question.design.decides() => {
                    Some(Further::More(need - have))
                }
                _ => None,
            };
            return Comparison::without_ratio(warnings, more);
        }
    };
    warnings.extend(&ratio.warnings);
    let (a, b) = usable(a, b, question.design);
    let verdict = if question.design.decides() {
        judge(&ratio.interval, question.band, question.direction)
    } else {
        Verdict::Inconclusive
    };
    let plan = Plan {
        design: question.design,
        band: question.band,
        confidence: question.confidence,
    };
    let lacks_repetitions = verdict == Verdict::Inconclusive && question.design.decides();
    let n = a.len().min(b.len());
    Comparison {
        verdict,
        ratio: Some(ratio.interval),
        sd_log: Some(ratio.sd_log),
        rank_p: rank_p(&a, &b, question.design),
        cliffs_delta: cliffs_delta(&a, &b).ok(),
        further: lacks_repetitions
            .then(|| further(&plan, n, ratio.sd_log, ratio.interval.estimate)),
        warnings,
    }
}

impl Comparison {
    fn without_ratio(warnings: Vec<Warning>, further: Option<Further>) -> Self {
        Self {
            verdict: Verdict::Inconclusive,
            ratio: None,
            sd_log: None,
            rank_p: None,
            cliffs_delta: None,
            further,
            warnings,
        }
    }
}

/// Practical band learned from ratios of the same configuration measured twice (A/A).
///
/// Formula: exp(Q3 + 3·IQR of |ln ratio|) − 1. Source: the threshold of rustc-perf. Limits: eight ratios at
/// least, positive and finite. It is what this machine shows without any change ([`Band::noise`]), so a smaller effect
/// is not worth a verdict; it says nothing of what is equivalent. Golden: eight ratios of 1.01 and 1/1.01 give 1 %.
pub fn learned_band(ratios: &[f64]) -> Result<f64, Warning> {
    let (have, need) = (ratios.len(), 8);
    if have < need {
        return Err(Warning::TooFew { have, need });
    }
    let is_positive = |r: &&f64| r.is_finite() && **r > 0.0;
    let count = ratios.len() - ratios.iter().filter(is_positive).count();
    let sizes: Vec<f64> = ratios.iter().map(|r| r.ln().abs()).collect();
    match (count, quantile(&sizes, 0.25), quantile(&sizes, 0.75)) {
        (0, Some(q1), Some(q3)) => Ok((q3 + 3.0 * (q3 - q1)).exp_m1()),
        _ => Err(Warning::NotPositive { count }),
    }
}

/// The values that the ratio used: the finite ones, and of pairs the complete ones.
fn usable(a: &[f64], b: &[f64], design: Design) -> (Vec<f64>, Vec<f64>) {
    if design.is_paired() {
        let pairs = a.iter().copied().zip(b.iter().copied());
        let finite = pairs.filter(|(a, b)| a.is_finite() && b.is_finite());
        return finite.unzip();
    }
    let finite = |side: &[f64]| side.iter().copied().filter(|v| v.is_finite()).collect();
    (finite(a), finite(b))
}

fn rank_p(a: &[f64], b: &[f64], design: Design) -> Option<f64> {
    let test = if design.is_paired() {
        let logs = a.iter().zip(b).map(|(a, b)| b.ln() - a.ln());
        signed_rank(&logs.collect::<Vec<_>>())
    } else {
        mann_whitney(a, b)
    };
    test.ok().map(|test| test.p)
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUESTION: Question = Question {
        design: Design::Paired,
        direction: Direction::HigherIsBetter,
        band: Band::of(0.02),
        confidence: 0.95,
    };
    const A: [f64; 6] = [100.0, 101.0, 102.0, 103.0, 104.0, 105.0];

    fn judged(low: f64, high: f64, noise: f64) -> Verdict {
        let equivalence = 0.02;
        let ratio = Interval::new(1.0, [low, high], 0.95);
        let band = Band { equivalence, noise };
        judge(&ratio, band, Direction::HigherIsBetter)
    }

    fn times(factor: f64) -> [f64; 6] {
        A.map(|v| v * factor)
    }

    #[test]
    fn golden_comparison() {
        let wobble = [1.101, 1.099, 1.102, 1.098, 1.1, 1.1];
        let b: Vec<f64> = A.iter().zip(wobble).map(|(a, w)| a * w).collect();
        let found = compare(&A, &b, &QUESTION);
        assert_eq!(found.verdict, Verdict::Better);
        assert!((found.ratio.unwrap().estimate - 1.1).abs() < 1e-3);
        assert_eq!(found.rank_p, Some(0.031_25));
        assert!(found.further.is_none() && found.warnings.is_empty());
        let lower = Question {
            direction: Direction::LowerIsBetter,
            ..QUESTION
        };
        assert_eq!(compare(&A, &b, &lower).verdict, Verdict::Worse);
    }

    #[test]
    fn golden_verdicts() {
        for (low, high, verdict) in [
            (1.03, 1.05, Verdict::Better),
            (0.90, 0.97, Verdict::Worse),
            (0.99, 1.01, Verdict::Equivalent),
            (1.01, 1.05, Verdict::Inconclusive),
            (0.5, 2.0, Verdict::Inconclusive),
            (f64::NAN, f64::NAN, Verdict::Inconclusive),
        ] {
            assert_eq!(judged(low, high, 0.0), verdict, "{low} to {high}");
        }
    }

    #[test]
    fn noise_forbids_better_and_worse_and_makes_nothing_alike() {
        for (low, high, noise, verdict) in [
            (1.03, 1.05, 0.08, Verdict::Inconclusive),
            (0.95, 1.06, 0.08, Verdict::Inconclusive),
            (0.90, 0.92, 0.08, Verdict::Worse),
            (0.99, 1.01, 0.08, Verdict::Equivalent),
            (1.01, 1.015, 0.001, Verdict::Equivalent),
        ] {
            assert_eq!(judged(low, high, noise), verdict, "{low} to {high}");
        }
    }

    #[test]
    fn a_sequence_is_labelled_and_five_pairs_carry_no_verdict() {
        let sequential = |trusted| Question {
            design: Design::Sequential { trusted },
            ..QUESTION
        };
        let found = compare(&A, &times(1.2), &sequential(true));
        assert_eq!(found.verdict, Verdict::Better);
        assert_eq!(found.warnings, [Warning::NotInterleaved]);
        let same = compare(&A, &times(1.2), &sequential(false));
        assert_eq!((same.verdict, same.further), (Verdict::Inconclusive, None));
        assert_eq!((same.ratio, same.warnings), (found.ratio, found.warnings));
        let found = compare(&A[..5], &times(1.2)[..5], &QUESTION);
        let decided = (found.verdict, found.further);
        assert_eq!(decided, (Verdict::Inconclusive, Some(Further::More(1))));
        let one = compare(&A[..1], &A[1..2], &sequential(true));
        assert_eq!(one.further, Some(Further::More(3)));
    }

    #[test]
    fn odd_series_never_panic() {
        let nan = [f64::NAN; 6];
        assert_eq!(compare(&nan, &A, &QUESTION).verdict, Verdict::Inconclusive);
        let zero = compare(&A, &times(0.0), &QUESTION);
        assert_eq!(zero.warnings, [Warning::NotPositive { count: 6 }]);
        let alike = compare(&[7.0; 6], &[7.0; 6], &QUESTION);
        assert_eq!(alike.verdict, Verdict::Equivalent);
        assert_eq!(alike.warnings, [Warning::SingleValued]);
        let wild = Question {
            band: Band::of(f64::NAN),
            confidence: 2.0,
            ..QUESTION
        };
        assert_eq!(compare(&A, &A, &wild).verdict, Verdict::Inconclusive);
        assert_eq!(compare(&[], &[], &QUESTION).further, Some(Further::More(6)));
    }

    #[test]
    fn golden_band() {
        let ratios: [f64; 8] =
            std::array::from_fn(|at| if at % 2 == 0 { 1.01 } else { 1.0 / 1.01 });
        assert!((learned_band(&ratios).unwrap() - 0.01).abs() < 1e-12);
        assert!(learned_band(&ratios[..7]).is_err() && learned_band(&[-1.0; 8]).is_err());
    }
}
