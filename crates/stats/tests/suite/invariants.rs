//! Invariants that hold for any series.

use proptest::prelude::*;
use stats::compare::{Band, Comparison, Design, Direction, Question, Verdict, compare};
use stats::interval::median_interval;
use stats::multiple::holm;
use stats::rank::{cliffs_delta, mann_whitney, signed_rank};
use stats::scaling::Load;
use stats::usl::{Resampling, usl};
use stats::{Warning, summary};

fn series(n: usize) -> impl Strategy<Value = Vec<f64>> {
    // Whole numbers, so that ties are frequent.
    prop::collection::vec((50_u32..200).prop_map(f64::from), n)
}

fn any_series() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(any::<f64>(), 0..40)
}

fn question(design: Design) -> Question {
    Question {
        design,
        direction: Direction::HigherIsBetter,
        band: Band::of(0.02),
        confidence: 0.95,
    }
}

fn designs() -> impl Strategy<Value = Design> {
    prop_oneof![
        Just(Design::Paired),
        Just(Design::Interleaved),
        Just(Design::Sequential { trusted: false }),
        Just(Design::Sequential { trusted: true })
    ]
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

fn same(a: &Comparison, b: &Comparison) -> bool {
    let ratios = match (a.ratio, b.ratio) {
        (Some(a), Some(b)) => {
            close(a.low, b.low) && close(a.high, b.high) && close(a.estimate, b.estimate)
        }
        (a, b) => a == b,
    };
    ratios && a.verdict == b.verdict && a.warnings == b.warnings
}

fn turned(verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::Better => Verdict::Worse,
        Verdict::Worse => Verdict::Better,
        other => other,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn another_unit_changes_no_comparison(a in series(8), b in series(8), factor in 1e-6..1e6, design in designs()) {
        let scaled = |side: &[f64]| side.iter().map(|v| v * factor).collect::<Vec<_>>();
        let (plain, other) = (compare(&a, &b, &question(design)), compare(&scaled(&a), &scaled(&b), &question(design)));
        // Rounding may move an end over the edge of the band; then the ends must still agree.
        let other = Comparison { verdict: plain.verdict, ..other };
        prop_assert!(same(&plain, &other));
    }

    #[test]
    fn swapping_sides_swaps_better_and_worse(a in series(8), b in series(8), design in designs()) {
        let (there, back) = (compare(&a, &b, &question(design)), compare(&b, &a, &question(design)));
        prop_assert_eq!(there.verdict, turned(back.verdict));
        let (there_ratio, back_ratio) = (there.ratio.unwrap(), back.ratio.unwrap());
        prop_assert!(close(there_ratio.low, 1.0 / back_ratio.high) && close(there_ratio.high, 1.0 / back_ratio.low));
        prop_assert!(close(there.rank_p.unwrap(), back.rank_p.unwrap()));
        prop_assert!((there.cliffs_delta.unwrap() + back.cliffs_delta.unwrap()).abs() < 1e-12);
        let lower = Question { direction: Direction::LowerIsBetter, ..question(design) };
        prop_assert_eq!(compare(&a, &b, &lower).verdict, turned(there.verdict));
    }

    #[test]
    fn order_within_a_side_does_not_matter(a in series(7), b in series(9)) {
        let reversed: Vec<f64> = a.iter().rev().copied().collect();
        let design = question(Design::Interleaved);
        prop_assert!(same(&compare(&a, &b, &design), &compare(&reversed, &b, &design)));
        let (plain, other) = (mann_whitney(&a, &b).unwrap(), mann_whitney(&reversed, &b).unwrap());
        prop_assert_eq!(plain, other);
        prop_assert_eq!(median_interval(&a, 0.95), median_interval(&reversed, 0.95));
    }

    #[test]
    fn intervals_hold_their_estimate_and_grow_with_confidence(a in series(12), b in series(12), design in designs()) {
        let at = |confidence| compare(&a, &b, &Question { confidence, ..question(design) }).ratio.unwrap();
        let (narrow, wide) = (at(0.8), at(0.99));
        prop_assert!(narrow.covers(narrow.estimate) && narrow.confidence >= 0.8);
        prop_assert!(wide.low <= narrow.low && narrow.high <= wide.high);
        let median = median_interval(&a, 0.95).unwrap();
        prop_assert!(median.covers(summary::median(&a).unwrap()));
    }

    #[test]
    fn an_interval_off_one_and_a_small_p_are_the_same(a in prop::collection::vec(0.5_f64..2.0, 8), b in prop::collection::vec(0.5_f64..2.0, 8), design in designs()) {
        // Without ties, and the values are drawn from so many that there are none.
        let found = compare(&a, &b, &question(design));
        let alpha = 1.0 - found.ratio.unwrap().confidence;
        prop_assert_eq!(!found.ratio.unwrap().covers(1.0), found.rank_p.unwrap() <= alpha + 1e-12);
    }

    #[test]
    fn p_falls_as_the_sides_part(a in series(6), step in 1_u32..50) {
        let p = |shift: f64| mann_whitney(&a, &a.iter().map(|v| v + shift).collect::<Vec<_>>()).unwrap().p;
        let step = f64::from(step);
        prop_assert!(p(0.0) >= p(step) && p(step) >= p(2.0 * step) && p(2.0 * step) >= p(500.0));
        let delta = |shift: f64| cliffs_delta(&a, &a.iter().map(|v| v + shift).collect::<Vec<_>>()).unwrap();
        prop_assert!(delta(step) >= delta(0.0) && delta(500.0) == 1.0);
    }

    #[test]
    fn every_p_is_a_share(a in series(6), b in series(6)) {
        let differences: Vec<f64> = a.iter().zip(&b).map(|(a, b)| b - a).collect();
        for p in [
            mann_whitney(&a, &b).unwrap().p,
            signed_rank(&differences).unwrap().p,
        ] {
            prop_assert!(p > 0.0 && p <= 1.0);
        }
    }

    #[test]
    fn adjusted_p_are_larger_and_keep_their_order(p in prop::collection::vec(0.0_f64..=1.0, 0..20)) {
        let adjusted = holm(&p).unwrap();
        for i in 0..p.len() {
            prop_assert!(p[i] <= adjusted[i] + 1e-12 && adjusted[i] <= 1.0);
            for j in 0..p.len() {
                prop_assert!(p[i] > p[j] || adjusted[i] <= adjusted[j]);
            }
        }
    }

    #[test]
    fn laws_stay_within_their_bounds(rates in prop::collection::vec(1.0_f64..1e6, 4..12)) {
        let loads: Vec<Load> = rates.iter().zip(1..).map(|(rate, dop)| Load { dop, rate: *rate }).collect();
        let fit = usl(&loads, &Resampling { confidence: 0.95, resamples: 100, seed: 1 }).unwrap();
        prop_assert!(fit.law.rate_of_one >= 0.0 && fit.law.contention >= 0.0 && fit.law.coherency >= 0.0);
        prop_assert!(fit.law.rate(7.0).is_finite());
        prop_assert!(fit.contention.is_none_or(|i| i.low >= 0.0 && i.low <= i.high));
    }

    #[test]
    fn nothing_panics_whatever_the_series(a in any_series(), b in any_series(), design in designs(), band in any::<f64>()) {
        let found = compare(&a, &b, &Question { band: Band::of(band), ..question(design) });
        prop_assert!(found.ratio.is_some() || !found.warnings.is_empty());
        let sentence = |warning: &Warning| warning.to_string().len() > 20;
        prop_assert!(found.warnings.iter().all(sentence));
        let interval = median_interval(&a, 0.95);
        prop_assert!(interval.is_err() || interval.is_ok_and(|i| i.low <= i.high));
        let _ = stats::autocorrelation::effective_size(&a);
        let loads: Vec<Load> = a.iter().zip(1..).map(|(rate, dop)| Load { dop, rate: rate.abs() }).collect();
        let _ = usl(&loads, &Resampling { confidence: 0.95, resamples: 100, seed: 1 });
    }
}
