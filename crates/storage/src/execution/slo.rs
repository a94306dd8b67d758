//! Highest rate of a run that meets a response-time objective.
//!
//! A measurement is conclusive only with enough I/Os for its percentile, and if late I/Os are due to the device and
//! not to this machine. A rate that misses is measured again before it is rejected.

use archive::Remark;
use archive::remark::{BracketEnd, BracketMeasured};
use load::search::{Search, SearchError, SearchPlan};
use load::{Objective, Window};

use super::ExecutionError;
use crate::engine::Outcome;
use crate::run::{Rate, Run};

/// I/Os beyond the percentile in the smallest sample that decides: with fewer, the percentile is little more than the
/// maximum.
const BEYOND_MIN: f64 = 10.0;
/// The planned count exceeds the smallest by this factor, so that random arrivals do not fall below it.
const MARGIN: f64 = 1.2;
/// Consecutive inconclusive measurements of one rate.
pub(super) const UNDECIDED_MAX: usize = 3;

/// Objective of a search, and its accuracy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slo {
    pub objective: Objective,
    /// Width of the bracket at the end, in percent.
    pub resolution_pct: f64,
    /// Measurements of each end of the bracket, of which the majority rejects a rate; an odd number.
    pub repeats: usize,
    pub measurements_max: usize,
}

impl Slo {
    #[must_use]
    pub fn usual(objective: Objective) -> Self {
        let usual = SearchPlan::from_rate(1.0);
        Self {
            objective,
            resolution_pct: usual.resolution_pct,
            repeats: usual.repeats,
            measurements_max: usual.measurements_max,
        }
    }

    /// Refuses lists whose runs have more than a starting rate.
    pub fn check(runs: &[Run]) -> Result<(), ExecutionError> {
        let found = runs
            .iter()
            .find_map(|run| obstacle(run).map(|what| (run, what)));
        match found {
            Some((run, what)) => Err(ExecutionError::Unsearchable {
                run: run.name.clone(),
                what,
            }),
            None => Ok(()),
        }
    }

    /// Fewer I/Os do not determine the percentile.
    fn count_min(&self) -> u64 {
        let beyond = 1.0 - self.objective.percentile / 100.0;
        (BEYOND_MIN / beyond).ceil() as u64
    }

    /// Lowest rate at which a run has enough I/Os.
    pub(super) fn lowest_per_s(&self, run: &Run) -> f64 {
        let seconds = run.counted_s().unwrap_or(1).max(1);
        self.count_min() as f64 * MARGIN / f64::from(seconds)
    }

    pub(super) fn search(
        &self,
        first_per_s: f64,
        lowest_per_s: f64,
        seed: u64,
    ) -> Result<Search, SearchError> {
        let first_per_s = first_per_s.max(lowest_per_s);
        let plan = SearchPlan {
            lowest_per_s,
            resolution_pct: self.resolution_pct,
            repeats: self.repeats,
            misses: self.repeats,
            measurements_max: self.measurements_max,
            ..SearchPlan::from_rate(first_per_s)
        };
        Search::new(plan.moved(seed))
    }
}

/// True for runs that are searched; filling storage has no rate.
pub(super) fn is_searched(run: &Run) -> bool {
    run.elapsed_s.is_some()
}

fn obstacle(run: &Run) -> Option<&'static str> {
    if !is_searched(run) {
        return None;
    }
    if run.steady.is_some() {
        return Some("steady= repeats one rate; leave it out");
    }
    if run.streams.iter().any(|stream| stream.iops.is_some()) {
        return Some("iorate= of a wd= sets a rate of its own; leave it out");
    }
    match run.rate {
        Rate::Fixed { .. } | Rate::Max { curve: false, .. } => None,
        _ => Some(
            "its rate changes, or depends on another run; give iorate=max, or a number to start with",
        ),
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tried {
    rate_per_s: f64,
    operations: u64,
    response_ms: f64,
    /// I/Os that this machine began late, and those that waited for them.
    late: u64,
    unserved: u64,
    /// True if the objective is met; `None` if inconclusive.
    pub holds: Option<bool>,
}

impl Tried {
    /// The response time counts from the intended start, and I/Os that did not begin in time count as well.
    pub fn of(slo: &Slo, rate_per_s: f64, outcome: &Outcome) -> Self {
        let objective = &slo.objective;
        let response = outcome.latencies_of(|_, _, _| true).response;
        let operations = outcome.total().operations;
        let window = Window {
            elapsed: outcome.counted,
            completed: operations,
            errors: outcome.faults_count,
            unfinished: outcome.unserved,
            response: &response,
            // A measurement that was broken off ends the search and is not judged.
            is_whole: true,
        };
        let late = outcome.driver.late_queued;
        let held = objective.judge(&window);
        let requested = operations + outcome.unserved;
        // Without the delays of this machine the objective might be met.
        let late_pct = 100.0 * late as f64 / requested.max(1) as f64;
        let is_late = held.beyond_pct - late_pct <= 100.0 - objective.percentile && late > 0;
        let holds = if held.holds {
            (operations >= slo.count_min()).then_some(true)
        } else {
            (requested >= slo.count_min() && !is_late).then_some(false)
        };
        Self {
            rate_per_s,
            operations,
            response_ms: response.percentile_us(objective.percentile) / 1e3,
            late,
            unserved: outcome.unserved,
            holds,
        }
    }
}

impl Slo {
    pub(super) fn too_few(&self, reached_per_s: f64, lowest_per_s: f64) -> Remark {
        Remark::TooFewIos {
            percentile: self.objective.percentile,
            ios_min: self.count_min(),
            lowest_per_s,
            reached_per_s,
        }
    }

    pub(super) fn undecided(&self, iops: f64, last: &Tried) -> Remark {
        let (rate_per_s, ios) = (iops, last.operations);
        if ios + last.unserved < self.count_min() {
            return Remark::TooFewIosAt {
                percentile: self.objective.percentile,
                rate_per_s,
                ios,
                ios_min: self.count_min(),
            };
        }
        Remark::MachineLate {
            objective: self.objective.to_string(),
            rate_per_s,
            late: last.late,
            ios,
            times: UNDECIDED_MAX as u64,
        }
    }
}

pub(super) fn evidence(
    slo: &Slo,
    ends: impl Iterator<Item = f64>,
    tried: &[Tried],
) -> Option<Remark> {
    let ends = ends.map(|end| {
        let own = tried.iter().filter(|tried| tried.rate_per_s == end);
        let seen = own.map(|tried| BracketMeasured {
            response_ms: tried.response_ms,
            ios: tried.operations,
            not_begun: tried.unserved,
        });
        BracketEnd {
            rate_per_s: end,
            seen: seen.collect(),
        }
    });
    let ends: Vec<BracketEnd> = ends.collect();
    (!ends.is_empty()).then_some(Remark::BracketMeasured {
        percentile: slo.objective.percentile,
        ends,
    })
}
