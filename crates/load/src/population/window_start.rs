//! Tells whoever watches the machine that the measured window begins.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::PopulationDrive;
use crate::clock::ns;
use crate::gate::Gate;
use crate::job::Cancellation;

/// Runs `drive` and meanwhile, on a thread of its own, calls what is to be called when the window begins; not at
/// all when the drive ends or is stopped before.
pub fn announced<T>(
    asked: &PopulationDrive,
    gate: &Gate,
    cancellation: &Cancellation,
    drive: impl FnOnce() -> T,
) -> T {
    let Some(entering) = asked.entering else {
        return drive();
    };
    let over = AtomicBool::new(false);
    let part = asked.clock.participate_in_background();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let part = part;
            part.enter();
            let halted = || over.load(Relaxed) || cancellation.pulled();
            let Some(origin_ns) = gate.wait(halted) else {
                return;
            };
            let begin_ns = origin_ns.saturating_add(ns(asked.ramp_up));
            if asked.clock.sleep_until(begin_ns, halted).is_some() {
                entering();
            }
        });
        let result = drive();
        over.store(true, Relaxed);
        gate.wake();
        result
    })
}
