//! The common start: a barrier that opens even when a job never reaches it.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::clock::{SLEEP_SLICE, now_ns, ns};

/// Between the opening and the common start all jobs must wake: a fixed part and a part of each job.
const LEAD: Duration = Duration::from_millis(1);
const LEAD_PER_JOB: Duration = Duration::from_micros(20);

/// Opens when every ticket was either shown or given up.
#[derive(Debug)]
pub struct Gate {
    state: Mutex<State>,
    opened: Condvar,
    jobs: usize,
}

#[derive(Debug)]
struct State {
    missing: usize,
    common_start_ns: Option<u64>,
}

/// One job's right to be waited for. Dropping it unused, as a panic does, gives the right up.
#[derive(Debug)]
pub struct Ticket<'a> {
    gate: &'a Gate,
    shown: bool,
}

impl Gate {
    /// A gate for so many jobs.
    pub fn new(jobs: usize) -> Self {
        Self {
            state: Mutex::new(State {
                missing: jobs,
                common_start_ns: None,
            }),
            opened: Condvar::new(),
            jobs,
        }
    }

    /// A ticket; there must be exactly one for each job.
    pub fn ticket(&self) -> Ticket<'_> {
        Ticket {
            gate: self,
            shown: false,
        }
    }

    /// When the jobs start; `None` while the gate is shut.
    pub fn common_start_ns(&self) -> Option<u64> {
        self.lock().common_start_ns
    }

    /// A thread that died with the lock held left the state whole: every change to it is one step.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count_down(&self) -> MutexGuard<'_, State> {
        let mut state = self.lock();
        state.missing = state.missing.saturating_sub(1);
        if state.missing == 0 && state.common_start_ns.is_none() {
            let lead = LEAD + LEAD_PER_JOB * self.jobs as u32;
            state.common_start_ns = Some(now_ns() + ns(lead));
            self.opened.notify_all();
        }
        state
    }
}

impl Ticket<'_> {
    /// Waits for the others and returns the common start, which lies a little ahead; `None` when `halted` says so first.
    pub fn wait(mut self, halted: impl Fn() -> bool) -> Option<u64> {
        self.shown = true;
        let mut state = self.gate.count_down();
        loop {
            if let Some(start_ns) = state.common_start_ns {
                return Some(start_ns);
            }
            if halted() {
                return None;
            }
            state = self
                .gate
                .opened
                .wait_timeout(state, SLEEP_SLICE)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        if !self.shown {
            drop(self.gate.count_down());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opens_for_all_at_once_and_without_the_missing() {
        let gate = Gate::new(3);
        let (one, two, absent) = (gate.ticket(), gate.ticket(), gate.ticket());
        drop(absent);
        let starts = std::thread::scope(|scope| {
            let waiting = scope.spawn(|| one.wait(|| false));
            [two.wait(|| false), waiting.join().unwrap()]
        });
        assert!(starts[0].is_some() && starts[0] == starts[1]);
        assert_eq!(gate.common_start_ns(), starts[0]);
    }

    #[test]
    fn a_halt_ends_the_waiting() {
        let gate = Gate::new(2);
        let _never_shown = gate.ticket();
        assert_eq!(gate.ticket().wait(|| true), None);
        assert_eq!(gate.common_start_ns(), None);
    }
}
