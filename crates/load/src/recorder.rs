//! Records the operations of a thread's clients: no formatting, one lock per interval, and no allocation while it
//! works.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use stats::Histogram;

use crate::Done;
use crate::clock::ns;
use crate::coarse::Coarse;
use crate::interval_queue::IntervalQueue;
pub use crate::interval_queue::{KindCounts, KindIntervals};
use crate::outcome::KindOutcome;
use crate::schedule::Window;
use crate::series::{KindInterval, Series};
pub use crate::timing::Timing;

/// A start later than this, of a client that was free and waiting, counts as the driver's fault.
pub const LATE_START: Duration = Duration::from_millis(1);
pub const MESSAGES_MAX: usize = 5;
pub const INTERVAL_MIN: Duration = Duration::from_millis(10);
/// A thread publishes the progress at most this often, so that threads do not fight for its cache line.
const PROGRESS_EVERY_NS: u64 = 1_000_000;

/// Progress of a drive, readable by anyone while it runs.
#[derive(Debug, Default)]
pub struct Progress {
    operations: AtomicU64,
    errors: AtomicU64,
    /// Finished intervals, if there is an observer.
    intervals: Option<Mutex<IntervalQueue>>,
}

impl Progress {
    pub const fn new() -> Self {
        Self {
            operations: AtomicU64::new(0),
            errors: AtomicU64::new(0),
            intervals: None,
        }
    }

    pub fn watched() -> Self {
        Self {
            intervals: Some(Mutex::default()),
            ..Self::new()
        }
    }

    /// Takes what was published since the last call; `None` without an observer.
    pub fn take_intervals(&self) -> Option<KindIntervals> {
        let intervals = self.intervals.as_ref()?;
        intervals
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    /// Measured operations completed so far, except for those of the last millisecond and those that clients have not
    /// written yet.
    pub fn operations(&self) -> u64 {
        self.operations.load(Relaxed)
    }

    pub fn errors(&self) -> u64 {
        self.errors.load(Relaxed)
    }

    pub fn add(&self, operations: u64, errors: u64) {
        self.operations.fetch_add(operations, Relaxed);
        self.errors.fetch_add(errors, Relaxed);
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    pub due: u64,
    /// Operations that were in progress or waiting when the window ended.
    pub unfinished: u64,
    pub late_starts: u64,
    pub late_max_ns: u64,
    pub connections_lost: u64,
}

impl Tally {
    fn merge(&mut self, other: &Self) {
        self.due += other.due;
        self.unfinished += other.unfinished;
        self.late_starts += other.late_starts;
        self.late_max_ns = self.late_max_ns.max(other.late_max_ns);
        self.connections_lost += other.connections_lost;
    }
}

#[derive(Debug)]
pub struct Recorder<'a> {
    kinds: Vec<KindOutcome>,
    tally: Tally,
    /// The first few distinct messages of failures, with their counts.
    messages: Vec<(String, u64)>,
    /// Operations that ended after the window and do not count: kind, times, and true if they were answered.
    in_hand: Vec<(usize, Timing, bool)>,
    window: Window,
    ends_ns: u64,
    counted: Range<u64>,
    interval_ns: u64,
    interval: Range<u64>,
    cells: Vec<KindInterval>,
    series: &'a Mutex<Series>,
    /// Service times of the current interval by kind, if there is an observer.
    service: Option<Vec<Coarse>>,
    progress: Option<&'a Progress>,
    progress_next_ns: u64,
    published: (u64, u64),
    done: (u64, u64),
}

impl<'a> Recorder<'a> {
    /// An empty recorder for this number of kinds in a window; it allocates all its memory now.
    pub fn new(
        kinds: usize,
        window: &Window,
        series: &'a Mutex<Series>,
        progress: Option<&'a Progress>,
    ) -> Self {
        let interval = series
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .interval();
        let (from_ns, interval_ns) = (window.from_ns, ns(interval).max(1));
        Self {
            kinds: (0..kinds).map(|_| KindOutcome::default()).collect(),
            tally: Tally::default(),
            messages: Vec::with_capacity(MESSAGES_MAX),
            in_hand: Vec::new(),
            window: *window,
            ends_ns: window.ends_ns(),
            counted: from_ns..window.counts_until_ns(),
            interval_ns,
            interval: from_ns..from_ns.saturating_add(interval_ns),
            cells: vec![KindInterval::default(); kinds],
            series,
            service: (progress.and_then(|progress| progress.intervals.as_ref()))
                .map(|_| vec![Coarse::default(); kinds]),
            progress,
            progress_next_ns: 0,
            published: (0, 0),
            done: (0, 0),
        }
    }

    /// Records a completed operation. One that was in progress at the end of a window without draining is awaited:
    /// its time is known and recorded, because a stall must not vanish with the window, but it does not count as
    /// done.
    #[inline]
    pub fn completed(&mut self, kind: u8, timing: &Timing, done: &Done) {
        let index = usize::from(kind);
        if !self.counts(timing) {
            return self.was_in_hand(index, timing, true);
        }
        if !self.interval.contains(&timing.end_ns) {
            self.turn_interval(timing.end_ns);
        }
        let response_ns = timing.end_ns.saturating_sub(timing.intended_ns);
        self.cells[index].response.record_ns(response_ns);
        if let Some(service) = &mut self.service {
            service[index].record_ns(timing.end_ns.saturating_sub(timing.start_ns));
        }
        let kind = &mut self.kinds[index];
        kind.record(timing);
        kind.completed += 1;
        kind.rows += done.rows;
        kind.retries += u64::from(done.retries);
        kind.rolled_back += u64::from(done.rolled_back);
        self.done.0 += 1;
        self.account(timing);
    }

    /// Records a failed operation: counted, but in no histogram, because a quick refusal is not a quick answer.
    #[cold]
    pub fn failed(&mut self, kind: u8, timing: &Timing, message: &str) {
        let index = usize::from(kind);
        if !self.counts(timing) {
            return;
        }
        if !self.interval.contains(&timing.end_ns) {
            self.turn_interval(timing.end_ns);
        }
        self.cells[index].errors += 1;
        self.kinds[index].errors += 1;
        self.done.1 += 1;
        self.account(timing);
        self.add_message(message, 1);
    }

    #[cold]
    pub fn timed_out(&mut self, kind: u8, timing: &Timing, limit: Duration) {
        if self.counted.contains(&timing.end_ns) {
            self.kinds[usize::from(kind)].timeouts += 1;
        } else {
            self.was_in_hand(usize::from(kind), timing, false);
        }
        // The message contains only the limit, so that a hundred timeouts are one message.
        let limit_s = limit.as_secs_f64();
        let message = format!("an operation took longer than its limit of {limit_s} s");
        self.failed(kind, timing, &message);
    }

    pub fn connection_lost(&mut self) {
        self.tally.connections_lost += 1;
    }

    /// Counts `count` failures with this message, of a few distinct ones.
    pub fn add_message(&mut self, message: &str, count: u64) {
        let mut known = self.messages.iter_mut();
        if let Some((_, counted)) = known.find(|(text, _)| text == message) {
            *counted += count;
        } else if self.messages.len() < MESSAGES_MAX {
            self.messages.push((message.to_owned(), count));
        }
    }

    /// Publishes the last interval and the progress; the recorder is then complete.
    pub fn finish(&mut self) {
        self.turn_interval(self.interval.end);
        self.publish_progress();
    }

    pub fn merge(&mut self, other: Recorder) {
        for (mine, theirs) in self.kinds.iter_mut().zip(&other.kinds) {
            mine.merge(theirs);
        }
        self.in_hand.extend(other.in_hand);
        self.tally.merge(&other.tally);
        for (message, count) in &other.messages {
            self.add_message(message, *count);
        }
    }

    /// Adds the operations that were unfinished when the window ended to the histograms: those in progress, and of
    /// those that waited, given by kind and due time, the ones that had waited for longer than 99 % of the completed
    /// ones took. That is a lower bound; a shorter wait says nothing yet.
    pub fn add_unfinished(&mut self, waiting: impl FnOnce(&mut dyn FnMut(u8, u64))) {
        let mut completed = Histogram::new();
        let responses = self.kinds.iter().map(|kind| &kind.response);
        responses.for_each(|response| completed.merge(response));
        let usual_us = if completed.is_empty() {
            0.0
        } else {
            completed.percentile_us(99.0)
        };
        for (index, timing, answered) in std::mem::take(&mut self.in_hand) {
            let kind = &mut self.kinds[index];
            if answered {
                kind.record(&timing);
            } else {
                // This is a lower bound.
                kind.record_wait(
                    timing.end_ns.saturating_sub(timing.intended_ns),
                    timing.free_ns.saturating_sub(timing.intended_ns),
                );
            }
        }
        waiting(&mut |kind, due_ns| {
            let age_ns = self.ends_ns.saturating_sub(due_ns);
            self.tally.unfinished += 1;
            self.tally.due += u64::from(self.window.from_ns <= due_ns);
            if age_ns as f64 / 1e3 > usual_us {
                self.kinds[usize::from(kind)].record_wait(age_ns, age_ns);
            }
        });
    }

    pub fn kinds(&self) -> &[KindOutcome] {
        &self.kinds
    }

    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The first few distinct messages of failed operations, with their counts.
    pub fn messages(&self) -> &[(String, u64)] {
        &self.messages
    }

    pub(crate) fn into_parts(self) -> (Vec<KindOutcome>, Tally, Vec<(String, u64)>) {
        (self.kinds, self.tally, self.messages)
    }

    /// True if an operation ended within the counted time. Counts it as due in the window, and as unfinished at its
    /// end.
    #[inline]
    fn counts(&mut self, timing: &Timing) -> bool {
        let is_due = (self.window.from_ns..self.ends_ns).contains(&timing.intended_ns);
        self.tally.due += u64::from(is_due);
        self.tally.unfinished += u64::from(self.was_unfinished(timing));
        self.counted.contains(&timing.end_ns)
    }

    /// True if an operation was due before the window ended, and over after that.
    #[inline]
    fn was_unfinished(&self, timing: &Timing) -> bool {
        timing.end_ns >= self.ends_ns && timing.intended_ns < self.ends_ns
    }

    /// Stores an operation that ended after the window, if it was due before that.
    #[cold]
    fn was_in_hand(&mut self, index: usize, timing: &Timing, answered: bool) {
        if self.was_unfinished(timing) {
            self.in_hand.push((index, *timing, answered));
        }
    }

    #[inline]
    fn account(&mut self, timing: &Timing) {
        if timing.free_ns < timing.intended_ns {
            let late_ns = timing.start_ns.saturating_sub(timing.intended_ns);
            if late_ns > LATE_START.as_nanos() as u64 {
                self.tally.late_starts += 1;
                self.tally.late_max_ns = self.tally.late_max_ns.max(late_ns);
            }
        }
        if timing.end_ns >= self.progress_next_ns {
            self.progress_next_ns = timing.end_ns + PROGRESS_EVERY_NS;
            self.publish_progress();
        }
    }

    /// Adds the current interval to the series, if it is not empty, and opens the one that contains `end_ns`.
    #[cold]
    fn turn_interval(&mut self, end_ns: u64) {
        if !self.cells.iter().all(KindInterval::is_empty) {
            let index = (self.interval.start - self.window.from_ns) / self.interval_ns;
            // A thread that died with the lock held has at worst lost some of its own counts, and stopped the drive.
            let series = self.series.lock();
            series
                .unwrap_or_else(PoisonError::into_inner)
                .add(index, &self.cells);
            if let (Some(service), Some(intervals)) = (
                &mut self.service,
                self.progress.and_then(|p| p.intervals.as_ref()),
            ) {
                let mut queue = intervals.lock().unwrap_or_else(PoisonError::into_inner);
                queue.add(index, &self.cells, service, self.interval_ns);
                service.iter_mut().for_each(Coarse::clear);
            }
            self.cells.fill_with(KindInterval::default);
        }
        let index = end_ns.saturating_sub(self.window.from_ns) / self.interval_ns;
        let start = self.window.from_ns + index.saturating_mul(self.interval_ns);
        self.interval = start..start.saturating_add(self.interval_ns);
    }

    fn publish_progress(&mut self) {
        if let Some(progress) = self.progress {
            let before = std::mem::replace(&mut self.published, self.done);
            progress.add(self.done.0 - before.0, self.done.1 - before.1);
        }
    }
}
