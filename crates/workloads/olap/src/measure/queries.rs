//! Execution of one user's query, or of all queries of several users, with sampling and comparison.

use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ::load::{BlockingClient, Drive, End, Progress};
use archive::{CacheState, Execution, Point, Remark};
use lab::observe::{Driven, Observation};
use lab::{Measured, checks};
use workload::Meter;

use super::passes::{PASSES_MAX, Passes};
use super::points::PointContext;
use super::refresh_stream::RefreshStream;
use super::{THROUGHPUT, function_of, of_code};
use crate::order::Stream;
use crate::work::{Cache, Work};
use crate::{Function, OlapError, Query};

/// Bytes that every query reads at least at scale 1, even from tables stored by columns.
const READ_BYTES: f64 = 2e6;

/// Executions per second of their own time, without the reading and recording between them.
fn per_s(executions: &[Execution]) -> Option<f64> {
    let elapsed_us: Option<u64> = executions.iter().map(|each| each.elapsed_us).sum();
    let elapsed_us = elapsed_us.filter(|us| *us > 0)?;
    Some(executions.len() as f64 / (elapsed_us as f64 / 1e6))
}

pub(super) fn at_degree(place: &PointContext, progress: &Progress) -> Measured {
    place.at_degree(|| measure(place, progress))
}

fn measure(place: &PointContext, progress: &Progress) -> Measured {
    let work = match place.work() {
        Ok(work) => work,
        Err(error) => return place.failed(error),
    };
    let plan = match (of_code(&place.key.test), function_of(&place.key.test)) {
        (Some(query), _) => QueryRun::of_query(place, &work, query),
        (None, Some(function)) => Ok(Ok(QueryRun::of_function(function))),
        (None, None) => Ok(Ok(QueryRun::of_streams(place))),
    };
    let outcome = plan.and_then(|plan| match plan {
        Ok(plan) => plan.measure(place, &work, progress),
        Err(what) => Ok(place.without_figures(Remark::QueryWrong { what })),
    });
    let measured = outcome.and_then(|mut measured| {
        if let Measured::Points(points) = &mut measured {
            for point in points {
                place.note_degree(point);
                // After a timeout or a failure the query is not run again.
                let is_answered = point.figures.errors == Some(0.0);
                let query = of_code(&point.key.test).filter(|_| is_answered);
                if let Some(query) = query {
                    place.note_plan(&work, query, point)?;
                }
            }
        }
        Ok(measured)
    });
    measured.unwrap_or_else(|error| place.failed(error))
}

#[derive(Default)]
pub(super) struct QueryRun {
    streams: Vec<Stream>,
    /// Refresh functions that are measured instead of queries.
    functions: Vec<(Function, u32)>,
    /// Refresh functions that run during the streams, one after the other.
    concurrent: Vec<(Function, u32)>,
    per_stream: u64,
    least: Option<Duration>,
    /// Rounds of one user, of which each execution is recorded.
    rounds: Option<u32>,
    cache: CacheState,
    note: Option<Remark>,
}

impl QueryRun {
    /// One query, repeated; the inner error is a reason why it cannot be measured.
    fn of_query(
        place: &PointContext,
        work: &Work,
        query: &Query,
    ) -> Result<Result<Self, String>, OlapError> {
        let prepared = work.prepare(query.number, place.olap.cache)?;
        let note = work.comparison(query.number)?;
        Ok(prepared.map(|cache| Self {
            streams: vec![Stream::of_query(query.number)],
            per_stream: u64::from(place.olap.iterations()),
            cache,
            note: Some(note),
            ..Self::default()
        }))
    }

    /// Each stream in its own order; the first of several has the number 1. A stream of refreshes runs at the same
    /// time, with as many pairs as there are users.
    fn of_streams(place: &PointContext) -> Self {
        let queries = place.olap.queries();
        let users = place.olap.streams();
        let pairs = (1..=users).flat_map(|set| Function::ALL.map(|function| (function, set)));
        let refreshed = place.olap.refresh;
        let concurrent = if refreshed {
            pairs.collect()
        } else {
            Vec::new()
        };
        Self {
            streams: Stream::of_users(users, &queries),
            concurrent,
            per_stream: queries.len() as u64,
            cache: CacheState::Uncontrolled,
            note: Some(Remark::StreamsOrdered { refreshed }),
            ..Self::default()
        }
    }

    /// Streams without refreshes, in whole passes for at least the given time.
    pub fn in_passes(place: &PointContext, least: Duration) -> Self {
        let queries = place.olap.queries();
        let users = place.key.jobs;
        Self {
            streams: Stream::of_users(users, &queries),
            per_stream: PASSES_MAX * queries.len() as u64,
            least: Some(least),
            cache: CacheState::Warm,
            note: Some(Remark::StreamsInPasses),
            ..Self::default()
        }
    }

    /// All queries of one user in rounds, with the caches in this state before the first one.
    pub fn in_rounds(place: &PointContext, rounds: u32, cache: CacheState) -> Self {
        let queries = place.olap.queries();
        Self {
            streams: vec![Stream::of_user(&queries)],
            per_stream: u64::from(rounds) * queries.len() as u64,
            rounds: Some(rounds),
            cache,
            note: Some(Remark::QueriesInRounds { rounds }),
            ..Self::default()
        }
    }

    fn of_function(function: Function) -> Self {
        let what = match function {
            Function::NewSales => Remark::NewSales,
            Function::OldSales => Remark::OldSales,
            Function::ChangedSales => Remark::ChangedSales,
        };
        Self {
            functions: vec![(function, 1)],
            per_stream: 1,
            cache: CacheState::Uncontrolled,
            note: Some(what),
            ..Self::default()
        }
    }

    pub fn measure(
        &self,
        place: &PointContext,
        work: &Work,
        progress: &Progress,
    ) -> Result<Measured, OlapError> {
        let context = place.context;
        let meter = Arc::new(Meter::default());
        let executions = Mutex::new(Vec::new());
        let clients = self.clients(place, work, &meter, &executions)?;
        let mut refreshes = RefreshStream::new(&self.concurrent, work, &meter, context.stop)?;
        let observation = Observation::of(context, place.blank());
        let observed = observation.drive(|start| {
            let (mut outcome, refreshed) = std::thread::scope(|scope| {
                let stream = scope.spawn(|| refreshes.carry_out());
                let drive = self.drive(place, progress);
                let outcome = ::load::drive(start.watch(clients), &drive);
                // A panic of the thread is a panic of this one.
                let refreshed = stream.join();
                (
                    outcome,
                    refreshed.unwrap_or_else(|panic| resume_unwind(panic)),
                )
            });
            outcome.fatal = outcome.fatal.or(refreshed.fatal);
            Ok(Driven {
                // The streams end with the last of them, that of refreshes included.
                closing: refreshed.took.saturating_sub(outcome.elapsed),
                counters: meter.counters().unwrap_or_default(),
                operations_scale: 1,
                failure: refreshed.failure,
                outcome,
            })
        });
        let mut point = match observed {
            Ok(observed) => observed.finish(),
            Err(ended) => return Ok(ended),
        };
        point.executions = executions
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        point.work = place.work_done(work.scale(), self.per_stream, self.cache.clone());
        let is_valid = point.reasons.is_empty();
        self.add_figures(place, work, &mut point, is_valid);
        point.notes.splice(0..0, self.note.clone());
        if place.olap.cache == Cache::Cold {
            let least = (READ_BYTES * work.scale().factor()) as u64;
            let note = checks::cache_note(&self.cache, Some(least), &point.figures);
            point.notes.extend(note);
        }
        Ok(Measured::Points(vec![point]))
    }

    fn clients<'c>(
        &self,
        place: &'c PointContext<'_>,
        work: &Work,
        meter: &Arc<Meter>,
        executions: &'c Mutex<Vec<Execution>>,
    ) -> Result<Vec<Box<dyn BlockingClient + 'c>>, OlapError> {
        if self.rounds.is_some() {
            let watch = &place.context.samplers[place.key.target as usize];
            let client = |stream| work.rounds(stream, meter, executions, watch);
            return self.streams.iter().map(client).collect();
        }
        if self.functions.is_empty() {
            let clients = work.clients(&self.streams, meter)?.into_iter();
            let in_passes = |client: Box<dyn BlockingClient>| match self.least {
                None => client as Box<dyn BlockingClient + 'c>,
                Some(least) => Box::new(Passes {
                    client,
                    queries: place.olap.queries().len() as u64,
                    least,
                    begun: None,
                }),
            };
            return Ok(clients.map(in_passes).collect());
        }
        let functions = self.functions.clone();
        Ok(vec![work.refresher(
            functions,
            meter,
            place.context.stop,
        )?])
    }

    fn add_figures(&self, place: &PointContext, work: &Work, point: &mut Point, is_valid: bool) {
        let figures = &mut point.figures;
        figures.busy_cores_mean = place.busy_cores(figures);
        let per_s = match self.rounds {
            Some(_) => per_s(&point.executions),
            None => figures.operations_per_s,
        };
        if self.functions.is_empty() {
            figures.queries_per_min = per_s.map(|rate| rate * 60.0);
        }
        let is_of_all =
            place.key.test == THROUGHPUT || self.least.is_some() || self.rounds.is_some();
        if is_valid && is_of_all {
            let scale = work.scale().factor();
            figures.scaled_queries_per_h = per_s.map(|rate| rate * 3600.0 * scale);
        }
    }

    fn drive<'d>(&self, place: &'d PointContext, progress: &'d Progress) -> Drive<'d> {
        let end = End::Operations {
            per_job: self.per_stream,
        };
        Drive {
            interval: place.context.interval,
            seed: place.context.seed,
            progress: Some(progress),
            ..Drive::of_jobs(end, place.context.stop)
        }
    }
}
