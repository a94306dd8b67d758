//! Error rates of intervals and verdicts on simulated benchmarks, checked against binomial bounds. EVIDENCE quotes
//! the longer study, `examples/coverage.rs`.

use crate::noise::{NOISES, Noise, Order, measure};
use stats::Warning;
use stats::autocorrelation::effective_size;
use stats::compare::{Band, Design, Direction, Question, Verdict, compare, judge};
use stats::distribution::student_quantile;
use stats::forecast::{POWER, Plan, repetitions};
use stats::multiple::confidence_of_each;
use stats::random::Random;
use stats::ratio::{Ratio, paired, unpaired};

const TRIALS: u32 = 4_000;
type Method = fn(&[f64], &[f64], f64) -> Result<Ratio, Warning>;

/// How far a share may lie off by chance: 3.5 standard errors, exceeded once in two thousand.
fn slack(share: f64, trials: u32) -> f64 {
    3.5 * (share * (1.0 - share) / f64::from(trials)).sqrt()
}

fn share(trials: u32, seed: u64, mut holds: impl FnMut(&mut Random) -> bool) -> f64 {
    let mut random = Random::new(seed);
    let hits = (0..trials).filter(|_| holds(&mut random)).count();
    hits as f64 / f64::from(trials)
}

/// Coverage of the true ratio 1.05, and the confidence that the interval claims.
fn coverage(method: Method, kind: Noise, order: Order, n: usize) -> (f64, f64) {
    let mut claimed = 0.0;
    let covered = share(TRIALS, n as u64, |random| {
        let (a, b) = measure(kind, order, n, 0.03, 1.05, random);
        let interval = method(&a, &b, 0.95)
            .expect("four positive values a side carry 95 %")
            .interval;
        claimed = interval.confidence;
        interval.covers(1.05)
    });
    (covered, claimed)
}

#[test]
fn pairs_in_an_order_drawn_by_lot_cover_what_they_claim_whatever_the_noise() {
    for n in [6, 10, 20] {
        for kind in NOISES {
            let (covered, claimed) = coverage(paired, kind, Order::Lot, n);
            assert!(claimed >= 0.95);
            let off = (covered - claimed).abs();
            assert!(
                off <= slack(claimed, TRIALS),
                "{kind:?} {n}: {covered} for {claimed}"
            );
        }
    }
}

#[test]
fn independent_sides_cover_what_they_claim() {
    for n in [4, 6, 10, 20] {
        for kind in [Noise::Normal, Noise::StudentT3, Noise::Lognormal] {
            let (covered, claimed) = coverage(unpaired, kind, Order::Sequential, n);
            assert!(claimed >= 0.95);
            let off = (covered - claimed).abs();
            assert!(
                off <= slack(claimed, TRIALS),
                "{kind:?} {n}: {covered} for {claimed}"
            );
        }
    }
}

#[test]
fn interleaving_is_what_protects_from_drift() {
    for n in [6, 10, 20] {
        for method in [paired as Method, unpaired] {
            let (covered, _) = coverage(method, Noise::Drifting, Order::Abba, n);
            assert!(covered >= 0.95 - slack(0.95, TRIALS), "{n}: {covered}");
        }
        // And this is why a sequence is labelled.
        let (covered, _) = coverage(unpaired, Noise::Drifting, Order::Sequential, n);
        assert!(covered < 0.7, "{n}: {covered}");
    }
}

/// The chance that any of several primary metrics is called better or worse, without a band and without a change.
/// Metrics of one run are correlated, so half of each figure's noise is common to all of them.
#[test]
fn any_false_verdict_among_many_primary_metrics_is_as_rare_as_of_one() {
    let of = |metrics: usize, confidence: f64, seed: u64| {
        share(TRIALS, seed, |random| {
            let common = measure(Noise::Normal, Order::Lot, 12, 0.02, 1.0, random);
            (0..metrics).any(|_| {
                let own = measure(Noise::StudentT3, Order::Lot, 12, 0.02, 1.0, random);
                let joined = |x: &[f64], y: &[f64]| -> Vec<f64> {
                    x.iter().zip(y).map(|(x, y)| x * y).collect()
                };
                let (a, b) = (joined(&common.0, &own.0), joined(&common.1, &own.1));
                let found = paired(&a, &b, confidence).expect("twelve pairs carry 99.4 %");
                let verdict = judge(&found.interval, Band::of(0.0), Direction::HigherIsBetter);
                verdict != Verdict::Inconclusive
            })
        })
    };
    for metrics in [1, 2, 3, 5, 8] {
        let found = of(metrics, confidence_of_each(0.95, metrics), metrics as u64);
        assert!(
            found <= 0.05 + slack(0.05, TRIALS),
            "{metrics} metrics: {found}"
        );
    }
    // This is the error of a list of metrics when each is judged alone.
    let alone = of(8, 0.95, 8);
    assert!(alone > 0.12, "{alone}");
}

fn verdicts(ratio: f64, n: usize, sd: f64, band: f64, kind: Noise, of: Verdict) -> f64 {
    share(TRIALS, 77, |random| {
        let (a, b) = measure(kind, Order::Lot, n, sd, ratio, random);
        let interval = paired(&a, &b, 0.95)
            .expect("six positive pairs carry 95 %")
            .interval;
        judge(&interval, Band::of(band), Direction::HigherIsBetter) == of
    })
}

#[test]
fn false_verdicts_are_rare() {
    for n in [6, 10, 20] {
        for kind in NOISES {
            for (band, limit) in [(0.0, 0.05), (0.02, 0.05)] {
                let better = verdicts(1.0, n, 0.03, band, kind, Verdict::Better);
                let worse = verdicts(1.0, n, 0.03, band, kind, Verdict::Worse);
                let found = better + worse;
                assert!(
                    found <= limit + slack(limit, TRIALS),
                    "{kind:?} {n} {band}: {found}"
                );
            }
            // At the edge of the band, "equivalent" is wrong by definition.
            let equivalent = verdicts(1.0201, n, 0.008, 0.02, kind, Verdict::Equivalent);
            assert!(
                equivalent <= 0.025 + slack(0.025, TRIALS),
                "{kind:?} {n}: {equivalent}"
            );
        }
    }
}

#[test]
fn a_slow_down_of_five_percent_is_found_with_the_pairs_that_are_advised() {
    let plan = Plan {
        design: Design::Paired,
        band: Band::of(0.02),
        confidence: 0.95,
    };
    for (kind, sd) in [
        (Noise::Normal, 0.01),
        (Noise::Normal, 0.02),
        (Noise::StudentT3, 0.02),
        (Noise::Lognormal, 0.02),
        (Noise::Normal, 0.04),
    ] {
        // The spread of a pair's ratio is √2 times that of one figure.
        let n = repetitions(&plan, sd * 2.0_f64.sqrt(), 0.95)
            .unwrap()
            .unwrap();
        let found = verdicts(0.95, n, sd, 0.02, kind, Verdict::Worse);
        assert!(
            found >= POWER - slack(POWER, TRIALS) - 0.01,
            "{kind:?} {sd}: {n} pairs find {found}"
        );
    }
}

#[test]
fn the_mean_of_an_autocorrelated_series_is_covered() {
    let covered = share(1_000, 3, |random| {
        let series = crate::noise::noise(Noise::Autocorrelated, 300, random);
        let found = effective_size(&series).unwrap();
        let mean = series.iter().sum::<f64>() / 300.0;
        mean.abs() <= student_quantile(0.975, found.size - 1.0) * found.mean_error
    });
    assert!(
        covered >= 0.93 - slack(0.93, 1_000) && covered < 0.995,
        "{covered}"
    );
}

#[test]
fn a_comparison_decides_as_its_parts_do() {
    let question = Question {
        design: Design::Paired,
        direction: Direction::LowerIsBetter,
        band: Band::of(0.02),
        confidence: 0.95,
    };
    let worse = share(200, 5, |random| {
        let (a, b) = measure(Noise::Normal, Order::Lot, 10, 0.01, 1.10, random);
        let found = compare(&a, &b, &question);
        found.verdict == Verdict::Worse
            && found.rank_p.is_some_and(|p| p < 0.05)
            && found.cliffs_delta == Some(1.0)
    });
    assert!(worse > 0.95, "{worse}");
}

/// Rates of equal intervals of jobs that send statement after statement, as many as each kind's share, with its length in s.
fn rates_of_a_closed_load(
    kinds: &[(f64, f64)],
    jobs: usize,
    intervals: usize,
    interval_s: f64,
    random: &mut Random,
) -> Vec<f64> {
    // Sessions have been active for a long time when the first interval begins.
    let begin_s = 20.0;
    let mut rates = vec![0.0; intervals];
    for _ in 0..jobs {
        let mut now_s = -begin_s * (1.0 + random.unit());
        loop {
            let mut drawn = random.unit();
            let kind = kinds.iter().find(|(share, _)| {
                drawn -= share;
                drawn < 0.0
            });
            now_s += kind.map_or(kinds[0].1, |(_, length_s)| *length_s);
            if now_s < 0.0 {
                continue;
            }
            match rates.get_mut((now_s / interval_s) as usize) {
                Some(rate) => *rate += 1.0 / interval_s,
                None => break,
            }
        }
    }
    rates
}

#[test]
fn a_stationary_load_is_seldom_called_a_trend() {
    use stats::steady::{FALSE_TREND_MAX, Steady};
    let mixed = [(0.60, 0.002), (0.32, 0.020), (0.06, 0.100), (0.02, 0.500)];
    let rare = [(0.98, 0.010), (0.02, 1.0)];
    let (long, short) = (
        [(8, 20, 1.0), (8, 6, 1.0), (1, 60, 1.0)],
        [(4, 12, 0.5), (2, 30, 0.1)],
    );
    let cases = long.iter().chain(&short).map(|shape| (&mixed[..], *shape));
    // Half of the time goes to statements of 1 s; in windows of 3 s they would make steps that are real.
    let cases = cases.chain(long.map(|shape| (&rare[..], shape)));
    for (kinds, (jobs, intervals, interval_s)) in cases {
        let trends = share(TRIALS, 42, |random| {
            let rates = rates_of_a_closed_load(kinds, jobs, intervals, interval_s, random);
            stats::steady::judge(&rates, 0.1) == Steady::Trend
        });
        assert!(
            trends <= FALSE_TREND_MAX,
            "{kinds:?} {jobs} jobs, {intervals} intervals of {interval_s} s: {trends}"
        );
    }
}

/// A rise or fall by a fifth or more under 5 % of noise is found.
#[test]
fn a_trend_is_found_in_noise() {
    for rise in [0.3, -0.4] {
        let found = share(TRIALS, 43, |random| {
            let rates: Vec<f64> = (0..20)
                .map(|i| 100.0 * (1.0 + rise * f64::from(i) / 20.0 + 0.05 * random.normal()))
                .collect();
            stats::steady::judge(&rates, 0.1) == stats::steady::Steady::Trend
        });
        assert!(found > 0.97, "{rise}: {found}");
    }
}
