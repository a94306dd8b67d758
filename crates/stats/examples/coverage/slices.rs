//! Studies in slices: noise on three levels, and the interval of their pairs.

use stats::compare::{Band, Direction, Verdict, judge};
use stats::random::Random;
use stats::ratio::paired;

/// Slices of a side in a pair.
const SLICES: usize = 30;
/// Spread of one slice's rate: the ratio of two neighbours scatters by 14 %.
const SLICE_SD: f64 = 0.10;
/// Spread that the sessions of one pair have in common on each side; the next pair opens new ones.
const SESSIONS_SD: f64 = 0.01;
/// Two instances of one configuration differ by 6.4 %.
const INSTANCE_SD: f64 = 0.045;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instances {
    /// Both sides run on one instance.
    InPlace,
    NewForEachPair,
    OnePair,
}

pub fn study(pairs: usize, instances: Instances, ratio: f64, random: &mut Random) -> [Vec<f64>; 2] {
    let mut fixed = [0.0; 2].map(|_: f64| INSTANCE_SD * random.normal());
    let mut sides = [Vec::new(), Vec::new()];
    for _ in 0..pairs {
        if instances == Instances::NewForEachPair {
            fixed = fixed.map(|_| INSTANCE_SD * random.normal());
        }
        for (side, rates) in sides.iter_mut().enumerate() {
            let of_instance = match instances {
                Instances::InPlace => 0.0,
                _ => fixed[side],
            };
            let of_pair = of_instance + SESSIONS_SD * random.normal();
            let sum: f64 = (0..SLICES)
                .map(|_| (of_pair + SLICE_SD * random.normal()).exp())
                .sum();
            rates.push(sum / SLICES as f64 * if side == 1 { ratio } else { 1.0 });
        }
    }
    sides
}

/// Prints the coverage of 1, and how often 3 % are found, in % of studies.
pub fn slices(trials: u32) {
    println!(
        "\nStudies in slices: the 95 % interval holds the true ratio / a true 3 % is found at band 0, in % of studies\n"
    );
    println!(
        "| pairs of 30 slices a side | in place | two instances, new for each pair | one pair of instances |"
    );
    println!("|---|---|---|---|");
    for pairs in [6, 10, 20] {
        let kinds = [
            Instances::InPlace,
            Instances::NewForEachPair,
            Instances::OnePair,
        ];
        let cells = kinds.map(|instances| {
            let mut random = Random::new(pairs as u64);
            let (mut held, mut found) = (0, 0);
            for _ in 0..trials {
                let [a, b] = study(pairs, instances, 1.03, &mut random);
                let Ok(ratio) = paired(&a, &b, 0.95) else {
                    continue;
                };
                let interval = ratio.interval;
                held += u32::from(interval.low <= 1.03 && 1.03 <= interval.high);
                let verdict = judge(&interval, Band::of(0.0), Direction::HigherIsBetter);
                found += u32::from(verdict == Verdict::Better);
            }
            let pct = |n: u32| 100.0 * f64::from(n) / f64::from(trials);
            format!("{:.1} / {:.1}", pct(held), pct(found))
        });
        println!("| {pairs} | {} |", cells.join(" | "));
    }
}
