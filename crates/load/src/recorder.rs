//! What a job writes down of every operation: no lock, no allocation, no formatting while it works.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::Sender;
use std::time::Duration;

use stats::Histogram;

use crate::clock::ns;
use crate::coarse::Coarse;

/// A start later than this, of a job that was free and waiting, is the driver's fault and counted.
pub const LATE_START: Duration = Duration::from_millis(1);
/// How many distinct messages of failed operations are kept.
pub const MESSAGES_MAX: usize = 5;
/// Shortest interval of the series.
pub const INTERVAL_MIN: Duration = Duration::from_millis(10);
/// A job tells the progress at most this often, so that jobs do not fight for its cache line.
pub(crate) const PROGRESS_EVERY_NS: u64 = 1_000_000;

/// How far a drive has come, to be read by anyone while it runs.
#[derive(Debug, Default)]
pub struct Progress {
    operations: AtomicU64,
    errors: AtomicU64,
}

impl Progress {
    /// Nothing done yet.
    pub const fn new() -> Self {
        Self {
            operations: AtomicU64::new(0),
            errors: AtomicU64::new(0),
        }
    }

    /// Measured operations completed so far; behind by at most one millisecond's worth and what jobs have in hand.
    pub fn operations(&self) -> u64 {
        self.operations.load(Relaxed)
    }

    /// Measured operations that failed so far.
    pub fn errors(&self) -> u64 {
        self.errors.load(Relaxed)
    }

    /// Adds what was done since it was told last.
    pub(crate) fn add(&self, operations: u64, errors: u64) {
        self.operations.fetch_add(operations, Relaxed);
        self.errors.fetch_add(errors, Relaxed);
    }
}

/// The four times of one operation, in nanoseconds since the common start of the jobs.
#[derive(Debug, Clone, Copy)]
pub struct Timing {
    /// Since when the job was free.
    pub free_ns: u64,
    /// When the operation was meant to start.
    pub intended_ns: u64,
    /// When it did.
    pub start_ns: u64,
    /// When it ended.
    pub end_ns: u64,
}

/// What one job did within one interval of the series.
#[derive(Debug, Clone)]
pub struct IntervalRecord {
    /// Number of the interval since the start of the measured window.
    pub index: u64,
    /// The response times of the operations that ended in it.
    pub response: Coarse,
}

/// The sums of one job; all durations in nanoseconds.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sums {
    /// Operations completed.
    pub operations: u64,
    /// Rows they reported.
    pub rows: u64,
    /// Retries they reported.
    pub retries: u64,
    /// Operations that failed.
    pub errors: u64,
    /// Σ (end − start), failed operations included.
    pub service_ns: u64,
    /// Σ pauses: thinking and waiting for a tick, up to the intended start.
    pub waited_ns: u64,
    /// From when this job was measured (its first measured operation could have started), since the common start.
    pub begin_ns: u64,
    /// End of its last operation.
    pub finish_ns: u64,
    /// Starts later than [`LATE_START`] although the job was free and waiting.
    pub late_starts: u64,
    /// The latest of them.
    pub late_max_ns: u64,
}

/// The two distributions of latencies, a quarter of a megabyte each.
#[derive(Debug, Default)]
pub struct Latencies {
    /// Service times (start → end) of completed operations.
    pub service: Histogram,
    /// Response times (intended start → end) of completed operations.
    pub response: Histogram,
}

impl Latencies {
    /// Records a completed operation.
    #[inline]
    pub fn record(&mut self, timing: &Timing) {
        let end_ns = timing.end_ns;
        self.service
            .record_ns(end_ns.saturating_sub(timing.start_ns));
        self.response
            .record_ns(end_ns.saturating_sub(timing.intended_ns));
    }

    /// Adds all latencies of `other`.
    pub fn merge(&mut self, other: &Latencies) {
        self.service.merge(&other.service);
        self.response.merge(&other.response);
    }
}

/// Records the measured operations of one job.
#[derive(Debug)]
pub struct Recorder<'a> {
    latencies: Option<Box<Latencies>>,
    sums: Sums,
    messages: Vec<String>,
    from_ns: u64,
    interval_ns: u64,
    interval_end_ns: u64,
    interval: IntervalRecord,
    intervals: Option<Sender<IntervalRecord>>,
    progress: Option<&'a Progress>,
    progress_next_ns: u64,
    progress_told: (u64, u64),
}

impl<'a> Recorder<'a> {
    /// An empty recorder for a window that starts at `from_ns`; all its memory is taken now.
    pub fn new(
        from_ns: u64,
        interval: Duration,
        intervals: Sender<IntervalRecord>,
        progress: Option<&'a Progress>,
    ) -> Self {
        let interval_ns = ns(interval.max(INTERVAL_MIN));
        Self {
            latencies: Some(Box::default()),
            sums: Sums {
                begin_ns: from_ns,
                finish_ns: from_ns,
                ..Sums::default()
            },
            messages: Vec::with_capacity(MESSAGES_MAX),
            from_ns,
            interval_ns,
            interval_end_ns: from_ns.saturating_add(interval_ns),
            interval: IntervalRecord {
                index: 0,
                response: Coarse::default(),
            },
            intervals: Some(intervals),
            progress,
            progress_next_ns: 0,
            progress_told: (0, 0),
        }
    }

    /// The same without distributions, for one of many jobs on a thread, whose latencies go into one of the
    /// thread's: with a pair for every job neither memory nor the processor's cache would hold them.
    pub fn without_latencies(
        from_ns: u64,
        interval: Duration,
        intervals: Sender<IntervalRecord>,
        progress: Option<&'a Progress>,
    ) -> Self {
        Self {
            latencies: None,
            ..Self::new(from_ns, interval, intervals, progress)
        }
    }

    /// The job enters the measured window: nothing before `free_ns` is its own measured time.
    pub fn begin(&mut self, free_ns: u64) {
        self.sums.begin_ns = free_ns.max(self.from_ns);
        self.sums.finish_ns = self.sums.begin_ns;
    }

    /// Records a completed operation.
    #[inline]
    pub fn completed(&mut self, timing: &Timing, rows: u64, retries: u32) {
        let response_ns = timing.end_ns.saturating_sub(timing.intended_ns);
        if let Some(latencies) = &mut self.latencies {
            latencies.record(timing);
        }
        if timing.end_ns >= self.interval_end_ns {
            self.turn_interval(timing.end_ns);
        }
        self.interval.response.record_ns(response_ns);
        self.sums.operations += 1;
        self.sums.rows += rows;
        self.sums.retries += u64::from(retries);
        self.account(timing);
    }

    /// Records an operation that failed: counted, its time accounted for, but in no histogram, because
    /// a quick refusal is not a quick answer.
    #[cold]
    pub fn failed(&mut self, timing: &Timing, message: String) {
        self.sums.errors += 1;
        self.account(timing);
        if self.messages.len() < MESSAGES_MAX && !self.messages.contains(&message) {
            self.messages.push(message);
        }
    }

    /// Hands over the last interval and the progress, and leaves the channel, which closes with the last
    /// recorder; this one is then complete.
    pub fn finish(&mut self) {
        self.turn_interval(self.interval_end_ns);
        self.tell_progress();
        self.intervals = None;
    }

    /// The sums so far.
    pub fn sums(&self) -> &Sums {
        &self.sums
    }

    /// Latencies of the completed operations, if they are kept here.
    pub fn latencies(&self) -> Option<&Latencies> {
        self.latencies.as_deref()
    }

    /// The first few distinct messages of failed operations.
    pub fn messages(&self) -> &[String] {
        &self.messages
    }

    #[inline]
    fn account(&mut self, timing: &Timing) {
        let sums = &mut self.sums;
        sums.service_ns += timing.end_ns.saturating_sub(timing.start_ns);
        sums.finish_ns = timing.end_ns;
        let free_ns = timing.free_ns.max(sums.begin_ns);
        if timing.intended_ns > free_ns {
            sums.waited_ns += timing.intended_ns - free_ns;
            let late_ns = timing.start_ns.saturating_sub(timing.intended_ns);
            if late_ns > LATE_START.as_nanos() as u64 {
                sums.late_starts += 1;
                sums.late_max_ns = sums.late_max_ns.max(late_ns);
            }
        }
        if timing.end_ns >= self.progress_next_ns {
            self.progress_next_ns = timing.end_ns + PROGRESS_EVERY_NS;
            self.tell_progress();
        }
    }

    /// Sends the interval at hand, if it holds anything, and opens the one in which `end_ns` lies.
    #[cold]
    fn turn_interval(&mut self, end_ns: u64) {
        if self.interval.response.count() > 0 {
            if let Some(intervals) = &self.intervals {
                // Nobody listening means that the drive is being torn down: the series is of no use then.
                let _ = intervals.send(self.interval.clone());
            }
            self.interval.response.clear();
        }
        self.interval.index = end_ns.saturating_sub(self.from_ns) / self.interval_ns;
        self.interval_end_ns = self
            .from_ns
            .saturating_add((self.interval.index + 1).saturating_mul(self.interval_ns));
    }

    fn tell_progress(&mut self) {
        let Some(progress) = self.progress else {
            return;
        };
        let now = (self.sums.operations, self.sums.errors);
        let told = self.progress_told;
        progress.add(now.0 - told.0, now.1 - told.1);
        self.progress_told = now;
    }
}
