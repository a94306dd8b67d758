//! What the intervals of one run did, and the machine meanwhile.

use host::{Counters, Rates};

use crate::engine::Interval;

/// Intervals, and the counters at their ends.
pub(super) struct Log {
    begin: Counters,
    /// End of the warm-up.
    warm: Counters,
    last: Counters,
    pub intervals: Vec<(Interval, Rates)>,
}

/// Intervals of one run that are kept beside their pages.
const INTERVALS_MAX: usize = 100_000;

impl Log {
    pub fn new(begin: Counters) -> Self {
        Self {
            begin,
            warm: begin,
            last: begin,
            intervals: Vec::new(),
        }
    }

    pub fn add(&mut self, interval: &Interval, now: Counters) -> Rates {
        let rates = Rates::between(&self.last, &now);
        self.last = now;
        if !interval.counted {
            self.warm = now;
        }
        if self.intervals.len() == INTERVALS_MAX {
            self.intervals.pop();
        }
        self.intervals.push((interval.clone(), rates));
        rates
    }

    /// Over the time that counts; over all of it when nothing counts.
    pub fn counted(&self) -> Rates {
        let from = if self.warm.at_ns < self.last.at_ns {
            &self.warm
        } else {
            &self.begin
        };
        Rates::between(from, &self.last)
    }
}
