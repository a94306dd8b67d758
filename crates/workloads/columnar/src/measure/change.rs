//! Cost of refreshes: orders are inserted, updated and deleted at the source, alone and with a copy that follows every
//! change.

use std::sync::{Arc, Mutex, PoisonError};

use ::load::{Drive, End, Progress};
use archive::{CacheState, Figures, Point, PointKey, Remark, WorkDone};
use column_store::Store;
use engine::source::SourceTable;
use lab::observe::{Driven, Observation};
use lab::{Nodes, RunContext};
use olap::measure::dop;
use olap::refresh::{CHANGED, Function, RefreshSet};
use olap::work::{Rows, Work, WorkOptions};
use workload::Meter;

use super::{Failed, missing};
use crate::{Changed, Follower, Lag, differing, follow};

const CYCLE: [(Function, &str, &str); 3] = [
    (Function::NewSales, "COLUMNAR-INSERT", "orders inserted"),
    (Function::ChangedSales, "COLUMNAR-UPDATE", "orders updated"),
    (Function::OldSales, "COLUMNAR-DELETE", "orders deleted"),
];
/// Suffix of the code of a refresh lag.
const LAG: &str = "-LAG";
const SET: u32 = 1;

pub(super) fn title(code: &str) -> Option<String> {
    let (of, lag) = match code.strip_suffix(LAG) {
        Some(of) => (of, ": time until the copy has the change"),
        None => (code, ""),
    };
    let (_, _, what) = CYCLE.iter().find(|(_, code, _)| *code == of)?;
    Some(format!("Columnar: {what}{lag}"))
}

/// Points of a cycle at every degree, made from `base`.
pub(super) fn keys(base: &PointKey, degrees: &[u32], target: &Nodes) -> Vec<PointKey> {
    let is_copy = target.replica().is_some();
    let mut keys = Vec::new();
    for threads in dop::swept(degrees, target) {
        for (_, code, _) in CYCLE {
            let lag = is_copy.then(|| format!("{code}{LAG}"));
            keys.extend(
                [Some(code.to_owned()), lag]
                    .into_iter()
                    .flatten()
                    .map(|test| PointKey {
                        test,
                        threads,
                        ..base.clone()
                    }),
            );
        }
    }
    keys
}

pub(super) struct Cycle<'a> {
    pub context: &'a RunContext<'a>,
    pub source: &'a Nodes,
    /// The source, or the copy that follows it.
    pub target: &'a Nodes,
    pub tables: &'a [SourceTable],
    pub degrees: &'a [u32],
    pub progress: &'a Progress,
}

struct Copy {
    store: Arc<Store>,
    changed: Vec<Changed>,
}

impl Cycle<'_> {
    /// Carries the cycle out; `blank` makes a point for a code. Afterwards source and copy have their former rows.
    pub fn carry_out(
        &self,
        degree: u32,
        blank: &dyn Fn(&str) -> Point,
    ) -> std::result::Result<Vec<Point>, Failed> {
        let source = self.source.first();
        olap::undo_refreshes(source.as_ref())?;
        let options = WorkOptions {
            scale: None,
            source: olap::Source::default(),
            seed: self.context.seed,
            limit: None,
            rows: Rows::Changing,
        };
        let engine = &self.source.engine;
        let work = Work::open(Arc::clone(source), engine, options, Arc::default())?;
        let copy = self.copy(RefreshSet {
            scale: work.scale(),
            number: SET,
        })?;
        work.note_refresh(SET)?;
        dop::set_degree(self.degrees, self.target, degree)?;
        let mut points = Vec::new();
        for (function, code, _) in CYCLE {
            points.extend(self.one(&work, function, code, copy.as_ref(), blank)?);
        }
        self.target.set_threads(None)?;
        olap::undo_refreshes(source.as_ref())?;
        if let Some(Copy { store, changed }) = &copy {
            let source = source.source()?;
            follow(source.as_ref(), store, changed)?;
            let differing = differing(source.as_ref(), store, changed)?;
            for point in &mut points {
                let reason = differing.iter().map(|what| Remark::NotFollowedBack {
                    what: Box::new(what.clone()),
                });
                point.reasons.extend(reason);
            }
            // The new rows are in raw form until they are packed.
            store.pack()?;
        }
        Ok(points)
    }

    /// Copy that follows the source; `None` if the source is measured alone.
    fn copy(&self, set: RefreshSet) -> std::result::Result<Option<Copy>, Failed> {
        let Some(replica) = self.target.replica() else {
            return Ok(None);
        };
        let store = replica.store().ok_or_else(missing)?;
        let changed = CHANGED.map(|(name, key)| {
            let table = self.tables.iter().find(|table| table.name == name);
            table.map(|table| Changed {
                table: table.clone(),
                key,
                keys: set.keys(),
            })
        });
        let changed: Option<Vec<Changed>> = changed.into_iter().collect();
        Ok(Some(Copy {
            store,
            changed: changed.ok_or_else(missing)?,
        }))
    }

    /// Measures one function: its point, and for a copy the point of its lag.
    fn one(
        &self,
        work: &Work,
        function: Function,
        code: &str,
        copy: Option<&Copy>,
        blank: &dyn Fn(&str) -> Point,
    ) -> std::result::Result<Vec<Point>, Failed> {
        let context = self.context;
        let meter = Arc::new(Meter::default());
        let mut client = work.refresher(vec![(function, SET)], &meter, context.stop)?;
        let lags = Arc::new(Mutex::new(Vec::new()));
        if let Some(Copy { store, changed }) = copy {
            client = Box::new(Follower {
                change: client,
                source: Arc::clone(self.source.first()),
                store: Arc::clone(store),
                changed: changed.clone(),
                lags: Arc::clone(&lags),
            });
        }
        let done = WorkDone {
            mode: "work".into(),
            size: format!("scale {}", work.scale()),
            operations_per_job: Some(1),
            schedule: "closed".into(),
            state: "orders inserted, updated and deleted".into(),
            cache: CacheState::Uncontrolled,
            ..WorkDone::default()
        };
        let blank = |code: &str| Point {
            work: done.clone(),
            ..blank(code)
        };
        let observed = Observation::of(context, blank(code)).drive(|start| {
            let outcome = ::load::drive(start.watch(vec![client]), &self.drive());
            Ok(Driven {
                counters: meter.counters().unwrap_or_default(),
                ..outcome.into()
            })
        });
        let mut point = observed.map_err(Failed::Ended)?.finish();
        let Some(Copy { store, changed }) = copy else {
            point.notes.insert(0, Remark::ChangedAlone);
            return Ok(vec![point]);
        };
        point.notes.insert(0, Remark::ChangedAndFollowed);
        if point.reasons.is_empty() {
            let source = self.source.first().source()?;
            point
                .reasons
                .extend(differing(source.as_ref(), store, changed)?);
        }
        let lag = lags.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let lag = of_lag(lag, blank(&format!("{code}{LAG}")), &point);
        Ok(vec![point, lag])
    }

    fn drive(&self) -> Drive<'_> {
        Drive {
            interval: self.context.interval,
            seed: self.context.seed,
            progress: Some(self.progress),
            ..Drive::of_jobs(End::Operations { per_job: 1 }, self.context.stop)
        }
    }
}

/// Point of a lag, which has no figures but the latency.
fn of_lag(lag: Option<Lag>, blank: Point, whole: &Point) -> Point {
    let rows = lag.map(|lag| lag.rows as f64);
    let elapsed_s = lag.map(|lag| lag.took.as_secs_f64());
    Point {
        started_at: whole.started_at.clone(),
        figures: Figures {
            rows,
            elapsed_s,
            rows_per_s: rows
                .zip(elapsed_s)
                .map(|(n, s)| n / s.max(f64::MIN_POSITIVE)),
            ..Figures::default()
        },
        reasons: whole.reasons.clone(),
        notes: vec![Remark::FromCommit],
        ..blank
    }
}
