//! Figures of which only bounds are known: a ramp that never passed its limit says how many users are supported at least.
//!
//! Such ramps are the best ones (or the worst). To leave them out would compare the rest.

use crate::compare::{Comparison, Design, Question, Verdict, compare, judge};
use crate::interval::{Interval, share};
use crate::ratio::{mann_whitney_depth, shift_between, signed_rank_depth, walsh_between};
use crate::warning::Warning;

/// Interval in which a figure lies; both ends are equal if it is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    pub low: f64,
    pub high: f64,
}

impl Bounds {
    pub fn exactly(figure: f64) -> Self {
        Self {
            low: figure,
            high: figure,
        }
    }

    pub fn known(&self) -> Option<f64> {
        (self.low == self.high).then_some(self.low)
    }

    fn is_sound(&self) -> bool {
        self.low >= 0.0 && self.low <= self.high && self.low.is_finite() && self.high > 0.0
    }
}

/// Compares two configurations when only bounds of some figures are known.
///
/// Method: as [`compare`] where all are known. Else the lower end of the interval comes from the smallest ratios that
/// the bounds allow and the upper end from the largest, each by the ranks of Hodges and Lehmann's interval; the
/// estimate is the geometric mean of the two estimates, or the one of them that is a number. The true ratios lie
/// between, so that the interval covers at least as often as that of known figures. An end may be 0 or infinite.
/// Limits: bounds of 0 or more, in their order. Golden: eight pairs that rise by 10 %, of which one B is only known
/// to lie above, give the lower end of the eight and an upper end that this one pair moves.
pub fn compare_bounds(a: &[Bounds], b: &[Bounds], question: &Question) -> Comparison {
    let known = |side: &[Bounds]| -> Vec<f64> { side.iter().filter_map(Bounds::known).collect() };
    let (known_a, known_b) = (known(a), known(b));
    let count = a.len() + b.len() - known_a.len() - known_b.len();
    if count == 0 {
        return compare(&known_a, &known_b, question);
    }
    let mut warnings = vec![Warning::Censored { count }];
    if matches!(question.design, Design::Sequential { .. }) {
        warnings.push(Warning::NotInterleaved);
    }
    let ratio = match interval(a, b, question) {
        Ok(ratio) => Some(ratio),
        Err(reason) => {
            warnings.push(reason);
            None
        }
    };
    Comparison {
        verdict: match ratio {
            Some(ratio) if question.design.decides() => {
                judge(&ratio, question.band, question.direction)
            }
            _ => Verdict::Inconclusive,
        },
        ratio,
        sd_log: None,
        rank_p: None,
        cliffs_delta: None,
        further: None,
        warnings,
    }
}

fn interval(a: &[Bounds], b: &[Bounds], question: &Question) -> Result<Interval, Warning> {
    share("confidence", question.confidence)?;
    question.band.checked()?;
    let wrong = a.iter().chain(b).filter(|bounds| !bounds.is_sound());
    match wrong.count() {
        0 => {}
        dropped => return Err(Warning::NotFinite { dropped }),
    }
    let tail = (1.0 - question.confidence) / 2.0;
    let (least, most) = match question.design {
        Design::Paired | Design::PairedInstances => {
            if a.len() != b.len() {
                return Err(Warning::UnequalLengths {
                    a: a.len(),
                    b: b.len(),
                });
            }
            let ranks = signed_rank_depth(a.len(), tail);
            let of = |end: fn(&Bounds, &Bounds) -> f64| -> Option<Interval> {
                let pairs = a.iter().zip(b).map(|(a, b)| end(a, b));
                walsh_between(&pairs.collect::<Vec<_>>(), ranks?)
            };
            (
                of(|a, b| b.low.ln() - a.high.ln()),
                of(|a, b| b.high.ln() - a.low.ln()),
            )
        }
        Design::Interleaved | Design::Sequential { .. } => {
            let ranks = mann_whitney_depth(a.len(), b.len(), tail);
            let logs = |side: &[Bounds], end: fn(&Bounds) -> f64| -> Vec<f64> {
                side.iter().map(|bounds| end(bounds).ln()).collect()
            };
            let of = |of_a: fn(&Bounds) -> f64, of_b: fn(&Bounds) -> f64| {
                shift_between(&logs(a, of_a), &logs(b, of_b), ranks?)
            };
            (of(|a| a.high, |b| b.low), of(|a| a.low, |b| b.high))
        }
    };
    let (have, need) = (a.len().min(b.len()), a.len().min(b.len()) + 1);
    let (least, most) = least.zip(most).ok_or(Warning::TooFew { have, need })?;
    let estimate = match (least.estimate.is_finite(), most.estimate.is_finite()) {
        (true, false) => least.estimate,
        (false, true) => most.estimate,
        _ => f64::midpoint(least.estimate, most.estimate),
    };
    if !estimate.is_finite() {
        return Err(Warning::TooFew { have, need });
    }
    let logs = Interval::new(estimate, [least.low, most.high], least.confidence);
    Ok(logs.map(f64::exp))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::{Band, Direction};
    use crate::random::Random;

    const QUESTION: Question = Question {
        design: Design::Paired,
        direction: Direction::HigherIsBetter,
        band: Band::of(0.02),
        confidence: 0.95,
    };

    fn sides(factor: f64) -> (Vec<Bounds>, Vec<Bounds>) {
        let level = [100.0, 103.0, 98.0, 101.0, 104.0, 97.0, 102.0, 99.0];
        let wobble = [1.0, 1.004, 0.996, 1.002, 0.998, 1.001, 0.999, 1.003];
        let a = level.map(Bounds::exactly);
        let b = level
            .iter()
            .zip(wobble)
            .map(|(l, w)| Bounds::exactly(l * w * factor));
        (a.to_vec(), b.collect())
    }

    #[test]
    fn golden_bounds() {
        let (a, mut b) = sides(1.1);
        let known = compare_bounds(&a, &b, &QUESTION);
        assert_eq!((known.verdict, known.warnings.len()), (Verdict::Better, 0));
        b[3].high = f64::INFINITY;
        let found = compare_bounds(&a, &b, &QUESTION);
        let (exact, ratio) = (known.ratio.unwrap(), found.ratio.unwrap());
        assert_eq!((ratio.low, ratio.confidence), (exact.low, exact.confidence));
        assert!(ratio.high >= exact.high && ratio.estimate >= exact.estimate);
        assert_eq!(found.verdict, Verdict::Better);
        assert_eq!(found.warnings, [Warning::Censored { count: 1 }]);
        for design in [Design::Interleaved, Design::Sequential { trusted: true }] {
            let other = compare_bounds(&a, &b, &Question { design, ..QUESTION });
            assert_eq!(other.verdict, Verdict::Better, "{design:?}");
        }
    }

    /// B never passed its limit: it is better by an unknown amount, which is enough.
    #[test]
    fn an_end_that_nobody_knows_does_not_hinder_a_verdict() {
        let (a, mut b) = sides(1.1);
        b.iter_mut().for_each(|bounds| bounds.high = f64::INFINITY);
        let found = compare_bounds(&a, &b, &QUESTION);
        let ratio = found.ratio.unwrap();
        assert_eq!(
            (found.verdict, ratio.high),
            (Verdict::Better, f64::INFINITY)
        );
        // Neither side passed: two lower bounds cannot be compared.
        let mut a = a;
        a.iter_mut().for_each(|bounds| bounds.high = f64::INFINITY);
        let none = compare_bounds(&a, &b, &QUESTION);
        assert_eq!((none.verdict, none.ratio), (Verdict::Inconclusive, None));
    }

    /// Figures above 104 are cut off; the truth is 3 %. The figures that are not cut off show less.
    #[test]
    fn coverage_with_a_limit_that_the_better_ones_never_pass() {
        let mut random = Random::new(3);
        let (trials, truth, limit) = (2_000, 1.03_f64, 104.0);
        let (mut covered, mut left_out) = (0, 0);
        for _ in 0..trials {
            let mut side = |factor: f64| -> Vec<f64> {
                (0..12)
                    .map(|_| 100.0 * factor * (0.03 * random.normal()).exp())
                    .collect()
            };
            let (a, b) = (side(1.0), side(truth));
            let observed = |side: &[f64]| -> Vec<Bounds> {
                let bounds = |v: &f64| {
                    if *v > limit {
                        Bounds {
                            low: limit,
                            high: f64::INFINITY,
                        }
                    } else {
                        Bounds::exactly(*v)
                    }
                };
                side.iter().map(bounds).collect()
            };
            let (observed_a, observed_b) = (observed(&a), observed(&b));
            let ratio = compare_bounds(&observed_a, &observed_b, &QUESTION).ratio;
            covered += u32::from(ratio.is_none_or(|r| r.covers(truth)));
            let both = observed_a
                .iter()
                .zip(&observed_b)
                .filter_map(|(a, b)| a.known().zip(b.known()));
            let (a, b): (Vec<f64>, Vec<f64>) = both.unzip();
            let rest = compare(&a, &b, &QUESTION).ratio;
            left_out += u32::from(rest.is_some_and(|r| !r.covers(truth)));
        }
        let share = |count: u32| f64::from(count) / f64::from(trials);
        assert!(share(covered) >= 0.94, "{}", share(covered));
        assert!(
            share(left_out) > 0.08,
            "leaving out misses in {}",
            share(left_out)
        );
    }

    #[test]
    fn odd_bounds_never_panic() {
        let odd = [f64::NAN, -1.0, 0.0, f64::INFINITY, 5.0];
        for low in odd {
            for high in odd {
                let side = vec![Bounds { low, high }; 8];
                let known = vec![Bounds::exactly(5.0); 8];
                let _ = compare_bounds(&side, &known, &QUESTION);
                let _ = compare_bounds(&known, &side[..7], &QUESTION);
            }
        }
    }
}
