//! Step that loads the database, or restores its initial rows.

use std::sync::atomic::Ordering;

use archive::Remark;
use lab::{Done, RunContext};
use workload::loading::point;

use super::{LOAD, Measured, PointContext};
use crate::step::OltpStep;
use crate::{LoadOptions, Metadata, OltpError};

/// Every load has the same rows: runs differ in the users' inputs.
const LOAD_SEED: u64 = 1;

pub fn options(oltp: &OltpStep) -> LoadOptions {
    let (warehouses, rows) = oltp.loaded();
    LoadOptions {
        warehouses,
        rows,
        jobs: oltp.load_jobs,
        seed: LOAD_SEED,
        foreign_keys: oltp.foreign_keys,
        replace: false,
    }
}

/// Loads the requested database. An existing one stays only if it is identical and no transaction has run since;
/// otherwise it is reloaded, because all runs start from the same state.
pub(super) fn load(place: &PointContext) -> Measured {
    let target = place.on;
    let options = options(place.oltp);
    let begun = std::time::Instant::now();
    let renewed = crate::renew(
        target.first().as_ref(),
        &target.engine,
        &options,
        place.context.plan,
        place.context.repeat > 1,
        place.context.stop,
        &|_| {},
    );
    let elapsed = begun.elapsed();
    if place.context.stop.load(Ordering::Relaxed) {
        return Measured::Interrupted;
    }
    let renewed = match renewed {
        Ok(renewed) => renewed,
        Err(error) => return place.failed(error),
    };
    let rows = renewed.loaded.map(|loaded| (loaded.rows, loaded.rows_took));
    let size = options.rows.size(options.warehouses);
    let note = Remark::Renewed {
        engine: target.engine.clone(),
        how: renewed.how.clone(),
    };
    let (blank, what) = (place.blank(LOAD), (size, renewed.how));
    Measured::Points(vec![point(blank, what, rows, elapsed, vec![note])])
}

/// Reloads a target that has lost the database of a finished step.
pub(super) fn load_again(
    context: &RunContext<'_>,
    oltp: &OltpStep,
    target: u32,
) -> Result<(), Done> {
    let on = &context.targets[target as usize];
    let load = || -> crate::Result<bool> {
        let there = Metadata::read(on.first().open_session()?.as_mut())?;
        if there.is_none() {
            let (target, options) = (on.first().as_ref(), options(oltp));
            let (plan, stop) = (context.plan, context.stop);
            crate::renew(target, &on.engine, &options, plan, false, stop, &|_| {})?;
        }
        Ok(there.is_none())
    };
    match load() {
        Ok(is_loaded) => {
            context.servers.note_reloaded(target, is_loaded);
            Ok(())
        }
        Err(OltpError::Interrupted) => Err(Done::Interrupted),
        Err(OltpError::Target(error)) => Err(Done::Broken(error.message)),
        Err(error) => Err(Done::NotLoaded(Box::new(error))),
    }
}
