//! Sessions by class of wait, per interval.

use std::collections::HashMap;

use archive::{About, EventClass, Observed};
use engine::{Tally, TimeOnProcessors, WaitClass};

const CLASSES: [WaitClass; 9] = [
    WaitClass::Cpu,
    WaitClass::DataRead,
    WaitClass::DataWrite,
    WaitClass::LogSync,
    WaitClass::Lock,
    WaitClass::Latch,
    WaitClass::Client,
    WaitClass::Blocked,
    WaitClass::Other,
];

/// Index of the class for which the kernel has the time.
const CPU: usize = 0;
const UNREPORTED: usize = 7;

#[derive(Debug)]
struct Interval {
    end_s: f64,
    /// Mean active sessions by class; `None` without a sample.
    sessions: Option<[f64; 9]>,
    transactions_per_s: Option<f64>,
}

#[derive(Debug, Default)]
pub(super) struct Activity {
    intervals: Vec<Interval>,
    seconds: HashMap<WaitClass, f64>,
    interval_s: f64,
    /// Most active sessions in one sample of this interval.
    at_work_max: f64,
    /// Session seconds on processors in the last interval beyond the samples' count. Samples are rare, so a surplus in
    /// one interval is a deficit in the next.
    ahead_s: f64,
    /// True if the kernel reported the sessions' processor time in each interval.
    pub knows_processors: bool,
    /// Seconds that all samples stand for, and session seconds in statements among them.
    pub sampled_time_s: f64,
    pub sampled_s: f64,
    /// Seconds of active sessions by the samples, with the kernel's time on and waiting for processors.
    pub at_work_s: f64,
    /// … of which they waited for something else than a processor, and the rest.
    pub waiting_s: f64,
    pub on_processors_s: f64,
}

impl Activity {
    /// Adds a sample that stands for so many seconds.
    pub fn add(&mut self, sample: &Tally, stands_for_s: f64) {
        for ((class, _), weight) in &sample.sessions {
            *self.seconds.entry(*class).or_default() += weight * stands_for_s;
        }
        let at_work: f64 = sample.sessions.values().sum();
        self.at_work_max = self.at_work_max.max(at_work);
        self.interval_s += stands_for_s;
    }

    /// Ends the interval. `processors` is the sessions' processor time in it, if the kernel reports it. Returns the
    /// seconds of active sessions that no sample shows: they waited for a processor before the server registered their
    /// statement.
    pub fn end_interval(
        &mut self,
        end_s: f64,
        transactions_per_s: Option<f64>,
        processors: Option<TimeOnProcessors>,
    ) -> f64 {
        let mut seconds = CLASSES.map(|class| self.seconds.get(&class).copied().unwrap_or(0.0));
        let sampled_s: f64 = seconds.iter().sum();
        self.sampled_s += sampled_s;
        self.knows_processors =
            processors.is_some() && (self.knows_processors || self.intervals.is_empty());
        let begin_s = self.intervals.last().map_or(0.0, |interval| interval.end_s);
        // Share of the interval that the samples stand for.
        let sampled_share = self.interval_s / (end_s - begin_s).max(1e-9);
        let at_work_max = std::mem::take(&mut self.at_work_max);
        if let Some(processors) = processors {
            self.with_processors(&mut seconds, processors.seconds * sampled_share);
            let sessions = at_work_max.max(processors.sessions as f64);
            at_most(&mut seconds, sessions * self.interval_s);
        }
        let sum_s: f64 = seconds.iter().sum();
        self.at_work_s += sum_s;
        self.waiting_s += sum_s - seconds[CPU];
        self.on_processors_s += seconds[CPU];
        self.sampled_time_s += self.interval_s;
        let interval_s = std::mem::take(&mut self.interval_s);
        self.seconds.clear();
        self.intervals.push(Interval {
            end_s,
            sessions: (interval_s > 0.0).then(|| seconds.map(|s| s / interval_s)),
            transactions_per_s,
        });
        (sum_s - sampled_s).max(0.0)
    }

    /// Takes the kernel's processor time. If the samples show sessions at work for longer, the rest were waits that no
    /// view reports.
    fn with_processors(&mut self, seconds: &mut [f64; 9], processors_s: f64) {
        let rest_s = seconds[CPU] - processors_s - self.ahead_s;
        self.ahead_s = (-rest_s).clamp(0.0, processors_s.max(0.0));
        seconds[CPU] = processors_s;
        seconds[UNREPORTED] += rest_s.max(0.0);
    }

    pub fn rates(&self) -> Vec<(f64, Option<f64>)> {
        let rate = |interval: &Interval| (interval.end_s, interval.transactions_per_s);
        self.intervals.iter().map(rate).collect()
    }

    pub fn table(&self, source: &str) -> Observed {
        let names = CLASSES.map(|class| EventClass::from(class).name().to_owned());
        let classes = names.iter().map(|name| (name.as_str(), "sessions"));
        let columns: Vec<_> = [("until", "s"), ("transactions", "/s")]
            .into_iter()
            .chain(classes)
            .collect();
        let mut table = Observed::new(About::Activity, source, &columns);
        table.rows = (self.intervals.iter())
            .map(|interval| {
                let sessions = (0..CLASSES.len()).map(|at| interval.sessions.map(|all| all[at]));
                let numbers = [Some(interval.end_s), interval.transactions_per_s];
                numbers
                    .into_iter()
                    .chain(sessions)
                    .map(Into::into)
                    .collect()
            })
            .collect();
        table
    }
}

/// Limits active sessions to the number of sessions. A session still shows its last wait while it waits for a
/// processor, so waits are reduced first.
fn at_most(seconds: &mut [f64; 9], most_s: f64) {
    let sum_s: f64 = seconds.iter().sum();
    let waits_s = sum_s - seconds[CPU];
    if sum_s <= most_s || waits_s <= 0.0 {
        return;
    }
    let scale = (most_s - seconds[CPU]).max(0.0) / waits_s;
    for (at, wait_s) in seconds.iter_mut().enumerate() {
        *wait_s *= if at == CPU { 1.0 } else { scale };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_sessions_by_class() {
        let mut activity = Activity::default();
        let mut sample = Tally::default();
        sample.session(WaitClass::Cpu, "at work", 2.0);
        sample.session(WaitClass::Lock, "row", 1.0);
        activity.add(&sample, 0.5);
        sample.clear();
        sample.session(WaitClass::Cpu, "at work", 1.0);
        activity.add(&sample, 0.5);
        activity.end_interval(1.0, Some(10.0), None);
        activity.end_interval(2.0, None, None);
        assert_eq!((activity.at_work_s, activity.waiting_s), (2.0, 0.5));
        assert_eq!(activity.sampled_time_s, 1.0);
        let table = activity.table("samples");
        let of = |row: usize, column: &str| table.number(&table.rows[row], column);
        assert_eq!((of(0, "CPU"), of(0, "lock")), (Some(1.5), Some(0.5)));
        assert_eq!(
            (of(0, "transactions"), of(1, "transactions")),
            (Some(10.0), None)
        );
        assert_eq!(of(1, "CPU"), None, "nobody looked");
        assert_eq!(activity.rates(), [(1.0, Some(10.0)), (2.0, None)]);
    }

    /// Each sample has one session at work and one that waits for a lock. In the first second 2.5 s were spent on
    /// processors or in their queue, then 0.25 s, of which the first has 0.25 s ahead, and 0.5 s.
    #[test]
    fn golden_processor_time_is_the_kernel_s() {
        let mut activity = Activity::default();
        for (end_s, processors_s, queued_s) in [(1.0, 2.5, 1.5), (2.0, 0.25, 0.0), (3.0, 0.5, 0.0)]
        {
            let mut sample = Tally::default();
            sample.session(WaitClass::Cpu, "at work", 1.0);
            sample.session(WaitClass::Lock, "row", 1.0);
            activity.add(&sample, 1.0);
            let queued = activity.end_interval(end_s, None, many(processors_s));
            assert_eq!(queued, queued_s);
        }
        assert!(activity.knows_processors);
        assert_eq!((activity.sampled_s, activity.sampled_time_s), (6.0, 3.0));
        assert_eq!((activity.at_work_s, activity.waiting_s), (6.5, 3.25));
        assert_eq!(activity.on_processors_s, 3.25);
        let table = activity.table("samples");
        let of = |row: usize, column: &str| table.number(&table.rows[row], column).unwrap();
        let rows = |column: &str| [0, 1, 2].map(|row| of(row, column));
        assert_eq!((rows("CPU"), rows("lock")), ([2.5, 0.25, 0.5], [1.0; 3]));
        let blocked = EventClass::from(WaitClass::Blocked);
        assert_eq!(rows(blocked.name()), [0.0, 0.0, 0.25]);
        // The samples stand for half of the fourth second.
        activity.add(&Tally::default(), 0.5);
        activity.end_interval(4.0, None, many(1.0));
        assert_eq!((activity.at_work_s, activity.waiting_s), (7.0, 3.25));
        activity.end_interval(5.0, None, None);
        assert!(!activity.knows_processors, "not the whole time");
    }

    /// More sessions than are ever active here.
    fn many(seconds: f64) -> Option<TimeOnProcessors> {
        let sessions = 100;
        Some(TimeOnProcessors { seconds, sessions })
    }

    /// Samples show three sessions that wait for the log and one that waits for a lock, while four sessions had the
    /// processors for a second in two.
    #[test]
    fn golden_no_more_sessions_are_active_than_there_are() {
        let mut activity = Activity::default();
        let mut sample = Tally::default();
        sample.session(WaitClass::LogSync, "log", 3.0);
        sample.session(WaitClass::Lock, "row", 1.0);
        activity.add(&sample, 2.0);
        let processors = |sessions| {
            let seconds = 1.0;
            Some(TimeOnProcessors { seconds, sessions })
        };
        // A session came and went in between.
        activity.end_interval(2.0, None, processors(3));
        assert_eq!((activity.at_work_s, activity.waiting_s), (8.0, 7.0));
        let table = activity.table("samples");
        let of = |column: &str| table.number(&table.rows[0], column).unwrap();
        assert_eq!(of("CPU"), 0.5);
        let log = EventClass::from(WaitClass::LogSync);
        assert_eq!((of(log.name()), of("lock")), (2.625, 0.875));
        // Five sessions have room for all of it.
        activity.add(&sample, 2.0);
        activity.end_interval(4.0, None, processors(5));
        assert_eq!((activity.at_work_s, activity.waiting_s), (17.0, 15.0));
    }
}
