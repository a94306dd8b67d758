//! The series over time, by kinds of operations, within a bound of memory.

use std::time::Duration;

use crate::clock::ns;
use crate::coarse::Coarse;

/// Most intervals of a series; a longer drive gets intervals twice, four times … as long.
pub const INTERVALS_MAX: usize = 2048;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KindInterval {
    /// Response times of the completed operations, to 3 %; their number is [`Coarse::count`].
    pub response: Coarse,
    pub errors: u64,
}

impl KindInterval {
    fn merge(&mut self, other: &Self) {
        self.response.merge(&other.response);
        self.errors += other.errors;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.response.count() == 0 && self.errors == 0
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interval {
    /// Start of the interval, since the start of the window.
    pub at: Duration,
    /// Length; only the last interval may be shorter than the others.
    pub length: Duration,
    pub kinds: Vec<KindInterval>,
}

impl Interval {
    pub fn operations(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.response.count()).sum()
    }

    /// 99th percentile of the response times, to 3 %; `None` if no operation ended.
    pub fn response_p99(&self) -> Option<Duration> {
        match &self.kinds[..] {
            [only] => only.response.percentile(99.0),
            _ => self.total().response.percentile(99.0),
        }
    }

    pub fn total(&self) -> KindInterval {
        let mut total = KindInterval::default();
        self.kinds.iter().for_each(|kind| total.merge(kind));
        total
    }
}

#[derive(Debug)]
pub struct Series {
    interval: Duration,
    /// Recorders' intervals in one of the series, as a power of two.
    doublings: u32,
    kinds: usize,
    cells: Vec<KindInterval>,
}

impl Series {
    pub fn new(interval: Duration, kinds: usize) -> Self {
        Self {
            interval,
            doublings: 0,
            kinds,
            cells: Vec::new(),
        }
    }

    /// Length of the recorders' intervals.
    pub fn interval(&self) -> Duration {
        self.interval
    }

    pub fn add(&mut self, index: u64, kinds: &[KindInterval]) {
        while index >> self.doublings >= INTERVALS_MAX as u64 {
            self.double();
        }
        let first = (index >> self.doublings) as usize * self.kinds;
        if self.cells.len() < first + self.kinds {
            (self.cells).resize_with(first + self.kinds, KindInterval::default);
        }
        for (cell, kind) in self.cells[first..].iter_mut().zip(kinds) {
            cell.merge(kind);
        }
    }

    /// The series over `elapsed`, with an empty interval where nothing ended: a stall is a row of zeros, not a gap.
    pub fn intervals(mut self, elapsed: Duration) -> Vec<Interval> {
        while ns(elapsed).div_ceil(ns(self.each()).max(1)) > INTERVALS_MAX as u64 {
            self.double();
        }
        let each = self.each();
        let needed = ns(elapsed).div_ceil(ns(each).max(1)) as usize;
        let count = needed.max(self.cells.len() / self.kinds.max(1));
        (self.cells).resize_with(count * self.kinds, KindInterval::default);
        let mut cells = self.cells.into_iter();
        (0..count as u32)
            .map(|number| {
                let at = each * number;
                Interval {
                    at,
                    length: each.min(elapsed.saturating_sub(at)),
                    kinds: cells.by_ref().take(self.kinds).collect(),
                }
            })
            .collect()
    }

    fn each(&self) -> Duration {
        self.interval * (1 << self.doublings)
    }

    fn double(&mut self) {
        self.doublings += 1;
        let kinds = self.kinds;
        let whole = self.cells.len() / kinds.max(1);
        for first in 0..whole {
            for kind in 0..kinds {
                let from = std::mem::take(&mut self.cells[first * kinds + kind]);
                self.cells[first / 2 * kinds + kind].merge(&from);
            }
        }
        self.cells.truncate(whole.div_ceil(2) * kinds);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn done(latencies_ns: &[u64]) -> KindInterval {
        let mut done = KindInterval::default();
        let each = latencies_ns.iter();
        each.for_each(|ns| done.response.record_ns(*ns));
        done
    }

    fn counts(intervals: &[Interval], kind: usize) -> Vec<u64> {
        let count = |i: &Interval| i.kinds[kind].response.count();
        intervals.iter().map(count).collect()
    }

    #[test]
    fn gaps_are_zeros_and_the_last_interval_is_cut() {
        let mut series = Series::new(SECOND, 2);
        let failed = KindInterval {
            errors: 1,
            ..KindInterval::default()
        };
        series.add(2, &[KindInterval::default(), done(&[1000])]);
        series.add(0, &[done(&[1000, 1000]), KindInterval::default()]);
        series.add(2, &[failed, done(&[1000])]);
        let all = series.intervals(Duration::from_millis(3500));
        assert_eq!(counts(&all, 0), [2, 0, 0, 0]);
        assert_eq!(counts(&all, 1), [0, 0, 2, 0]);
        assert_eq!((all[2].operations(), all[2].total().errors), (2, 1));
        assert_eq!((all[1].operations(), all[1].response_p99()), (0, None));
        assert_eq!((all[2].at, all[2].length), (2 * SECOND, SECOND));
        assert_eq!(all[3].length, Duration::from_millis(500));
    }

    #[test]
    fn long_drives_stay_within_bounds_and_lose_nothing() {
        let mut series = Series::new(SECOND, 2);
        let last = 5 * INTERVALS_MAX as u64;
        (0..last).for_each(|i| series.add(i, &[KindInterval::default(), done(&[1])]));
        (0..9).for_each(|i| series.add(i, &[KindInterval::default(), done(&[1])]));
        let all = series.intervals(Duration::from_secs(last));
        assert!(all.len() <= INTERVALS_MAX);
        assert_eq!(counts(&all, 1).iter().sum::<u64>(), last + 9);
        assert_eq!(counts(&all, 0).iter().sum::<u64>(), 0);
        assert_eq!((all[0].length, counts(&all, 1)[0]), (SECOND * 8, 16));
        assert_eq!(counts(&all, 1)[1], 9, "the ninth of those added twice");
    }

    #[test]
    fn a_long_silence_is_a_row_of_zeros() {
        let all = Series::new(SECOND, 1).intervals(SECOND * 5000);
        assert!(all.len() <= INTERVALS_MAX && counts(&all, 0).iter().all(|n| *n == 0));
        let covered: Duration = all.iter().map(|i| i.length).sum();
        assert_eq!(covered, SECOND * 5000);
    }
}
