//! Finished intervals of a drive, for an observer while it runs.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::coarse::Coarse;
use crate::series::KindInterval;

/// Most intervals that wait to be taken; later counts go to the newest.
const WAITING_MAX: usize = 64;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KindCounts {
    pub response: Coarse,
    pub service: Coarse,
    pub errors: u64,
}

impl KindCounts {
    fn merge(&mut self, other: &Self) {
        self.response.merge(&other.response);
        self.service.merge(&other.service);
        self.errors += other.errors;
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KindIntervals {
    /// Length of all together; zero if they hold only stragglers of an earlier interval.
    pub length: Duration,
    pub kinds: Vec<KindCounts>,
}

impl KindIntervals {
    pub fn total(&self) -> KindCounts {
        let mut total = KindCounts::default();
        self.kinds.iter().for_each(|kind| total.merge(kind));
        total
    }

    fn merge(&mut self, other: &Self) {
        if self.kinds.len() < other.kinds.len() {
            (self.kinds).resize_with(other.kinds.len(), KindCounts::default);
        }
        for (mine, theirs) in self.kinds.iter_mut().zip(&other.kinds) {
            mine.merge(theirs);
        }
    }
}

/// Collects the counts of threads, each when it turns to its next interval.
#[derive(Debug, Default)]
pub(crate) struct IntervalQueue {
    waiting: BTreeMap<u64, KindIntervals>,
    next: u64,
    /// Newest interval at the last call of `take`.
    newest: Option<u64>,
}

impl IntervalQueue {
    pub fn add(
        &mut self,
        index: u64,
        cells: &[KindInterval],
        service: &[Coarse],
        interval_ns: u64,
    ) {
        let index = match self.waiting.last_key_value() {
            Some((last, _)) if self.waiting.len() >= WAITING_MAX => *last,
            _ => index,
        };
        let counts = self.waiting.entry(index).or_default();
        counts.length = Duration::from_nanos(interval_ns);
        if counts.kinds.len() < cells.len() {
            (counts.kinds).resize_with(cells.len(), KindCounts::default);
        }
        for ((kind, cell), service) in counts.kinds.iter_mut().zip(cells).zip(service) {
            kind.response.merge(&cell.response);
            kind.service.merge(service);
            kind.errors += cell.errors;
        }
    }

    /// Takes all counts except those of the newest interval, to which other threads may still add, unless nothing
    /// newer came since the last call.
    pub fn take(&mut self) -> Option<KindIntervals> {
        let newest = self.waiting.last_key_value().map(|(index, _)| *index)?;
        let is_settled = self.newest.replace(newest) == Some(newest);
        let until = newest + u64::from(is_settled);
        let rest = self.waiting.split_off(&until);
        let taken = std::mem::replace(&mut self.waiting, rest);
        let mut sum: Option<KindIntervals> = None;
        for (index, counts) in taken {
            let sum = sum.get_or_insert_default();
            if index >= self.next {
                // Intervals without operations count as time as well.
                sum.length += counts.length * u32::try_from(index + 1 - self.next).unwrap_or(1);
                self.next = index + 1;
            }
            sum.merge(&counts);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(queue: &mut IntervalQueue, index: u64, times: u64) {
        let mut cell = KindInterval::default();
        let mut service = Coarse::default();
        (0..times).for_each(|_| cell.response.record_ns(1_000));
        (0..times).for_each(|_| service.record_ns(500));
        queue.add(index, &[cell], &[service], 1_000_000_000);
    }

    fn take(queue: &mut IntervalQueue) -> Option<(u64, u64)> {
        let taken = queue.take()?;
        let total = taken.total();
        assert_eq!(total.response.count(), total.service.count());
        Some((total.response.count(), taken.length.as_secs()))
    }

    #[test]
    fn an_interval_is_whole_when_it_is_taken() {
        let mut queue = IntervalQueue::default();
        assert_eq!(take(&mut queue), None);
        add(&mut queue, 0, 5);
        assert_eq!(
            take(&mut queue),
            None,
            "the other thread has not added its counts"
        );
        add(&mut queue, 0, 7);
        add(&mut queue, 1, 1);
        assert_eq!(take(&mut queue), Some((12, 1)));
        assert_eq!(take(&mut queue), Some((1, 1)), "nothing newer came");
        add(&mut queue, 0, 2);
        add(&mut queue, 4, 3);
        assert_eq!(take(&mut queue), Some((2, 0)), "a straggler");
        assert_eq!(take(&mut queue), Some((3, 3)), "with the pause before it");
    }

    #[test]
    fn kinds_are_separate() {
        let mut queue = IntervalQueue::default();
        let mut cells = [KindInterval::default(), KindInterval::default()];
        let mut service = [Coarse::default(), Coarse::default()];
        cells[1].response.record_ns(1_000);
        service[1].record_ns(500);
        cells[0].errors = 2;
        queue.add(0, &cells, &service, 1_000_000_000);
        queue.add(0, &cells, &service, 1_000_000_000);
        assert_eq!(queue.take(), None);
        let taken = queue.take().unwrap();
        let counts = taken.kinds.iter().map(|k| (k.service.count(), k.errors));
        assert_eq!(counts.collect::<Vec<_>>(), [(0, 4), (2, 0)]);
        assert_eq!(
            (taken.total().response.count(), taken.total().errors),
            (2, 4)
        );
    }

    #[test]
    fn what_nobody_takes_stays_within_bounds_and_loses_nothing() {
        let mut queue = IntervalQueue::default();
        (0..500).for_each(|index| add(&mut queue, index, 1));
        assert_eq!(queue.waiting.len(), WAITING_MAX);
        let all = [take(&mut queue), take(&mut queue)].into_iter().flatten();
        assert_eq!(all.map(|(count, _)| count).sum::<u64>(), 500);
    }
}
