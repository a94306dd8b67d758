//! What a drive gives back.

use std::time::{Duration, Instant};

use stats::Histogram;

use crate::clock::Usage;
use crate::recorder::{MESSAGES_MAX, Sums};
use crate::series::Interval;

/// What one job did within the measured window; points in time count from the common start.
#[derive(Debug, Clone, Default)]
pub struct JobOutcome {
    /// End of its last operation; zero when it had none.
    pub finish: Duration,
    /// Operations completed.
    pub operations: u64,
    /// Rows they reported.
    pub rows: u64,
    /// From its start to its finish.
    pub active: Duration,
    /// Σ service times, failed operations included.
    pub service: Duration,
    /// Σ pauses: think time and waiting for a tick, up to the intended start.
    pub waited: Duration,
    /// Processor time of the job's thread; of an embedded engine this is the work itself. In an event loop an
    /// equal share of the threads'.
    pub cpu: Duration,
    /// Time the thread was runnable and waited for a processor, shared likewise; `None` where the kernel does
    /// not say.
    pub run_queue: Option<Duration>,
}

/// The measured part of a drive.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// The common start, for laying samples of the machine beside; `None` when it never came to it.
    pub started: Option<Instant>,
    /// From the common start to the last finish, and in a drive over time at least to the end of the window.
    pub elapsed: Duration,
    /// One entry per job, in the order of the clients.
    pub jobs: Vec<JobOutcome>,
    /// Start → end of every completed operation.
    pub service: Histogram,
    /// Intended start → end of every completed operation.
    pub response: Histogram,
    /// Operations that failed, with the unserved ones.
    pub errors: u64,
    /// Operations that were due in the window and given up, because draining took longer than its bound.
    pub unserved: u64,
    /// The first few distinct messages of failures.
    pub error_messages: Vec<String>,
    /// Why the whole drive was stopped: its figures must not be used.
    pub fatal: Option<String>,
    /// Retries within operations, as the clients reported them.
    pub retries: u64,
    /// Operations completed.
    pub operations: u64,
    /// Rows they reported.
    pub rows: u64,
    /// Operations that started more than 1 ms late although their job was free and waiting for their time.
    pub late_starts: u64,
    /// The latest of them.
    pub late_start_max: Duration,
    /// The series over time.
    pub intervals: Vec<Interval>,
    /// Whether the stop flag cut the drive short.
    pub interrupted: bool,
    /// The threads of an event loop, which do nothing but drive; `None` when every job had its own thread,
    /// whose processor time is the engine's work as well.
    pub driver_threads: Option<DriverThreads>,
}

/// What the threads of an event loop used in the measured window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DriverThreads {
    /// How many there were at the end.
    pub threads: usize,
    /// Their processor time.
    pub cpu: Duration,
    /// The processor time of the busiest of them.
    pub cpu_busiest: Duration,
    /// Time they were runnable and waited for a processor; `None` where the kernel does not say.
    pub run_queue: Option<Duration>,
}

impl DriverThreads {
    /// Adds a thread.
    pub(crate) fn add(&mut self, usage: &Usage) {
        let run_queue = if self.threads == 0 {
            Some(Duration::ZERO)
        } else {
            self.run_queue
        };
        self.run_queue = run_queue.zip(usage.run_queue).map(|(a, b)| a + b);
        self.threads += 1;
        self.cpu += usage.cpu;
        self.cpu_busiest = self.cpu_busiest.max(usage.cpu);
    }
}

impl Outcome {
    /// An outcome that says nothing but why.
    pub(crate) fn fatal(message: String) -> Self {
        Self {
            fatal: Some(message),
            ..Self::default()
        }
    }

    /// Adds the sums of one job; `from_ns` is the common start on the clock of the sums.
    pub(crate) fn add_sums(&mut self, sums: &Sums, from_ns: u64) {
        let finish = Duration::from_nanos(sums.finish_ns.saturating_sub(from_ns));
        self.operations += sums.operations;
        self.rows += sums.rows;
        self.retries += sums.retries;
        self.errors += sums.errors;
        self.late_starts += sums.late_starts;
        self.late_start_max = self
            .late_start_max
            .max(Duration::from_nanos(sums.late_max_ns));
        self.elapsed = self.elapsed.max(finish);
        self.jobs.push(JobOutcome {
            finish,
            operations: sums.operations,
            rows: sums.rows,
            active: Duration::from_nanos(sums.finish_ns.saturating_sub(sums.begin_ns)),
            service: Duration::from_nanos(sums.service_ns),
            waited: Duration::from_nanos(sums.waited_ns),
            ..JobOutcome::default()
        });
    }

    /// Keeps a message if it is new and there is room.
    pub(crate) fn add_message(&mut self, message: &str) {
        let known = self.error_messages.iter().any(|m| m == message);
        if !known && self.error_messages.len() < MESSAGES_MAX {
            self.error_messages.push(message.to_owned());
        }
    }

    /// Operations per second: the completed work over the measured time; `None` when no time passed.
    pub fn operations_per_s(&self) -> Option<f64> {
        let elapsed_s = self.elapsed.as_secs_f64();
        (elapsed_s > 0.0).then(|| self.operations as f64 / elapsed_s)
    }

    /// Mean number of operations in flight: Σ service / elapsed (Little); `None` when no time passed.
    pub fn in_flight_mean(&self) -> Option<f64> {
        let elapsed_s = self.elapsed.as_secs_f64();
        (elapsed_s > 0.0).then(|| self.total(|job| job.service).as_secs_f64() / elapsed_s)
    }

    /// How far Little's law is missed, in percent of the time the jobs were at work (pauses taken out):
    /// what is missing was spent in the driver. `None` when the jobs were never at work.
    pub fn little_error_pct(&self) -> Option<f64> {
        let at_work = self
            .total(|job| job.active)
            .saturating_sub(self.total(|job| job.waited));
        let service = self.total(|job| job.service);
        stats::scaling::little_error_pct(service.as_secs_f64(), at_work.as_secs_f64())
    }

    /// Time of all jobs that went neither into operations nor into pauses: the driver's own.
    pub fn driver_time(&self) -> Duration {
        self.total(|job| job.active)
            .saturating_sub(self.total(|job| job.service))
            .saturating_sub(self.total(|job| job.waited))
    }

    /// Processor time of the driver itself: measured where its threads do nothing else, else what is missing
    /// between the operations, but no more than the jobs' threads were on processors at all: between
    /// operations they may have waited for one.
    pub fn driver_cpu(&self) -> Duration {
        match &self.driver_threads {
            Some(used) => used.cpu,
            None => self.driver_time().min(self.total(|job| job.cpu)),
        }
    }

    /// When the first job was done; `None` when none did anything. A job that got nothing to do does not count.
    pub fn first_finish(&self) -> Option<Duration> {
        let finishes = self.jobs.iter().map(|job| job.finish);
        finishes.filter(|finish| !finish.is_zero()).min()
    }

    /// Rates of the whole intervals in operations per second, for judging steadiness; a cut last interval is left out.
    pub fn interval_rates_per_s(&self) -> Vec<f64> {
        let whole = self.intervals.first().map_or(Duration::ZERO, |i| i.length);
        self.intervals
            .iter()
            .filter(|i| i.length == whole && !whole.is_zero())
            .map(|i| i.operations as f64 / i.length.as_secs_f64())
            .collect()
    }

    /// Longest time without a completed operation, in whole intervals of the series: it may have been longer by less
    /// than two of them.
    pub fn idle_longest(&self) -> Duration {
        let (mut longest, mut idle) = (Duration::ZERO, Duration::ZERO);
        for interval in &self.intervals {
            idle = match interval.operations {
                0 => idle + interval.length,
                _ => Duration::ZERO,
            };
            longest = longest.max(idle);
        }
        longest
    }

    fn total(&self, of: impl Fn(&JobOutcome) -> Duration) -> Duration {
        self.jobs.iter().map(of).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Golden: two jobs, 10 s each, of which 2 s pauses and 7.6 s service: 5 % are missing.
    #[test]
    fn golden_accounting() {
        let job = Sums {
            operations: 50,
            service_ns: 7_600_000_000,
            waited_ns: 2_000_000_000,
            begin_ns: 1_000_000_000,
            finish_ns: 11_000_000_000,
            ..Sums::default()
        };
        let mut outcome = Outcome::default();
        outcome.add_sums(&job, 1_000_000_000);
        outcome.add_sums(&job, 1_000_000_000);
        assert_eq!(outcome.elapsed, Duration::from_secs(10));
        assert_eq!(outcome.first_finish(), Some(Duration::from_secs(10)));
        assert_eq!(outcome.driver_time(), Duration::from_millis(800));
        assert!((outcome.little_error_pct().unwrap() - 5.0).abs() < 1e-9);
        assert!((outcome.in_flight_mean().unwrap() - 1.52).abs() < 1e-9);
        assert!((outcome.operations_per_s().unwrap() - 10.0).abs() < 1e-9);
    }

    #[test]
    fn waiting_for_a_processor_is_no_processor_time_of_the_driver() {
        let job = |cpu_ms| JobOutcome {
            active: Duration::from_secs(10),
            service: Duration::from_secs(8),
            cpu: Duration::from_millis(cpu_ms),
            ..JobOutcome::default()
        };
        let mut outcome = Outcome {
            jobs: vec![job(300); 512],
            ..Outcome::default()
        };
        assert_eq!(outcome.driver_cpu(), Duration::from_millis(512 * 300));
        // The work of an embedded engine is not the driver's.
        outcome.jobs = vec![job(9_900)];
        assert_eq!(outcome.driver_cpu(), Duration::from_secs(2));
    }

    #[test]
    fn an_idle_job_is_not_the_first_to_finish() {
        let mut outcome = Outcome::default();
        outcome.add_sums(&Sums::default(), 0);
        assert_eq!(outcome.first_finish(), None);
        let busy = Sums {
            finish_ns: 7,
            ..Sums::default()
        };
        outcome.add_sums(&busy, 0);
        assert_eq!(outcome.first_finish(), Some(Duration::from_nanos(7)));
    }

    #[test]
    fn nothing_done_is_unknown_not_zero() {
        let nothing = Outcome::default();
        assert_eq!(nothing.in_flight_mean(), None);
        assert_eq!(nothing.little_error_pct(), None);
        assert_eq!(nothing.operations_per_s(), None);
        assert_eq!(nothing.first_finish(), None);
    }
}
