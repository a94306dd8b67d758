//! What the loaders of the workloads share: how they tell what they do, with how many sessions they do it, and how
//! these share the parts.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use target::{Feature, Session, Target, TargetError};

/// What happens while a load goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// Something that a reader should know, e.g. that the engine has one writer.
    Note(&'a str),
    /// So many parts are whole: warehouses, or parts of tables.
    Parts {
        done: u32,
        of: u32,
        rows: u64,
    },
    Step(&'a str),
}

/// Told of every event, by any of the sessions.
pub type Observer<'a> = &'a (dyn Fn(Event<'_>) + Sync);

/// Sessions that load: as many as asked for, or as usual; one where the engine has one writer, which is told to who
/// asked for more.
pub(crate) fn sessions(
    target: &dyn Target,
    asked: Option<u32>,
    usual: u32,
    tell: Observer<'_>,
) -> u32 {
    let Some(why) = target.lacks(Feature::ConcurrentWriters) else {
        return asked.unwrap_or(usual);
    };
    if asked > Some(1) {
        tell(Event::Note(&format!(
            "loading with a single session: {why}"
        )));
    }
    1
}

/// Hands parts out to so many sessions, each of which loads one after the other; gives what went wrong, in the order
/// in which it did. The flag that `load` is given says that another session has failed.
///
/// A statement of theirs has one thread: with more, where all of them share a pool, it would take the processor from
/// the other sessions' rows.
pub(crate) fn share_out<P: Sync, E: From<TargetError> + Send>(
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
        // The others need not go on with what is going to be done again anyway.
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
    let kept = with_threads(target, 1, all);
    let errors = errors.into_inner().unwrap_or_else(PoisonError::into_inner);
    errors.into_iter().chain(kept.err()).collect()
}

/// Does `work` with at least as many threads inside a statement as sessions loaded: indexes are built faster so.
pub(crate) fn in_parallel<T, E: From<TargetError>>(
    target: &dyn Target,
    jobs: u32,
    work: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    with_threads(target, jobs.max(target.threads()), work)
}

/// Does `work` with so many threads inside a statement, where the engine has such and takes so many: a server that
/// starts no workers builds its indexes alone. Sessions that are open already know nothing of it.
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
