//! Simulated fleets with a known shift: systems of very different speed and mix, each with independent noise.

use stats::distribution::normal_cdf;
use stats::random::Random;
use verdict::fleet::{LIMITS_US_DEFAULT, Mix, Operation, Side, Window};

/// Spread of the systems' median latencies, as a standard deviation of logarithms: from 0.1 to 1 ms for two in three.
const LEVEL_SD: f64 = 1.1;
/// Median latency of the median system, µs.
const LEVEL_US: f64 = 320.0;
/// Variation of a system from window to window, apart from the update.
const WINDOW_SD: f64 = 0.15;
/// Variation of the systems' response to the update.
const RESPONSE_SD: f64 = 0.25;
/// Spread of the latencies of one system.
const SPREAD: f64 = 0.9;
const COUNT: f64 = 100_000.0;

#[derive(Debug, Clone, Copy)]
pub struct Plan {
    pub systems: usize,
    /// Windows of each side.
    pub windows: usize,
    /// Mean logarithm of the shift of latencies; 0 for none.
    pub shift_ln: f64,
    /// Share of the systems that shift at all.
    pub responding: f64,
}

pub struct Simulated {
    pub windows: Vec<Window>,
    pub shifted: Vec<bool>,
}

/// Share at or below `limit_us` of log-normal latencies.
fn share(limit_us: f64, median_us: f64) -> f64 {
    normal_cdf((limit_us / median_us).ln() / SPREAD)
}

struct System {
    name: String,
    median_us: f64,
    reads: f64,
    /// Logarithm of the shift of its latencies.
    by_ln: f64,
}

impl System {
    fn drawn(number: usize, plan: &Plan, random: &mut Random) -> Self {
        let responds = random.unit() < plan.responding && plan.shift_ln != 0.0;
        let own = plan.shift_ln + RESPONSE_SD * random.normal();
        Self {
            name: format!("array-{number:05}"),
            median_us: LEVEL_US * (LEVEL_SD * random.normal()).exp(),
            // A third of the systems mostly read, a third mostly write, a third do both.
            reads: [0.2, 0.5, 0.8][random.index(3)] + 0.08 * (random.unit() - 0.5),
            by_ln: if responds { own } else { 0.0 },
        }
    }

    fn window(&self, at: usize, side: Side, operation: Operation, random: &mut Random) -> Window {
        let of_operation = match operation {
            Operation::Read => 1.6,
            Operation::Write => 1.0,
        };
        let shift = match side {
            Side::Before => 0.0,
            Side::After => self.by_ln,
        };
        let median_us = self.median_us * of_operation * (shift + WINDOW_SD * random.normal()).exp();
        let reads = (self.reads + 0.02 * (random.unit() - 0.5)).clamp(0.05, 0.95);
        let part = match operation {
            Operation::Read => reads,
            Operation::Write => 1.0 - reads,
        };
        let count = (COUNT * part) as u64;
        let within =
            LIMITS_US_DEFAULT.map(|limit| (share(limit, median_us) * count as f64).round() as u64);
        Window {
            system: self.name.clone(),
            began_us: (side as i64 * 1_000 + at as i64) * 3_600_000_000,
            side,
            operation,
            mix: Mix {
                read_pct: Some(100.0 * reads),
                ..Mix::default()
            },
            count,
            within,
            undecided: [0, 0],
            mean_us: median_us * (SPREAD * SPREAD / 2.0).exp(),
        }
    }
}

pub fn fleet(plan: &Plan, seed: u64) -> Simulated {
    let mut random = Random::stream(seed, 0xf1ee7);
    let mut simulated = Simulated {
        windows: Vec::with_capacity(plan.systems * plan.windows * 4),
        shifted: Vec::with_capacity(plan.systems),
    };
    for number in 0..plan.systems {
        let system = System::drawn(number, plan, &mut random);
        simulated.shifted.push(system.by_ln != 0.0);
        for side in Side::ALL {
            for at in 0..plan.windows {
                for operation in Operation::ALL {
                    let window = system.window(at, side, operation, &mut random);
                    simulated.windows.push(window);
                }
            }
        }
    }
    simulated
}

/// True mean shift of the share of writes at or below the first limit: the numerical mean over many more systems than
/// any fleet has.
pub fn truth(plan: &Plan) -> f64 {
    let mut random = Random::stream(7, 0x7247);
    let draws = 4_000_000;
    let sum: f64 = (0..draws)
        .map(|_| {
            let level_us = LEVEL_US * (LEVEL_SD * random.normal()).exp();
            let responds = random.unit() < plan.responding && plan.shift_ln != 0.0;
            let by = plan.shift_ln + RESPONSE_SD * random.normal();
            // Windows scatter around the system's level on both sides, which widens its spread.
            let wide = SPREAD.hypot(WINDOW_SD);
            let of =
                |by: f64| normal_cdf((LIMITS_US_DEFAULT[0] / (level_us * by.exp())).ln() / wide);
            if responds { of(by) - of(0.0) } else { 0.0 }
        })
        .sum();
    sum / f64::from(draws)
}
