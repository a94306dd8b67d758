//! Tells whoever watches the machine that the measured window begins.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use super::CrowdDrive;
use crate::clock::{ns, sleep_until};
use crate::gate::Gate;

/// How often it is looked whether the connections have met for their common start.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// Runs `drive` and meanwhile, on a thread of its own, calls what is to be called when the window begins; not at
/// all when the drive ends before.
pub fn announced<T>(asked: &CrowdDrive, gate: &Gate, drive: impl FnOnce() -> T) -> T {
    let Some(entering) = asked.entering else {
        return drive();
    };
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let halted = || over.load(Relaxed);
            while !halted() {
                let Some(origin_ns) = gate.common_start_ns() else {
                    std::thread::sleep(LOOK_EVERY);
                    continue;
                };
                let begin_ns = origin_ns.saturating_add(ns(asked.ramp_up));
                if sleep_until(begin_ns, halted).is_some() {
                    entering();
                }
                return;
            }
        });
        let result = drive();
        over.store(true, Relaxed);
        result
    })
}
