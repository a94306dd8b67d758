//! Recovery of known variance components of a study's pairs.

use stats::components::{self, Pair};
use stats::random::Random;
use stats::summary::mean;

const SLICES: usize = 30;
const SLICE_SD: f64 = 0.10;
/// Correlation of a slice's noise with that of the one before.
const CORRELATION: f64 = 0.4;

/// A side's rates in one block, whose noise has a memory.
fn side(level: f64, correlation: f64, random: &mut Random) -> Vec<f64> {
    let mut noise = random.normal();
    let fresh = (1.0 - correlation * correlation).sqrt();
    let rates = (0..SLICES).map(|_| {
        noise = correlation * noise + fresh * random.normal();
        level * (SLICE_SD * noise).exp()
    });
    rates.collect()
}

/// Prints the true and the estimated share of the variance within blocks, and the coverage of its interval.
pub fn components(trials: u32) {
    println!(
        "\nComponents of the scatter of pairs, {SLICES} slices of 10 % a side: mean estimates in %, and of studies in %: the 95 % interval \
         of the share holds it / more than half from within is found / less than half is found\n"
    );
    println!(
        "| slices | from pair to pair | pairs | of a pair | within, true | within | between | interval holds | more seconds | more pairs |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for (kind, correlation) in [("independent", 0.0), ("correlated", CORRELATION)] {
        // Variance of a mean of that many correlated values, on two sides.
        let gain: f64 = (1..SLICES)
            .map(|lag| (1.0 - lag as f64 / SLICES as f64) * correlation.powi(lag as i32))
            .sum();
        let within = 2.0 * SLICE_SD * SLICE_SD / SLICES as f64 * (1.0 + 2.0 * gain);
        for of_pair in [0.0, 0.01, 0.03, 0.064] {
            for pairs in [6, 10, 20] {
                let truth = within / (within + of_pair * of_pair);
                let found = study(pairs, of_pair, correlation, truth, trials);
                println!(
                    "| {kind} | {:.1} % | {pairs} | {} |",
                    of_pair * 100.0,
                    cells(within.sqrt(), &found)
                );
            }
        }
    }
}

#[derive(Default)]
struct Found {
    trials: f64,
    total: f64,
    within: f64,
    between: f64,
    held: f64,
    seconds: f64,
    pairs: f64,
}

fn study(pairs: usize, of_pair: f64, correlation: f64, truth: f64, trials: u32) -> Found {
    let mut random = Random::new(pairs as u64);
    let mut sums = Found::default();
    for _ in 0..trials {
        let blocks: Vec<[Vec<f64>; 2]> = (0..pairs)
            .map(|_| {
                let level = (of_pair * random.normal()).exp();
                [
                    side(1.0, correlation, &mut random),
                    side(level, correlation, &mut random),
                ]
            })
            .collect();
        let compared: Vec<Pair<'_>> = blocks
            .iter()
            .map(|[a, b]| Pair {
                log_ratio: (mean(b).unwrap_or(1.0) / mean(a).unwrap_or(1.0)).ln(),
                a,
                b,
            })
            .collect();
        let Ok(found) = components::components(&compared, true, 0.95) else {
            continue;
        };
        let share = found.within_share;
        sums.trials += 1.0;
        sums.total += found.total;
        sums.within += found.within;
        sums.between += found.between;
        sums.held += f64::from(u8::from(share.covers(truth)));
        sums.seconds += f64::from(u8::from(share.low > 0.5));
        sums.pairs += f64::from(u8::from(share.high < 0.5));
    }
    sums
}

fn cells(within: f64, found: &Found) -> String {
    let pct = |sum: f64| format!("{:.1}", 100.0 * sum / found.trials);
    [
        pct(found.total),
        format!("{:.1}", within * 100.0),
        pct(found.within),
        pct(found.between),
        pct(found.held),
        pct(found.seconds),
        pct(found.pairs),
    ]
    .join(" | ")
}
