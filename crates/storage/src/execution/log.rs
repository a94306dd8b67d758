//! What the intervals of one run did, and the machine meanwhile.

use std::time::Duration;

use host::{Counters, Rates};

use crate::engine::{Interval, Tally};

/// One interval, all streams together, with what the machine did meanwhile.
#[derive(Debug, Clone, Copy)]
pub struct Lap {
    /// Its number, from 1.
    pub number: u32,
    /// Whether it is part of the totals.
    pub counted: bool,
    /// Its end, since the start of the run.
    pub end: Duration,
    /// Its length.
    pub length: Duration,
    /// What was done.
    pub total: Tally,
    /// What the machine did.
    pub rates: Rates,
}

/// Intervals, and the counters at their ends.
pub(super) struct Log {
    begin: Counters,
    /// End of the warm-up.
    warm: Counters,
    last: Counters,
    pub laps: Vec<Lap>,
}

/// Intervals of one run that are kept beside their pages.
const LAPS_MAX: usize = 100_000;

impl Log {
    pub fn new(begin: Counters) -> Self {
        Self {
            begin,
            warm: begin,
            last: begin,
            laps: Vec::new(),
        }
    }

    pub fn add(&mut self, interval: &Interval, now: Counters) -> Rates {
        let rates = Rates::between(&self.last, &now);
        self.last = now;
        if !interval.counted {
            self.warm = now;
        }
        if self.laps.len() == LAPS_MAX {
            self.laps.pop();
        }
        let mut total = Tally::default();
        interval
            .cells
            .iter()
            .for_each(|cell| total.merge(&cell.all()));
        self.laps.push(Lap {
            number: interval.number,
            counted: interval.counted,
            end: interval.end,
            length: interval.length,
            total,
            rates,
        });
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
