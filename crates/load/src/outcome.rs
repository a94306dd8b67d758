//! The outcome of a drive: exact for every client and for every kind of operation.

use std::time::{Duration, Instant};

use stats::Histogram;

use crate::clock::Usage;
use crate::series::Interval;
use crate::timing::Timing;

/// Figures of one client within the measured window; points in time count from its start.
///
/// At any measured time a client executed an operation, was free because none was due, or waited for the driver.
#[derive(Debug, Clone, Default)]
pub struct ClientOutcome {
    /// End of its last operation; zero if it had none.
    pub finish: Duration,
    pub operations: u64,
    /// Completed operations that began in the window, whenever they were due; without draining, the part within the
    /// window of each that crosses an edge.
    pub begun: f64,
    /// The time of these operations, as far as they count, and the free time of the window.
    pub begun_time: Duration,
    pub rows: u64,
    pub active: Duration,
    /// Σ service times, failed operations included.
    pub service: Duration,
    /// Σ of the times in which no operation was due: think time and waiting for a tick, up to the intended start.
    pub idle: Duration,
    /// Usage of its thread; with an embedded engine this is the work itself. `None` in an event loop, whose threads
    /// have their own account ([`Outcome::driver_threads`]).
    pub thread: Option<Usage>,
}

/// Counts and latencies of one kind of operation within the measured window.
#[derive(Debug, Clone, Default)]
pub struct KindOutcome {
    /// Completed operations, including those rolled back on purpose.
    pub completed: u64,
    /// Completed operations that were rolled back on purpose.
    pub rolled_back: u64,
    pub rows: u64,
    pub retries: u64,
    /// Failed operations, including timeouts.
    pub errors: u64,
    pub timeouts: u64,
    /// Start → end of the completed operations, and of those in progress when the window ended.
    pub service: Histogram,
    /// Intended start → end: the user's response time, of the same operations; also intended start → end of the
    /// window of those that had waited for long then.
    pub response: Histogram,
    /// Intended start → a client was free, of the same; the part of the response that more connections would remove.
    pub waiting: Histogram,
}

impl KindOutcome {
    #[inline]
    pub(crate) fn record(&mut self, timing: &Timing) {
        self.service
            .record_ns(timing.end_ns.saturating_sub(timing.start_ns));
        self.record_wait(
            timing.end_ns.saturating_sub(timing.intended_ns),
            timing.free_ns.saturating_sub(timing.intended_ns),
        );
    }

    /// Records the known times of an operation that was not answered.
    #[inline]
    pub(crate) fn record_wait(&mut self, response_ns: u64, waiting_ns: u64) {
        self.response.record_ns(response_ns);
        self.waiting.record_ns(waiting_ns);
    }

    pub fn merge(&mut self, other: &KindOutcome) {
        self.completed += other.completed;
        self.rolled_back += other.rolled_back;
        self.rows += other.rows;
        self.retries += other.retries;
        self.errors += other.errors;
        self.timeouts += other.timeouts;
        self.service.merge(&other.service);
        self.response.merge(&other.response);
        self.waiting.merge(&other.waiting);
    }
}

#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// The start of the measured window, to align samples of the machine; `None` if it was never reached.
    pub started: Option<Instant>,
    /// Length of the window; if it is drained, up to the last finish.
    pub elapsed: Duration,
    /// Time by which counts are divided to give rates, if it differs from the window: the time in which as many
    /// operations are completed while all clients are active.
    pub rate_time: Option<Duration>,
    pub clients: Vec<ClientOutcome>,
    pub kinds: Vec<KindOutcome>,
    pub intervals: Vec<Interval>,
    pub due: u64,
    /// Operations that were due and not done when the window ended, waiting or in progress. In an open model a number
    /// that grows with the window shows that the target does not keep up with the rate.
    pub unfinished: u64,
    /// Operations that were due in the window and given up, because draining took longer than its bound.
    pub unserved: u64,
    /// Operations that started more than 1 ms late although a client was free when they were due.
    pub late_starts: u64,
    pub late_start_max: Duration,
    pub connections_lost: u64,
    /// The first few messages, each with the number of operations that failed with it.
    pub error_messages: Vec<(String, u64)>,
    /// Reason why the whole drive was stopped: its figures must not be used.
    pub fatal: Option<String>,
    pub interrupted: bool,
    /// The threads of event loops, which only drive; `None` if every client had its own thread, whose processor time
    /// includes the engine's work.
    pub driver_threads: Option<DriverThreads>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DriverThreads {
    pub threads: usize,
    pub cpu: Duration,
    pub cpu_busiest: Duration,
    /// Time in which they were runnable and waited for a processor; `None` if the kernel does not report it.
    pub run_queue: Option<Duration>,
}

impl DriverThreads {
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
    pub fn error_texts(&self) -> Vec<&str> {
        let messages = self.error_messages.iter();
        messages.map(|(message, _)| message.as_str()).collect()
    }

    pub(crate) fn fatal(message: String) -> Self {
        Self {
            fatal: Some(message),
            ..Self::default()
        }
    }

    pub fn total(&self) -> KindOutcome {
        let mut total = KindOutcome::default();
        self.kinds.iter().for_each(|kind| total.merge(kind));
        total
    }

    pub fn operations(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.completed).sum()
    }

    pub fn errors(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.errors).sum::<u64>() + self.unserved
    }

    pub fn retries(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.retries).sum()
    }

    pub fn rows(&self) -> u64 {
        self.clients.iter().map(|client| client.rows).sum()
    }

    /// Operations per second: the completed work over the measured time; `None` if no time passed.
    pub fn operations_per_s(&self) -> Option<f64> {
        self.per_s(self.operations())
    }

    pub fn per_s(&self, count: u64) -> Option<f64> {
        let time_s = self.rate_time().as_secs_f64();
        (time_s > 0.0).then(|| count as f64 / time_s)
    }

    pub fn rate_time(&self) -> Duration {
        self.rate_time.unwrap_or(self.elapsed)
    }

    /// Rate time by the accounts of the clients: the rate is that of whole operations over the time that they took.
    /// Operations of equal length run in phase with a window, and fewer or more of them end in it than it has room
    /// for.
    pub(crate) fn rate_time_by_clients(&self) -> Option<Duration> {
        let begun: f64 = self.clients.iter().map(|client| client.begun).sum();
        let time = self.sum(|client| client.begun_time).as_secs_f64();
        let per_s = self.clients.len() as f64 * begun / time;
        let done = self.operations() as f64;
        Duration::try_from_secs_f64(done / per_s)
            .ok()
            .filter(|time| !time.is_zero())
    }

    /// Mean number of operations in flight: Σ service / elapsed (Little); `None` if no time passed.
    pub fn in_flight_mean(&self) -> Option<f64> {
        let elapsed_s = self.elapsed.as_secs_f64();
        (elapsed_s > 0.0).then(|| self.sum(|client| client.service).as_secs_f64() / elapsed_s)
    }

    /// Deviation from Little's law, in percent of the time the clients were active (without their idle time): the
    /// missing part was spent in the driver. `None` if the clients were never active.
    pub fn little_error_pct(&self) -> Option<f64> {
        let at_work = self
            .sum(|client| client.active)
            .saturating_sub(self.sum(|client| client.idle));
        let service = self.sum(|client| client.service);
        stats::scaling::little_error_pct(service.as_secs_f64(), at_work.as_secs_f64())
    }

    /// Time of all clients in which an operation was due and none was under way: the driver's own.
    pub fn driver_time(&self) -> Duration {
        self.sum(|client| client.active)
            .saturating_sub(self.sum(|client| client.service))
            .saturating_sub(self.sum(|client| client.idle))
    }

    /// Processor time of the driver itself: measured if its threads only drive, else the time between the operations,
    /// but no more than the processor time of the clients' threads: between operations they may have waited for a
    /// processor.
    pub fn driver_cpu(&self) -> Duration {
        match &self.driver_threads {
            Some(used) => used.cpu,
            None => self.driver_time().min(self.threads_cpu()),
        }
    }

    /// Processor time of all threads, those of event loops or the clients' own.
    pub fn threads_cpu(&self) -> Duration {
        match &self.driver_threads {
            Some(used) => used.cpu,
            None => self.sum(|client| client.thread.map_or(Duration::ZERO, |used| used.cpu)),
        }
    }

    /// Time in which any of these threads was runnable and waited for a processor; `None` if the kernel does not
    /// report it.
    pub fn threads_run_queue(&self) -> Option<Duration> {
        match &self.driver_threads {
            Some(used) => used.run_queue,
            None => {
                let each = self.clients.iter();
                each.map(|client| client.thread?.run_queue).sum()
            }
        }
    }

    /// Earliest finish of the clients that had work; `None` if none had any.
    pub fn first_finish(&self) -> Option<Duration> {
        let finishes = self.clients.iter().map(|client| client.finish);
        finishes.filter(|finish| !finish.is_zero()).min()
    }

    /// Late starts in percent of all operations; `None` without operations.
    pub fn late_starts_pct(&self) -> Option<f64> {
        let all = self.operations() + self.errors();
        (all > 0).then(|| 100.0 * self.late_starts as f64 / all as f64)
    }

    /// Rates of the whole intervals in operations per second, for judging steadiness; an incomplete last interval is
    /// left out.
    pub fn interval_rates_per_s(&self) -> Vec<f64> {
        let whole = self.intervals.first().map_or(Duration::ZERO, |i| i.length);
        self.intervals
            .iter()
            .filter(|i| i.length == whole && !whole.is_zero())
            .map(|i| i.operations() as f64 / i.length.as_secs_f64())
            .collect()
    }

    /// Longest time without a completed operation, in whole intervals of the series: the true one may be longer by
    /// less than two of them.
    pub fn idle_longest(&self) -> Duration {
        let (mut longest, mut idle) = (Duration::ZERO, Duration::ZERO);
        for interval in &self.intervals {
            idle = match interval.operations() {
                0 => idle + interval.length,
                _ => Duration::ZERO,
            };
            longest = longest.max(idle);
        }
        longest
    }

    fn sum(&self, of: impl Fn(&ClientOutcome) -> Duration) -> Duration {
        self.clients.iter().map(of).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    fn done(completed: u64, errors: u64) -> Vec<KindOutcome> {
        vec![KindOutcome {
            completed,
            errors,
            ..KindOutcome::default()
        }]
    }

    /// Golden: two clients, 10 s each, of which 2 s idle and 7.6 s service: 5 % are missing.
    #[test]
    fn golden_accounting() {
        let client = ClientOutcome {
            finish: ms(10_000),
            operations: 50,
            active: ms(10_000),
            service: ms(7_600),
            idle: ms(2_000),
            ..ClientOutcome::default()
        };
        let outcome = Outcome {
            elapsed: ms(10_000),
            kinds: done(100, 0),
            clients: vec![client; 2],
            ..Outcome::default()
        };
        assert_eq!(outcome.first_finish(), Some(ms(10_000)));
        assert_eq!(outcome.driver_time(), ms(800));
        assert!((outcome.little_error_pct().unwrap() - 5.0).abs() < 1e-9);
        assert!((outcome.in_flight_mean().unwrap() - 1.52).abs() < 1e-9);
        assert!((outcome.operations_per_s().unwrap() - 10.0).abs() < 1e-9);
    }

    #[test]
    fn waiting_for_a_processor_is_no_processor_time_of_the_driver() {
        let client = |cpu_ms| ClientOutcome {
            active: ms(10_000),
            service: ms(8_000),
            thread: Some(Usage {
                cpu: ms(cpu_ms),
                run_queue: Some(ms(7)),
            }),
            ..ClientOutcome::default()
        };
        let mut outcome = Outcome {
            clients: vec![client(300); 512],
            ..Outcome::default()
        };
        assert_eq!(outcome.driver_cpu(), ms(512 * 300));
        assert_eq!(outcome.threads_run_queue(), Some(ms(512 * 7)));
        // The work of an embedded engine does not count as the driver's.
        outcome.clients = vec![client(9_900)];
        assert_eq!(outcome.driver_cpu(), ms(2_000));
    }

    #[test]
    fn threads_of_event_loops_have_an_account_of_their_own() {
        let outcome = Outcome {
            clients: vec![ClientOutcome::default(); 3],
            driver_threads: Some(DriverThreads {
                threads: 1,
                cpu: ms(100),
                cpu_busiest: ms(100),
                run_queue: Some(ms(10)),
            }),
            ..Outcome::default()
        };
        let used = (outcome.driver_cpu(), outcome.threads_cpu());
        assert_eq!(used, (ms(100), ms(100)));
        assert_eq!(outcome.threads_run_queue(), Some(ms(10)));
    }

    #[test]
    fn an_idle_client_is_not_the_first_to_finish() {
        let mut outcome = Outcome {
            clients: vec![ClientOutcome::default()],
            ..Outcome::default()
        };
        assert_eq!(outcome.first_finish(), None);
        outcome.clients.push(ClientOutcome {
            finish: ms(7),
            ..ClientOutcome::default()
        });
        assert_eq!(outcome.first_finish(), Some(ms(7)));
    }

    #[test]
    fn late_starts_are_a_share_of_all_operations() {
        let outcome = Outcome {
            kinds: done(150, 50),
            late_starts: 12,
            ..Outcome::default()
        };
        assert_eq!(outcome.late_starts_pct(), Some(6.0));
    }

    #[test]
    fn nothing_done_is_unknown_not_zero() {
        let nothing = Outcome::default();
        assert_eq!(nothing.in_flight_mean(), None);
        assert_eq!(nothing.little_error_pct(), None);
        assert_eq!(nothing.operations_per_s(), None);
        assert_eq!(nothing.late_starts_pct(), None);
        assert_eq!(nothing.first_finish(), None);
    }
}
