//! What a thread writes down of every operation of a crowd: no lock, no formatting, and memory only when an
//! interval of the series begins.

use std::time::Duration;

use super::outcome::KindOutcome;
use super::series::Series;
use crate::Done;
use crate::recorder::{LATE_START, MESSAGES_MAX, PROGRESS_EVERY_NS, Progress, Timing};
use crate::schedule::Window;

/// The account of one thread, or of several that take turns.
#[derive(Debug)]
pub struct Ledger<'a> {
    kinds: Vec<KindOutcome>,
    /// Σ service times by kinds, failed operations included.
    busy_ns: Vec<u64>,
    pub series: Series,
    pub tally: Tally,
    /// The first few distinct messages of failures.
    pub messages: Vec<String>,
    window: Window,
    until_ns: u64,
    progress: Option<&'a Progress>,
    progress_next_ns: u64,
    progress_told: (u64, u64),
    done: (u64, u64),
}

/// What is counted over all kinds; durations in nanoseconds.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tally {
    /// Operations that were asked for in the window, begun, and over after it.
    pub unfinished: u64,
    pub late_starts: u64,
    pub late_max_ns: u64,
    /// Σ (start − the time when both a user had asked and a connection was free).
    pub driver_ns: u64,
    pub connections_lost: u64,
}

impl<'a> Ledger<'a> {
    /// An empty ledger; all its memory but that of the series is taken now.
    pub fn new(
        kinds: usize,
        window: Window,
        interval: Duration,
        progress: Option<&'a Progress>,
    ) -> Self {
        Self {
            kinds: (0..kinds).map(|_| KindOutcome::default()).collect(),
            busy_ns: vec![0; kinds],
            series: Series::new(interval, kinds),
            tally: Tally::default(),
            messages: Vec::with_capacity(MESSAGES_MAX),
            window,
            until_ns: window.until_ns.unwrap_or(u64::MAX),
            progress,
            progress_next_ns: 0,
            progress_told: (0, 0),
            done: (0, 0),
        }
    }

    /// Records a completed operation.
    #[inline]
    pub fn completed(&mut self, kind: u8, timing: &Timing, done: &Done) {
        if !self.counts(timing) {
            return;
        }
        let place = usize::from(kind);
        let response_ns = timing.end_ns.saturating_sub(timing.intended_ns);
        let kind = &mut self.kinds[place];
        kind.completed += 1;
        kind.rows += done.rows;
        kind.retries += u64::from(done.retries);
        kind.rolled_back += u64::from(done.rolled_back);
        kind.service
            .record_ns(timing.end_ns.saturating_sub(timing.start_ns));
        kind.response.record_ns(response_ns);
        kind.waiting
            .record_ns(timing.free_ns.saturating_sub(timing.intended_ns));
        let at_ns = timing.end_ns - self.window.from_ns;
        self.series
            .cell(at_ns, place)
            .response
            .record_ns(response_ns);
        self.done.0 += 1;
        self.account(place, timing);
    }

    /// Records an operation that failed: counted, but in no histogram, because a quick refusal is not a quick
    /// answer.
    #[cold]
    pub fn failed(&mut self, kind: u8, timing: &Timing, message: &str) {
        if !self.counts(timing) {
            return;
        }
        let place = usize::from(kind);
        self.kinds[place].errors += 1;
        let at_ns = timing.end_ns - self.window.from_ns;
        self.series.cell(at_ns, place).errors += 1;
        self.done.1 += 1;
        self.account(place, timing);
        self.add_message(message);
    }

    /// Records an operation that took longer than its limit.
    #[cold]
    pub fn timed_out(&mut self, kind: u8, timing: &Timing, limit: Duration) {
        if self.counts(timing) {
            self.kinds[usize::from(kind)].timeouts += 1;
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

    /// Adds all of another ledger of the same kinds.
    pub fn merge(&mut self, other: Ledger) {
        for (mine, theirs) in self.kinds.iter_mut().zip(&other.kinds) {
            mine.merge(theirs);
        }
        for (mine, theirs) in self.busy_ns.iter_mut().zip(&other.busy_ns) {
            *mine += theirs;
        }
        self.series.merge(other.series);
        self.tally.merge(&other.tally);
        for message in &other.messages {
            self.add_message(message);
        }
    }

    /// The account of each kind.
    pub fn take_kinds(&mut self) -> Vec<KindOutcome> {
        for (kind, busy_ns) in self.kinds.iter_mut().zip(&self.busy_ns) {
            kind.busy = Duration::from_nanos(*busy_ns);
        }
        std::mem::take(&mut self.kinds)
    }

    /// Tells the progress what it has not been told yet.
    pub fn tell_progress(&mut self) {
        if let Some(progress) = self.progress {
            let told = std::mem::replace(&mut self.progress_told, self.done);
            progress.add(self.done.0 - told.0, self.done.1 - told.1);
        }
    }

    /// Whether an operation ended in the window; if it was asked for in it and ended after it, that is noted.
    #[inline]
    fn counts(&mut self, timing: &Timing) -> bool {
        if timing.end_ns >= self.until_ns {
            let asked_in_it = self.window.from_ns <= timing.intended_ns;
            self.tally.unfinished += u64::from(asked_in_it && timing.intended_ns < self.until_ns);
            return false;
        }
        timing.end_ns >= self.window.from_ns
    }

    #[inline]
    fn account(&mut self, place: usize, timing: &Timing) {
        let busy_ns = timing.end_ns.saturating_sub(timing.start_ns);
        self.busy_ns[place] += busy_ns;
        let tally = &mut self.tally;
        let could_ns = timing.intended_ns.max(timing.free_ns);
        let driver_ns = timing.start_ns.saturating_sub(could_ns);
        tally.driver_ns += driver_ns;
        if timing.free_ns < timing.intended_ns && driver_ns > LATE_START.as_nanos() as u64 {
            tally.late_starts += 1;
            tally.late_max_ns = tally.late_max_ns.max(driver_ns);
        }
        if timing.end_ns >= self.progress_next_ns {
            self.progress_next_ns = timing.end_ns + PROGRESS_EVERY_NS;
            self.tell_progress();
        }
    }
}

impl Tally {
    fn merge(&mut self, other: &Self) {
        self.unfinished += other.unfinished;
        self.late_starts += other.late_starts;
        self.late_max_ns = self.late_max_ns.max(other.late_max_ns);
        self.driver_ns += other.driver_ns;
        self.connections_lost += other.connections_lost;
    }
}
