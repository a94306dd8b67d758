//! Detects a hanging server: no operation completed for a long time, and a new session gets no answer either.
//!
//! A statement may take hours, so time is no proof; a server that answers others is left alone.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use engine::Target;
use load::Progress;

use crate::companion::during;
use crate::nodes::Nodes;

/// Default bounds of the time without a completed operation after which the server is probed.
const LIMIT_MAX: Duration = Duration::from_secs(60);
const LIMIT_MIN: Duration = Duration::from_secs(10);
/// The time of this many operations without any is suspicious.
const OPERATIONS_MISSED: f64 = 1000.0;
/// Limit of a server's answer to a probe.
const PATIENCE: Duration = Duration::from_secs(5);
/// Interval of checks, and of cancelling sessions that were opened meanwhile.
const LOOK: Duration = Duration::from_millis(250);

pub(crate) struct Watchdog<'a> {
    targets: &'a [Nodes],
    limit: Option<Duration>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    watched: Option<Watched>,
    is_over: bool,
}

struct Watched {
    target: u32,
    progress: Arc<Progress>,
    stillness: Stillness,
    hung: Option<String>,
}

/// Time without a completed operation.
#[derive(Debug)]
struct Stillness {
    begun: Instant,
    done: u64,
    /// Time when the last of them was observed, or the server last answered.
    since: Instant,
}

impl Stillness {
    fn new(now: Instant) -> Self {
        Self {
            begun: now,
            done: 0,
            since: now,
        }
    }

    /// Time without a completed operation, if it exceeds the limit.
    fn too_long(
        &mut self,
        done: u64,
        configured: Option<Duration>,
        now: Instant,
    ) -> Option<Duration> {
        if done != self.done {
            (self.done, self.since) = (done, now);
        }
        let still = now.saturating_duration_since(self.since);
        let limit = configured.unwrap_or_else(|| self.limit());
        (still >= limit).then_some(still)
    }

    /// Time of this many operations at the rate so far, within bounds.
    fn limit(&self) -> Duration {
        if self.done == 0 {
            return LIMIT_MAX;
        }
        let lasted = self.since.saturating_duration_since(self.begun);
        let missed_s = lasted.as_secs_f64() / self.done as f64 * OPERATIONS_MISSED;
        Duration::from_secs_f64(missed_s.clamp(LIMIT_MIN.as_secs_f64(), LIMIT_MAX.as_secs_f64()))
    }
}

impl<'a> Watchdog<'a> {
    pub fn new(targets: &'a [Nodes], limit: Option<Duration>) -> Self {
        Self {
            targets,
            limit,
            state: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// Supervises the targets on a separate thread during `work`.
    pub fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        let end = || {
            self.lock().is_over = true;
            self.changed.notify_all();
        };
        // Without the thread a run has no watchdog.
        let missing = "nothing notices a server that hangs";
        during("watchdog", missing, || self.look(), end, work)
    }

    /// Does the supervised work of a point, and returns the finding if the server hangs.
    pub fn over<T>(
        &self,
        target: u32,
        progress: &Arc<Progress>,
        work: impl FnOnce() -> T,
    ) -> (T, Option<String>) {
        self.lock().watched = Some(Watched {
            target,
            progress: Arc::clone(progress),
            stillness: Stillness::new(Instant::now()),
            hung: None,
        });
        let done = work();
        let watched = self.lock().watched.take();
        (done, watched.and_then(|watched| watched.hung))
    }

    fn look(&self) {
        let mut state = self.lock();
        while !state.is_over {
            let Some(watched) = &mut state.watched else {
                state = self.wait(state);
                continue;
            };
            let done = watched.progress.operations() + watched.progress.errors();
            let still = (watched.stillness).too_long(done, self.limit, Instant::now());
            let (number, is_hung) = (watched.target, watched.hung.is_some());
            let Some(still) = still else {
                state = self.wait(state);
                continue;
            };
            let (target, point) = (
                &self.targets[number as usize],
                Arc::clone(&watched.progress),
            );
            drop(state);
            let answers = !is_hung && target.nodes.iter().all(|node| answers(&**node));
            state = self.lock();
            // The point may have ended meanwhile.
            let same = |watched: &&mut Watched| Arc::ptr_eq(&watched.progress, &point);
            let Some(watched) = state.watched.as_mut().filter(same) else {
                continue;
            };
            if answers {
                watched.stillness.since = Instant::now();
            } else {
                watched.hung.get_or_insert_with(|| hung(target, still));
                drop(state);
                // Cancelling is repeated, because there may be new sessions.
                target.nodes.iter().for_each(|node| node.break_off());
                state = self.lock();
            }
            state = self.wait(state);
        }
    }

    fn wait<'s>(&self, state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        let waited = self.changed.wait_timeout(state, LOOK);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// True if a server answers a probe in any way; a refusal is an answer too.
fn answers(node: &dyn Target) -> bool {
    let begun = Instant::now();
    node.knock(PATIENCE).is_ok() || begun.elapsed() < PATIENCE
}

fn hung(target: &Nodes, still: Duration) -> String {
    format!(
        "{} does not answer: nothing was completed for {:.0} s, and a new connection got no answer within {} s; its server \
         hangs, or the network to it is interrupted",
        target.engine,
        still.as_secs_f64(),
        PATIENCE.as_secs()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(begun: Instant, seconds: f64) -> Instant {
        begun + Duration::from_secs_f64(seconds)
    }

    /// The limit is a minute before the first operation, then the time of a thousand operations, but at least ten
    /// seconds; every operation restarts it.
    #[test]
    fn how_long_is_too_long_follows_from_the_rate() {
        let begun = Instant::now();
        let mut still = Stillness::new(begun);
        assert_eq!(still.too_long(0, None, after(begun, 59.9)), None);
        let minute = Duration::from_secs(60);
        assert_eq!(still.too_long(0, None, after(begun, 60.0)), Some(minute));

        assert_eq!(still.too_long(100, None, after(begun, 2.0)), None);
        // At 20 ms per operation the limit is 20 s.
        assert_eq!(still.too_long(100, None, after(begun, 21.9)), None);
        assert!(still.too_long(100, None, after(begun, 22.1)).is_some());
        assert_eq!(still.too_long(101, None, after(begun, 22.2)), None);

        let mut fast = Stillness::new(begun);
        assert_eq!(fast.too_long(1_000_000, None, after(begun, 1.0)), None);
        assert_eq!(fast.too_long(1_000_000, None, after(begun, 10.9)), None);
        assert!(fast.too_long(1_000_000, None, after(begun, 11.1)).is_some());
    }

    #[test]
    fn a_plan_may_say_how_long() {
        let begun = Instant::now();
        let mut still = Stillness::new(begun);
        let configured = Some(Duration::from_secs(2));
        assert_eq!(still.too_long(0, configured, after(begun, 1.9)), None);
        assert!(still.too_long(0, configured, after(begun, 2.0)).is_some());
    }
}
