//! Queries in whole passes for a given time: each user runs all of them repeatedly and ends with the pass in which the
//! time is over. So every query has the same weight, however long it takes.

use std::time::Duration;

use ::load::Progress;
use archive::Remark;
use lab::Measured;

use super::points::PointContext;
use super::queries::QueryRun;
use crate::work::Cache;

/// Runs every query once, waits for `begin`, and runs passes for at least the given time.
pub fn in_passes(
    place: &PointContext,
    least: Duration,
    progress: &Progress,
    begin: impl FnOnce() -> bool,
) -> Measured {
    place.at_degree(|| passes(place, least, progress, begin))
}

fn passes(
    place: &PointContext,
    least: Duration,
    progress: &Progress,
    begin: impl FnOnce() -> bool,
) -> Measured {
    let work = match place.work() {
        Ok(work) => work,
        Err(error) => return place.failed(error),
    };
    for number in place.olap.queries() {
        let prepared = place
            .go_on()
            .and_then(|()| work.prepare(number, Cache::Warm));
        match prepared {
            Ok(Ok(_)) => {}
            Ok(Err(what)) => {
                let query = number;
                return place.without_figures(Remark::QueryOfSeveralWrong { query, what });
            }
            Err(error) => return place.failed(error),
        }
    }
    if !begin() {
        return Measured::Interrupted;
    }
    let measured = QueryRun::in_passes(place, least).measure(place, &work, progress);
    let mut measured = measured.unwrap_or_else(|error| place.failed(error));
    if let Measured::Points(points) = &mut measured {
        for point in points {
            point.work.mode = "time".into();
            point.work.seconds = Some(least.as_secs_f64());
            point.work.operations_per_job = None;
            place.note_degree(point);
        }
    }
    measured
}
