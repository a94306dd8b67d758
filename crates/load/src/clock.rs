//! The one clock of a drive: monotonic, so that steps of the wall clock have no effect; virtual in tests.
//!
//! All times are nanoseconds of `CLOCK_MONOTONIC`, which [`std::time::Instant`] reads on Linux, unless a test sets
//! the time ([`Clock::new_virtual`]).

mod alternation;
mod duration;
mod virtual_time;

use std::fs::File;
use std::num::NonZeroU64;
use std::os::unix::fs::FileExt;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use alternation::Alternation;
pub use alternation::{SideClock, Slices};
pub use duration::{SLEEP_SLICE, ns};
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec};
pub(crate) use virtual_time::Participation;
pub use virtual_time::VirtualClock;

/// Time source of a drive, on which its threads also wait.
#[derive(Debug, Clone, Default)]
pub enum Clock {
    #[default]
    Monotonic,
    Virtual(Arc<VirtualClock>),
    /// The clock of a drive that takes turns with another one.
    Alternating {
        side: Arc<SideClock>,
        base: Box<Clock>,
    },
}

impl Clock {
    /// A virtual clock, for a drive and for the test that observes it.
    pub fn new_virtual() -> (Self, Arc<VirtualClock>) {
        let clock = Arc::new(VirtualClock::new());
        (Self::Virtual(Arc::clone(&clock)), clock)
    }

    /// The clocks of two drives that take turns: the time of one stands still while that of the other passes.
    pub fn alternating(slices: Slices, base: &Clock) -> [Self; 2] {
        let hold = || match base {
            Clock::Virtual(clock) => Some(clock.hold()),
            _ => None,
        };
        Alternation::of(slices, hold).map(|side| Self::Alternating {
            side,
            base: Box::new(base.clone()),
        })
    }

    /// The drive that takes turns does not come, or has ended, so that the other stops waiting.
    pub fn abandon(&self) {
        if let Clock::Alternating { side, .. } = self {
            side.abandon();
        }
    }

    #[inline]
    pub fn now_ns(&self) -> u64 {
        match self {
            Clock::Monotonic => now_ns(),
            Clock::Virtual(clock) => clock.now_ns(),
            Clock::Alternating { side, base } => side.moment(base.now_ns()).own_ns,
        }
    }

    /// End of an operation that began at `began_ns` and ends now, and whether the client's next operation counts.
    #[inline]
    pub(crate) fn ended_ns(&self, began_ns: u64) -> (u64, bool) {
        match self {
            Clock::Alternating { side, base } => {
                let ended_ns = side.ended_ns(began_ns, base.now_ns());
                (ended_ns, side.counts(ended_ns))
            }
            _ => (self.now_ns(), true),
        }
    }

    pub(crate) fn counts_at_start(&self) -> bool {
        !matches!(self, Clock::Alternating { .. })
    }

    #[inline]
    pub(crate) fn may_begin(&self) -> bool {
        match self {
            Clock::Alternating { side, base } => !side.moment(base.now_ns()).waits,
            _ => true,
        }
    }

    pub(crate) fn arrive(&self, common_start_ns: u64) {
        if let Clock::Alternating { side, base } = self {
            side.arrive(common_start_ns, base.now_ns());
        }
    }

    /// The clock on which this one is based, and on that clock: when to check again for `until_ns`, and now.
    pub(crate) fn check_again_ns(
        &self,
        until_ns: Option<u64>,
        now_ns: u64,
    ) -> (&Clock, Option<u64>, u64) {
        match self {
            Clock::Alternating { side, base } => {
                let real_ns = base.now_ns();
                let again_ns = side
                    .moment(real_ns)
                    .wake_ns(real_ns, until_ns.unwrap_or(u64::MAX));
                (base, Some(again_ns), real_ns)
            }
            _ => (self, until_ns, now_ns),
        }
    }

    fn in_real_time_ns(&self, until_ns: u64) -> u64 {
        let (_, again_ns, _) = self.check_again_ns(Some(until_ns), 0);
        again_ns.unwrap_or(until_ns)
    }

    fn base(&self) -> &Clock {
        match self {
            Clock::Alternating { base, .. } => base,
            _ => self,
        }
    }

    #[inline]
    pub fn sleep_until(&self, deadline_ns: u64, halted: impl Fn() -> bool) -> Option<u64> {
        match self {
            Clock::Monotonic => sleep_until(deadline_ns, halted),
            Clock::Virtual(clock) => loop {
                let now = clock.now_ns();
                if now >= deadline_ns {
                    return Some(now);
                }
                if halted() {
                    return None;
                }
                clock.wait(slice_end(now).min(deadline_ns), false);
            },
            Clock::Alternating { side, base } => sleep_in_turn(side, base, deadline_ns, &halted),
        }
    }

    /// Waits for a change of the contents of `mutex`, until `until_ns` at most; the writer calls [`Clock::notify`].
    /// As with a [`Condvar`], it may return without a change.
    pub fn wait_for_change<'m, T>(
        &self,
        mutex: &'m Mutex<T>,
        guard: MutexGuard<'m, T>,
        changed: &Condvar,
        until_ns: u64,
    ) -> MutexGuard<'m, T> {
        match self {
            Clock::Monotonic => {
                let left = Duration::from_nanos(until_ns.saturating_sub(now_ns()));
                let waited = changed.wait_timeout(guard, left);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
            Clock::Virtual(clock) => {
                drop(guard);
                clock.wait(until_ns, true);
                mutex.lock().unwrap_or_else(PoisonError::into_inner)
            }
            Clock::Alternating { base, .. } => {
                let again_ns = self.in_real_time_ns(until_ns);
                base.wait_for_change(mutex, guard, changed, again_ns)
            }
        }
    }

    pub fn notify(&self, changed: &Condvar) {
        match self {
            Clock::Monotonic => changed.notify_all(),
            Clock::Virtual(clock) => clock.notify(),
            Clock::Alternating { base, .. } => base.notify(changed),
        }
    }

    /// Processor time of the calling thread so far; in virtual time the work that it has declared.
    pub fn thread_cpu(&self) -> Duration {
        match self {
            Clock::Monotonic => Duration::from_nanos(read(libc::CLOCK_THREAD_CPUTIME_ID)),
            Clock::Virtual(clock) => clock.worked(),
            Clock::Alternating { base, .. } => base.thread_cpu(),
        }
    }

    /// In virtual time only: wakes threads in [`Clock::receive`].
    pub(crate) fn sent(&self) {
        if let Clock::Virtual(clock) = self.base() {
            clock.notify();
        }
    }

    /// Receives from a channel, waiting until `until_ns` at most. Fails if nothing came in time, or all senders are
    /// gone.
    pub(crate) fn receive<T>(
        &self,
        channel: &Receiver<T>,
        until_ns: Option<u64>,
    ) -> Result<T, RecvTimeoutError> {
        match (self, until_ns) {
            (Clock::Alternating { base, .. }, until_ns) => base.receive(
                channel,
                until_ns.map(|until_ns| self.in_real_time_ns(until_ns)),
            ),
            (Clock::Monotonic, None) => channel.recv().map_err(|_| RecvTimeoutError::Disconnected),
            (Clock::Monotonic, Some(until_ns)) => {
                let left = Duration::from_nanos(until_ns.saturating_sub(now_ns()));
                channel.recv_timeout(left)
            }
            (Clock::Virtual(clock), until_ns) => loop {
                match channel.try_recv() {
                    Ok(came) => return Ok(came),
                    Err(TryRecvError::Disconnected) => return Err(RecvTimeoutError::Disconnected),
                    Err(TryRecvError::Empty) => {}
                }
                let until_ns = until_ns.unwrap_or(u64::MAX);
                if clock.now_ns() >= until_ns {
                    return Err(RecvTimeoutError::Timeout);
                }
                clock.wait(until_ns, true);
            },
        }
    }

    /// The participation of a thread that is about to start, see [`Participation`].
    pub(crate) fn participate(&self) -> Participation {
        self.take_part(false)
    }

    /// As [`Clock::participate`], for a thread that does not make time pass on its own.
    pub(crate) fn participate_in_background(&self) -> Participation {
        self.take_part(true)
    }

    fn take_part(&self, is_background: bool) -> Participation {
        let participation = match self.base() {
            Clock::Virtual(clock) => Participation::new(clock, is_background),
            _ => Participation::default(),
        };
        // A background thread that waits does not keep time from passing.
        if let Clock::Alternating { side, .. } = self
            && !is_background
        {
            side.come();
        }
        participation
    }

    pub(crate) fn usage_meter(&self) -> UsageMeter {
        match self.base() {
            Clock::Virtual(clock) => UsageMeter {
                schedstat: None,
                clock: Some(Arc::clone(clock)),
            },
            _ => UsageMeter::of_this_thread(),
        }
    }

    pub fn instant_of(&self, at_ns: u64) -> Instant {
        match self {
            Clock::Virtual(clock) => return clock.instant_of(at_ns),
            Clock::Alternating { side, base } => return base.instant_of(side.real_ns(at_ns)),
            Clock::Monotonic => {}
        }
        let (instant, now_ns) = (Instant::now(), now_ns());
        if at_ns > now_ns {
            instant + Duration::from_nanos(at_ns - now_ns)
        } else {
            let ago = Duration::from_nanos(now_ns - at_ns);
            instant.checked_sub(ago).unwrap_or(instant)
        }
    }
}

/// As [`Clock::sleep_until`], and until it is the side's turn; also `None` if the other side does not come.
fn sleep_in_turn(
    side: &SideClock,
    base: &Clock,
    own_ns: u64,
    halted: &dyn Fn() -> bool,
) -> Option<u64> {
    // A named function, because a closure would have a different type at each level of clocks.
    fn nobody_halts() -> bool {
        false
    }
    loop {
        let real_ns = base.now_ns();
        let now = side.moment(real_ns);
        if !now.waits && now.own_ns >= own_ns {
            return Some(now.own_ns);
        }
        if halted() || (now.waits && side.is_abandoned()) {
            return None;
        }
        let wake_ns = now.wake_ns(real_ns, own_ns);
        base.sleep_until(wake_ns.min(slice_end(real_ns)), nobody_halts);
    }
}

fn slice_end(now_ns: u64) -> u64 {
    now_ns.saturating_add(ns(SLEEP_SLICE))
}

#[inline]
pub fn now_ns() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

/// Sleeps until `deadline_ns` and returns the time of waking, which is never before the deadline; `None` as soon as
/// `halted` returns true (checked at least every [`SLEEP_SLICE`]).
///
/// A deadline in the past costs one clock reading. There is no spinning: a driver that burns processor time while it
/// waits
/// processor time while it waits takes it from the database on the same machine.
#[inline]
pub fn sleep_until(deadline_ns: u64, halted: impl Fn() -> bool) -> Option<u64> {
    loop {
        let now = now_ns();
        if now >= deadline_ns {
            return Some(now);
        }
        if halted() {
            return None;
        }
        nap(slice_end(now).min(deadline_ns));
    }
}

/// Requests exact wake-ups for this thread (1 ns of slack instead of the usual 50 µs). If this is refused, waking is
/// merely later, which the late starts show.
pub fn sharpen_timers() {
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
}

/// Usage of a thread according to the kernel; only differences of two readings are meaningful.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    pub cpu: Duration,
    /// Time runnable but waiting for a processor; `None` if the kernel does not report it.
    pub run_queue: Option<Duration>,
}

/// Reads the usage of the thread that made it; the file stays open, so that a reading costs microseconds.
#[derive(Debug)]
pub struct UsageMeter {
    schedstat: Option<File>,
    /// In virtual time, the source of the declared work.
    clock: Option<Arc<VirtualClock>>,
}

impl UsageMeter {
    pub fn of_this_thread() -> Self {
        Self {
            schedstat: File::open("/proc/thread-self/schedstat").ok(),
            clock: None,
        }
    }

    /// The usage up to now; must be called on the thread that made the meter.
    pub fn read(&self) -> Usage {
        if let Some(clock) = &self.clock {
            return Usage {
                cpu: clock.worked(),
                run_queue: Some(Duration::ZERO),
            };
        }
        let mut buffer = [0u8; 96];
        let run_queue = self
            .schedstat
            .as_ref()
            .and_then(|file| file.read_at(&mut buffer, 0).ok())
            .and_then(|length| parse_run_queue(&buffer[..length]));
        Usage {
            cpu: Duration::from_nanos(read(libc::CLOCK_THREAD_CPUTIME_ID)),
            run_queue,
        }
    }
}

impl Usage {
    pub fn since(&self, earlier: &Usage) -> Usage {
        Usage {
            cpu: self.cpu.saturating_sub(earlier.cpu),
            run_queue: self
                .run_queue
                .zip(earlier.run_queue)
                .map(|(now, then)| now.saturating_sub(then)),
        }
    }
}

/// Processor time of all threads of this process so far, including the kernel's helper threads.
pub fn process_cpu() -> Duration {
    Duration::from_nanos(read(libc::CLOCK_PROCESS_CPUTIME_ID))
}

/// The second number of `schedstat`: nanoseconds spent waiting on a run queue.
fn parse_run_queue(text: &[u8]) -> Option<Duration> {
    let ns = std::str::from_utf8(text).ok()?.split_whitespace().nth(1)?;
    Some(Duration::from_nanos(ns.parse().ok()?))
}

#[inline]
fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid timespec for the call to fill; all clocks used here always exist on
    // Linux, so the call cannot fail.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// One sleep to an absolute time; returns early on a signal, so the caller loops.
fn nap(until_ns: u64) {
    let _ = clock_nanosleep_absolute(ClockId::Monotonic, &timespec(until_ns));
}

pub(crate) fn timespec(ns: u64) -> Timespec {
    Timespec {
        tv_sec: (ns / 1_000_000_000) as i64,
        tv_nsec: (ns % 1_000_000_000) as i64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_wakes_before_the_deadline() {
        let deadline = now_ns() + 5_000_000;
        let woken = sleep_until(deadline, || false).unwrap();
        assert!(woken >= deadline && now_ns() >= woken);
        assert!(sleep_until(deadline, || true).is_some(), "already past");
    }

    #[test]
    fn a_halt_ends_a_long_sleep() {
        let checks = std::cell::Cell::new(0);
        let halted = || checks.replace(checks.get() + 1) >= 1;
        let begin = now_ns();
        assert_eq!(
            sleep_until(begin + ns(Duration::from_secs(3600)), halted),
            None
        );
        assert!(now_ns() - begin < ns(Duration::from_secs(60)));
    }

    #[test]
    fn usage_grows_with_work() {
        let meter = UsageMeter::of_this_thread();
        let before = meter.read();
        while meter.read().since(&before).cpu < Duration::from_millis(2) {}
        assert_eq!(
            parse_run_queue(b"123 4567 8\n"),
            Some(Duration::from_nanos(4567))
        );
        assert_eq!(parse_run_queue(b"123"), None);
        assert_eq!(ns(Duration::MAX), u64::MAX);
    }
}
