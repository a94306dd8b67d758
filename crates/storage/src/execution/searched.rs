//! One line of a list at the highest rate that meets a response-time objective.

use archive::Remark;
use archive::remark::{self, RateTried};
use load::search::SearchError;
use load::slo_search::{SearchedRate, slo_search};

use super::rounds::Round;
use super::slo::{Slo, Tried, UNDECIDED_MAX, evidence};
use super::{Execution, ExecutionError, Measured};
use crate::engine;
use crate::run::{Rate, Run};

/// Why a search ends before its result.
enum Halt {
    Error(ExecutionError),
    Ended(Box<Measured>),
}

impl Halt {
    fn missed(run: Run, round: Round, why: Remark) -> Self {
        let measured = Measured::of(run, round, vec![why]);
        Self::Ended(Box::new(Measured {
            is_missed: true,
            ..measured
        }))
    }
}

impl Execution<'_> {
    pub(super) fn search(
        &mut self,
        number: usize,
        run: &Run,
        options: &engine::Options<'_>,
        slo: &Slo,
    ) -> Result<Measured, ExecutionError> {
        match self.searched(number, run, options, slo) {
            Ok(searched) => Ok(searched),
            Err(Halt::Ended(measured)) => Ok(*measured),
            Err(Halt::Error(error)) => Err(error),
        }
    }

    fn searched(
        &mut self,
        number: usize,
        run: &Run,
        options: &engine::Options<'_>,
        slo: &Slo,
    ) -> Result<Measured, Halt> {
        let mut measurements = 0;
        let mut measure = |rate: Rate| {
            // Every measurement draws different I/Os.
            let options = engine::Options {
                seed: options.seed.wrapping_add(measurements),
                ..*options
            };
            measurements += 1;
            self.attempt(number, run, rate, &options)
        };
        let lowest_per_s = slo.lowest_per_s(run);
        let first_per_s = match run.rate {
            Rate::Fixed { iops } => iops,
            // The search begins at half of the maximum.
            _ => {
                let (run, round) = measure(run.rate.clone())?;
                let maximum_per_s = round.outcome.rate_iops();
                if maximum_per_s < lowest_per_s {
                    let why = slo.too_few(maximum_per_s, lowest_per_s);
                    return Err(Halt::missed(run, round, why));
                }
                maximum_per_s / 2.0
            }
        };
        let search = slo.search(first_per_s, lowest_per_s, options.seed);
        let search = search.map_err(|error| Halt::Error(error.into()))?;
        let mut missed = None;
        let mut tried: Vec<Tried> = Vec::new();
        let searched = slo_search(search, |iops| {
            // The rate is rounded as it is printed.
            let rounded = (iops * 10.0).round() / 10.0;
            for attempt in 1.. {
                let seen = measure(Rate::Fixed { iops: rounded })?;
                let this = Tried::of(slo, iops, &seen.1.outcome);
                match this.holds {
                    Some(true) => {
                        tried.push(this);
                        return Ok((true, Some(seen)));
                    }
                    Some(false) => {
                        tried.push(this);
                        missed = Some(seen);
                        break;
                    }
                    None if attempt < UNDECIDED_MAX => {}
                    None => {
                        let why = slo.undecided(rounded, &this);
                        let (run, round) = seen;
                        return Err(Halt::missed(run, round, why));
                    }
                }
            }
            Ok((false, None))
        })?;
        let objective = slo.objective.to_string();
        let mut findings = search_of(&searched).remarks("I/Os", objective).to_vec();
        let found = searched.found();
        let ends = [found.rate_per_s, found.missed_per_s];
        findings.extend(evidence(slo, ends.into_iter().flatten(), &tried));
        let best = searched.into_best().flatten();
        let is_missed = best.is_none();
        let none = || Halt::Error(SearchError::Measurements.into());
        let (run, round) = best.or(missed).ok_or_else(none)?;
        Ok(Measured {
            is_missed,
            ..Measured::of(run, round, findings)
        })
    }

    /// One measurement, whose pages show its rate as part of the title.
    fn attempt(
        &mut self,
        number: usize,
        run: &Run,
        rate: Rate,
        options: &engine::Options<'_>,
    ) -> Result<(Run, Round), Halt> {
        let run = run.with_rate(rate);
        let (round, monitor) = self.round(number, &run, options).map_err(Halt::Error)?;
        if monitor.is_some() || self.stopped() || !round.is_whole() {
            let broken = Measured::of(run, round, vec![Remark::SearchBrokenOff]);
            return Err(Halt::Ended(Box::new(Measured { monitor, ..broken })));
        }
        Ok((run, round))
    }
}

pub fn search_of<T>(searched: &SearchedRate<T>) -> remark::Search {
    let found = searched.found();
    let tried = searched.tried().iter().map(|rate| RateTried {
        rate_per_s: rate.rate_per_s,
        held: rate.held as u64,
        of: (rate.held + rate.missed) as u64,
    });
    remark::Search {
        rate_per_s: found.rate_per_s,
        missed_per_s: found.missed_per_s,
        settled: found.is_settled,
        holds_above: found.holds_above,
        tried: tried.collect(),
    }
}
