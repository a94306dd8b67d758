//! Lateness of the driver's wake-ups: `cargo bench -p load --bench punctuality`.
//!
//! It depends on the machine as much as on the driver: if all processors are busy, nobody wakes in time. A thread
//! that only waits is therefore measured at the same time; the difference is the driver's.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use load::clock::{now_ns, ns, sharpen_timers, sleep_until};
use load::mock::Mock;
use load::recorder::LATE_START;
use load::{Clients, Drive, End, Outcome, Schedule, Think, drive};

const CLIENTS: usize = 8;
const PERIOD: Duration = Duration::from_millis(1);
const WINDOW: Duration = Duration::from_secs(5);

static GO_ON: AtomicBool = AtomicBool::new(false);

type Way<'a> = (&'static str, Box<dyn FnOnce() -> Outcome + 'a>);

/// Wakes of a thread that only waits, and those of them that were late.
fn wait_only(over: &AtomicBool) -> (u64, u64) {
    sharpen_timers();
    let (mut meant_ns, mut wakes, mut late) = (now_ns(), 0, 0);
    while !over.load(Relaxed) {
        // No wake-up is left out: after a halt, all that were meant to fall into it are late.
        meant_ns += ns(PERIOD);
        let woken_ns = sleep_until(meant_ns, || false).unwrap_or(meant_ns);
        wakes += 1;
        late += u64::from(woken_ns - meant_ns > ns(LATE_START));
    }
    (wakes, late)
}

fn main() -> std::io::Result<()> {
    let how = Drive {
        schedule: Schedule::Closed {
            think: Think::Constant(PERIOD * CLIENTS as u32),
        },
        ..Drive::of_jobs(End::Time(WINDOW), &GO_ON)
    };
    let mock = Mock::new();
    let sockets = mock.nonblocking(CLIENTS)?;
    let ways: [Way; 2] = [
        (
            "threads",
            Box::new(|| drive(Clients::Blocking(mock.sessions(CLIENTS)), &how)),
        ),
        (
            "event loop",
            Box::new(|| drive(Clients::nonblocking(sockets), &how)),
        ),
    ];
    for (name, drive) in ways {
        let over = AtomicBool::new(false);
        let (outcome, (wakes, late)) = std::thread::scope(|scope| {
            let waits = scope.spawn(|| wait_only(&over));
            let outcome = drive();
            over.store(true, Relaxed);
            (outcome, waits.join().unwrap_or_default())
        });
        let pct = |part: u64, of: u64| 100.0 * part as f64 / of.max(1) as f64;
        println!(
            "{name}: {:.2} % of {} starts late by more than {LATE_START:?}, the latest by {:?}; \
             of a thread that only waits {:.2} % of {wakes}",
            pct(outcome.late_starts, outcome.operations()),
            outcome.operations(),
            outcome.late_start_max,
            pct(late, wakes),
        );
    }
    Ok(())
}
