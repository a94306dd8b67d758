//! Rounds of one run until its figures are steady, and their merged result.

use std::collections::VecDeque;
use std::time::Duration;

use archive::Remark;
use archive::remark::{RoundsRole, RoundsWindow};
use host::block::DeviceTimes;
use host::{Counters, CpuOwners, Rates};
use jiff::Timestamp;
use stats::HistogramSnapshot;
use stats::steady::{RANGE_PCT_MAX, ROUNDS_MIN, Rounds, SLOPE_PCT_MAX, rounds};

use super::log::Lap;
use crate::engine::{Ended, Latencies, Outcome};
use crate::run::{Rate, Run};

#[derive(Debug)]
pub(super) struct Round {
    pub started_at: Timestamp,
    pub outcome: Outcome,
    pub laps: Vec<Lap>,
    /// The machine's counters at the beginning and end of its counted time.
    pub span: (Counters, Counters),
    /// Owners of its processor time; of several rounds, that of the last.
    pub owners: Option<CpuOwners>,
    /// Requests of the devices in its counted time; empty if they are not timed.
    pub requests: Vec<DeviceTimes>,
}

impl Round {
    pub fn rates(&self) -> Rates {
        Rates::between(&self.span.0, &self.span.1)
    }

    pub fn is_whole(&self) -> bool {
        let ended = self.outcome.ended;
        self.outcome.faults_count == 0 && !matches!(ended, Ended::Errors | Ended::Stopped)
    }

    fn merge(&mut self, later: Self) {
        let before: Duration = self.outcome.elapsed;
        self.laps.extend(later.laps.into_iter().map(|lap| Lap {
            end: lap.end + before,
            ..lap
        }));
        self.outcome.merge(later.outcome);
        self.span.1 = later.span.1;
        self.owners = later.owners;
        for (all, more) in self.requests.iter_mut().zip(&later.requests) {
            all.add(more);
        }
    }
}

/// A finished round. Distributions take megabytes, and several rounds of each run of a matrix are stored at once, so
/// all but the last are packed.
struct PackedRound {
    round: Round,
    /// Packed distributions: reads, then writes of each cell; service, issued and response time of each.
    latencies: Vec<[[HistogramSnapshot; 3]; 2]>,
}

impl PackedRound {
    fn of(mut round: Round, is_packed: bool) -> Self {
        let mut latencies = Vec::new();
        if is_packed {
            let pack = |all: &Latencies| {
                [&all.service, &all.issued, &all.response].map(HistogramSnapshot::from)
            };
            let pairs = std::mem::take(&mut round.outcome.latencies);
            latencies = pairs.iter().map(|pair| pair.each_ref().map(pack)).collect();
        }
        Self { round, latencies }
    }

    fn unpack(self) -> Round {
        let unpack = |[service, issued, response]: [HistogramSnapshot; 3]| Latencies {
            service: service.to_histogram(),
            issued: issued.to_histogram(),
            response: response.to_histogram(),
        };
        let mut round = self.round;
        let pairs = self.latencies.into_iter();
        let unpacked = pairs.map(|pair| pair.map(unpack));
        round.outcome.latencies.extend(unpacked);
        round
    }
}

/// Runs whose steadiness ends the rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decides {
    Alone,
    /// This run, for all that take turns with it.
    ForAll,
    /// Others that this run takes turns with.
    Not,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Steadiness {
    /// The rounds ended because of this run.
    pub decides: Decides,
    pub values: Vec<f64>,
    pub unit: &'static str,
    /// Analysis of the last rounds; `None` if there were too few.
    pub window: Option<Rounds>,
}

impl Steadiness {
    #[must_use]
    pub fn is_steady(&self) -> bool {
        self.window.is_some_and(|window| window.is_steady())
    }

    /// The verdict, and the value of every round. A run that takes turns is named, because all of these are reported
    /// together.
    #[must_use]
    pub fn remarks(&self, run: &Run) -> [Remark; 2] {
        let name = format!("{} {}", run.name, run.loops);
        let name = name.trim_end().to_owned();
        let values = Remark::RoundValues {
            run: (self.decides != Decides::Alone).then(|| name.clone()),
            unit: self.unit.to_owned(),
            values: self.values.clone(),
        };
        [self.verdict(name), values]
    }

    fn verdict(&self, run: String) -> Remark {
        let role = match self.decides {
            Decides::Alone => RoundsRole::Alone,
            Decides::ForAll => RoundsRole::ForAll,
            Decides::Not => RoundsRole::Other,
        };
        let rounds = self.values.len() as u64;
        let Some(window) = &self.window else {
            return Remark::TooFewRounds {
                run,
                role,
                rounds,
                rounds_min: ROUNDS_MIN as u64,
            };
        };
        Remark::RoundsJudged {
            run,
            role,
            rounds,
            unit: self.unit.to_owned(),
            steady: window.is_steady(),
            window: RoundsWindow {
                rounds: ROUNDS_MIN as u64,
                mean: window.mean,
                range_pct: window.range_pct,
                range_pct_max: RANGE_PCT_MAX,
                slope_pct: window.slope_pct,
                slope_pct_max: SLOPE_PCT_MAX,
            },
        }
    }
}

/// Rounds of one run in progress. Figures are stored for those that may be in the window, and for the others only the
/// judged value.
pub(super) struct Series<'a> {
    pub run: &'a Run,
    values: Vec<f64>,
    kept: VecDeque<PackedRound>,
}

impl<'a> Series<'a> {
    pub fn of(run: &'a Run) -> Self {
        Self {
            run,
            values: Vec::new(),
            kept: VecDeque::with_capacity(ROUNDS_MIN),
        }
    }

    /// The run of the next round with its title; a run without rounds keeps its title.
    pub fn next(&self) -> Run {
        let mut run = self.run.clone();
        if run.steady.is_some() {
            let space = if run.loops.is_empty() { "" } else { " " };
            run.loops = format!("{}{space}round={}", run.loops, self.values.len() + 1);
        }
        run
    }

    pub fn done(&self) -> usize {
        self.values.len()
    }

    pub fn take(&mut self, round: Round) {
        self.values.push(value(self.run, &round.outcome));
        if self.kept.len() == ROUNDS_MIN {
            self.kept.pop_front();
        }
        self.kept
            .push_back(PackedRound::of(round, self.run.steady.is_some()));
    }

    pub fn is_steady(&self) -> bool {
        rounds(&self.values).is_some_and(|window| window.is_steady())
    }

    /// Merged rounds of the window, and the verdict if rounds were requested; `None` if no round began.
    pub fn finish(mut self, decides: Decides) -> Option<(Round, Option<Steadiness>)> {
        let mut all = self.kept.pop_front()?.unpack();
        self.kept
            .into_iter()
            .for_each(|round| all.merge(round.unpack()));
        let steadiness = self.run.steady.map(|_| Steadiness {
            decides,
            window: rounds(&self.values),
            values: self.values,
            unit: unit(self.run),
        });
        Some((all, steadiness))
    }
}

/// The judged figure is the rate if the storage determines it, otherwise the time of an I/O, because a given rate is
/// steady by definition.
fn value(run: &Run, outcome: &Outcome) -> f64 {
    match run.rate {
        Rate::Max { .. } => outcome.rate_iops(),
        _ => outcome.total().issued_mean_ms().unwrap_or(0.0),
    }
}

fn unit(run: &Run) -> &'static str {
    match run.rate {
        Rate::Max { .. } => "I/Os per second",
        _ => "ms per I/O",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64]) -> Steadiness {
        Steadiness {
            decides: Decides::Alone,
            values: values.to_vec(),
            unit: "I/Os per second",
            window: rounds(values),
        }
    }

    fn text(steadiness: &Steadiness) -> String {
        steadiness.verdict("run1".to_owned()).to_string()
    }

    #[test]
    fn verdicts_are_sentences() {
        let steady = of(&[9000.0, 5000.0, 5100.0, 5000.0, 4900.0, 5000.0]);
        assert!(steady.is_steady());
        assert_eq!(
            text(&steady),
            "steady at round 6: rounds 2-6 have a mean of 5000 I/Os per second, a range of 4.0 % (at most 20) and a slope of -1.6 % (at most 10)"
        );
        assert!(text(&of(&[1.0, 2.5])).starts_with("stopped after 2 rounds"));
        let falling = text(&of(&[900.0, 800.0, 700.0, 600.0, 500.0]));
        assert!(
            falling.starts_with("not steady within 5 rounds: rounds 1-5"),
            "{falling}"
        );
    }
}
