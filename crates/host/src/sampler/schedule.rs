//! Due times of samples: multiples of the interval from an anchor, never from the last sample, so that delays do not
//! add up.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tick {
    Wait {
        until_ns: u64,
    },
    Due {
        /// Ticks that came more than half an interval late, including those left out.
        late: u64,
    },
}

#[derive(Debug)]
pub(crate) struct Schedule {
    anchor_ns: u64,
    interval_ns: u64,
    due_ns: u64,
}

impl Schedule {
    pub(crate) fn new(anchor_ns: u64, interval_ns: u64) -> Self {
        assert!(interval_ns > 0, "the sampler has checked its interval");
        Self {
            anchor_ns,
            interval_ns,
            due_ns: anchor_ns + interval_ns,
        }
    }

    pub(crate) fn follow(&mut self, anchor_ns: u64) {
        if anchor_ns != self.anchor_ns {
            *self = Self::new(anchor_ns, self.interval_ns);
        }
    }

    /// Returns the action at `now_ns`, and advances if a sample is due.
    pub(crate) fn poll(&mut self, now_ns: u64) -> Tick {
        if now_ns < self.due_ns {
            return Tick::Wait {
                until_ns: self.due_ns,
            };
        }
        let late_ns = now_ns - self.due_ns;
        let missed = late_ns / self.interval_ns;
        let first_is_late = late_ns > self.interval_ns / 2;
        self.due_ns += (missed + 1) * self.interval_ns;
        Tick::Due {
            late: missed.max(u64::from(first_is_late)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_stand_on_multiples_of_the_interval() {
        let mut schedule = Schedule::new(1000, 100);
        assert_eq!(schedule.poll(1099), Tick::Wait { until_ns: 1100 });
        assert_eq!(schedule.poll(1130), Tick::Due { late: 0 });
        assert_eq!(
            schedule.poll(1130),
            Tick::Wait { until_ns: 1200 },
            "30 late, yet no drift"
        );
        assert_eq!(schedule.poll(1251), Tick::Due { late: 1 });
        assert_eq!(schedule.poll(1251), Tick::Wait { until_ns: 1300 });
        assert_eq!(
            schedule.poll(1640),
            Tick::Due { late: 3 },
            "1300, 1400 and 1500 came too late"
        );
        assert_eq!(schedule.poll(1640), Tick::Wait { until_ns: 1700 });
    }

    #[test]
    fn a_new_anchor_restarts_the_schedule() {
        let mut schedule = Schedule::new(1000, 100);
        schedule.follow(1000);
        assert_eq!(schedule.poll(1000), Tick::Wait { until_ns: 1100 });
        schedule.follow(1077);
        assert_eq!(schedule.poll(1100), Tick::Wait { until_ns: 1177 });
    }
}
