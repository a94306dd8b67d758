//! Intended start times of the I/Os of one stream.
//!
//! A stream draws them one after the other, whatever the device does. An overdue I/O stays in the queue until it is
//! carried out, so that nothing is skipped and its waiting time is measured.

use stats::random::Random;

use crate::run::{Arrivals, RateStep};

const NS_PER_S: f64 = 1e9;
const GAP_NS_MAX: f64 = 180.0 * NS_PER_S;
/// Time of an arrival that never comes: at the latest `u64` nanosecond.
pub(crate) const NEVER_NS: u64 = u64::MAX;
/// Steps with rate 0 that are skipped in search of the next arrival before the stream counts as silent.
const EMPTY_STEPS_MAX: usize = 2 * 3600;

/// One stream's arrival process; times are nanoseconds since the start of the run.
#[derive(Debug, Clone)]
pub(crate) struct ArrivalProcess {
    arrivals: Arrivals,
    /// Rates of this stream, in a cycle; a fixed rate is one step.
    steps: Vec<RateStep>,
    step: usize,
    /// End of the current step; infinite for a fixed rate.
    step_end_ns: f64,
    at_ns: f64,
    /// State of [`Arrivals::Spike`]: I/Os left in the current second, the fraction carried over, and that second.
    spike_left: u64,
    spike_carry: f64,
    spike_second: u64,
}

impl ArrivalProcess {
    pub fn fixed(iops: f64, arrivals: Arrivals) -> Self {
        let only = RateStep { iops, seconds: 0 };
        Self::new(vec![only], f64::INFINITY, arrivals)
    }

    /// A process that follows `steps`; this stream has `share` of their rates.
    pub fn variable(steps: &[RateStep], share: f64, arrivals: Arrivals) -> Self {
        let steps: Vec<RateStep> = steps
            .iter()
            .map(|step| RateStep {
                iops: step.iops * share,
                seconds: step.seconds.max(1),
            })
            .collect();
        let first_end_ns = steps.first().map_or(f64::INFINITY, length_ns);
        Self::new(steps, first_end_ns, arrivals)
    }

    fn new(steps: Vec<RateStep>, step_end_ns: f64, arrivals: Arrivals) -> Self {
        Self {
            arrivals,
            steps,
            step: 0,
            step_end_ns,
            at_ns: 0.0,
            spike_left: 0,
            spike_carry: 0.0,
            spike_second: 0,
        }
    }

    /// Next intended start, never earlier than the previous one; [`NEVER_NS`] when there is none.
    #[inline]
    pub fn next_ns(&mut self, random: &mut Random) -> u64 {
        let gap = match self.arrivals {
            Arrivals::Exponential => random.exponential(1.0),
            Arrivals::Uniform => 2.0 * random.unit(),
            Arrivals::Deterministic => 1.0,
            Arrivals::Spike => return self.next_of_spike(),
        };
        self.advance(gap)
    }

    /// Advances by `gap` mean gaps of the rates in effect meanwhile.
    #[inline]
    fn advance(&mut self, mut gap: f64) -> u64 {
        for _ in 0..EMPTY_STEPS_MAX {
            let iops = self.rate();
            let wait_ns = gap * NS_PER_S / iops;
            if self.step_end_ns.is_infinite() {
                self.at_ns += wait_ns.min(GAP_NS_MAX.max(NS_PER_S / iops));
                return to_ns(self.at_ns);
            }
            if self.at_ns + wait_ns < self.step_end_ns {
                self.at_ns += wait_ns;
                return to_ns(self.at_ns);
            }
            gap -= (self.step_end_ns - self.at_ns) * iops / NS_PER_S;
            self.at_ns = self.step_end_ns;
            self.turn_step();
        }
        NEVER_NS
    }

    fn rate(&self) -> f64 {
        self.steps.get(self.step).map_or(0.0, |step| step.iops)
    }

    fn turn_step(&mut self) {
        self.step = (self.step + 1) % self.steps.len().max(1);
        self.step_end_ns += self.steps.get(self.step).map_or(f64::INFINITY, length_ns);
    }

    /// All I/Os of a second are due at its beginning; the fraction is carried to the next second.
    fn next_of_spike(&mut self) -> u64 {
        for _ in 0..EMPTY_STEPS_MAX {
            if self.spike_left > 0 {
                self.spike_left -= 1;
                return (self.spike_second - 1).saturating_mul(NS_PER_S as u64);
            }
            while self.spike_second as f64 * NS_PER_S >= self.step_end_ns {
                self.turn_step();
            }
            self.spike_carry += self.rate();
            self.spike_left = self.spike_carry as u64;
            self.spike_carry -= self.spike_left as f64;
            self.spike_second += 1;
        }
        NEVER_NS
    }
}

fn length_ns(step: &RateStep) -> f64 {
    f64::from(step.seconds) * NS_PER_S
}

/// Values that are too large (from a rate near 0) saturate to [`NEVER_NS`].
fn to_ns(ns: f64) -> u64 {
    ns as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(mut process: ArrivalProcess, until_s: f64) -> Vec<u64> {
        let mut random = Random::new(5);
        std::iter::repeat_with(|| process.next_ns(&mut random))
            .take_while(|at| (*at as f64) < until_s * NS_PER_S)
            .collect()
    }

    /// Greatest distance of the gaps' distribution from `expected` (Kolmogorov and Smirnov), times √n.
    fn distance(starts: &[u64], mean_ns: f64, expected: fn(f64) -> f64) -> f64 {
        let mut gaps: Vec<f64> = starts
            .windows(2)
            .map(|pair| (pair[1] - pair[0]) as f64 / mean_ns)
            .collect();
        gaps.sort_by(f64::total_cmp);
        let n = gaps.len() as f64;
        let places = gaps.iter().enumerate();
        let furthest = places.fold(0.0_f64, |furthest, (i, gap)| {
            let want = expected(*gap);
            furthest
                .max((want - i as f64 / n).abs())
                .max(((i + 1) as f64 / n - want).abs())
        });
        furthest * n.sqrt()
    }

    /// 1.95 is passed by one in a thousand samples of the right distribution; the seed is fixed.
    #[test]
    fn gaps_follow_the_requested_distribution() {
        let exponential = starts(ArrivalProcess::fixed(1e5, Arrivals::Exponential), 1.0);
        assert!((exponential.len() as f64 - 1e5).abs() < 1500.0);
        assert!(distance(&exponential, 1e4, |x| 1.0 - (-x).exp()) < 1.95);
        assert!(distance(&exponential, 1e4, |x| (x / 2.0).min(1.0)) > 10.0);
        let uniform = starts(ArrivalProcess::fixed(1e5, Arrivals::Uniform), 1.0);
        assert!(distance(&uniform, 1e4, |x| (x / 2.0).min(1.0)) < 1.95);
        let even = starts(ArrivalProcess::fixed(1e5, Arrivals::Deterministic), 1.0);
        assert!(even.windows(2).all(|pair| pair[1] - pair[0] == 10_000));
    }

    #[test]
    fn spikes_come_at_whole_seconds_and_lose_no_fraction() {
        let spikes = starts(ArrivalProcess::fixed(2.5, Arrivals::Spike), 4.0);
        let seconds: Vec<u64> = spikes.iter().map(|at| at / 1_000_000_000).collect();
        assert_eq!(seconds, [0, 0, 1, 1, 1, 2, 2, 3, 3, 3]);
        assert!(spikes.iter().all(|at| at % 1_000_000_000 == 0));
    }

    #[test]
    fn rates_vary_by_the_second_and_begin_again() {
        let steps = [
            RateStep {
                iops: 100.0,
                seconds: 2,
            },
            RateStep {
                iops: 1000.0,
                seconds: 1,
            },
        ];
        for arrivals in [
            Arrivals::Deterministic,
            Arrivals::Exponential,
            Arrivals::Spike,
        ] {
            let process = ArrivalProcess::variable(&steps, 0.5, arrivals);
            let mut of_second = [0_i64; 6];
            for at in starts(process, 6.0) {
                of_second[(at / 1_000_000_000) as usize] += 1;
            }
            for (second, want) in [50, 50, 500, 50, 50, 500].iter().enumerate() {
                let allowed = if arrivals == Arrivals::Exponential {
                    (*want as f64).sqrt() as i64 * 4
                } else {
                    1
                };
                let off = (of_second[second] - want).abs();
                assert!(off <= allowed, "{arrivals:?} {of_second:?}");
            }
        }
    }

    #[test]
    fn no_rate_is_no_arrival() {
        let mut random = Random::new(1);
        for arrivals in [Arrivals::Exponential, Arrivals::Spike] {
            let mut silent = ArrivalProcess::fixed(0.0, arrivals);
            assert!(silent.next_ns(&mut random) > 100_000_000_000);
        }
    }
}
