//! Wall time, which may step, and monotonic time, which may not.
//!
//! A duration is always measured on the monotonic clock. The wall clock only gives points in time, and [`Stopwatch`]
//! reports if it stepped meanwhile, because then they are wrong.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use jiff::Timestamp;
use rustix::io::Errno;
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec};

/// A difference between wall and monotonic time above this is a step of the wall clock: ordinary
/// slewing moves both clocks alike, so even a long window stays far below.
pub const STEP_LIMIT_S: f64 = 0.5;

pub trait WallClock: Send + Sync {
    fn now(&self) -> SystemTime;
}

#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl WallClock for SystemClock {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }
}

#[derive(Clone)]
pub struct Stopwatch {
    clock: Arc<dyn WallClock>,
    wall: SystemTime,
    monotonic: Instant,
}

impl Stopwatch {
    pub fn start(clock: Arc<dyn WallClock>) -> Self {
        let wall = clock.now();
        Self {
            clock,
            wall,
            monotonic: Instant::now(),
        }
    }

    /// Time of day at the start, RFC 3339 in UTC.
    pub fn started_at(&self) -> String {
        rfc3339(self.wall)
    }

    pub fn elapsed(&self) -> Duration {
        self.monotonic.elapsed()
    }

    /// Step of the wall clock against the monotonic clock since the start, in s; `None` up to [`STEP_LIMIT_S`]. A
    /// machine that slept shows as a step forward.
    pub fn clock_step_s(&self) -> Option<f64> {
        let monotonic_s = self.elapsed().as_secs_f64();
        let wall_s = match self.clock.now().duration_since(self.wall) {
            Ok(forward) => forward.as_secs_f64(),
            Err(backward) => -backward.duration().as_secs_f64(),
        };
        let step_s = wall_s - monotonic_s;
        (step_s.abs() > STEP_LIMIT_S).then_some(step_s)
    }
}

/// A time of day as RFC 3339 in UTC with milliseconds, e.g. `2026-03-01T12:00:00.250Z`.
pub fn rfc3339(time: SystemTime) -> String {
    let timestamp = Timestamp::try_from(time).unwrap_or({
        if time < SystemTime::UNIX_EPOCH {
            Timestamp::MIN
        } else {
            Timestamp::MAX
        }
    });
    format!("{timestamp:.3}")
}

pub fn monotonic_ns() -> u64 {
    read_ns(libc::CLOCK_MONOTONIC)
}

pub(crate) fn read_ns(clock: libc::clockid_t) -> u64 {
    try_read_ns(clock).expect("every Linux kernel has the clocks that are read without a fallback")
}

/// Reads a clock that may be gone, such as that of another process.
pub(crate) fn try_read_ns(clock: libc::clockid_t) -> Option<u64> {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is valid for writes for the whole call.
    let status = unsafe { libc::clock_gettime(clock, &mut time) };
    (status == 0).then(|| time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// Sleeps until the monotonic clock shows `due_ns`, also after signals. An absolute time keeps a schedule from
/// drifting by the time of its own work.
pub(crate) fn sleep_until(due_ns: u64) {
    let due = Timespec {
        tv_sec: (due_ns / 1_000_000_000) as i64,
        tv_nsec: (due_ns % 1_000_000_000) as i64,
    };
    while clock_nanosleep_absolute(ClockId::Monotonic, &due) == Err(Errno::INTR) {}
}

pub(crate) fn process_cpu_ns() -> u64 {
    read_ns(libc::CLOCK_PROCESS_CPUTIME_ID)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, Ordering};

    use super::*;

    /// The machine's wall clock with an offset, so that no test must step the real one.
    #[derive(Debug, Default)]
    struct SteppedClock {
        offset_ms: AtomicI64,
    }

    impl SteppedClock {
        fn step_ms(&self, by_ms: i64) {
            self.offset_ms.fetch_add(by_ms, Ordering::Relaxed);
        }
    }

    impl WallClock for SteppedClock {
        fn now(&self) -> SystemTime {
            let offset_ms = self.offset_ms.load(Ordering::Relaxed);
            let offset = Duration::from_millis(offset_ms.unsigned_abs());
            let now = SystemTime::now();
            let stepped = if offset_ms < 0 {
                now.checked_sub(offset)
            } else {
                now.checked_add(offset)
            };
            stepped.unwrap_or(now)
        }
    }

    #[test]
    fn golden_wall_time() {
        let time = SystemTime::UNIX_EPOCH + Duration::from_millis(1_772_366_400_250);
        assert_eq!(rfc3339(time), "2026-03-01T12:00:00.250Z");
        let before = SystemTime::UNIX_EPOCH - Duration::from_secs(1);
        assert_eq!(rfc3339(before), "1969-12-31T23:59:59.000Z");
    }

    #[test]
    fn a_step_of_the_wall_clock_is_reported_and_does_not_touch_the_duration() {
        for by_ms in [3_600_000, -3_600_000, 700, -700] {
            let clock = Arc::new(SteppedClock::default());
            let watch = Stopwatch::start(Arc::clone(&clock) as Arc<dyn WallClock>);
            assert_eq!(watch.clock_step_s(), None);
            clock.step_ms(by_ms);
            let step_s = watch.clock_step_s().unwrap();
            assert!(
                (step_s - by_ms as f64 / 1e3).abs() < 0.1,
                "{by_ms} ms reported as {step_s} s"
            );
            assert!(watch.elapsed() < Duration::from_secs(60));
        }
    }

    #[test]
    fn a_small_step_is_none() {
        let clock = Arc::new(SteppedClock::default());
        let watch = Stopwatch::start(Arc::clone(&clock) as Arc<dyn WallClock>);
        clock.step_ms(300);
        assert_eq!(watch.clock_step_s(), None);
    }

    #[test]
    fn the_system_clock_does_not_step_in_a_short_sleep() {
        let watch = Stopwatch::start(Arc::new(SystemClock));
        let due_ns = monotonic_ns() + 20_000_000;
        sleep_until(due_ns);
        assert!(monotonic_ns() >= due_ns);
        assert!(watch.elapsed() >= Duration::from_millis(20));
        assert_eq!(watch.clock_step_s(), None);
        assert!(watch.started_at().ends_with('Z'));
    }
}
