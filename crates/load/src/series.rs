//! The series over time, gathered from the interval records of all jobs within a bound of memory.

use std::time::Duration;

use crate::coarse::Coarse;
use crate::recorder::IntervalRecord;

/// Most intervals of a series; a longer drive gets intervals twice, four times … as long.
pub const INTERVALS_MAX: usize = 2048;

/// One interval of a drive, as all jobs together saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interval {
    /// Its start, since the common start.
    pub at: Duration,
    /// Its length; only the last one may be shorter than the others.
    pub length: Duration,
    /// Operations that ended in it.
    pub operations: u64,
    /// 99th percentile of their response times, to 3 %; `None` when none ended.
    pub response_p99: Option<Duration>,
}

/// Gathers interval records in any order.
#[derive(Debug)]
pub struct Series {
    interval: Duration,
    /// Intervals of the jobs in one of ours, as a power of two.
    doublings: u32,
    intervals: Vec<Coarse>,
}

impl Series {
    /// An empty series; `interval` is that of the recorders.
    pub fn new(interval: Duration) -> Self {
        Self {
            interval,
            doublings: 0,
            intervals: Vec::new(),
        }
    }

    /// Adds what one job did in one interval.
    pub fn add(&mut self, record: &IntervalRecord) {
        while record.index >> self.doublings >= INTERVALS_MAX as u64 {
            self.double();
        }
        let place = (record.index >> self.doublings) as usize;
        if place >= self.intervals.len() {
            self.intervals.resize_with(place + 1, Coarse::default);
        }
        self.intervals[place].merge(&record.response);
    }

    /// The series over `elapsed`, with an empty interval where nothing ended: a stall is a row of zeros, not a gap.
    pub fn intervals(&self, elapsed: Duration) -> Vec<Interval> {
        let each = self.interval * (1 << self.doublings);
        let nothing = Coarse::default();
        let needed = elapsed.as_nanos().div_ceil(each.as_nanos().max(1)) as usize;
        let count = needed.min(INTERVALS_MAX).max(self.intervals.len());
        (0..count)
            .map(|i| {
                let response = self.intervals.get(i).unwrap_or(&nothing);
                let at = each * i as u32;
                Interval {
                    at,
                    length: each.min(elapsed.saturating_sub(at)),
                    operations: response.count(),
                    response_p99: response.percentile(99.0),
                }
            })
            .collect()
    }

    /// Makes every interval twice as long, joining neighbours.
    fn double(&mut self) {
        self.doublings += 1;
        self.intervals = self
            .intervals
            .chunks(2)
            .map(|pair| {
                let mut joined = pair[0].clone();
                pair[1..].iter().for_each(|other| joined.merge(other));
                joined
            })
            .collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(index: u64, latencies_ns: &[u64]) -> IntervalRecord {
        let mut response = Coarse::default();
        latencies_ns.iter().for_each(|ns| response.record_ns(*ns));
        IntervalRecord { index, response }
    }

    #[test]
    fn gaps_are_zeros_and_the_last_interval_is_cut() {
        let second = Duration::from_secs(1);
        let mut series = Series::new(second);
        series.add(&record(2, &[1000]));
        series.add(&record(0, &[1000, 1000]));
        series.add(&record(2, &[1000]));
        let all = series.intervals(Duration::from_millis(3500));
        let operations: Vec<u64> = all.iter().map(|i| i.operations).collect();
        assert_eq!(operations, [2, 0, 2, 0]);
        assert_eq!(all[1].response_p99, None);
        assert_eq!((all[2].at, all[2].length), (2 * second, second));
        assert_eq!(all[3].length, Duration::from_millis(500));
    }

    #[test]
    fn a_long_drive_stays_within_bounds_and_loses_nothing() {
        let mut series = Series::new(Duration::from_secs(1));
        let last = 5 * INTERVALS_MAX as u64;
        (0..last).for_each(|i| series.add(&record(i, &[1])));
        let all = series.intervals(Duration::from_secs(last));
        assert!(all.len() <= INTERVALS_MAX);
        assert_eq!(all.iter().map(|i| i.operations).sum::<u64>(), last);
        assert_eq!(all[0].length, Duration::from_secs(8));
    }
}
