//! Error of the rate of a point in slices, and coverage of the interval of a study, for several lengths of
//! operations: simulated with the rules by which drives count (`docs/METHODOLOGY.md`, "In slices").
//!
//! `cargo run --release -p load --example slices`

use stats::random::Random;
use stats::ratio::paired;

const SETTLE: f64 = 0.1;
const PAIRS: usize = 7;
const RATIO: f64 = 0.95;
const SESSIONS_SD: f64 = 0.005;
/// Approximate number of operations that are drawn for a line.
const DRAWS: f64 = 1e8;

#[derive(Debug, Clone, Copy)]
enum Lengths {
    Constant,
    /// Two of ten take six times as long as the others.
    Bimodal,
    /// Log-normal, with a standard deviation of 1.3 times the mean.
    HeavyTailed,
}

impl Lengths {
    fn draw(self, random: &mut Random) -> f64 {
        match self {
            Self::Constant => 1.0,
            Self::Bimodal if random.unit() < 0.2 => 3.0,
            Self::Bimodal => 0.5,
            Self::HeavyTailed => (random.normal() - 0.5).exp(),
        }
    }
}

/// One side of a pair: operations of `mean` slices by each of `jobs`.
struct Side {
    lengths: Lengths,
    mean: f64,
    jobs: usize,
    slices: f64,
}

impl Side {
    /// Whole operations over the time that they took, by all jobs, except those that begin in the first tenth of a
    /// slice; an operation under way at its end continues in the next.
    fn rate(&self, random: &mut Random) -> f64 {
        let (mut begun, mut time) = (0.0, 0.0);
        for _ in 0..self.jobs {
            let mut free = 0.0;
            while free < self.slices {
                let length = self.mean * self.lengths.draw(random);
                if free % 1.0 >= SETTLE {
                    begun += 1.0;
                    time += length;
                }
                free += length;
            }
        }
        self.jobs as f64 * begun / time
    }

    /// The former rule: all jobs restart with each slice, and every operation that ends in its counted part counts.
    fn rate_by_ends(&self, random: &mut Random) -> f64 {
        let mut ended = 0.0;
        for _ in 0..self.jobs {
            for _ in 0..self.slices as usize {
                let mut free = 0.0;
                while free < 1.0 {
                    free += self.mean * self.lengths.draw(random);
                    ended += f64::from(u8::from((SETTLE..1.0).contains(&free)));
                }
            }
        }
        ended / (self.slices * (1.0 - SETTLE))
    }
}

fn line(lengths: Lengths, per_slice: f64, jobs: usize) -> String {
    // A few hundred operations of each job at least.
    let slices = (300.0 / per_slice).ceil().max(8.0);
    let draws_a_study = 2.0 * PAIRS as f64 * jobs as f64 * per_slice * slices;
    let studies = (DRAWS / draws_a_study).clamp(1000.0, 4000.0) as u32;
    let mut random = Random::new(42);
    let (mut sum, mut points, mut before, mut held, mut intervals) = (0.0, 0, 0.0, 0, 0);
    for _ in 0..studies {
        let mut rates = [Vec::new(), Vec::new()];
        for (side, rates) in rates.iter_mut().enumerate() {
            for _ in 0..PAIRS {
                let sessions = (SESSIONS_SD * random.normal()).exp();
                let slower = if side == 1 { RATIO } else { 1.0 };
                let of = Side {
                    lengths,
                    mean: sessions / slower / per_slice,
                    jobs,
                    slices,
                };
                rates.push(of.rate(&mut random));
            }
        }
        let of = Side {
            lengths,
            mean: 1.0 / per_slice,
            jobs,
            slices,
        };
        before += of.rate_by_ends(&mut random);
        // Operations as long as a slice may all begin where they do not count: such a point has no rate.
        let known = rates[0].iter().filter(|rate| rate.is_finite());
        known.for_each(|rate| (sum, points) = (sum + rate, points + 1));
        if let Ok(ratio) = paired(&rates[0], &rates[1], 0.95) {
            intervals += 1;
            held += u32::from(ratio.interval.low <= RATIO && RATIO <= ratio.interval.high);
        }
    }
    let off_pct =
        |sum: f64, of: u32| 100.0 * (sum / f64::from(of) / (per_slice * jobs as f64) - 1.0);
    format!(
        "| {lengths:?} | {per_slice} | {jobs} | {:+.2} | {:.1} | {:+.1} |",
        off_pct(sum, points),
        100.0 * f64::from(held) / f64::from(intervals),
        off_pct(before, studies),
    )
}

fn main() {
    println!(
        "| lengths | operations a slice | jobs | bias, % | interval holds, % | bias of the rule before, % |"
    );
    println!("|---|---|---|---|---|---|");
    for lengths in [Lengths::Constant, Lengths::Bimodal, Lengths::HeavyTailed] {
        for per_slice in [1.0, 5.4, 20.0, 100.0] {
            for jobs in [1, 4, 64] {
                println!("{}", line(lengths, per_slice, jobs));
            }
        }
    }
}
