//! All queries of one user in rounds: the gain from tables that the round before left in the caches.

use ::load::Progress;
use archive::{CacheState, Remark};
use lab::Measured;

use super::points::PointContext;
use super::queries::QueryRun;
use crate::OlapError;
use crate::work::{Cache, Work};

pub(super) fn at_degree(place: &PointContext, progress: &Progress) -> Measured {
    place.at_degree(|| match in_rounds(place, progress) {
        Ok(measured) => measured,
        Err(error) => place.failed(error),
    })
}

fn in_rounds(place: &PointContext, progress: &Progress) -> Result<Measured, OlapError> {
    let work = place.work()?;
    for query in place.olap.queries() {
        place.go_on()?;
        if let Err(what) = work.verify(query)? {
            return Ok(place.without_figures(Remark::QueryOfSeveralWrong { query, what }));
        }
    }
    let cache = match place.olap.cache {
        Cache::Cold => work.cool()?,
        Cache::Warm => match warmed(place, &work)? {
            Ok(cache) => cache,
            Err(wrong) => return Ok(place.without_figures(wrong)),
        },
    };
    let rounds = place.olap.rounds().unwrap_or(1);
    let mut measured = QueryRun::in_rounds(place, rounds, cache).measure(place, &work, progress)?;
    if let Measured::Points(points) = &mut measured {
        points.iter_mut().for_each(|point| place.note_degree(point));
    }
    Ok(measured)
}

fn warmed(place: &PointContext, work: &Work) -> Result<Result<CacheState, Remark>, OlapError> {
    for query in place.olap.queries() {
        place.go_on()?;
        if let Err(what) = work.warm(query)? {
            return Ok(Err(Remark::QueryOfSeveralWrong { query, what }));
        }
    }
    Ok(Ok(CacheState::Warm))
}
