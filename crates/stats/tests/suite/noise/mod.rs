//! Simulated benchmarks whose true ratio is known: noise of several kinds, measured in several orders.

pub mod analyses;

use stats::drift::is_at_rest;
use stats::random::Random;

/// Distribution of the logarithm of a repetition's figure around the truth, in order of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Noise {
    Normal,
    /// Independent, Student's t with three degrees of freedom: now and then far off.
    StudentT3,
    /// Independent, log-normal even on the logarithmic scale: never better, sometimes much worse.
    Lognormal,
    /// Each repetition remembers 0.6 of the one before.
    Autocorrelated,
    /// Normal, on top of a machine that becomes slower by four standard deviations in all.
    Drifting,
}

pub const NOISES: [Noise; 5] = [
    Noise::Normal,
    Noise::StudentT3,
    Noise::Lognormal,
    Noise::Autocorrelated,
    Noise::Drifting,
];

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Order {
    /// A B B A A B B A …
    Abba,
    /// In each pair, the first is drawn by lot.
    Lot,
    Sequential,
}

/// Noise of `count` repetitions in order of time, with a standard deviation of about 1.
pub fn noise(kind: Noise, count: usize, random: &mut Random) -> Vec<f64> {
    let mut before = random.normal();
    (0..count)
        .map(|i| match kind {
            Noise::Normal => random.normal(),
            Noise::StudentT3 => {
                let square: f64 = (0..3).map(|_| random.normal().powi(2)).sum();
                // The standard deviation of t with three degrees is √3.
                random.normal() / (square / 3.0).sqrt() / 3.0_f64.sqrt()
            }
            // exp of a standard normal has the standard deviation √(e² − e) = 2.161.
            Noise::Lognormal => -random.normal().exp() / 2.161,
            Noise::Autocorrelated => {
                before = 0.6 * before + 0.8 * random.normal();
                before
            }
            Noise::Drifting => random.normal() - 4.0 * i as f64 / count as f64,
        })
        .collect()
}

/// Figures of A and B, `n` each, around 1000 and 1000·`ratio`, with noise of spread `sd`.
pub fn measure(
    kind: Noise,
    order: Order,
    n: usize,
    sd: f64,
    ratio: f64,
    random: &mut Random,
) -> (Vec<f64>, Vec<f64>) {
    let noise = noise(kind, 2 * n, random);
    let figure = |i: usize| 1000.0 * (sd * noise[i]).exp();
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for i in 0..n {
        let (first, second) = match order {
            Order::Abba if i % 2 == 0 => (2 * i, 2 * i + 1),
            Order::Abba => (2 * i + 1, 2 * i),
            Order::Lot => {
                let turned = random.index(2);
                (2 * i + turned, 2 * i + 1 - turned)
            }
            Order::Sequential => (i, n + i),
        };
        a.push(figure(first));
        b.push(ratio * figure(second));
    }
    (a, b)
}

/// Values of half a second.
const PER_S: usize = 2;
const ROUND_S: usize = 5;

/// Shares of warm-ups that end at rest, and that end at rest below 0.97 of the final rate. `tau_s` is the time
/// constant of the approach from the share `from`.
pub fn warm_ups(
    trials: u32,
    from: f64,
    tau_s: f64,
    kind: Noise,
    sd: f64,
    cap_s: usize,
) -> (f64, f64) {
    let mut random = Random::new(17);
    let (mut ended, mut below) = (0, 0);
    for _ in 0..trials {
        let scatter = noise(kind, cap_s * PER_S, &mut random);
        let truth =
            |i: usize| 1.0 - (1.0 - from) * (-(i as f64 + 0.5) / PER_S as f64 / tau_s).exp();
        let observed: Vec<f64> = scatter
            .iter()
            .enumerate()
            .map(|(i, z)| truth(i) * (sd * z).exp())
            .collect();
        let rounds = (2..=cap_s / ROUND_S).map(|round| round * ROUND_S * PER_S);
        if let Some(end) = rounds.into_iter().find(|end| is_at_rest(&observed[..*end])) {
            ended += 1;
            below += u32::from(truth(end - 1) < 0.97);
        }
    }
    let share = |count: u32| f64::from(count) / f64::from(trials);
    (share(ended), share(below))
}
