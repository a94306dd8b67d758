//! What a thread writes down of every operation of its clients: no formatting, no lock but once an interval, and no
//! memory while it works.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use stats::Histogram;

use crate::Done;
use crate::clock::ns;
use crate::coarse::Coarse;
use crate::outcome::KindOutcome;
use crate::schedule::Window;
use crate::series::{KindInterval, Series};
pub use crate::timing::Timing;
use crate::told::IntervalQueue;
pub use crate::told::{KindCounts, KindIntervals};

/// A start later than this, of a client that was free and waiting, is the driver's fault and counted.
pub const LATE_START: Duration = Duration::from_millis(1);
/// How many distinct messages of failed operations are kept.
pub const MESSAGES_MAX: usize = 5;
/// Shortest interval of the series.
pub const INTERVAL_MIN: Duration = Duration::from_millis(10);
/// A thread tells the progress at most this often, so that threads do not fight for its cache line.
const PROGRESS_EVERY_NS: u64 = 1_000_000;

/// How far a drive has come, to be read by anyone while it runs.
#[derive(Debug, Default)]
pub struct Progress {
    operations: AtomicU64,
    errors: AtomicU64,
    /// What ended interval by interval, where somebody watches.
    told: Option<Mutex<IntervalQueue>>,
}

impl Progress {
    pub const fn new() -> Self {
        Self {
            operations: AtomicU64::new(0),
            errors: AtomicU64::new(0),
            told: None,
        }
    }

    /// The same, of which somebody wants the intervals as well.
    pub fn watched() -> Self {
        Self {
            told: Some(Mutex::default()),
            ..Self::new()
        }
    }

    /// What was told since this was asked last. Nothing where nobody watches.
    pub fn take_told(&self) -> Option<KindIntervals> {
        let told = self.told.as_ref()?;
        told.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Measured operations completed so far; behind by at most one millisecond's worth and what clients have in hand.
    pub fn operations(&self) -> u64 {
        self.operations.load(Relaxed)
    }

    /// Measured operations that failed so far.
    pub fn errors(&self) -> u64 {
        self.errors.load(Relaxed)
    }

    /// Adds what was done since it was told last.
    pub fn add(&self, operations: u64, errors: u64) {
        self.operations.fetch_add(operations, Relaxed);
        self.errors.fetch_add(errors, Relaxed);
    }
}

/// What is counted over all kinds; durations in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Operations that were asked for in the window.
    pub asked: u64,
    /// Operations that were in hand when the window ended, or waiting.
    pub unfinished: u64,
    /// Starts later than [`LATE_START`] although a client was free and waiting.
    pub late_starts: u64,
    pub late_max_ns: u64,
    /// Connections that were given up.
    pub connections_lost: u64,
}

impl Tally {
    fn merge(&mut self, other: &Self) {
        self.asked += other.asked;
        self.unfinished += other.unfinished;
        self.late_starts += other.late_starts;
        self.late_max_ns = self.late_max_ns.max(other.late_max_ns);
        self.connections_lost += other.connections_lost;
    }
}

/// Records the operations of one thread, or of several that take turns.
#[derive(Debug)]
pub struct Recorder<'a> {
    kinds: Vec<KindOutcome>,
    tally: Tally,
    /// The first few distinct messages of failures.
    messages: Vec<String>,
    /// Operations that ended after the window and do not count: kind, times, and whether they were answered.
    in_hand: Vec<(usize, Timing, bool)>,
    window: Window,
    ends_ns: u64,
    counted: Range<u64>,
    interval_ns: u64,
    /// When the interval at hand begins and ends.
    interval: Range<u64>,
    /// What ended in it, by kinds.
    cells: Vec<KindInterval>,
    series: &'a Mutex<Series>,
    /// Service times of the interval at hand by kinds, where somebody watches.
    service: Option<Vec<Coarse>>,
    progress: Option<&'a Progress>,
    progress_next_ns: u64,
    progress_told: (u64, u64),
    done: (u64, u64),
}

impl<'a> Recorder<'a> {
    /// An empty recorder for so many kinds of operations in a window; all its memory is taken now.
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
            service: (progress.and_then(|progress| progress.told.as_ref()))
                .map(|_| vec![Coarse::default(); kinds]),
            progress,
            progress_next_ns: 0,
            progress_told: (0, 0),
            done: (0, 0),
        }
    }

    /// Records a completed operation. One that was in hand when a window ended that is not drained is awaited: how
    /// long it took is known and told, for a stall must not vanish with the window, but it was not done in it.
    #[inline]
    pub fn completed(&mut self, kind: u8, timing: &Timing, done: &Done) {
        let place = usize::from(kind);
        if !self.counts(timing) {
            return self.was_in_hand(place, timing, true);
        }
        if !self.interval.contains(&timing.end_ns) {
            self.turn_interval(timing.end_ns);
        }
        let response_ns = timing.end_ns.saturating_sub(timing.intended_ns);
        self.cells[place].response.record_ns(response_ns);
        if let Some(service) = &mut self.service {
            service[place].record_ns(timing.end_ns.saturating_sub(timing.start_ns));
        }
        let kind = &mut self.kinds[place];
        kind.record(timing);
        kind.completed += 1;
        kind.rows += done.rows;
        kind.retries += u64::from(done.retries);
        kind.rolled_back += u64::from(done.rolled_back);
        self.done.0 += 1;
        self.account(timing);
    }

    /// Records an operation that failed: counted, but in no histogram, because a quick refusal is not a quick answer.
    #[cold]
    pub fn failed(&mut self, kind: u8, timing: &Timing, message: &str) {
        let place = usize::from(kind);
        if !self.counts(timing) {
            return;
        }
        if !self.interval.contains(&timing.end_ns) {
            self.turn_interval(timing.end_ns);
        }
        self.cells[place].errors += 1;
        self.kinds[place].errors += 1;
        self.done.1 += 1;
        self.account(timing);
        self.add_message(message);
    }

    /// Records an operation that took longer than its limit.
    #[cold]
    pub fn timed_out(&mut self, kind: u8, timing: &Timing, limit: Duration) {
        if self.counted.contains(&timing.end_ns) {
            self.kinds[usize::from(kind)].timeouts += 1;
        } else {
            self.was_in_hand(usize::from(kind), timing, false);
        }
        // The limit alone is named, so that a hundred timeouts are one message.
        let limit_s = limit.as_secs_f64();
        let message = format!("an operation took longer than its limit of {limit_s} s");
        self.failed(kind, timing, &message);
    }

    /// Counts a connection that was given up.
    pub fn connection_lost(&mut self) {
        self.tally.connections_lost += 1;
    }

    /// Keeps a message if it is new and there is room.
    pub fn add_message(&mut self, message: &str) {
        let known = self.messages.iter().any(|kept| kept == message);
        if !known && self.messages.len() < MESSAGES_MAX {
            self.messages.push(message.to_owned());
        }
    }

    /// Hands over the last interval and the progress; the recorder is then complete.
    pub fn finish(&mut self) {
        self.turn_interval(self.interval.end);
        self.tell_progress();
    }

    /// Adds all of another recorder of the same drive that is finished.
    pub fn merge(&mut self, other: Recorder) {
        for (mine, theirs) in self.kinds.iter_mut().zip(&other.kinds) {
            mine.merge(theirs);
        }
        self.in_hand.extend(other.in_hand);
        self.tally.merge(&other.tally);
        for message in &other.messages {
            self.add_message(message);
        }
    }

    /// Adds what was unfinished when the window ended to the histograms: operations in hand, and of those that waited,
    /// given by kind and the time at which they were asked for, the ones that had waited for longer than 99 % of the
    /// completed ones took. That is a lower bound; a shorter wait says nothing yet.
    pub fn add_unfinished(&mut self, waiting: impl FnOnce(&mut dyn FnMut(u8, u64))) {
        let mut completed = Histogram::new();
        let responses = self.kinds.iter().map(|kind| &kind.response);
        responses.for_each(|response| completed.merge(response));
        let usual_us = if completed.is_empty() {
            0.0
        } else {
            completed.percentile_us(99.0)
        };
        for (place, timing, answered) in std::mem::take(&mut self.in_hand) {
            let kind = &mut self.kinds[place];
            match answered {
                true => kind.record(&timing),
                // For at least so long.
                false => kind.record_wait(
                    timing.end_ns.saturating_sub(timing.intended_ns),
                    timing.free_ns.saturating_sub(timing.intended_ns),
                ),
            };
        }
        waiting(&mut |kind, due_ns| {
            let age_ns = self.ends_ns.saturating_sub(due_ns);
            self.tally.unfinished += 1;
            self.tally.asked += u64::from(self.window.from_ns <= due_ns);
            if age_ns as f64 / 1e3 > usual_us {
                self.kinds[usize::from(kind)].record_wait(age_ns, age_ns);
            }
        });
    }

    /// What was done of each kind.
    pub fn kinds(&self) -> &[KindOutcome] {
        &self.kinds
    }

    /// What was counted over all kinds.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The first few distinct messages of failed operations.
    pub fn messages(&self) -> &[String] {
        &self.messages
    }

    /// All of it: by kinds, over all kinds, and messages.
    pub(crate) fn into_parts(self) -> (Vec<KindOutcome>, Tally, Vec<String>) {
        (self.kinds, self.tally, self.messages)
    }

    /// Whether an operation ended when it counts. Counts it as asked for in the window, and as unfinished at its end.
    #[inline]
    fn counts(&mut self, timing: &Timing) -> bool {
        let asked = (self.window.from_ns..self.ends_ns).contains(&timing.intended_ns);
        self.tally.asked += u64::from(asked);
        self.tally.unfinished += u64::from(self.was_unfinished(timing));
        self.counted.contains(&timing.end_ns)
    }

    /// Whether an operation was asked for before the window ended, and over after that.
    #[inline]
    fn was_unfinished(&self, timing: &Timing) -> bool {
        timing.end_ns >= self.ends_ns && timing.intended_ns < self.ends_ns
    }

    /// Keeps an operation that ended after the window, if it was asked for before that.
    #[cold]
    fn was_in_hand(&mut self, place: usize, timing: &Timing, answered: bool) {
        if self.was_unfinished(timing) {
            self.in_hand.push((place, *timing, answered));
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
            self.tell_progress();
        }
    }

    /// Adds the interval at hand to the series, if it holds anything, and opens the one in which `end_ns` lies.
    #[cold]
    fn turn_interval(&mut self, end_ns: u64) {
        if !self.cells.iter().all(KindInterval::is_empty) {
            let index = (self.interval.start - self.window.from_ns) / self.interval_ns;
            // A thread that died with the lock held has at worst lost some of its own counts, and stopped the drive.
            let series = self.series.lock();
            series
                .unwrap_or_else(PoisonError::into_inner)
                .add(index, &self.cells);
            if let (Some(service), Some(told)) = (
                &mut self.service,
                self.progress.and_then(|p| p.told.as_ref()),
            ) {
                let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
                told.add(index, (&self.cells, service), self.interval_ns);
                service.iter_mut().for_each(Coarse::clear);
            }
            self.cells.fill_with(KindInterval::default);
        }
        let index = end_ns.saturating_sub(self.window.from_ns) / self.interval_ns;
        let start = self.window.from_ns + index.saturating_mul(self.interval_ns);
        self.interval = start..start.saturating_add(self.interval_ns);
    }

    fn tell_progress(&mut self) {
        if let Some(progress) = self.progress {
            let told = std::mem::replace(&mut self.progress_told, self.done);
            progress.add(self.done.0 - told.0, self.done.1 - told.1);
        }
    }
}
