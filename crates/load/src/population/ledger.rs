//! What a thread writes down of every operation of a population: no lock, no formatting, and memory only when an
//! interval of the series begins.

use std::time::Duration;

use stats::Histogram;

use super::outcome::KindOutcome;
use super::series::Series;
use crate::Done;
use crate::recorder::{LATE_START, MESSAGES_MAX, PROGRESS_EVERY_NS, Progress, Timing};
use crate::schedule::Window;

/// The account of one thread, or of several that take turns.
#[derive(Debug)]
pub struct Ledger<'a> {
    kinds: Vec<KindOutcome>,
    /// Σ service times within the window by kinds, failed operations included.
    busy_ns: Vec<u64>,
    pub series: Series,
    pub tally: Tally,
    /// The first few distinct messages of failures.
    pub messages: Vec<String>,
    /// Operations that ended after the window: kind, times, and whether they were answered.
    in_hand: Vec<(usize, Timing, bool)>,
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
    /// Operations that were asked for in the window.
    pub asked: u64,
    /// Operations that were in hand when the window ended, or waiting.
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
            in_hand: Vec::new(),
            window,
            until_ns: window.until_ns.unwrap_or(u64::MAX),
            progress,
            progress_next_ns: 0,
            progress_told: (0, 0),
            done: (0, 0),
        }
    }

    /// Records a completed operation. One that was in hand when the window ended is awaited: how long it took is known
    /// and told, for a stall must not vanish with the window, but it was not done in it.
    #[inline]
    pub fn completed(&mut self, kind: u8, timing: &Timing, done: &Done) {
        let place = usize::from(kind);
        let counts = self.counts(timing);
        self.count_busy(place, timing);
        if !counts {
            return self.was_in_hand(place, timing, true);
        }
        let kind = &mut self.kinds[place];
        let response_ns = kind.record(timing);
        kind.completed += 1;
        kind.rows += done.rows;
        kind.retries += u64::from(done.retries);
        kind.rolled_back += u64::from(done.rolled_back);
        let at_ns = timing.end_ns - self.window.from_ns;
        self.series
            .cell(at_ns, place)
            .response
            .record_ns(response_ns);
        self.done.0 += 1;
        self.account(timing);
    }

    /// Keeps an operation that ended after the window, if it was asked for before that.
    #[cold]
    fn was_in_hand(&mut self, place: usize, timing: &Timing, answered: bool) {
        if self.was_unfinished(timing) {
            self.in_hand.push((place, *timing, answered));
        }
    }

    /// Adds what was unfinished when the window ended to the histograms: operations in hand, and of those that waited,
    /// given by kind and the time at which they were asked for, the ones that had waited for longer than 99 % of the
    /// completed ones took. That is a lower bound; a shorter wait says nothing yet.
    pub fn add_unfinished(&mut self, waiting: impl FnOnce(&mut dyn FnMut(u8, u64))) {
        let mut completed = Histogram::new();
        let responses = self.kinds.iter().map(|kind| &kind.response);
        responses.for_each(|response| completed.merge(response));
        let usual_us = match completed.is_empty() {
            true => 0.0,
            false => completed.percentile_us(99.0),
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
            let age_ns = self.until_ns.saturating_sub(due_ns);
            self.tally.unfinished += 1;
            self.tally.asked += u64::from(self.window.from_ns <= due_ns);
            if age_ns as f64 / 1e3 > usual_us {
                self.kinds[usize::from(kind)].record_wait(age_ns, age_ns);
            }
        });
    }

    /// Records an operation that failed: counted, but in no histogram, because a quick refusal is not a quick
    /// answer.
    #[cold]
    pub fn failed(&mut self, kind: u8, timing: &Timing, message: &str) {
        let place = usize::from(kind);
        let counts = self.counts(timing);
        self.count_busy(place, timing);
        if !counts {
            return;
        }
        self.kinds[place].errors += 1;
        let at_ns = timing.end_ns - self.window.from_ns;
        self.series.cell(at_ns, place).errors += 1;
        self.done.1 += 1;
        self.account(timing);
        self.add_message(message);
    }

    /// Records an operation that took longer than its limit.
    #[cold]
    pub fn timed_out(&mut self, kind: u8, timing: &Timing, limit: Duration) {
        if (self.window.from_ns..self.until_ns).contains(&timing.end_ns) {
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

    /// Adds all of another ledger of the same kinds.
    pub fn merge(&mut self, other: Ledger) {
        for (mine, theirs) in self.kinds.iter_mut().zip(&other.kinds) {
            mine.merge(theirs);
        }
        for (mine, theirs) in self.busy_ns.iter_mut().zip(&other.busy_ns) {
            *mine += theirs;
        }
        self.in_hand.extend(other.in_hand);
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

    /// Whether an operation ended in the window. Counts it as asked for in the window, and as unfinished at its end.
    #[inline]
    fn counts(&mut self, timing: &Timing) -> bool {
        let asked = (self.window.from_ns..self.until_ns).contains(&timing.intended_ns);
        self.tally.asked += u64::from(asked);
        self.tally.unfinished += u64::from(self.was_unfinished(timing));
        (self.window.from_ns..self.until_ns).contains(&timing.end_ns)
    }

    /// Whether an operation was asked for before the window ended, and over after that.
    #[inline]
    fn was_unfinished(&self, timing: &Timing) -> bool {
        timing.end_ns >= self.until_ns && timing.intended_ns < self.until_ns
    }

    /// Adds what of an operation's service lay in the window.
    #[inline]
    fn count_busy(&mut self, place: usize, timing: &Timing) {
        let from_ns = timing.start_ns.max(self.window.from_ns);
        self.busy_ns[place] += timing.end_ns.min(self.until_ns).saturating_sub(from_ns);
    }

    #[inline]
    fn account(&mut self, timing: &Timing) {
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
        self.asked += other.asked;
        self.unfinished += other.unfinished;
        self.late_starts += other.late_starts;
        self.late_max_ns = self.late_max_ns.max(other.late_max_ns);
        self.driver_ns += other.driver_ns;
        self.connections_lost += other.connections_lost;
    }
}
