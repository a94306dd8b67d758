//! A query of one user, or all queries of several: asked, watched and compared.

use std::sync::Arc;
use std::time::Duration;

use ::load::{Drive, End, Progress, RampUp, Schedule, Think};
use archive::{Histograms, Point};
use host::Stopwatch;
use workload::Meter;
use workload::olap::work::{Cache, Work};
use workload::olap::{OlapError, Query, order};

use super::points::Place;
use super::{THROUGHPUT, of_code};
use crate::done::Measured;
use crate::gates;
use crate::measure::{figures_of, series, steady};
use crate::sight::Sight;
use crate::start::Start;
use crate::watcher::Watcher;

/// Bytes that every query reads at least at scale 1, of tables stored by columns.
const READ_BYTES: f64 = 2e6;

/// Asks what the key names.
pub(super) fn asked(place: &Place, progress: &Progress) -> Measured {
    let work = match place.work() {
        Ok(work) => work,
        Err(error) => return place.failed(error),
    };
    let plan = match of_code(&place.key.test) {
        Some(query) => Asking::of_query(place, &work, query),
        None => Ok(Ok(Asking::of_streams(place))),
    };
    let outcome = plan.and_then(|plan| match plan {
        Ok(plan) => plan.measure(place, &work, progress),
        Err(wrong) => Ok(place.without_figures(wrong)),
    });
    outcome.unwrap_or_else(|error| place.failed(error))
}

/// What is going to be asked.
struct Asking {
    streams: Vec<Vec<u32>>,
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
        }))
    }

    /// Every stream in its own order; the first of several is number 1.
    fn of_streams(place: &Place) -> Self {
        let asked = place.olap.queries();
        let streams = 1..=place.olap.streams();
        let streams: Vec<_> = streams.map(|s| order::of_stream(s, &asked)).collect();
        Self {
            streams,
            per_stream: asked.len() as u64,
            cache: "as it comes".into(),
            note: "each stream asks in the order that the specification has for it; there is no stream of refreshes"
                .into(),
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
        let operators = work.operators(&self.streams, &meter)?;
        let target = place.target();
        let watcher = Watcher::open(&target.nodes);
        let watch = &bay.samplers[place.key.target as usize];
        let start = Start::new(watch, watcher.as_ref(), target, false);
        let outcome = ::load::drive(start.watch(operators), &self.drive(place, progress));
        if let Err(ended) = Measured::cut_short(outcome.interrupted, outcome.fatal.as_deref()) {
            return Ok(ended);
        }
        let (used, counters) = start.finish(&meter);
        let seen = Sight::of(&outcome, watcher.map(Watcher::finish));
        let done = outcome.operations;
        let mut figures = figures_of(&outcome, Duration::ZERO, done, &used, counters);
        figures.queries_per_min = figures.operations_per_s.map(|rate| rate * 60.0);
        seen.write_into(&mut figures);
        let mut notes = vec![self.note.clone()];
        notes.extend(gates::notes(&outcome, &figures));
        if place.olap.cache == Cache::Cold {
            let least = (READ_BYTES * work.scale().factor()) as u64;
            notes.extend(gates::cache_note(&self.cache, Some(least), &figures));
        }
        notes.extend(gates::host_notes(&used));
        notes.extend(seen.note());
        notes.extend(gates::clock_note(&stopwatch));
        if place.key.test == THROUGHPUT && outcome.errors == 0 {
            notes.push(per_hour(work.scale().factor(), figures.operations_per_s));
        }
        let held_back = seen.held_back(&outcome, &figures, watch.device());
        Ok(Measured::Points(vec![Point {
            started_at,
            work: place.work_done(work.scale(), self.per_stream, self.cache.clone()),
            steady: steady(&outcome),
            timed_events: seen.top(),
            held_back,
            samples: series(&used.samples, &outcome, bay.interval),
            reasons: gates::reasons(&outcome),
            figures,
            notes,
            histograms: Histograms {
                service: outcome.service,
                response: outcome.response,
            },
            ..place.blank()
        }]))
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

/// The throughput as the specification counts it, without its name.
fn per_hour(scale: f64, per_s: Option<f64>) -> String {
    let per_hour = per_s.unwrap_or_default() * 3600.0 * scale;
    format!("queries per hour, times the scale: {per_hour:.1}")
}
