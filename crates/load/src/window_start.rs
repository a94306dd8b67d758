//! Notifies an observer of the machine that the measured window begins.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::cancellation::Cancellation;
use crate::clock::Clock;
use crate::start_barrier::StartBarrier;

/// Runs `drive` and meanwhile, on a separate thread, calls `entering` when the window begins; not at all if the drive
/// ends or is stopped before.
pub fn announced<T>(
    entering: Option<&(dyn Fn() + Sync)>,
    (from_ns, clock): (u64, &Clock),
    barrier: &StartBarrier,
    cancellation: &Cancellation,
    drive: impl FnOnce() -> T,
) -> T {
    let Some(entering) = entering else {
        return drive();
    };
    let over = AtomicBool::new(false);
    let part = clock.participate_in_background();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let part = part;
            part.enter();
            let halted = || over.load(Relaxed) || cancellation.pulled();
            let Some(origin_ns) = barrier.wait(halted) else {
                return;
            };
            let begin_ns = origin_ns.saturating_add(from_ns);
            if clock.sleep_until(begin_ns, halted).is_some() {
                entering();
            }
        });
        let result = drive();
        over.store(true, Relaxed);
        barrier.wake();
        result
    })
}
