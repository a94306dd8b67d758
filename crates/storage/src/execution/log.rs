//! Intervals of one run, and the activity of the machine in each.

use std::time::Duration;

use host::block::{BlockWatch, DeviceTimes};
use host::{Counters, CpuOwners, Owners, Programs, Rates};

use crate::engine::{Interval, Operation, Tally};

/// One interval, summed over all streams, with the machine's activity.
#[derive(Debug, Clone, Copy)]
pub struct Lap {
    pub number: u32,
    pub counted: bool,
    pub end: Duration,
    pub length: Duration,
    pub tallies: [Tally; 2],
    pub rates: Rates,
}

impl Lap {
    #[must_use]
    pub fn of(&self, operation: Operation) -> &Tally {
        &self.tallies[operation.index()]
    }

    #[must_use]
    pub fn total(&self) -> Tally {
        let mut total = self.tallies[0];
        total.merge(&self.tallies[1]);
        total
    }
}

/// Intervals of one run, and the machine's counters at their ends.
pub struct Log<'a> {
    /// Timing of the devices' requests, with the counters at the beginning and at the end of the warm-up.
    requests: Option<(&'a BlockWatch, [Vec<DeviceTimes>; 2])>,
    begin: Counters,
    warm: Counters,
    /// Processor time of all owners when the counted time began; `None` if it cannot be read.
    owners: Option<Owners>,
    last: Counters,
    pub laps: Vec<Lap>,
}

/// Intervals of one run that are stored in addition to their pages.
const LAPS_MAX: usize = 100_000;

impl<'a> Log<'a> {
    /// Begins with the counters before the run, and with the timing of the devices' requests, if any.
    pub fn new(begin: Counters, requests: Option<&'a BlockWatch>) -> Self {
        Self {
            requests: requests.and_then(|watch| {
                let begin = watch.read().ok()?;
                Some((watch, [begin.clone(), begin]))
            }),
            owners: owners(),
            begin,
            warm: begin,
            last: begin,
            laps: Vec::new(),
        }
    }

    /// Adds an interval with the counters at its end, and returns it with the machine's activity.
    pub fn add(&mut self, interval: &Interval, now: Counters) -> Lap {
        let rates = Rates::between(&self.last, &now);
        self.last = now;
        if !interval.counted {
            self.warm = now;
            self.owners = owners();
            if let Some((watch, [_, warm])) = &mut self.requests
                && let Ok(read) = watch.read()
            {
                *warm = read;
            }
        }
        if self.laps.len() == LAPS_MAX {
            self.laps.pop();
        }
        let mut tallies = [Tally::default(); 2];
        for cell in &interval.cells {
            for operation in [Operation::Read, Operation::Write] {
                tallies[operation.index()].merge(cell.of(operation));
            }
        }
        let lap = Lap {
            number: interval.number,
            counted: interval.counted,
            end: interval.end,
            length: interval.length,
            tallies,
            rates,
        };
        self.laps.push(lap);
        lap
    }

    /// Requests of the devices over the counted time, or over everything if nothing counts; empty if they are not
    /// timed.
    #[must_use]
    pub fn requests(&self) -> Vec<DeviceTimes> {
        let Some((watch, [begin, warm])) = &self.requests else {
            return Vec::new();
        };
        let before = if self.has_counted() { warm } else { begin };
        let now = watch.read().unwrap_or_default();
        let pairs = now.iter().zip(before);
        pairs.map(|(now, before)| now.since(before)).collect()
    }

    /// The machine's activity over the counted time, or over everything if nothing counts.
    #[must_use]
    pub fn counted(&self) -> Rates {
        let (from, to) = self.span();
        Rates::between(&from, &to)
    }

    /// Owners of the processor time of the counted time, or of everything if nothing counts; the run has just ended.
    #[must_use]
    pub fn owners(&self) -> Option<CpuOwners> {
        let owners = self.owners.as_ref()?;
        owners.until_now(&self.counted()).ok()
    }

    /// Counters at the beginning and the end of the counted time, or of everything if nothing counts.
    pub fn span(&self) -> (Counters, Counters) {
        let from = if self.has_counted() {
            self.warm
        } else {
            self.begin
        };
        (from, self.last)
    }

    fn has_counted(&self) -> bool {
        self.warm.at_ns < self.last.at_ns
    }
}

/// The program that moves the bytes is this one.
fn owners() -> Option<Owners> {
    Owners::of(&Programs::default()).ok()
}
