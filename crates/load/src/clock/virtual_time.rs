//! Time for tests: it stands still while a thread works, and jumps ahead when all threads wait.
//!
//! Of the participating threads one runs at a time. When it waits, the next ready one runs; if none is ready, time
//! jumps to the earliest deadline or event. At one moment events come first, in the order of their registration, then
//! threads in the order in which they began to wait. Nothing depends on the machine: the same drive has the same
//! outcome to the nanosecond.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::duration::ns;

/// Beginning of virtual time: not zero, which would hide a time that was never set.
const BEGIN_NS: u64 = 1_000_000_000;
const EVENTS: u64 = 0;

thread_local! {
    /// The number of this thread as a participant; 0 if it is none.
    static NUMBER: Cell<u64> = const { Cell::new(0) };
}

/// A clock whose time tests control; see [`super::Clock::new_virtual`].
pub struct VirtualClock {
    now_ns: AtomicU64,
    begun: Instant,
    state: Mutex<State>,
}

type Event = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct State {
    threads: BTreeMap<u64, Thread>,
    running: Option<u64>,
    /// The last number given, to threads, waits and events alike.
    numbers: u64,
    events: BTreeMap<(u64, u64), Event>,
    /// Number of participants still to come before time may pass, see [`Hold`].
    holds: usize,
}

struct Thread {
    wake: Arc<Condvar>,
    is_background: bool,
    status: Status,
    worked_ns: u64,
}

#[derive(Clone, Copy)]
enum Status {
    Running,
    /// Threads run in the order of these numbers.
    Ready(u64),
    Waiting {
        until_ns: u64,
        number: u64,
        /// True if a notification ends the wait as well.
        notified: bool,
    },
}

impl fmt::Debug for VirtualClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VirtualClock({:?})", self.elapsed())
    }
}

impl VirtualClock {
    pub(super) fn new() -> Self {
        Self {
            now_ns: AtomicU64::new(BEGIN_NS),
            begun: Instant::now(),
            state: Mutex::default(),
        }
    }

    pub fn now_ns(&self) -> u64 {
        self.now_ns.load(Relaxed)
    }

    pub fn elapsed(&self) -> Duration {
        Duration::from_nanos(self.now_ns() - BEGIN_NS)
    }

    /// Calls `event` at this time since the clock was made, at once if it has passed.
    pub fn at(&self, elapsed: Duration, event: impl FnOnce() + Send + 'static) {
        self.at_ns(BEGIN_NS.saturating_add(ns(elapsed)), event);
    }

    pub(crate) fn at_ns(&self, at_ns: u64, event: impl FnOnce() + Send + 'static) {
        if at_ns <= self.now_ns() {
            event();
            return self.notify();
        }
        let mut state = self.lock();
        let number = state.number();
        state.events.insert((at_ns, number), Box::new(event));
    }

    pub fn work(self: &Arc<Self>, lasting: Duration) {
        let until_ns = self.now_ns().saturating_add(ns(lasting));
        self.wait(until_ns, false);
        if let Some(thread) = self.lock().threads.get_mut(&NUMBER.get()) {
            thread.worked_ns += ns(lasting);
        }
    }

    pub(super) fn worked(&self) -> Duration {
        let state = self.lock();
        let thread = state.threads.get(&NUMBER.get());
        Duration::from_nanos(thread.map_or(0, |thread| thread.worked_ns))
    }

    pub(super) fn instant_of(&self, at_ns: u64) -> Instant {
        self.begun + Duration::from_nanos(at_ns.saturating_sub(BEGIN_NS))
    }

    /// Waits until `until_ns`, or until [`VirtualClock::notify`] if `notified`.
    pub(crate) fn wait(self: &Arc<Self>, until_ns: u64, notified: bool) {
        let me = NUMBER.get();
        if me == 0 {
            let part = Participation::new(self, false);
            part.enter();
            return self.wait(until_ns, notified);
        }
        let mut state = self.lock();
        let number = state.number();
        state.set(
            me,
            Status::Waiting {
                until_ns,
                number,
                notified,
            },
        );
        let state = self.hand_over(state);
        wait_for_turn(state, me);
    }

    /// Wakes all threads that wait for a change, so that they check for it.
    pub(crate) fn notify(&self) {
        let mut state = self.lock();
        state.wake(0, true);
        if state.running.is_none() {
            drop(self.hand_over(state));
        }
    }

    /// Stops time until the returned value is dropped.
    pub(super) fn hold(self: &Arc<Self>) -> Hold {
        self.lock().holds += 1;
        Hold(Arc::clone(self))
    }

    fn enroll(&self, is_background: bool) -> u64 {
        let mut state = self.lock();
        let number = state.number();
        let thread = Thread {
            wake: Arc::default(),
            is_background,
            status: Status::Ready(number),
            worked_ns: 0,
        };
        state.threads.insert(number, thread);
        if state.running.is_none() {
            drop(self.hand_over(state));
        }
        number
    }

    fn leave(&self, number: u64) {
        let mut state = self.lock();
        state.threads.remove(&number);
        // The thread's last action, such as closing a channel, may be the event for which others wait.
        state.wake(0, true);
        if state.running.is_none_or(|running| running == number) {
            drop(self.hand_over(state));
        }
    }

    fn hand_over<'s>(&'s self, mut state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        loop {
            state.running = None;
            if let Some(next) = state.next_ready() {
                state.running = Some(next);
                state.set(next, Status::Running);
                if let Some(thread) = state.threads.get(&next) {
                    thread.wake.notify_one();
                }
                return state;
            }
            let Some(at_ns) = state.next_ns() else {
                return state;
            };
            let now_ns = self.now_ns().max(at_ns);
            self.now_ns.store(now_ns, Relaxed);
            let later = state.events.split_off(&(now_ns, u64::MAX));
            let due = std::mem::replace(&mut state.events, later);
            let happened = !due.is_empty();
            if happened {
                state.running = Some(EVENTS);
                drop(state);
                due.into_values().for_each(|event| event());
                state = self.lock();
            }
            state.wake(now_ns, happened);
        }
    }

    /// A thread that panicked with the lock held left the state consistent: every change is one step.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    fn set(&mut self, number: u64, status: Status) {
        if let Some(thread) = self.threads.get_mut(&number) {
            thread.status = status;
        }
    }

    fn next_ready(&self) -> Option<u64> {
        let ready = self.threads.iter().filter_map(|(number, thread)| {
            let Status::Ready(order) = thread.status else {
                return None;
            };
            Some((order, *number))
        });
        ready.min().map(|(_, number)| number)
    }

    /// The next moment; `None` if time stands still: a participant is still to come, nobody waits for a time, or only
    /// background threads do.
    fn next_ns(&self) -> Option<u64> {
        if self.holds > 0 || self.threads.values().all(|thread| thread.is_background) {
            return None;
        }
        let deadlines = self.threads.values().filter_map(|thread| {
            let Status::Waiting { until_ns, .. } = thread.status else {
                return None;
            };
            (until_ns != u64::MAX).then_some(until_ns)
        });
        let event = self.events.keys().next().map(|(at_ns, _)| *at_ns);
        deadlines.chain(event).min()
    }

    /// Makes the threads ready whose deadline has come, and after a change those that wait for one. In the background
    /// it wakes all, because their time may no longer pass.
    fn wake(&mut self, now_ns: u64, something_happened: bool) {
        for thread in self.threads.values_mut() {
            if let Status::Waiting {
                until_ns,
                number,
                notified,
            } = thread.status
                && (until_ns <= now_ns || something_happened && (notified || thread.is_background))
            {
                thread.status = Status::Ready(number);
            }
        }
    }
}

fn wait_for_turn(mut state: MutexGuard<'_, State>, me: u64) {
    let Some(wake) = state
        .threads
        .get(&me)
        .map(|thread| Arc::clone(&thread.wake))
    else {
        return;
    };
    while state.running != Some(me) {
        state = wake.wait(state).unwrap_or_else(PoisonError::into_inner);
    }
}

/// Keeps time from passing until an absent participant takes part: without it, the time of the others would pass as
/// fast as the machine happens to start the threads.
#[derive(Debug)]
pub(super) struct Hold(Arc<VirtualClock>);

impl Drop for Hold {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.holds -= 1;
        if state.running.is_none() {
            drop(self.0.hand_over(state));
        }
    }
}

/// A thread's participation in virtual time; empty in real time.
///
/// It is created before the thread, so that time does not pass until the thread waits as well, and dropped when the
/// thread ends.
#[derive(Debug, Default)]
pub(crate) struct Participation(Option<(Arc<VirtualClock>, u64)>);

impl Participation {
    pub(super) fn new(clock: &Arc<VirtualClock>, is_background: bool) -> Self {
        Self(Some((Arc::clone(clock), clock.enroll(is_background))))
    }

    /// Must be called first on the thread: waits for its turn.
    pub(crate) fn enter(&self) {
        if let Some((clock, number)) = &self.0 {
            NUMBER.set(*number);
            wait_for_turn(clock.lock(), *number);
        }
    }
}

impl Drop for Participation {
    fn drop(&mut self) {
        if let Some((clock, number)) = &self.0 {
            if NUMBER.get() == *number {
                NUMBER.set(0);
            }
            clock.leave(*number);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::super::Clock;
    use super::*;

    fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    #[test]
    fn threads_wake_in_order_of_time_and_of_waiting() {
        for _ in 0..20 {
            let (clock, time) = Clock::new_virtual();
            let (sender, receiver) = mpsc::channel();
            let events = sender.clone();
            let observed = Arc::clone(&time);
            time.at(ms(20), move || {
                let _ = events.send((observed.elapsed(), 9));
            });
            let parts: Vec<_> = (0..3).map(|_| clock.participate()).collect();
            std::thread::scope(|scope| {
                for (number, part) in (0..).zip(parts) {
                    let (clock, time, sender) = (&clock, &time, sender.clone());
                    scope.spawn(move || {
                        part.enter();
                        for round in 1..=2 {
                            let at = clock.now_ns() + 20_000_000 - number * 10_000_000 / round;
                            clock.sleep_until(at, || false);
                            sender.send((time.elapsed(), number)).unwrap();
                        }
                    });
                }
            });
            drop(sender);
            let order: Vec<_> = receiver.iter().collect();
            let at = |milliseconds, number| (ms(milliseconds), number);
            assert_eq!(
                order,
                [
                    at(0, 2),
                    at(10, 1),
                    at(10, 2),
                    at(20, 9),
                    at(20, 0),
                    at(25, 1),
                    at(40, 0)
                ]
            );
        }
    }

    #[test]
    fn a_thread_that_takes_no_part_may_sleep_too_and_a_halt_is_noticed() {
        let (clock, time) = Clock::new_virtual();
        let begin = clock.now_ns();
        let hour = ns(Duration::from_secs(3600));
        assert_eq!(
            clock.sleep_until(begin + hour, || false),
            Some(begin + hour)
        );
        assert_eq!(time.elapsed(), Duration::from_secs(3600));
        let halted = || time.elapsed() > Duration::from_secs(3601);
        assert_eq!(clock.sleep_until(begin + 2 * hour, halted), None);
        assert_eq!(time.elapsed(), Duration::from_millis(3_601_100));
        assert_eq!(
            clock.instant_of(begin + hour) - clock.instant_of(begin),
            Duration::from_secs(3600)
        );
    }

    #[test]
    fn time_that_is_held_does_not_pass() {
        let (clock, time) = Clock::new_virtual();
        let hold = time.hold();
        let part = clock.participate();
        let (sender, receiver) = mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                part.enter();
                sender.send(()).unwrap();
                clock.sleep_until(clock.now_ns() + 5_000_000, || false);
                drop(part);
            });
            receiver.recv().unwrap();
            // Once the thread waits, time would pass.
            while time.lock().running.is_some() {
                std::thread::yield_now();
            }
            assert_eq!(time.elapsed(), ms(0));
            drop(hold);
        });
        assert_eq!(time.elapsed(), ms(5));
    }

    /// Time does not pass for a background thread on its own; it is woken when the others are gone.
    #[test]
    fn the_background_does_not_make_time_pass() {
        let (clock, time) = Clock::new_virtual();
        let (sender, receiver) = mpsc::channel::<()>();
        let (worker, listener) = (clock.participate(), clock.participate_in_background());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                worker.enter();
                let sender_held = sender;
                clock.sleep_until(clock.now_ns() + 5_000_000, || false);
                drop(sender_held);
                drop(worker);
            });
            listener.enter();
            let none = clock.receive(&receiver, Some(clock.now_ns() + 1_000_000));
            assert_eq!(none, Err(mpsc::RecvTimeoutError::Timeout));
            assert_eq!(time.elapsed(), ms(1));
            let none = clock.receive(&receiver, None);
            assert_eq!(none, Err(mpsc::RecvTimeoutError::Disconnected));
            drop(listener);
        });
        assert_eq!(time.elapsed(), ms(5));
    }
}
