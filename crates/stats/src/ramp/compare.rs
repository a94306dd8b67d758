//! Comparison of two repeated ramps: users at equal response time, response time at equal users, throughput at the
//! knee.

use std::collections::BTreeSet;

use super::{Limits, Step, knee, supported};
use crate::censored::{Bounds, compare_bounds};
use crate::compare::{Band, Comparison, Design, Direction, Question};

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RampQuestion {
    pub limits: Option<Limits>,
    pub design: Design,
    pub band: Band,
    pub confidence: f64,
}

impl RampQuestion {
    fn on(&self, direction: Direction) -> Question {
        Question {
            design: self.design,
            direction,
            band: self.band,
            confidence: self.confidence,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// The figure of each repetition of A; `None` if its ramp does not show it.
    pub a: Vec<Option<f64>>,
    pub b: Vec<Option<f64>>,
    /// Ratio b/a of the repetitions that have both, with its interval and verdict.
    pub comparison: Comparison,
    /// Number of values that do not count because their ramp, or the one that they are paired with, does not show the
    /// figure.
    pub left_out: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RampComparison {
    /// Supported users, interpolated; `None` without limits. A ramp that never exceeds them, or that begins beyond
    /// them, counts with its bounds ([`crate::censored`]); it is neither left out nor taken for its last step.
    pub users_at_limit: Option<Figure>,
    /// Response times at each number of users that both sides were measured at, in their order. The intervals
    /// hold for each by itself, not for all of them together.
    pub response_at_users: Vec<(u32, Figure)>,
    /// Throughput at the knee; a ramp that does not pass its knee is left out.
    pub throughput_at_knee: Figure,
}

/// Compares two configurations by ramps, one for each repetition.
///
/// Method: every repetition gives one figure; the figures are compared as any others are, by
/// [`crate::compare::compare`]: the ratio b/a of Hodges and Lehmann with an exact interval over the repetitions.
/// Steps within a ramp are never taken for repetitions, because what disturbs one disturbs its neighbours.
/// Golden: B serves every user twice as fast as A, a closed system of 10 ms and 990 ms of pause: at 50 ms it
/// supports 2 · 104 users, and throughput at the knee is twice that of A, to a part of a step.
pub fn compare(a: &[Vec<Step>], b: &[Vec<Step>], question: &RampQuestion) -> RampComparison {
    let figure = |direction, of: &dyn Fn(&[Step]) -> Option<f64>| {
        let side = |ramps: &[Vec<Step>]| ramps.iter().map(|ramp| of(ramp)).collect();
        compared(side(a), side(b), question, direction)
    };
    let at_users = |users: u32| {
        figure(Direction::LowerIsBetter, &|ramp| {
            let step = ramp.iter().find(|step| step.users == users)?;
            Some(step.response_us).filter(|us| us.is_finite())
        })
    };
    let common = measured_at(a)
        .intersection(&measured_at(b))
        .copied()
        .collect::<Vec<_>>();
    RampComparison {
        users_at_limit: question.limits.map(|limits| {
            // Nothing is known of a ramp that was not measured, so its pair does not count.
            let side = |ramps: &[Vec<Step>]| -> Vec<Option<Bounds>> {
                let measured = |ramp: &Vec<Step>| !ramp.is_empty();
                let bounds = |ramp: &Vec<Step>| supported(ramp, &limits).bounds();
                ramps
                    .iter()
                    .map(|ramp| measured(ramp).then(|| bounds(ramp)))
                    .collect()
            };
            let (all_a, all_b) = (side(a), side(b));
            let (known_a, known_b) = select_known(&all_a, &all_b, question.design);
            let known = |side: &[Option<Bounds>]| -> Vec<Option<f64>> {
                side.iter().map(|bounds| bounds.as_ref()?.known()).collect()
            };
            Figure {
                a: known(&all_a),
                b: known(&all_b),
                comparison: compare_bounds(
                    &known_a,
                    &known_b,
                    &question.on(Direction::HigherIsBetter),
                ),
                left_out: a.len() + b.len() - known_a.len() - known_b.len(),
            }
        }),
        response_at_users: common
            .into_iter()
            .map(|users| (users, at_users(users)))
            .collect(),
        throughput_at_knee: figure(Direction::HigherIsBetter, &|ramp| {
            knee(ramp)
                .filter(|knee| knee.is_inside)
                .map(|knee| knee.completed_per_s)
        }),
    }
}

fn measured_at(ramps: &[Vec<Step>]) -> BTreeSet<u32> {
    ramps.iter().flatten().map(|step| step.users).collect()
}

fn select_known<T: Copy>(a: &[Option<T>], b: &[Option<T>], design: Design) -> (Vec<T>, Vec<T>) {
    match design {
        _ if design.is_paired() && a.len() == b.len() => {
            let pairs = a.iter().zip(b).filter_map(|(a, b)| (*a).zip(*b));
            pairs.unzip()
        }
        _ => (
            a.iter().flatten().copied().collect(),
            b.iter().flatten().copied().collect(),
        ),
    }
}

fn compared(
    a: Vec<Option<f64>>,
    b: Vec<Option<f64>>,
    question: &RampQuestion,
    direction: Direction,
) -> Figure {
    let (known_a, known_b) = select_known(&a, &b, question.design);
    Figure {
        left_out: a.len() + b.len() - known_a.len() - known_b.len(),
        comparison: crate::compare::compare(&known_a, &known_b, &question.on(direction)),
        a,
        b,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{asymptotic, step};
    use super::*;
    use crate::compare::Verdict;
    use crate::warning::Warning;

    const QUESTION: RampQuestion = RampQuestion {
        limits: Some(Limits {
            response_us: 50e3,
            errors_pct: 1.0,
        }),
        design: Design::Paired,
        band: Band::of(0.02),
        confidence: 0.95,
    };

    /// A ramp whose system has `servers` of 10 ms, and is a little faster or slower in each repetition.
    fn ramp(servers: u32, repetition: u32, last: u32) -> Vec<Step> {
        let noise = 1.0 + 0.001 * f64::from(repetition % 3);
        (1..=last)
            .map(|i| {
                let one = asymptotic(i * 20 / servers);
                Step {
                    users: i * 20,
                    completed_per_s: one.completed_per_s * f64::from(servers) * noise,
                    response_us: one.response_us / noise,
                    response_us_mean: one.response_us_mean / noise,
                    ..one
                }
            })
            .collect()
    }

    fn ramps(servers: u32, last: u32) -> Vec<Vec<Step>> {
        (0..8)
            .map(|repetition| ramp(servers, repetition, last))
            .collect()
    }

    #[test]
    fn golden_twice_as_fast() {
        let found = compare(&ramps(1, 20), &ramps(2, 20), &QUESTION);
        for figure in [
            found.users_at_limit.as_ref().unwrap(),
            &found.throughput_at_knee,
        ] {
            let ratio = figure.comparison.ratio.unwrap();
            // The knee is known to a part of a step of a fifth.
            assert!((ratio.estimate - 2.0).abs() < 0.06, "{ratio:?}");
            assert!(ratio.low > 1.9 && ratio.high < 2.1 && figure.left_out == 0);
            assert_eq!(figure.comparison.verdict, Verdict::Better);
        }
        let first = found.users_at_limit.unwrap().a[0].unwrap();
        assert!((first - 104.0).abs() < 0.1, "{first}");
        assert_eq!(found.response_at_users.len(), 20);
        let at = |users: u32| {
            let of = found.response_at_users.iter().find(|(at, _)| *at == users);
            of.unwrap().1.comparison.clone()
        };
        assert_eq!(
            at(60).verdict,
            Verdict::Equivalent,
            "nobody waits on either side"
        );
        // A at 200 users: 10·200 − 990 = 1010 ms; B: 10 ms.
        assert!((at(200).ratio.unwrap().estimate - 10.0 / 1010.0).abs() < 1e-3);
        assert_eq!(at(200).verdict, Verdict::Better);
    }

    /// A ramp that never exceeds the limit gives a lower bound of the supported users.
    #[test]
    fn what_a_ramp_does_not_tell_is_not_guessed() {
        let mut b = ramps(1, 20);
        b[3] = ramp(1, 3, 4);
        let found = compare(&ramps(1, 20), &b, &QUESTION);
        let users = found.users_at_limit.unwrap();
        assert_eq!(users.b[3], None);
        assert_eq!(users.comparison.warnings, [Warning::Censored { count: 1 }]);
        // It supports at least 80 users and the others 104: that it may support many more is one of eight.
        assert_eq!(users.comparison.verdict, Verdict::Inconclusive);
        assert!(users.comparison.ratio.unwrap().covers(1.0));
        // All of B's end at 80 users, while A's pass the limit at 104: nothing else is known of B.
        let short: Vec<Vec<Step>> = (0..8).map(|repetition| ramp(1, repetition, 4)).collect();
        let found = compare(&ramps(1, 20), &short, &QUESTION);
        let users = found.users_at_limit.unwrap().comparison;
        assert_eq!(users.ratio.unwrap().high, f64::INFINITY);
        // All of B's end at 300 users within the limit, which is more than A supports.
        let found = compare(&ramps(1, 20), &ramps(4, 15), &QUESTION);
        let users = found.users_at_limit.unwrap().comparison;
        assert_eq!(users.verdict, Verdict::Better, "{users:?}");
        let unpaired = RampQuestion {
            design: Design::Interleaved,
            limits: None,
            ..QUESTION
        };
        let found = compare(&ramps(1, 20), &b, &unpaired);
        assert!(found.users_at_limit.is_none());
        assert_eq!(found.throughput_at_knee.left_out, 1);
    }

    #[test]
    fn nothing_to_compare_is_inconclusive() {
        let nothing = compare(&[], &[], &QUESTION);
        assert!(nothing.response_at_users.is_empty());
        assert_eq!(
            nothing.throughput_at_knee.comparison.verdict,
            Verdict::Inconclusive
        );
        let lonely = [vec![step(1, 1.0, 1.0)]];
        let found = compare(&lonely, &lonely, &QUESTION);
        assert_eq!(found.response_at_users[0].1.comparison.ratio, None);
    }
}
