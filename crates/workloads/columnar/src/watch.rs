//! Watch over the reading of a source: it reports lock waits and cancels statements when the user interrupts.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use engine::source::Source;
use workload::loading::{Event, Observer};

use super::{ColumnarError, Result};

/// Interval between checks for an interrupt.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// Interval between queries for lock waits; shorter waits do not matter.
const ASK: Duration = Duration::from_secs(2);
/// Delay after which sessions that were opened meanwhile are cancelled too.
const AGAIN: Duration = Duration::from_secs(1);

#[derive(Default)]
pub(super) struct Watch(Mutex<Option<String>>);

impl Watch {
    /// Reason why a table is omitted: a lock with its holder, or the source's error.
    pub fn reason(&self, error: &engine::TargetError) -> String {
        let waited = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match waited.as_ref().filter(|_| error.is_conflict()) {
            Some(waited) => format!("timed out waiting for a lock: {waited}"),
            None => error.message.clone(),
        }
    }
}

/// Runs `work` while another thread watches.
///
/// # Errors
/// Those of `work`; after an interrupt, the interrupt.
pub(super) fn watched<T>(
    source: &dyn Source,
    stop: &AtomicBool,
    tell: Observer<'_>,
    work: impl FnOnce(&Watch) -> Result<T>,
) -> Result<T> {
    let watch = Watch::default();
    let (done, is_done) = channel::<()>();
    let outcome = std::thread::scope(|scope| {
        let watch = &watch;
        scope.spawn(move || {
            let (mut queried, mut broken_off) = (Instant::now(), None::<Instant>);
            while is_done.recv_timeout(CHECK_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                if stop.load(Ordering::Relaxed) {
                    if broken_off.is_none_or(|at| at.elapsed() >= AGAIN) {
                        source.break_off();
                        broken_off = Some(Instant::now());
                    }
                } else if queried.elapsed() >= ASK {
                    let waits = source.waits();
                    queried = Instant::now();
                    let mut last = watch.0.lock().unwrap_or_else(PoisonError::into_inner);
                    if let Some(waits) = waits.filter(|waits| last.as_ref() != Some(waits)) {
                        tell(Event::Note(&format!("waiting for a lock: {waits}")));
                        *last = Some(waits);
                    }
                }
            }
        });
        let outcome = work(watch);
        // The other end of the channel also goes when `work` panics.
        drop(done);
        outcome
    });
    match outcome {
        Err(_) if stop.load(Ordering::Relaxed) => Err(ColumnarError::Interrupted),
        outcome => outcome,
    }
}
