//! Studies with interim analyses on simulated benchmarks. EVIDENCE quotes the longer study, `examples/coverage`.

use crate::noise::analyses::{any_misses, metrics, planned, stopped};
use crate::noise::{NOISES, Noise, Order, measure};
use stats::analyses::analyses;
use stats::compare::{Band, Direction, Verdict, judge};
use stats::multiple::confidence_of_each;
use stats::random::Random;

const TRIALS: u32 = 1_000;
/// 3.5 standard errors of 5 % in this many trials.
const SLACK: f64 = 0.024;

fn share(seed: u64, mut holds: impl FnMut(&mut Random) -> bool) -> f64 {
    let mut random = Random::new(seed);
    let hits = (0..TRIALS).filter(|_| holds(&mut random)).count();
    hits as f64 / f64::from(TRIALS)
}

/// How often any interval of any of `count` metrics misses the truth by the last of 20 pairs.
fn errors(kind: Noise, count: usize, looks_at_95: bool) -> f64 {
    let analyses = analyses(20, confidence_of_each(0.95, count));
    let mut plan = planned(&analyses, count);
    if looks_at_95 {
        plan.iter_mut()
            .for_each(|(_, confidence)| *confidence = 0.95);
    }
    share(21, |random| {
        let all = metrics(kind, count, 20, random);
        all.iter().any(|sides| any_misses(sides, &plan, 1.0))
    })
}

#[test]
fn looks_that_were_planned_keep_the_error() {
    for kind in NOISES {
        for count in [1, 4] {
            let found = errors(kind, count, false);
            assert!(found <= 0.05 + SLACK, "{kind:?}, {count} metrics: {found}");
        }
    }
    // This is why analyses are planned.
    let unplanned = errors(Noise::Normal, 1, true);
    assert!(unplanned > 0.1, "{unplanned}");
}

/// (Mean number of pairs, share that finds *better*, share of final intervals that hold the truth) of studies until 3 %.
fn study(pairs_max: usize, sd: f64, truth: f64) -> [f64; 3] {
    let plan = planned(&analyses(pairs_max, 0.95), 1);
    let (mut pairs, mut held) = (0, 0);
    let found = share(22, |random| {
        let sides = measure(
            Noise::Normal,
            Order::Lot,
            pairs_max,
            sd / 2.0_f64.sqrt(),
            truth,
            random,
        );
        let (taken, interval) = stopped(&sides.into(), &plan, 0.0, 0.03);
        pairs += taken;
        interval.is_some_and(|interval| {
            held += u32::from(interval.covers(truth));
            judge(&interval, Band::of(0.0), Direction::HigherIsBetter) == Verdict::Better
        })
    });
    let mean = |sum: f64| sum / f64::from(TRIALS);
    [mean(pairs as f64), found, mean(f64::from(held))]
}

/// Fixed seeds give the same figures every time, except for the last digit of a logarithm.
#[test]
fn a_study_stops_when_it_knows_enough() {
    for (pairs_max, sd, truth, golden) in [
        (40, 0.02, 1.03, [9.852, 0.996, 0.991]),
        (40, 0.02, 1.0, [11.056, 0.005, 0.99]),
        (20, 0.04, 1.03, [14.826, 0.772, 0.977]),
    ] {
        let found = study(pairs_max, sd, truth);
        let is_close = |(f, g): (&f64, f64)| (f - g).abs() <= 0.003 * g.max(1.0);
        assert!(
            found.iter().zip(golden).all(is_close),
            "{pairs_max} {sd} {truth}: {found:?}"
        );
        assert!(found[2] >= 0.95 - SLACK);
    }
}
