//! Common parts of the loaders: progress events, number of sessions, and distribution of the work.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use archive::{CacheState, Figures, Point, Remark, WorkDone};
use engine::{BulkRow, Feature, RowSource, Session, Target, TargetError};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// Note for the user, such as that the engine has one writer.
    Note(&'a str),
    /// Complete parts: warehouses, or parts of tables.
    Parts {
        done: u32,
        of: u32,
        rows: u64,
    },
    Step(&'a str),
}

/// Called for every event, by any of the sessions.
pub type Observer<'a> = &'a (dyn Fn(Event<'_>) + Sync);

/// Number of loading sessions: the requested or the usual one, but 1 if the engine has a single writer, which a note
/// says to users who requested more.
pub fn sessions(
    target: &dyn Target,
    requested: Option<u32>,
    usual: u32,
    tell: Observer<'_>,
) -> u32 {
    let Some(why) = target.lacks(Feature::ConcurrentWriters) else {
        return requested.unwrap_or(usual);
    };
    if requested > Some(1) {
        tell(Event::Note(&format!(
            "loading with a single session: {why}"
        )));
    }
    1
}

/// Distributes parts to sessions, each of which loads one after the other; returns the errors in their order. The flag
/// passed to `load` is set once another session has failed.
///
/// Their statements have one thread: if all sessions share a pool, more threads would take the processor from other
/// sessions' rows.
pub fn share_out<P: Sync, E: From<TargetError> + Send>(
    target: &dyn Target,
    jobs: u32,
    parts: &[P],
    load: impl Fn(&mut dyn Session, &P, &AtomicBool) -> Result<(), E> + Sync,
) -> Vec<E> {
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let errors = Mutex::new(Vec::new());
    let work = || -> Result<(), E> {
        let mut session = target.open_session()?;
        // The load will be repeated, so the others need not finish.
        while !failed.load(Ordering::Relaxed)
            && let Some(part) = parts.get(next.fetch_add(1, Ordering::Relaxed))
        {
            load(session.as_mut(), part, &failed)?;
        }
        Ok(())
    };
    let all = || {
        std::thread::scope(|scope| {
            for _ in 0..(jobs as usize).min(parts.len()) {
                scope.spawn(|| {
                    if let Err(error) = work() {
                        let mut errors = errors.lock().unwrap_or_else(PoisonError::into_inner);
                        errors.push(error);
                        failed.store(true, Ordering::Relaxed);
                    }
                });
            }
        });
        Ok::<(), E>(())
    };
    let reset = with_threads(target, 1, all);
    let errors = errors.into_inner().unwrap_or_else(PoisonError::into_inner);
    errors.into_iter().chain(reset.err()).collect()
}

/// Runs `work` with at least as many threads per statement as there were sessions, to build indexes faster.
pub fn in_parallel<T, E: From<TargetError>>(
    target: &dyn Target,
    jobs: u32,
    work: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    with_threads(target, jobs.max(target.threads()), work)
}

/// Runs `work` with so many threads per statement, if the engine takes them: a server without workers builds its
/// indexes alone. Open sessions are not affected.
fn with_threads<T, E: From<TargetError>>(
    target: &dyn Target,
    threads: u32,
    work: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    let before = target.threads();
    let is_set = threads != before
        && target.lacks(Feature::ParallelStatement).is_none()
        && target.set_threads(threads).is_ok();
    let outcome = work();
    if is_set {
        target.set_threads(before)?;
    }
    outcome
}

/// Receiver of one row.
pub type Sink<'s> = dyn FnMut(&BulkRow<'_>) -> engine::Result<()> + 's;

/// Rows made one by one: `put` passes the row of an item to the sink.
pub fn rows<T, P>(items: impl Iterator<Item = T>, put: P) -> impl RowSource
where
    P: FnMut(T, &mut Sink<'_>) -> engine::Result<()>,
{
    Rows { items, put }
}

struct Rows<I, P> {
    items: I,
    put: P,
}

impl<I: Iterator, P> RowSource for Rows<I, P>
where
    P: FnMut(I::Item, &mut Sink<'_>) -> engine::Result<()>,
{
    #[inline]
    fn next_row(&mut self, sink: &mut Sink<'_>) -> engine::Result<bool> {
        match self.items.next() {
            Some(item) => (self.put)(item, sink).map(|()| true),
            None => Ok(false),
        }
    }
}

/// Point of a step that loads tables; `rows` with the time that they took, if any were loaded.
pub fn point(
    blank: Point,
    (size, state): (String, String),
    rows: Option<(u64, Duration)>,
    elapsed: Duration,
    notes: Vec<Remark>,
) -> Point {
    Point {
        work: WorkDone {
            mode: "work".into(),
            size,
            state,
            cache: CacheState::Uncontrolled,
            ..WorkDone::default()
        },
        figures: Figures {
            rows: rows.map(|(rows, _)| rows as f64),
            rows_per_s: rows
                .filter(|(_, took)| !took.is_zero())
                .map(|(rows, took)| rows as f64 / took.as_secs_f64()),
            elapsed_s: Some(elapsed.as_secs_f64()),
            ..Figures::default()
        },
        notes,
        ..blank
    }
}

/// The first fact in which the existing database differs from the requested one: its name and both values.
pub fn difference<const N: usize>(
    facts: [(&'static str, String, String); N],
) -> Option<(&'static str, String, String)> {
    let mut facts = facts.into_iter();
    facts.find(|(_, there, requested)| there != requested)
}
