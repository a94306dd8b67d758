//! The highest rate of a run that holds a response time.

use load::hunt::hunt;
use load::search::{Search, SearchError, SearchPlan};
use load::{Objective, Window};

use super::monitor::Monitored;
use super::rounds::Round;
use super::{Execution, ExecutionError, Measured};
use crate::engine::{self, Outcome};
use crate::run::{Rate, Run};

/// What is searched for, and how closely.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slo {
    /// The response time to be held.
    pub objective: Objective,
    /// Width of the bracket at the end, in percent.
    pub resolution_pct: f64,
    /// Measurements of either end of it; an odd number.
    pub repeats: usize,
    /// Measurements of all, at most.
    pub measurements_max: usize,
}

impl Slo {
    /// As closely as usual.
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

    /// Refuses lists whose runs say more about their rate than where a search begins.
    ///
    /// # Errors
    /// [`ExecutionError::Unsearchable`] for the first of them.
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

    fn search(&self, first_per_s: f64) -> Result<Search, SearchError> {
        Search::new(SearchPlan {
            resolution_pct: self.resolution_pct,
            repeats: self.repeats,
            measurements_max: self.measurements_max,
            ..SearchPlan::from_rate(first_per_s)
        })
    }
}

/// Whether runs like this one are searched at all; what fills storage has no rate.
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
            "its rate changes, or depends on another run; give iorate=max, or the number to begin with",
        ),
    }
}

/// Why a search did not come to its end.
enum Halt {
    Error(ExecutionError),
    /// A measurement was broken off.
    Broken(Box<(Run, Round, Option<Monitored>)>),
}

impl Execution<'_> {
    /// Searches the rate of one line of the list.
    pub(super) fn search(
        &mut self,
        number: usize,
        run: &Run,
        options: &engine::Options<'_>,
        slo: &Slo,
    ) -> Result<Measured, ExecutionError> {
        match self.hunted(number, run, options, slo) {
            Ok(searched) => Ok(searched),
            Err(Halt::Error(error)) => Err(error),
            Err(Halt::Broken(broken)) => {
                let (run, round, monitor) = *broken;
                Ok(Measured {
                    run,
                    round,
                    told: vec!["the search was broken off in this measurement".to_owned()],
                    steadiness: None,
                    is_missed: false,
                    monitor,
                })
            }
        }
    }

    fn hunted(
        &mut self,
        number: usize,
        run: &Run,
        options: &engine::Options<'_>,
        slo: &Slo,
    ) -> Result<Measured, Halt> {
        let mut measurements = 0;
        let mut measure = |rate: Rate| {
            // Every measurement has I/Os of its own.
            let options = engine::Options {
                seed: options.seed.wrapping_add(measurements),
                ..*options
            };
            measurements += 1;
            self.attempt(number, run, rate, &options)
        };
        let first_per_s = match run.rate {
            Rate::Fixed { iops } => iops,
            // Half of what it does at most.
            _ => (measure(run.rate.clone())?.1.outcome.rate_iops() / 2.0).max(1.0),
        };
        let search = slo
            .search(first_per_s)
            .map_err(|error| Halt::Error(ExecutionError::Search(error)))?;
        let mut missed = None;
        let hunted = hunt(search, |iops| {
            // As it is told: nobody reads more digits.
            let iops = (iops * 10.0).round() / 10.0;
            let tried = measure(Rate::Fixed { iops })?;
            if holds(&slo.objective, &tried.1.outcome) {
                return Ok((true, Some(tried)));
            }
            missed = Some(tried);
            Ok((false, None))
        })?;
        let told = hunted.told("I/Os", &slo.objective).to_vec();
        let best = hunted.into_best().flatten();
        let is_missed = best.is_none();
        let (run, round) = best.or(missed).ok_or(Halt::Error(ExecutionError::Search(
            SearchError::Measurements,
        )))?;
        Ok(Measured {
            run,
            round,
            told,
            steadiness: None,
            is_missed,
            monitor: None,
        })
    }

    /// One measurement; its pages show the rate as if it were one of a list.
    fn attempt(
        &mut self,
        number: usize,
        run: &Run,
        rate: Rate,
        options: &engine::Options<'_>,
    ) -> Result<(Run, Round), Halt> {
        let run = Run {
            rate,
            ..run.clone()
        };
        let (round, monitor) = self.round(number, &run, options).map_err(Halt::Error)?;
        if monitor.is_some() || self.stopped() || !round.is_whole() {
            return Err(Halt::Broken(Box::new((run, round, monitor))));
        }
        Ok((run, round))
    }
}

/// The response time counts from the intended start, and what was not begun in time counts as well.
fn holds(objective: &Objective, outcome: &Outcome) -> bool {
    let response = outcome.latencies_of(|_, _, _| true).response;
    let window = Window {
        elapsed: outcome.counted,
        completed: outcome.total().operations,
        errors: outcome.faults_count,
        unfinished: outcome.unserved,
        response: &response,
        // What was broken off ends the search and is not asked about.
        is_whole: true,
    };
    objective.judge(&window).holds
}
