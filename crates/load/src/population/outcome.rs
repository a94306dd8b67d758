//! What driving a population gives back.

use std::time::{Duration, Instant};

use stats::Histogram;

use super::series::PopulationInterval;
use crate::outcome::DriverThreads;
use crate::recorder::Timing;

/// What was done of one kind of operation within the measured window.
#[derive(Debug, Clone, Default)]
pub struct KindOutcome {
    /// Operations completed, those rolled back on purpose included.
    pub completed: u64,
    /// Those of them that were rolled back on purpose.
    pub rolled_back: u64,
    /// Rows the completed ones reported.
    pub rows: u64,
    /// Retries within the completed ones.
    pub retries: u64,
    /// Operations that failed, with the timeouts.
    pub errors: u64,
    /// Operations that took longer than their limit.
    pub timeouts: u64,
    /// Σ of what of the service times lay in the window, failed operations and those in hand at its end included.
    pub busy: Duration,
    /// Start → end of the completed ones, and of those that were in hand when the window ended.
    pub service: Histogram,
    /// Asked → end: what the user felt. Of the same, and of those that waited then and had done so for long: asked → end
    /// of the window.
    pub response: Histogram,
    /// Asked → a connection was free, of the same; the part of the response that more connections would take away.
    pub waiting: Histogram,
}

impl KindOutcome {
    /// Records the times of an answered operation; gives its response time.
    #[inline]
    pub(super) fn record(&mut self, timing: &Timing) -> u64 {
        let response_ns = timing.end_ns.saturating_sub(timing.intended_ns);
        self.service
            .record_ns(timing.end_ns.saturating_sub(timing.start_ns));
        self.response.record_ns(response_ns);
        self.waiting
            .record_ns(timing.free_ns.saturating_sub(timing.intended_ns));
        response_ns
    }

    /// Records what is known of an operation that was not answered; gives its response time so far.
    pub(super) fn record_wait(&mut self, response_ns: u64, waiting_ns: u64) -> u64 {
        self.response.record_ns(response_ns);
        self.waiting.record_ns(waiting_ns);
        response_ns
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &KindOutcome) {
        self.completed += other.completed;
        self.rolled_back += other.rolled_back;
        self.rows += other.rows;
        self.retries += other.retries;
        self.errors += other.errors;
        self.timeouts += other.timeouts;
        self.busy += other.busy;
        self.service.merge(&other.service);
        self.response.merge(&other.response);
        self.waiting.merge(&other.waiting);
    }
}

/// The measured part of driving a population.
#[derive(Debug, Clone, Default)]
pub struct PopulationOutcome {
    /// The start of the measured window, for laying samples of the machine beside; `None` when it never came
    /// to it.
    pub started: Option<Instant>,
    /// Length of the window, by which rates are divided; shorter than asked for where the drive was stopped.
    pub elapsed: Duration,
    pub users: u32,
    /// Connections at the beginning.
    pub connections: usize,
    /// One entry for each kind of operation.
    pub kinds: Vec<KindOutcome>,
    /// The series over time.
    pub intervals: Vec<PopulationInterval>,
    /// Operations that were asked for within the window.
    pub asked: u64,
    /// Operations that were asked for and not done when the window ended, waiting or in hand. In an open model a number that grows with the window says that the target does not keep up with the rate.
    pub unfinished: u64,
    /// Operations that started more than 1 ms late although a connection was free when their user asked.
    pub late_starts: u64,
    /// The latest of them.
    pub late_start_max: Duration,
    /// Σ of the time in which a user had asked, a connection was free, and the driver had not begun yet.
    pub driver_delay: Duration,
    /// Connections that were given up in the middle of an operation.
    pub connections_lost: u64,
    /// The first few distinct messages of failures.
    pub error_messages: Vec<String>,
    /// Why the whole drive was stopped: its figures must not be used.
    pub fatal: Option<String>,
    /// Whether the stop flag cut the drive short.
    pub interrupted: bool,
    /// The threads of event loops; `None` where every connection had its own thread.
    pub driver_threads: Option<DriverThreads>,
}

impl PopulationOutcome {
    /// An outcome that says nothing but why.
    pub(super) fn fatal(message: String) -> Self {
        Self {
            fatal: Some(message),
            ..Self::default()
        }
    }

    /// All kinds together.
    pub fn total(&self) -> KindOutcome {
        let mut total = KindOutcome::default();
        self.kinds.iter().for_each(|kind| total.merge(kind));
        total
    }

    /// Operations completed, of all kinds.
    pub fn completed(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.completed).sum()
    }

    /// Operations that failed, of all kinds.
    pub fn errors(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.errors).sum()
    }

    /// Operations completed per second, of all kinds; `None` when no time passed.
    pub fn completed_per_s(&self) -> Option<f64> {
        self.per_s(self.completed())
    }

    /// A count of the window as a rate; `None` when no time passed.
    pub fn per_s(&self, count: u64) -> Option<f64> {
        let elapsed_s = self.elapsed.as_secs_f64();
        (elapsed_s > 0.0).then(|| count as f64 / elapsed_s)
    }

    /// Mean number of connections at work: Σ service / elapsed (Little); `None` when no time passed.
    pub fn connections_busy_mean(&self) -> Option<f64> {
        let busy: Duration = self.kinds.iter().map(|kind| kind.busy).sum();
        let elapsed_s = self.elapsed.as_secs_f64();
        (elapsed_s > 0.0).then(|| busy.as_secs_f64() / elapsed_s)
    }

    /// Late starts in percent of all operations; `None` when there were none.
    pub fn late_starts_pct(&self) -> Option<f64> {
        let all = self.completed() + self.errors();
        (all > 0).then(|| 100.0 * self.late_starts as f64 / all as f64)
    }

    /// Late starts in percent of all operations that waiting for a processor does not explain, of which each
    /// takes 1 ms at least: where all processors are taken no driver wakes in time. `None` when there were no
    /// operations, or the kernel does not tell the waiting.
    pub fn own_late_starts_pct(&self) -> Option<f64> {
        let waited = self.driver_threads?.run_queue?;
        let explained = u64::try_from(waited.as_millis()).unwrap_or(u64::MAX);
        let own = self.late_starts.saturating_sub(explained);
        let all = self.completed() + self.errors();
        (all > 0).then(|| 100.0 * own as f64 / all as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Golden: 12 late of 200, while the driver waited 9.5 ms for a processor: 3 are its own.
    #[test]
    fn late_starts_are_told_apart() {
        let kind = KindOutcome {
            completed: 150,
            errors: 50,
            busy: Duration::from_secs(30),
            ..KindOutcome::default()
        };
        let mut outcome = PopulationOutcome {
            elapsed: Duration::from_secs(10),
            kinds: vec![kind],
            late_starts: 12,
            driver_threads: Some(DriverThreads {
                run_queue: Some(Duration::from_micros(9_500)),
                ..DriverThreads::default()
            }),
            ..PopulationOutcome::default()
        };
        assert_eq!(outcome.late_starts_pct(), Some(6.0));
        assert_eq!(outcome.own_late_starts_pct(), Some(1.5));
        assert_eq!(outcome.completed_per_s(), Some(15.0));
        assert_eq!(outcome.connections_busy_mean(), Some(3.0));
        outcome.driver_threads = None;
        assert_eq!(outcome.own_late_starts_pct(), None);
        let nothing = PopulationOutcome::default();
        assert_eq!(
            (nothing.late_starts_pct(), nothing.completed_per_s()),
            (None, None)
        );
    }
}
