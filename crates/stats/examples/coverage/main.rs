//! Simulations for "How sure a verdict is" in METHODOLOGY: which interval covers what it claims, how
//! often a verdict is false, and how often there is none. Prints Markdown tables.
//!
//! `cargo run --release -p stats --example coverage`; the same figures every time, in four minutes. `-- analyses` prints
//! only the tables of studies that stop early.

#[path = "../../tests/suite/noise/mod.rs"]
mod noise;

mod analyses;
mod components;
mod resampled;
mod slices;

use noise::{NOISES, Noise, Order, measure};
use stats::autocorrelation::{effective_size, variance};
use stats::bootstrap::Bootstrap;
use stats::compare::{Band, Design, Direction, Verdict, judge};
use stats::distribution::student_quantile;
use stats::forecast::{Plan, chances, repetitions};
use stats::random::Random;
use stats::ratio::{paired, unpaired};
use stats::scaling::Load;
use stats::usl::{Law, Resampling, usl};
use stats::{Interval, Warning};

const TRIALS: u32 = 20_000;
const TRIALS_RESAMPLED: u32 = 4_000;
const TRUTH: f64 = 1.05;

type Candidate = (
    &'static str,
    Order,
    fn(&[f64], &[f64]) -> Result<Interval, Warning>,
    u32,
);

fn main() {
    if std::env::args().nth(1).as_deref() == Some("analyses") {
        return analyses::with_analyses(TRIALS_RESAMPLED);
    }
    coverage_of_ratios();
    verdicts();
    means();
    laws();
    warm_ups();
    slices::slices(TRIALS_RESAMPLED);
    analyses::with_analyses(TRIALS_RESAMPLED);
    components::components(TRIALS_RESAMPLED);
}

/// How often a warm-up ends as steady, and how many of these end below 0.97 of the final rate, in % of all warm-ups.
fn warm_ups() {
    println!(
        "\nWarm-ups in %: called at rest / of these below 0.97 of the final rate; judged every 5 s\n"
    );
    println!(
        "| noise of half a second | cap s | at rest from the start | τ s | from 0.4 | 0.6 | 0.8 |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (kind, sd) in [
        (Noise::Normal, 0.01),
        (Noise::Normal, 0.03),
        (Noise::Autocorrelated, 0.03),
    ] {
        for cap_s in [60, 300] {
            let (rested, _) = noise::warm_ups(2_000, 1.0, 1.0, kind, sd, cap_s);
            for tau_s in [30.0, 60.0, 120.0, 300.0] {
                let cells = [0.4, 0.6, 0.8].map(|from| {
                    let (ended, below) = noise::warm_ups(2_000, from, tau_s, kind, sd, cap_s);
                    format!("{} / {}", pct(ended), pct(below))
                });
                println!(
                    "| {kind:?}, {} % | {cap_s} | {} | {tau_s} | {} |",
                    sd * 100.0,
                    pct(rested),
                    cells.join(" | ")
                );
            }
        }
    }
}

fn pct(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}

fn share(trials: u32, seed: u64, mut holds: impl FnMut(&mut Random) -> bool) -> f64 {
    let mut random = Random::new(seed);
    (0..trials).filter(|_| holds(&mut random)).count() as f64 / f64::from(trials)
}

fn differences(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| (b / a).ln()).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Mean of the logarithms of the pairs' ratios ± t·sd/√n.
fn student_of_pairs(a: &[f64], b: &[f64]) -> Result<Interval, Warning> {
    let d = differences(a, b);
    let n = d.len() as f64;
    let half = student_quantile(0.975, n - 1.0) * (variance(&d) / n).sqrt();
    let estimate = mean(&d);
    Ok(Interval {
        estimate,
        low: estimate - half,
        high: estimate + half,
        confidence: 0.95,
    }
    .map(f64::exp))
}

/// Welch's interval on logarithms.
fn welch(a: &[f64], b: &[f64]) -> Result<Interval, Warning> {
    let logs = |side: &[f64]| side.iter().map(|v| v.ln()).collect::<Vec<_>>();
    let (a, b) = (logs(a), logs(b));
    let (error_a, error_b) = (variance(&a) / a.len() as f64, variance(&b) / b.len() as f64);
    let square = error_a + error_b;
    let freedom = square * square
        / (error_a * error_a / (a.len() - 1) as f64 + error_b * error_b / (b.len() - 1) as f64);
    let half = student_quantile(0.975, freedom) * square.sqrt();
    let estimate = mean(&b) - mean(&a);
    Ok(Interval {
        estimate,
        low: estimate - half,
        high: estimate + half,
        confidence: 0.95,
    }
    .map(f64::exp))
}

const BOOTSTRAP: Bootstrap = Bootstrap {
    resamples: 1_000,
    confidence: 0.95,
    seed: 1,
};

fn bca_of_pairs(a: &[f64], b: &[f64]) -> Result<Interval, Warning> {
    let found = resampled::bca(&differences(a, b)).ok_or(Warning::SingleValued);
    found.map(|interval| interval.map(f64::exp))
}

fn percentile_of_pairs(a: &[f64], b: &[f64]) -> Result<Interval, Warning> {
    BOOTSTRAP
        .percentile(&differences(a, b), mean)
        .map(|interval| interval.map(f64::exp))
}

fn ranks_of_pairs(a: &[f64], b: &[f64]) -> Result<Interval, Warning> {
    paired(a, b, 0.95).map(|ratio| ratio.interval)
}

fn ranks_of_sides(a: &[f64], b: &[f64]) -> Result<Interval, Warning> {
    unpaired(a, b, 0.95).map(|ratio| ratio.interval)
}

fn coverage_of_ratios() {
    let candidates: [Candidate; 9] = [
        (
            "signed ranks, order by lot",
            Order::Lot,
            ranks_of_pairs,
            TRIALS,
        ),
        ("signed ranks, A B B A", Order::Abba, ranks_of_pairs, TRIALS),
        (
            "Student's t of pairs, by lot",
            Order::Lot,
            student_of_pairs,
            TRIALS,
        ),
        (
            "BCa of pairs, by lot",
            Order::Lot,
            bca_of_pairs,
            TRIALS_RESAMPLED,
        ),
        (
            "percentile bootstrap of pairs, by lot",
            Order::Lot,
            percentile_of_pairs,
            TRIALS_RESAMPLED,
        ),
        (
            "rank sum of sides, A B B A",
            Order::Abba,
            ranks_of_sides,
            TRIALS,
        ),
        ("Welch's t of sides, A B B A", Order::Abba, welch, TRIALS),
        (
            "rank sum of sides, all A then all B",
            Order::Sequential,
            ranks_of_sides,
            TRIALS,
        ),
        (
            "Welch's t of sides, all A then all B",
            Order::Sequential,
            welch,
            TRIALS,
        ),
    ];
    println!("Coverage in %, nominal 95, and median half-width in units of a figure's spread\n");
    println!(
        "| interval | n | {} | half-width, normal |",
        NOISES.map(|n| format!("{n:?}")).join(" | ")
    );
    println!("|---|---|---|---|---|---|---|---|");
    for (name, order, interval, trials) in candidates {
        for n in [6, 10, 20] {
            let mut widths = Vec::new();
            let cells = NOISES.map(|kind| {
                pct(share(trials, 1, |random| {
                    let (a, b) = measure(kind, order, n, 0.03, TRUTH, random);
                    let found = interval(&a, &b).expect("six positive finite values suffice");
                    if kind == Noise::Normal {
                        widths.push((found.high / found.low).ln() / 2.0 / 0.03);
                    }
                    found.covers(TRUTH)
                }))
            });
            let width = stats::summary::median(&widths).unwrap_or(f64::NAN);
            println!("| {name} | {n} | {} | {width:.2} |", cells.join(" | "));
        }
    }
}

fn verdicts() {
    println!("\nVerdicts of pairs in %: spread 1.5 % a figure, band 2 %, order by lot\n");
    println!(
        "| noise | n | true 1.00: false better or worse | … with no band | equivalent | true 0.95: worse | inconclusive |"
    );
    println!("|---|---|---|---|---|---|---|");
    for kind in NOISES {
        for n in [6, 10, 20] {
            let of = |ratio: f64, band: f64, wanted: &[Verdict]| {
                pct(share(TRIALS, 2, |random| {
                    let (a, b) = measure(kind, Order::Lot, n, 0.015, ratio, random);
                    let found = ranks_of_pairs(&a, &b).expect("six positive pairs suffice");
                    wanted.contains(&judge(&found, Band::of(band), Direction::HigherIsBetter))
                }))
            };
            let wrong = [Verdict::Better, Verdict::Worse];
            println!(
                "| {kind:?} | {n} | {} | {} | {} | {} | {} |",
                of(1.0, 0.02, &wrong),
                of(1.0, 0.0, &wrong),
                of(1.0, 0.02, &[Verdict::Equivalent]),
                of(0.95, 0.02, &[Verdict::Worse]),
                of(0.95, 0.02, &[Verdict::Inconclusive])
            );
        }
    }
    println!(
        "\nPairs (or repetitions a side) advised for a band of 2 %, by spread of a pair's ratio (or of one figure)\n"
    );
    println!(
        "| spread % | pairs: effect 5 % | 10 % | none | sides: 5 % | 10 % | none | inconclusive with 10 pairs, effect 5 % |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for sd in [0.005, 0.01, 0.02, 0.03, 0.05, 0.1] {
        let mut cells = Vec::new();
        for design in [Design::Paired, Design::Interleaved] {
            for ratio in [1.05, 1.10, 1.0] {
                let plan = Plan {
                    design,
                    band: Band::of(0.02),
                    confidence: 0.95,
                };
                let advised = repetitions(&plan, sd, ratio).expect("the plan is a valid one");
                cells.push(advised.map_or_else(|| "> 1000".to_owned(), |n| n.to_string()));
            }
        }
        let plan = Plan {
            design: Design::Paired,
            band: Band::of(0.02),
            confidence: 0.95,
        };
        let ten = chances(&plan, 10, sd, 1.05, 1).expect("the plan is a valid one");
        println!(
            "| {} | {} | {} |",
            100.0 * sd,
            cells.join(" | "),
            pct(ten.inconclusive)
        );
    }
}

fn means() {
    println!(
        "\nCoverage in % of the mean of a series that remembers 0.6 of each value before (τ = 4)\n"
    );
    println!("| n | effective sample size | block bootstrap, 8 | as if independent |");
    println!("|---|---|---|---|");
    for n in [60, 300, 1_000] {
        let of = |interval: &dyn Fn(&[f64]) -> Option<Interval>| {
            pct(share(TRIALS_RESAMPLED / 2, 3, |random| {
                let series = noise::noise(Noise::Autocorrelated, n, random);
                interval(&series).is_some_and(|found| found.covers(0.0))
            }))
        };
        let naive = |s: &[f64]| {
            let half = 1.96 * (variance(s) / s.len() as f64).sqrt();
            let estimate = mean(s);
            Some(Interval {
                estimate,
                low: estimate - half,
                high: estimate + half,
                confidence: 0.95,
            })
        };
        let effective = |s: &[f64]| {
            let found = effective_size(s).ok()?;
            let half = student_quantile(0.975, (found.size - 1.0).max(1.0)) * found.mean_error;
            let estimate = mean(s);
            Some(Interval::new(
                estimate,
                [estimate - half, estimate + half],
                0.95,
            ))
        };
        println!(
            "| {n} | {} | {} | {} |",
            of(&effective),
            of(&|s| resampled::blocks(s, 8)),
            of(&naive)
        );
    }
}

fn laws() {
    println!(
        "\nCoverage in % of the scaling law's intervals: σ = 0.05, κ = 0.002 (N* = 21), noise 2 %\n"
    );
    println!("| loads | σ | κ | N*, where observed | observed |");
    println!("|---|---|---|---|---|");
    let law = Law {
        rate_of_one: 1_000.0,
        contention: 0.05,
        coherency: 0.002,
    };
    for dops in [
        vec![1, 2, 4, 8, 16, 32],
        vec![1, 2, 4, 8, 16, 32, 64],
        (1..=32).collect::<Vec<u32>>(),
    ] {
        let mut random = Random::new(5);
        let (trials, mut hits) = (500, [0_u32; 4]);
        for seed in 0..trials {
            let load = |dop: &u32| Load {
                dop: *dop,
                rate: law.rate(f64::from(*dop)) * (1.0 + 0.02 * random.normal()),
            };
            let loads: Vec<Load> = dops.iter().map(load).collect();
            let resampling = Resampling {
                confidence: 0.95,
                resamples: 300,
                seed,
            };
            let fit = usl(&loads, &resampling).expect("six positive rates can be fitted");
            let covers = |interval: Option<Interval>, truth: f64| {
                u32::from(interval.is_some_and(|i| i.covers(truth)))
            };
            hits[0] += covers(fit.contention, law.contention);
            hits[1] += covers(fit.coherency, law.coherency);
            hits[2] += covers(fit.peak_dop, 21.0);
            hits[3] += u32::from(fit.peak_dop.is_some());
        }
        let of = |i: usize, all: f64| pct(f64::from(hits[i]) / all);
        let all = trials as f64;
        let name = format!("{} from 1 to {}", dops.len(), dops[dops.len() - 1]);
        println!(
            "| {name} | {} | {} | {} | {} |",
            of(0, all),
            of(1, all),
            of(2, f64::from(hits[3].max(1))),
            of(3, all)
        );
    }
}
