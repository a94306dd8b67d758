//! Steps with refreshes: orders are inserted before one user's queries and deleted after them, or both during several
//! users' queries. Afterwards the loaded rows are restored.

use std::collections::HashMap;

use ::load::{Failure, Progress, Request};
use archive::Remark;
use lab::Measured;
use workload::Meter;

use super::points::PointContext;
use super::queries::at_degree;
use super::{THROUGHPUT, of_code};
use crate::work::Rows;
use crate::{Function, OlapError};

/// Repetition, step and target.
type Of = (u32, u32, u32);

#[derive(Default)]
pub(super) struct Refreshes {
    /// Target and degree at which only the first of the two functions has run.
    under_way: Option<(Of, u32)>,
    /// Queries whose answers were wrong before the first refresh.
    wrong: HashMap<Of, Vec<(u32, String)>>,
}

pub(super) fn in_cycle(
    mut place: PointContext,
    refreshes: &mut Refreshes,
    progress: &Progress,
) -> Measured {
    let code = place.key.test.clone();
    let note = match refreshes.bring(&mut place) {
        Ok(note) => note,
        Err(error) => return place.failed(error),
    };
    if let Some(wrong) = refreshes.wrong_of(&place) {
        return place.without_figures(wrong);
    }
    let mut measured = at_degree(&place, progress);
    let is_end = code == THROUGHPUT || code == Function::OldSales.code();
    let restored = match &measured {
        Measured::Points(_) if is_end => refreshes.restored(&place),
        _ => Ok(()),
    };
    if let Measured::Points(points) = &mut measured {
        for point in points {
            point.notes.extend(note.clone());
            if let Err(error) = &restored {
                point.reasons.push(Remark::NotPutBack {
                    error: error.to_string(),
                });
            }
        }
    }
    measured
}

impl Refreshes {
    /// Brings the rows into the state that a point needs; returns a remark if a resumed run needed more than an
    /// uninterrupted one.
    fn bring(&mut self, place: &mut PointContext) -> crate::Result<Option<Remark>> {
        let is_first = place.key.test == Function::NewSales.code();
        if is_first || place.key.test == THROUGHPUT {
            self.as_loaded(place)?;
            let sets = if is_first { 1 } else { place.olap.streams() };
            place.work()?.note_refresh(sets)?;
            self.under_way = is_first.then(|| (of(place), place.key.threads));
            place.rows = Rows::Changing;
            return Ok(None);
        }
        let is_in = self.under_way == Some((of(place), place.key.threads));
        if !is_in {
            self.as_loaded(place)?;
            let work = place.work()?;
            work.note_refresh(1)?;
            let functions = vec![(Function::NewSales, 1)];
            let meter = std::sync::Arc::new(Meter::default());
            let outcome = work
                .refresher(functions, &meter, place.context.stop)?
                .operate(Request::of_job(0, 0));
            outcome.map_err(|failure| failed(failure, place))?;
            self.under_way = Some((of(place), place.key.threads));
        }
        place.rows = match of_code(&place.key.test) {
            Some(_) => Rows::Refreshed,
            None => Rows::Changing,
        };
        Ok((!is_in).then_some(Remark::RefreshRepeated))
    }

    /// Restores the loaded rows and checks all answers once per target of a step, because later answers cannot be
    /// compared with the known ones.
    fn as_loaded(&mut self, place: &PointContext) -> crate::Result<()> {
        self.restored(place)?;
        if self.wrong.contains_key(&of(place)) {
            return Ok(());
        }
        let work = place.work()?;
        let mut wrong = Vec::new();
        for number in place.olap.queries() {
            place.go_on()?;
            if let Err(what) = work.qualify(number)? {
                wrong.push((number, what));
            }
        }
        self.wrong.insert(of(place), wrong);
        Ok(())
    }

    fn restored(&mut self, place: &PointContext) -> crate::Result<()> {
        self.under_way = None;
        crate::undo_refreshes(place.target().first().as_ref()).map(drop)
    }

    /// Wrong answers before the refresh to the point's queries.
    fn wrong_of(&self, place: &PointContext) -> Option<Remark> {
        let query = of_code(&place.key.test).map(|query| query.number);
        let is_concerned = |number: u32| match query {
            Some(query) => query == number,
            None => place.key.test == THROUGHPUT,
        };
        let (number, what) =
            (self.wrong.get(&of(place))?.iter()).find(|(n, _)| is_concerned(*n))?;
        Some(Remark::QueryWrongBefore {
            query: *number,
            what: what.clone(),
        })
    }
}

fn of(place: &PointContext) -> Of {
    let key = place.key;
    (key.repetition, key.step, key.target)
}

fn failed(failure: Failure, place: &PointContext) -> OlapError {
    match failure {
        _ if place.go_on().is_err() => OlapError::Interrupted,
        Failure::Operation(what) | Failure::Fatal(what) => OlapError::Refresh(what),
        Failure::Exhausted => OlapError::Refresh("there were no rows to refresh".into()),
    }
}
