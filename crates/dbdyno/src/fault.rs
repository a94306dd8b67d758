//! Faults that tests inject, because the machine's own clock must not be touched.

use std::sync::Arc;
use std::time::Duration;

use host::{SteppedClock, SystemClock, WallClock};

/// Seconds by which the wall clock seems to step, again and again, while a run goes on.
const CLOCK_STEP_VARIABLE: &str = "DBDYNO_FAULT_CLOCK_STEP_S";
const STEP_EVERY: Duration = Duration::from_millis(20);

/// The machine's wall clock, or one that steps when a test asks for it.
pub fn clock() -> Arc<dyn WallClock> {
    let step_s: Option<i64> = std::env::var(CLOCK_STEP_VARIABLE)
        .ok()
        .and_then(|s| s.parse().ok());
    let Some(step_s) = step_s else {
        return Arc::new(SystemClock);
    };
    let clock = Arc::new(SteppedClock::default());
    let stepping = Arc::clone(&clock);
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(STEP_EVERY);
            stepping.step_ms(step_s * 1000);
        }
    });
    clock
}
