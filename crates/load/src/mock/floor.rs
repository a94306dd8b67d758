//! How punctual this machine wakes anybody just now: what no driver can be better than.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::clock::{now_ns, ns, sharpen_timers, sleep_until};

/// From here on a start is late, as it is for drivers.
const LATE: Duration = Duration::from_millis(1);
const PERIOD: Duration = Duration::from_millis(1);

/// A thread that is woken a thousand times a second and does nothing else, beside a drive whose own punctuality is
/// to be judged: where a virtual machine stands still, or all processors are taken, both are late.
pub struct Floor {
    over: Arc<AtomicBool>,
    waker: JoinHandle<Punctuality>,
}

/// What such a thread saw.
#[derive(Debug, Clone, Copy, Default)]
pub struct Punctuality {
    wakes: u64,
    late: u64,
    lateness: Duration,
}

impl Floor {
    /// Begins to watch.
    pub fn watch() -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&over);
        let waker = std::thread::spawn(move || {
            sharpen_timers();
            let mut seen = Punctuality::default();
            let mut meant_ns = now_ns();
            while !told.load(Relaxed) {
                // None is left out: after a halt as many are late as were meant to start in it.
                meant_ns += ns(PERIOD);
                let woken_ns = sleep_until(meant_ns, || false).unwrap_or(meant_ns);
                seen.add(Duration::from_nanos(woken_ns - meant_ns));
            }
            seen
        });
        Self { over, waker }
    }

    /// Ends it.
    pub fn end(self) -> Punctuality {
        self.over.store(true, Relaxed);
        self.waker.join().unwrap_or_default()
    }
}

impl Punctuality {
    fn add(&mut self, lateness: Duration) {
        self.wakes += 1;
        self.late += u64::from(lateness >= LATE);
        self.lateness += lateness;
    }

    /// Wakes that came a millisecond late or more, in percent.
    pub fn late_pct(&self) -> f64 {
        100.0 * self.late as f64 / self.wakes.max(1) as f64
    }

    /// How late they came on average.
    pub fn lateness_ms_mean(&self) -> f64 {
        1e3 * self.lateness.as_secs_f64() / self.wakes.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_is_counted_from_a_millisecond_on() {
        let mut seen = Punctuality::default();
        for us in [10, 999, 1000, 8000] {
            seen.add(Duration::from_micros(us));
        }
        assert_eq!(seen.late_pct(), 50.0);
        assert!((seen.lateness_ms_mean() - 2.50225).abs() < 1e-9);
        assert_eq!(Punctuality::default().late_pct(), 0.0);
    }

    #[test]
    fn a_thousand_wakes_a_second_whatever_happens() {
        let floor = Floor::watch();
        std::thread::sleep(Duration::from_millis(300));
        let seen = floor.end();
        assert!(seen.wakes >= 200, "{seen:?}");
    }
}
