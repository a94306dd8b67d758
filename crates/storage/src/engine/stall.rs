//! Times in which the engine should have run and did not: its process was stopped, or others had the processors.

use std::collections::VecDeque;
use std::time::Duration;

use load::clock::ns;
use load::recorder::LATE_START;

/// Older stalls are dropped; hardly any of their I/Os still wait.
const STALLS_MAX: usize = 4096;
/// A stall this long is reported as a stop; shorter ones are normal scheduling.
const STOP_MIN: Duration = Duration::from_millis(250);

#[derive(Debug, Default)]
pub(crate) struct Stalls {
    all: VecDeque<(u64, u64)>,
    last_end_ns: u64,
    pub stopped_ns: u64,
}

impl Stalls {
    #[inline]
    pub fn ran(&mut self, due_ns: u64, now_ns: u64) {
        if now_ns.saturating_sub(due_ns) > ns(LATE_START) {
            self.add(due_ns, now_ns);
        }
    }

    #[cold]
    fn add(&mut self, begin_ns: u64, end_ns: u64) {
        if self.all.len() == STALLS_MAX {
            self.all.pop_front();
        }
        self.all.push_back((begin_ns, end_ns));
        self.last_end_ns = end_ns;
        if end_ns - begin_ns >= ns(STOP_MIN) {
            self.stopped_ns += end_ns - begin_ns;
        }
    }

    /// Remaining time of the stall in which an I/O became due; 0 if the engine ran.
    #[inline]
    pub fn rest_ns(&self, intended_ns: u64) -> u64 {
        if intended_ns >= self.last_end_ns {
            return 0;
        }
        self.rest_of_older_ns(intended_ns)
    }

    #[cold]
    fn rest_of_older_ns(&self, intended_ns: u64) -> u64 {
        let next = self.all.partition_point(|(_, end)| *end <= intended_ns);
        let stall = self.all.get(next).filter(|(begin, _)| *begin < intended_ns);
        stall.map_or(0, |(_, end)| end - intended_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn what_became_due_in_a_stall_is_late_by_its_rest() {
        let mut stalls = Stalls::default();
        stalls.ran(10 * MS, 11 * MS);
        assert_eq!(stalls.rest_ns(10 * MS), 0, "a millisecond is put up with");
        stalls.ran(20 * MS, 50 * MS);
        stalls.ran(60 * MS, 360 * MS);
        for (intended_ms, rest_ms) in [
            (20, 0),
            (21, 29),
            (49, 1),
            (50, 0),
            (55, 0),
            (100, 260),
            (360, 0),
        ] {
            assert_eq!(
                stalls.rest_ns(intended_ms * MS),
                rest_ms * MS,
                "{intended_ms}"
            );
        }
        assert_eq!(stalls.stopped_ns, 300 * MS, "30 ms are no stop");
    }
}
