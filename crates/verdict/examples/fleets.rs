//! Coverage of the interval in simulated fleets, and the rate of false calls. Prints a Markdown table for
//! METHODOLOGY.
//!
//! `cargo run --release -p verdict --example fleets` prints the same figures every time, in ten minutes. `-- 100
//! 2000` simulates 100 fleets per row, only with 2,000 systems.

#[path = "../tests/fleet/simulated.rs"]
mod simulated;

use simulated::{Plan, fleet, truth};
use verdict::fleet::{
    Call, Figure, Fleet, LIMITS_US_DEFAULT, Measure, Operation, Question, Window, judge,
};

fn main() {
    let asked = |place| {
        std::env::args()
            .nth(place)
            .and_then(|text| text.parse().ok())
    };
    let fleets = asked(1).unwrap_or(200);
    match asked(2) {
        Some(systems) => calls(fleets, &[systems as usize]),
        None => {
            calls(fleets, &[20, 50, 200, 2_000]);
            names(fleets);
        }
    }
}

fn judged(windows: &[Window], seed: u64) -> Fleet {
    let question = Question {
        limits_us: LIMITS_US_DEFAULT,
        primary: Measure {
            operation: Operation::Write,
            figure: Figure::Within(0),
        },
        seed,
    };
    judge(windows, question).expect("every simulated system writes before and after")
}

fn calls(fleets: u64, sizes: &[usize]) {
    println!("\n{fleets} fleets a row; share of writes ≤ 0.12 ms, one window a side\n");
    println!(
        "| systems | latency after ÷ before | true shift, points | interval holds it, % | called rightly, % | median half-width, points |"
    );
    println!("|---|---|---|---|---|---|");
    for &systems in sizes {
        for (shift_ln, responding) in [(0.0, 1.0), (-0.05, 1.0), (-0.5, 1.0), (-0.5, 0.3)] {
            let plan = Plan {
                systems,
                windows: 1,
                shift_ln,
                responding,
            };
            let known = truth(&plan);
            let (mut held, mut right) = (0_u64, 0_u64);
            let mut widths = Vec::new();
            for seed in 0..fleets {
                let fleet = judged(&fleet(&plan, seed).windows, seed);
                let Ok(interval) = &fleet.shifts[0].interval else {
                    continue;
                };
                held += u64::from(interval.covers(known));
                let expected = if shift_ln == 0.0 {
                    Call::NotShown
                } else {
                    Call::Higher
                };
                right += u64::from(fleet.call == expected);
                widths.push((interval.high - interval.low) / 2.0);
            }
            let pct = |n: u64| 100.0 * n as f64 / fleets as f64;
            let width = stats::summary::median(&widths).unwrap_or(f64::NAN);
            let ratio = match responding {
                1.0 => format!("{:.2}", f64::exp(shift_ln)),
                part => format!("{:.2} in {:.0} %", f64::exp(shift_ln), 100.0 * part),
            };
            println!(
                "| {systems} | {ratio} | {:.2} | {:.1} | {:.1} | {:.2} |",
                100.0 * known,
                pct(held),
                pct(right),
                100.0 * width
            );
        }
    }
}

/// Named systems: the part of those that shifted, and of the named the part that did not.
fn names(fleets: u64) {
    println!(
        "\n{fleets} fleets a row; 500 systems, of which a fifth became 2.2 times as slow, in %\n"
    );
    println!("| windows a side | named of those that became slower | of the named, did not |");
    println!("|---|---|---|");
    for windows in [3, 6, 12] {
        let plan = Plan {
            systems: 500,
            windows,
            shift_ln: 0.8,
            responding: 0.2,
        };
        let (mut found, mut slower, mut false_share) = (0, 0, 0.0);
        for seed in 0..fleets {
            let simulated = fleet(&plan, seed);
            let which = judged(&simulated.windows, seed).which;
            let named: Vec<bool> = (which.worse.iter().chain(&which.better))
                .map(|named| {
                    let number = named.name.trim_start_matches("array-").parse();
                    number.is_ok_and(|n: usize| simulated.shifted[n])
                })
                .collect();
            let wrong = named.iter().filter(|is_right| !**is_right).count();
            false_share += wrong as f64 / named.len().max(1) as f64;
            found += which.worse.len();
            slower += simulated.shifted.iter().filter(|shifted| **shifted).count();
        }
        println!(
            "| {windows} | {:.1} | {:.1} |",
            100.0 * found as f64 / slower as f64,
            100.0 * false_share / fleets as f64
        );
    }
}
