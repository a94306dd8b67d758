//! Studies with interim analyses: false verdicts, coverage, and the number of pairs that they take.

use stats::analyses::{Analysis, analyses, information};
use stats::compare::{Band, Design, Direction, Verdict, judge};
use stats::distribution::{normal_cdf, normal_quantile};
use stats::forecast::{Plan, repetitions};
use stats::multiple::confidence_of_each;
use stats::random::Random;

use crate::noise::analyses::{Sides, any_misses, metrics, planned, stopped};
use crate::noise::{NOISES, Noise, Order, measure};
use crate::slices::{Instances, study};

#[derive(Clone, Copy)]
enum Scatter {
    Of(Noise),
    /// Normal; at the end four times as wide as at the beginning.
    Growing,
    /// On three levels, as in slices.
    Levels(Instances),
}

impl Scatter {
    fn all() -> impl Iterator<Item = Self> {
        let levels = [Instances::InPlace, Instances::NewForEachPair].map(Self::Levels);
        NOISES
            .map(Self::Of)
            .into_iter()
            .chain([Self::Growing])
            .chain(levels)
    }

    fn name(self) -> String {
        match self {
            Self::Of(noise) => format!("{noise:?}"),
            Self::Growing => "four times as much at the end".to_owned(),
            Self::Levels(Instances::NewForEachPair) => "three levels, instances".to_owned(),
            Self::Levels(_) => "three levels, in place".to_owned(),
        }
    }

    fn pairs(self, pairs: usize, sd: f64, ratio: f64, random: &mut Random) -> Sides {
        match self {
            Self::Of(kind) => measure(kind, Order::Lot, pairs, sd, ratio, random).into(),
            Self::Growing => {
                let mut side = |ratio: f64| -> Vec<f64> {
                    let sd_at = |i: usize| sd * (1.0 + 3.0 * i as f64 / pairs as f64);
                    (0..pairs)
                        .map(|i| ratio * (sd_at(i) * random.normal()).exp())
                        .collect()
                };
                [side(1.0), side(ratio)]
            }
            Self::Levels(instances) => study(pairs, instances, ratio, random),
        }
    }
}

fn share(trials: u32, seed: u64, mut holds: impl FnMut(&mut Random) -> bool) -> String {
    let mut random = Random::new(seed);
    let hits = (0..trials).filter(|_| holds(&mut random)).count();
    format!("{:.1}", 100.0 * hits as f64 / f64::from(trials))
}

pub fn with_analyses(trials: u32) {
    errors(trials);
    families(trials);
    final_coverage(trials);
    lengths(trials);
}

fn errors(trials: u32) {
    println!(
        "\nStudies with analyses: any of the intervals misses the truth, in %; without the plan, 95 % at each analysis\n"
    );
    println!(
        "| noise | 20 pairs at most | 100 | without the plan: 20 | 100 |\n|---|---|---|---|---|"
    );
    for scatter in Scatter::all() {
        let cells = [20, 100].map(|pairs| {
            let analyses = analyses(pairs, 0.95);
            let plan = planned(&analyses, 1);
            let naive: Vec<(usize, f64)> = analyses
                .iter()
                .map(|analysis| (analysis.pairs, 0.95))
                .collect();
            [plan, naive].map(|plan| {
                share(trials, 11, |random| {
                    any_misses(&scatter.pairs(pairs, 0.03, 1.0, random), &plan, 1.0)
                })
            })
        });
        let [[a, naive_a], [b, naive_b]] = cells;
        println!("| {} | {a} | {b} | {naive_a} | {naive_b} |", scatter.name());
    }
}

fn families(trials: u32) {
    println!(
        "\nThe same of several primary metrics, 40 pairs at most: any interval of any metric, in %\n"
    );
    println!("| noise | 1 | 2 | 4 | 8 |\n|---|---|---|---|---|");
    for kind in NOISES {
        let cells = [1, 2, 4, 8].map(|count| {
            let plan = planned(&analyses(40, confidence_of_each(0.95, count)), count);
            share(trials, 12, |random| {
                let all = metrics(kind, count, 40, random);
                all.iter().any(|sides| any_misses(sides, &plan, 1.0))
            })
        });
        println!("| {kind:?} | {} |", cells.join(" | "));
    }
}

/// Coverage of the interval with which a study ended, and the mean bias of its ratio.
fn final_coverage(trials: u32) {
    println!(
        "\nThe interval with which studies until 3 % ended (100 pairs at most, spread 2 % a figure, no band) holds the truth, in %, and the mean of ln(ratio/truth), in %\n"
    );
    println!("| noise | truth 1 | 1.01 | 1.03 | 1.05 |\n|---|---|---|---|---|");
    for scatter in Scatter::all() {
        let plan = planned(&analyses(100, 0.95), 1);
        let cells = [1.0, 1.01, 1.03, 1.05].map(|truth| {
            let mut off = 0.0;
            let held = share(trials, 13, |random| {
                let sides = scatter.pairs(100, 0.02, truth, random);
                let (_, interval) = stopped(&sides, &plan, 0.0, 0.03);
                interval.is_some_and(|interval| {
                    off += (interval.estimate / truth).ln();
                    interval.covers(truth)
                })
            });
            format!("{held} / {:+.2}", 100.0 * off / f64::from(trials))
        });
        println!("| {} | {} |", scatter.name(), cells.join(" | "));
    }
}

/// The same analyses with a spending function of O'Brien and Fleming's kind.
fn fleming(analyses: &[Analysis]) -> Vec<Analysis> {
    let all = information(analyses.last().map_or(0, |analysis| analysis.pairs));
    let spent = |analysis: &Analysis| {
        let t = information(analysis.pairs) / all;
        4.0 * normal_cdf(-normal_quantile(0.9875) / t.sqrt()) / 0.05
    };
    let spends = |analysis: &Analysis| Analysis {
        spent: spent(analysis),
        ..*analysis
    };
    analyses.iter().map(spends).collect()
}

/// Number of pairs, compared with a study of fixed size whose scatter is known beforehand.
fn lengths(trials: u32) {
    println!(
        "\nPairs of studies until 3 %, on average, and how many find it, in %; normal noise\n"
    );
    println!(
        "| band | spread of a pair | truth | fixed, scatter known | 20 at most | 40 | 100 | 200 | 100, O'Brien–Fleming |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for band in [0.0, 0.01] {
        for sd in [0.01, 0.02, 0.04] {
            for truth in [1.03, 1.0] {
                let fixed = fixed(band, sd, truth);
                let plans = [20, 40, 100, 200].map(|pairs| analyses(pairs, 0.95));
                let other = fleming(&plans[2]);
                let cells: Vec<String> = plans
                    .iter()
                    .chain([&other])
                    .map(|analyses| length(analyses, band, sd, truth, trials))
                    .collect();
                println!(
                    "| {} % | {} % | {truth} | {fixed} | {} |",
                    band * 100.0,
                    sd * 100.0,
                    cells.join(" | ")
                );
            }
        }
    }
}

/// Pairs that find 3 %, or exclude them, in four of five studies.
fn fixed(band: f64, sd_log: f64, truth: f64) -> String {
    let band = if truth == 1.0 { 0.03 } else { band };
    let plan = Plan {
        design: Design::Paired,
        band: Band::of(band),
        confidence: 0.95,
    };
    let pairs = repetitions(&plan, sd_log, truth).ok().flatten();
    pairs.map_or_else(|| "> 1000".to_owned(), |pairs| pairs.to_string())
}

fn length(analyses: &[Analysis], band: f64, sd: f64, truth: f64, trials: u32) -> String {
    let most = analyses.last().map_or(0, |analysis| analysis.pairs);
    let (plan, mut pairs) = (planned(analyses, 1), 0);
    let found = share(trials, 14, |random| {
        let sides = measure(
            Noise::Normal,
            Order::Lot,
            most,
            sd / 2.0_f64.sqrt(),
            truth,
            random,
        )
        .into();
        let (taken, interval) = stopped(&sides, &plan, band, 0.03);
        pairs += taken;
        interval.is_some_and(|i| {
            judge(&i, Band::of(band), Direction::HigherIsBetter) == Verdict::Better
        })
    });
    format!("{:.1} ({found})", pairs as f64 / f64::from(trials))
}
