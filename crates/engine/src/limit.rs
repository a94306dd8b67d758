//! A limit on statements of engines that run inside this process: a second thread ends what takes too long.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use crate::TargetError;

/// A statement that ignores an interruption is interrupted again after this time.
const AGAIN: Duration = Duration::from_millis(1);

/// Does `work`, and interrupts it when it takes longer than the limit; gives the limit where it did.
///
/// The means to interrupt it are made for the statement and a thread lives as long as it does, so that nothing is
/// done where there is no limit.
pub fn limited<T, I: Fn() + Send>(
    limit: Option<Duration>,
    means: impl FnOnce() -> I,
    work: impl FnOnce() -> T,
) -> (T, Option<Duration>) {
    let Some(limit) = limit else {
        return (work(), None);
    };
    let interrupt = means();
    let (finished, wait) = channel::<()>();
    let ended = AtomicBool::new(false);
    let has_ended = &ended;
    let outcome = std::thread::scope(|scope| {
        scope.spawn(move || {
            // The sender is dropped when the work is done, which ends the wait as well. Interrupted again and
            // again: a statement that had not begun yet took no notice of the first time.
            let mut patience = limit;
            while wait.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
                has_ended.store(true, Ordering::Relaxed);
                interrupt();
                patience = AGAIN;
            }
        });
        let outcome = work();
        drop(finished);
        outcome
    });
    (outcome, ended.into_inner().then_some(limit))
}

/// The error of a statement that was ended.
pub fn too_long(engine: &str, limit: Duration) -> TargetError {
    let limit_s = limit.as_secs_f64();
    TargetError::statement(format!(
        "{engine}: the statement exceeded its limit of {limit_s} s and was cancelled"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_takes_too_long_is_interrupted() {
        let calls = std::sync::atomic::AtomicU32::new(0);
        let call = || {
            calls.fetch_add(1, Ordering::Relaxed);
        };
        let long = Some(Duration::from_secs(3600));
        assert_eq!(limited(None, || call, || 1), (1, None));
        assert_eq!(limited(long, || call, || 2), (2, None));
        assert_eq!(calls.load(Ordering::Relaxed), 0);
        let short = Duration::from_millis(1);
        let wait = || {
            while calls.load(Ordering::Relaxed) == 0 {
                std::thread::yield_now();
            }
        };
        assert_eq!(limited(Some(short), || call, wait), ((), Some(short)));
        assert!(too_long("X", short).message.contains("0.001 s"));
    }
}
