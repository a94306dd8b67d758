//! Step that loads the database, unless it is already there.

use std::sync::atomic::Ordering;

use archive::Remark;
use lab::{Done, Measured, RunContext};
use workload::loading::point;

use super::points::PointContext;
use crate::step::OlapStep;
use crate::{LoadOptions, Loaded, Metadata, OlapError};

/// Loads the requested database. An identical one stays, because queries change nothing; a database of another scale
/// belongs to someone, and no plan removes it.
pub(super) fn load(place: &PointContext) -> Measured {
    let Some(options) = options(place.olap) else {
        return place.without_figures(Remark::NoScale);
    };
    let (scale, target) = (options.scale, place.target());
    let stop = place.context.stop;
    let begun = std::time::Instant::now();
    let outcome = crate::load(
        target.first().as_ref(),
        &target.engine,
        &options,
        stop,
        &|_| {},
    );
    let elapsed = begun.elapsed();
    if stop.load(Ordering::Relaxed) {
        return Measured::Interrupted;
    }
    let (state, loaded) = match outcome {
        Ok(loaded) if loaded.restored => ("kept; rows changed by a refresh were restored", None),
        Ok(loaded) => ("reloaded", Some(loaded)),
        Err(OlapError::Present { .. }) => ("kept; already loaded", None),
        Err(error) => return place.failed(error),
    };
    let rows = (loaded.as_ref()).map(|loaded| (loaded.rows_loaded(), loaded.rows_took));
    let what = (format!("scale {scale}"), state.into());
    let notes = loaded.iter().map(note).collect();
    Measured::Points(vec![point(place.blank(), what, rows, elapsed, notes)])
}

fn options(olap: &OlapStep) -> Option<LoadOptions> {
    Some(LoadOptions {
        scale: olap.scale()?,
        jobs: olap.load_jobs,
        replace: false,
    })
}

/// Reloads a target that has lost the database of a finished step.
pub(super) fn load_again(
    context: &RunContext<'_>,
    olap: &OlapStep,
    target: u32,
) -> Result<(), Done> {
    let on = &context.targets[target as usize];
    let load = || -> crate::Result<bool> {
        let there = Metadata::read(on.first().open_session()?.as_mut())?;
        let options = options(olap).filter(|_| there.is_none());
        if let Some(options) = &options {
            let (target, stop) = (on.first().as_ref(), context.stop);
            crate::load(target, &on.engine, options, stop, &|_| {})?;
        }
        Ok(options.is_some())
    };
    match load() {
        Ok(is_loaded) => {
            context.servers.note_reloaded(target, is_loaded);
            Ok(())
        }
        Err(OlapError::Interrupted) => Err(Done::Interrupted),
        Err(OlapError::Target(error)) => Err(Done::Broken(error.message)),
        Err(error) => Err(Done::NotLoaded(Box::new(error))),
    }
}

fn note(loaded: &Loaded) -> Remark {
    let later_s: f64 = (loaded.steps_took.iter())
        .map(|(_, took)| took.as_secs_f64())
        .sum();
    Remark::OlapLoaded {
        sessions: u64::from(loaded.jobs),
        rows_s: loaded.rows_took.as_secs_f64(),
        behind_s: later_s,
    }
}
