//! What the points of all workloads with a database of their own have in common: jobs are driven while host and engine
//! are watched, and what was seen becomes a point.

use std::sync::Arc;
use std::time::Duration;

use archive::{Histograms, Point};
use host::Stopwatch;
use load::Outcome;
use workload::Meter;

use crate::done::Measured;
use crate::gates;
use crate::measure::{Bay, figures_of, series, steady};
use crate::sight::Sight;
use crate::start::Start;
use crate::watcher::Watcher;

/// What was driven, and what belongs to its time behind the last job.
pub(crate) struct Driven {
    pub outcome: Outcome,
    pub closing: Duration,
    /// What is wrong beside what the outcome says.
    pub failure: Option<String>,
}

/// Drives under the eyes of host and engine.
///
/// # Errors
/// What became of a drive that did not come to its end.
pub(crate) fn observed(
    bay: &Bay<'_>,
    blank: Point,
    meter: &Meter,
    drive: impl FnOnce(&Start<'_>) -> Driven,
) -> Result<Point, Measured> {
    let stopwatch = Stopwatch::start(Arc::clone(&bay.clock));
    let target = &bay.targets[blank.key.target as usize];
    let watcher = Watcher::open(&target.nodes);
    let watch = &bay.samplers[blank.key.target as usize];
    let start = Start::new(bay, blank.key.target, watcher.as_ref(), false);
    let Driven {
        outcome,
        closing,
        failure,
    } = drive(&start);
    Measured::cut_short(outcome.interrupted, outcome.fatal.as_deref())?;
    let (used, counters) = start.finish(meter);
    let seen = Sight::of(&outcome, watcher.map(Watcher::finish));
    let mut reasons = gates::reasons(&outcome, &bay.validity);
    reasons.extend(failure);
    let mut figures = figures_of(&outcome, closing, outcome.operations, &used, counters);
    seen.write_into(&mut figures);
    let mut notes = gates::notes(&outcome, &figures, &bay.validity);
    notes.extend(gates::host_notes(&used));
    notes.extend(seen.note());
    notes.extend(gates::clock_note(&stopwatch));
    let held_back = seen.held_back(&outcome, &figures, (watch.device(), &used));
    Ok(Point {
        started_at: stopwatch.started_at(),
        steady: steady(&outcome),
        timed_events: seen.top(),
        held_back,
        samples: series(&used.samples, &outcome, bay.interval),
        reasons,
        figures,
        notes,
        histograms: Histograms::of(&outcome.service, &outcome.response),
        ..blank
    })
}
