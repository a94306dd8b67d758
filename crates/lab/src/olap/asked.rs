//! A query of one user, or all queries of several: asked, watched and compared.

use std::sync::Arc;

use ::load::{Drive, End, Operator, Outcome, Progress, RampUp, Schedule, Think};
use archive::{Figures, Histograms, Point};
use host::Stopwatch;
use workload::Meter;
use workload::olap::work::{Cache, Work};
use workload::olap::{Function, OlapError, Query, order};

use super::beside::Beside;
use super::points::Place;
use super::{THROUGHPUT, function_of, of_code};
use crate::done::Measured;
use crate::gates;
use crate::measure::{figures_of, series, steady};
use crate::sight::Sight;
use crate::start::Start;
use crate::watcher::Watcher;

/// Bytes that every query reads at least at scale 1, of tables stored by columns.
const READ_BYTES: f64 = 2e6;

/// Asks what the key names at its degree of parallelism; what is measured behind it has that of the target again.
pub(super) fn at_degree(place: &Place, progress: &Progress) -> Measured {
    let outcome = place.set_degree().map(|()| asked(place, progress));
    let measured = outcome.unwrap_or_else(|error| place.failed(error.into()));
    match place.target().set_threads(None) {
        Ok(()) => measured,
        Err(error) => place.failed(error.into()),
    }
}

fn asked(place: &Place, progress: &Progress) -> Measured {
    let work = match place.work() {
        Ok(work) => work,
        Err(error) => return place.failed(error),
    };
    let plan = match (of_code(&place.key.test), function_of(&place.key.test)) {
        (Some(query), _) => Asking::of_query(place, &work, query),
        (None, Some(function)) => Ok(Ok(Asking::of_function(function))),
        (None, None) => Ok(Ok(Asking::of_streams(place))),
    };
    let outcome = plan.and_then(|plan| match plan {
        Ok(plan) => plan.measure(place, &work, progress),
        Err(wrong) => Ok(place.without_figures(wrong)),
    });
    let told = outcome.and_then(|mut measured| {
        if let Measured::Points(points) = &mut measured {
            for point in points {
                place.tell_degree(point);
                // What took too long, or failed, need not be asked again.
                let is_answered = point.figures.errors == Some(0.0);
                let query = of_code(&point.key.test).filter(|_| is_answered);
                if let Some(query) = query {
                    place.tell_plan(&work, query, point)?;
                }
            }
        }
        Ok(measured)
    });
    told.unwrap_or_else(|error| place.failed(error))
}

/// What is going to be asked.
#[derive(Default)]
struct Asking {
    streams: Vec<Vec<u32>>,
    /// Refresh functions that are measured instead of queries.
    functions: Vec<(Function, u32)>,
    /// Refresh functions that go on beside the streams, one after the other.
    beside: Vec<(Function, u32)>,
    per_stream: u64,
    cache: String,
    note: String,
}

impl Asking {
    /// One query, again and again; the inner error is what is wrong with it already.
    fn of_query(
        place: &Place,
        work: &Work,
        query: &Query,
    ) -> Result<Result<Self, String>, OlapError> {
        let prepared = work.prepare(query.number, place.olap.cache)?;
        let note = work.comparison(query.number)?;
        Ok(prepared.map(|cache| Self {
            streams: vec![vec![query.number]],
            per_stream: u64::from(place.olap.iterations()),
            cache,
            note,
            ..Self::default()
        }))
    }

    /// Every stream in its own order; the first of several is number 1. Beside them goes a stream of refreshes, as
    /// many pairs as there are users.
    fn of_streams(place: &Place) -> Self {
        let asked = place.olap.queries();
        let users = place.olap.streams();
        let streams: Vec<_> = (1..=users).map(|s| order::of_stream(s, &asked)).collect();
        let pairs = (1..=users).flat_map(|set| Function::ALL.map(|function| (function, set)));
        let (beside, said) = match place.olap.refresh {
            true => (
                pairs.collect(),
                "answers were not compared: orders come and go meanwhile",
            ),
            false => (Vec::new(), "there is no stream of refreshes"),
        };
        Self {
            streams,
            beside,
            per_stream: asked.len() as u64,
            cache: "as it comes".into(),
            note: format!(
                "each stream asks in the order that the specification has for it; {said}"
            ),
            ..Self::default()
        }
    }

    fn of_function(function: Function) -> Self {
        let what = match function {
            Function::NewSales => "new orders with their line items, in one transaction",
            Function::OldSales => {
                "as many old orders with their line items, in one transaction; what both functions did was undone \
                 behind it, and counts and sums compared"
            }
        };
        Self {
            functions: vec![(function, 1)],
            per_stream: 1,
            cache: "as it comes".into(),
            note: what.into(),
            ..Self::default()
        }
    }

    fn measure(
        &self,
        place: &Place,
        work: &Work,
        progress: &Progress,
    ) -> Result<Measured, OlapError> {
        let bay = place.bay;
        let stopwatch = Stopwatch::start(Arc::clone(&bay.clock));
        let started_at = stopwatch.started_at();
        let meter = Arc::new(Meter::default());
        let operators = self.operators(place, work, &meter)?;
        let mut beside = Beside::new(&self.beside, work, &meter, bay.stop)?;
        let target = place.target();
        let watcher = Watcher::open(&target.nodes);
        let watch = &bay.samplers[place.key.target as usize];
        let start = Start::new(watch, watcher.as_ref(), target, false);
        let (outcome, refreshed) = std::thread::scope(|scope| {
            let stream = scope.spawn(|| beside.carry_out());
            let outcome = ::load::drive(start.watch(operators), &self.drive(place, progress));
            (outcome, stream.join())
        });
        let refreshed = refreshed.map_err(|_| OlapError::Refresh("it panicked".into()))?;
        let fatal = outcome.fatal.as_deref().or(refreshed.fatal.as_deref());
        if let Err(ended) = Measured::cut_short(outcome.interrupted, fatal) {
            return Ok(ended);
        }
        // The streams are over when the last of them is, that of refreshes included.
        let closing = refreshed.took.saturating_sub(outcome.elapsed);
        let (used, counters) = start.finish(&meter);
        let seen = Sight::of(&outcome, watcher.map(Watcher::finish));
        let mut reasons = gates::reasons(&outcome);
        reasons.extend(refreshed.failure);
        let mut figures = figures_of(&outcome, closing, outcome.operations, &used, counters);
        self.add_figures(place, work, &mut figures, reasons.is_empty());
        seen.write_into(&mut figures);
        let mut notes = self.notes(place, work, &outcome, &figures);
        notes.extend(gates::host_notes(&used));
        notes.extend(seen.note());
        notes.extend(gates::clock_note(&stopwatch));
        let held_back = seen.held_back(&outcome, &figures, (watch.device(), &used));
        Ok(Measured::Points(vec![Point {
            started_at,
            work: place.work_done(work.scale(), self.per_stream, self.cache.clone()),
            steady: steady(&outcome),
            timed_events: seen.top(),
            held_back,
            samples: series(&used.samples, &outcome, bay.interval),
            reasons,
            figures,
            notes,
            histograms: Histograms {
                service: outcome.service,
                response: outcome.response,
            },
            ..place.blank()
        }]))
    }

    fn operators<'s>(
        &self,
        place: &Place<'s>,
        work: &Work,
        meter: &Arc<Meter>,
    ) -> Result<Vec<Box<dyn Operator + 's>>, OlapError> {
        if self.functions.is_empty() {
            return work.operators(&self.streams, meter);
        }
        let functions = self.functions.clone();
        Ok(vec![work.refresher(functions, meter, place.bay.stop)?])
    }

    /// What is counted of queries alone.
    fn add_figures(&self, place: &Place, work: &Work, figures: &mut Figures, is_valid: bool) {
        figures.busy_cores_mean = place.busy_cores(figures);
        if self.functions.is_empty() {
            figures.queries_per_min = figures.operations_per_s.map(|rate| rate * 60.0);
        }
        if is_valid && place.key.test == THROUGHPUT {
            let scale = work.scale().factor();
            figures.scaled_queries_per_h = figures.operations_per_s.map(|n| n * 3600.0 * scale);
        }
    }

    fn notes(
        &self,
        place: &Place,
        work: &Work,
        outcome: &Outcome,
        figures: &Figures,
    ) -> Vec<String> {
        let mut notes = vec![self.note.clone()];
        notes.extend(gates::notes(outcome, figures));
        if place.olap.cache == Cache::Cold {
            let least = (READ_BYTES * work.scale().factor()) as u64;
            notes.extend(gates::cache_note(&self.cache, Some(least), figures));
        }
        notes
    }

    fn drive<'d>(&self, place: &'d Place, progress: &'d Progress) -> Drive<'d> {
        Drive {
            schedule: Schedule::Closed { think: Think::None },
            ramp_up: RampUp::None,
            end: End::Operations {
                per_job: self.per_stream,
            },
            interval: place.bay.interval,
            seed: place.bay.seed,
            stop: place.bay.stop,
            progress: Some(progress),
        }
    }
}
