//! The series over time of a population, by kinds of operations, within a bound of memory.

use std::ops::Range;
use std::time::Duration;

use crate::clock::ns;
use crate::coarse::Coarse;

/// Most intervals of a series; a longer window gets intervals twice, four times … as long.
pub const INTERVALS_MAX: usize = 1024;

/// What was done of one kind in one interval; what ended in it.
#[derive(Debug, Clone, Default)]
pub struct KindInterval {
    /// Response times of the completed operations, to 3 %; their number is [`Coarse::count`].
    pub response: Coarse,
    /// Operations that failed.
    pub errors: u64,
}

/// One interval of the measured window.
#[derive(Debug, Clone)]
pub struct PopulationInterval {
    /// Its start, since the start of the window.
    pub at: Duration,
    /// Its length; only the last one may be shorter than the others.
    pub length: Duration,
    /// One entry for each kind.
    pub kinds: Vec<KindInterval>,
}

impl PopulationInterval {
    /// All kinds together.
    pub fn total(&self) -> KindInterval {
        let mut total = KindInterval::default();
        self.kinds.iter().for_each(|kind| total.merge(kind));
        total
    }
}

impl KindInterval {
    fn merge(&mut self, other: &Self) {
        self.response.merge(&other.response);
        self.errors += other.errors;
    }
}

/// Intervals as they fill.
#[derive(Debug)]
pub struct Series {
    interval_ns: u64,
    kinds: usize,
    /// All kinds of one interval after those of the one before.
    cells: Vec<KindInterval>,
    /// The interval of the last cell asked for and where it lies, so that most are found without a division.
    last: Range<u64>,
    last_place: usize,
}

impl Series {
    /// An empty series of so many kinds.
    pub fn new(interval: Duration, kinds: usize) -> Self {
        Self {
            interval_ns: ns(interval).max(1),
            kinds,
            cells: Vec::new(),
            last: 0..0,
            last_place: 0,
        }
    }

    /// Where something is to be counted that ended `at_ns` after the start of the window.
    #[inline]
    pub fn cell(&mut self, at_ns: u64, kind: usize) -> &mut KindInterval {
        if !self.last.contains(&at_ns) {
            self.turn_to(at_ns);
        }
        &mut self.cells[self.last_place + kind]
    }

    #[cold]
    fn turn_to(&mut self, at_ns: u64) {
        while at_ns / self.interval_ns >= INTERVALS_MAX as u64 {
            self.double();
        }
        let place = at_ns / self.interval_ns;
        let from_ns = place * self.interval_ns;
        self.last = from_ns..from_ns.saturating_add(self.interval_ns);
        self.last_place = place as usize * self.kinds;
        let needed = self.last_place + self.kinds;
        if self.cells.len() < needed {
            self.cells.resize_with(needed, KindInterval::default);
        }
    }

    /// Adds all of another series of the same kinds and interval.
    pub fn merge(&mut self, mut other: Series) {
        while self.interval_ns < other.interval_ns {
            self.double();
        }
        while other.interval_ns < self.interval_ns {
            other.double();
        }
        if self.cells.len() < other.cells.len() {
            std::mem::swap(&mut self.cells, &mut other.cells);
        }
        for (mine, theirs) in self.cells.iter_mut().zip(&other.cells) {
            mine.merge(theirs);
        }
    }

    /// The series over `elapsed`, with an empty interval where nothing ended: a stall is a row of zeros, not
    /// a gap.
    pub fn intervals(mut self, elapsed: Duration) -> Vec<PopulationInterval> {
        if let Some(last_ns) = ns(elapsed).checked_sub(1) {
            self.cell(last_ns, 0);
        }
        let each = Duration::from_nanos(self.interval_ns);
        let mut cells = self.cells.into_iter();
        let rows = std::iter::from_fn(|| {
            let kinds: Vec<_> = cells.by_ref().take(self.kinds).collect();
            (!kinds.is_empty()).then_some(kinds)
        });
        (0u32..)
            .zip(rows)
            .map(|(number, kinds)| {
                let at = each * number;
                PopulationInterval {
                    at,
                    length: each.min(elapsed.saturating_sub(at)),
                    kinds,
                }
            })
            .collect()
    }

    /// Makes every interval twice as long, joining neighbours.
    #[cold]
    fn double(&mut self) {
        self.interval_ns = self.interval_ns.saturating_mul(2);
        self.last = 0..0;
        let kinds = self.kinds;
        let whole = self.cells.len() / kinds;
        for place in 0..whole {
            for kind in 0..kinds {
                let from = std::mem::take(&mut self.cells[place * kinds + kind]);
                self.cells[place / 2 * kinds + kind].merge(&from);
            }
        }
        self.cells.truncate(whole.div_ceil(2) * kinds);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn counts(intervals: &[PopulationInterval], kind: usize) -> Vec<u64> {
        let count = |i: &PopulationInterval| i.kinds[kind].response.count();
        intervals.iter().map(count).collect()
    }

    #[test]
    fn gaps_are_zeros_and_the_last_interval_is_cut() {
        let mut series = Series::new(Duration::from_secs(1), 2);
        series.cell(2 * SECOND, 1).response.record_ns(1000);
        series.cell(0, 0).response.record_ns(1000);
        series.cell(2 * SECOND + 5, 1).errors += 1;
        let all = series.intervals(Duration::from_millis(3500));
        assert_eq!(counts(&all, 0), [1, 0, 0, 0]);
        assert_eq!(counts(&all, 1), [0, 0, 1, 0]);
        assert_eq!((all[2].total().errors, all[2].kinds[0].errors), (1, 0));
        assert_eq!(all[3].length, Duration::from_millis(500));
    }

    #[test]
    fn long_windows_stay_within_bounds_and_lose_nothing() {
        let each = Duration::from_secs(1);
        let (mut long, mut short) = (Series::new(each, 2), Series::new(each, 2));
        let last = 5 * INTERVALS_MAX as u64;
        (0..last).for_each(|i| long.cell(i * SECOND, 1).response.record_ns(1));
        (0..9).for_each(|i| short.cell(i * SECOND, 1).response.record_ns(1));
        short.merge(long);
        let all = short.intervals(Duration::from_secs(last));
        assert!(all.len() <= INTERVALS_MAX);
        assert_eq!(counts(&all, 1).iter().sum::<u64>(), last + 9);
        assert_eq!(counts(&all, 0).iter().sum::<u64>(), 0);
        assert_eq!((all[0].length, counts(&all, 1)[0]), (each * 8, 16));
        assert_eq!(counts(&all, 1)[1], 9, "the ninth of the short one");
    }
}
