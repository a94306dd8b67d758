//! The common start: a barrier that opens even when a job never reaches it.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::clock::{Clock, SLEEP_SLICE, ns};

/// Time from the opening to the common start, in which all jobs must wake: a fixed part and a part for each job.
const LEAD: Duration = Duration::from_millis(1);
const LEAD_PER_JOB: Duration = Duration::from_micros(20);

#[derive(Debug)]
pub struct StartBarrier {
    state: Mutex<State>,
    opened: Condvar,
    jobs: usize,
    clock: Clock,
}

#[derive(Debug)]
struct State {
    missing: usize,
    common_start_ns: Option<u64>,
}

/// One job's place at the barrier. Dropping it unused, as a panic does, gives it up.
#[derive(Debug)]
pub struct Participant<'a> {
    barrier: &'a StartBarrier,
    arrived: bool,
}

impl StartBarrier {
    pub fn new(jobs: usize, clock: &Clock) -> Self {
        Self {
            state: Mutex::new(State {
                missing: jobs,
                common_start_ns: None,
            }),
            opened: Condvar::new(),
            jobs,
            clock: clock.clone(),
        }
    }

    pub fn participant(&self) -> Participant<'_> {
        Participant {
            barrier: self,
            arrived: false,
        }
    }

    /// The common start; `None` while the barrier is shut.
    pub fn common_start_ns(&self) -> Option<u64> {
        self.lock().common_start_ns
    }

    /// Waits until the barrier opens, without a participant; `None` if `halted` returns true first.
    pub fn wait(&self, halted: impl Fn() -> bool) -> Option<u64> {
        self.wait_locked(self.lock(), halted)
    }

    pub fn wake(&self) {
        self.clock.notify(&self.opened);
    }

    fn wait_locked<'g>(
        &'g self,
        mut state: MutexGuard<'g, State>,
        halted: impl Fn() -> bool,
    ) -> Option<u64> {
        loop {
            if let Some(start_ns) = state.common_start_ns {
                return Some(start_ns);
            }
            if halted() {
                return None;
            }
            let until_ns = self.clock.now_ns() + ns(SLEEP_SLICE);
            let opened = &self.opened;
            state = (self.clock).wait_for_change(&self.state, state, opened, until_ns);
        }
    }

    /// A thread that died with the lock held left the state consistent: every change is one step.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count_down(&self) -> MutexGuard<'_, State> {
        let mut state = self.lock();
        state.missing = state.missing.saturating_sub(1);
        if state.missing == 0 && state.common_start_ns.is_none() {
            let lead = LEAD + LEAD_PER_JOB * self.jobs as u32;
            let start_ns = self.clock.now_ns() + ns(lead);
            state.common_start_ns = Some(start_ns);
            self.clock.arrive(start_ns);
            self.clock.notify(&self.opened);
        }
        state
    }
}

impl Participant<'_> {
    /// Waits for the others and returns the common start, which is slightly in the future; `None` if `halted` returns
    /// true first.
    pub fn wait(mut self, halted: impl Fn() -> bool) -> Option<u64> {
        self.arrived = true;
        self.barrier.wait_locked(self.barrier.count_down(), halted)
    }
}

impl Drop for Participant<'_> {
    fn drop(&mut self) {
        if !self.arrived {
            drop(self.barrier.count_down());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opens_for_all_at_once_and_without_the_missing() {
        let barrier = StartBarrier::new(3, &Clock::Monotonic);
        let (one, two, absent) = (
            barrier.participant(),
            barrier.participant(),
            barrier.participant(),
        );
        drop(absent);
        let starts = std::thread::scope(|scope| {
            let waiting = scope.spawn(|| one.wait(|| false));
            [two.wait(|| false), waiting.join().unwrap()]
        });
        assert!(starts[0].is_some() && starts[0] == starts[1]);
        assert_eq!(barrier.common_start_ns(), starts[0]);
    }

    #[test]
    fn a_halt_ends_the_waiting() {
        let barrier = StartBarrier::new(2, &Clock::Monotonic);
        let _never_arrives = barrier.participant();
        assert_eq!(barrier.participant().wait(|| true), None);
        assert_eq!(barrier.common_start_ns(), None);
    }
}
