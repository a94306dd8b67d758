//! Rate of false alarms: studies without an oddity in which one is reported. Prints a Markdown table for METHODOLOGY.
//!
//! `cargo run --release -p verdict --example false_alarms` prints the same figures every time, in a minute.

use stats::random::Random;
use verdict::compare::{ByOrder, Pair, oddities};

const TRIALS: u64 = 1_000;
const FALSE_ALARM: f64 = 0.05;
const CODES: [&str; 5] = ["order", "carry_over", "moved", "drifted", "outlier"];
/// Autocorrelation of the figures at lag 1.
const CORRELATION: f64 = 0.6;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Noise {
    Normal,
    HeavyTails,
    LogNormal,
    Autocorrelated,
}

impl Noise {
    fn next(self, random: &mut Random, before: &mut f64) -> f64 {
        let normal = random.normal();
        match self {
            Noise::Normal => normal,
            Noise::HeavyTails => {
                let squares: f64 = (0..3).map(|_| random.normal().powi(2)).sum();
                normal / (squares / 3.0).sqrt()
            }
            Noise::LogNormal => (0.8 * normal).exp() - 0.32_f64.exp(),
            Noise::Autocorrelated => {
                let fresh = (1.0 - CORRELATION * CORRELATION).sqrt();
                *before = CORRELATION * *before + fresh * normal;
                *before
            }
        }
    }
}

fn study(pairs: u32, noise: Noise, in_slices: bool, random: &mut Random) -> Vec<Pair> {
    let mut before = random.normal();
    let pair = |number| {
        let mut figure = || (0.02 * noise.next(random, &mut before)).exp();
        let figures = [figure(), figure()];
        let mut own = || [figure(), figure()];
        let by_order = in_slices.then(|| ByOrder {
            ratio: own(),
            level: own(),
        });
        Pair {
            number,
            is_a_first: random.index(2) == 0,
            started_at: [String::new(), String::new()],
            // Of two neighbours in time either may be A's.
            figures,
            by_order,
            series: [Vec::new(), Vec::new()],
        }
    };
    (1..=pairs).map(pair).collect()
}

fn main() {
    println!("Studies without anything odd in which something is told, in %\n");
    println!(
        "| noise | pairs | any, in blocks | in slices | {} |",
        CODES.join(" | ")
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for noise in [
        Noise::Normal,
        Noise::HeavyTails,
        Noise::LogNormal,
        Noise::Autocorrelated,
    ] {
        for pairs in [8, 10, 20] {
            let mut random = Random::new(u64::from(pairs));
            let mut any = [0.0; 2];
            let mut each = [0.0; 5];
            for _ in 0..TRIALS {
                for in_slices in [false, true] {
                    let found = oddities(&study(pairs, noise, in_slices, &mut random), FALSE_ALARM);
                    any[usize::from(in_slices)] += f64::from(u8::from(!found.is_empty()));
                    for (code, count) in CODES.iter().zip(&mut each) {
                        let is_told = !in_slices && found.iter().any(|odd| odd.code() == *code);
                        *count += f64::from(u8::from(is_told));
                    }
                }
            }
            let cells = any.iter().chain(&each);
            let cells: Vec<String> = cells
                .map(|count| format!("{:.1}", 100.0 * count / TRIALS as f64))
                .collect();
            println!("| {noise:?} | {pairs} | {} |", cells.join(" | "));
        }
    }
}
