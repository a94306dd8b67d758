//! Sessions by class of wait, interval by interval.

use std::collections::HashMap;

use archive::{About, EventClass, Observed};
use target::{Tally, WaitClass};

/// Classes in the order of table and chart.
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

/// What one interval was.
#[derive(Debug)]
struct Interval {
    end_s: f64,
    /// Sessions at work on average by class; nothing where nobody looked.
    sessions: Option<[f64; 9]>,
    transactions_per_s: Option<f64>,
}

/// All intervals, and the one that is not over.
#[derive(Debug, Default)]
pub(super) struct Activity {
    intervals: Vec<Interval>,
    seconds: HashMap<WaitClass, f64>,
    looked_s: f64,
    /// Seconds of all looks, and of sessions in them.
    pub all_looked_s: f64,
    pub at_work_s: f64,
    /// … of which those that waited for something else than a processor.
    pub waiting_s: f64,
}

impl Activity {
    /// Adds a look that stands for so many seconds.
    pub fn add(&mut self, look: &Tally, stands_for_s: f64) {
        for ((class, _), weight) in &look.sessions {
            *self.seconds.entry(*class).or_default() += weight * stands_for_s;
        }
        self.looked_s += stands_for_s;
    }

    /// The interval ends here.
    pub fn end_interval(&mut self, end_s: f64, transactions_per_s: Option<f64>) {
        let seconds = CLASSES.map(|class| self.seconds.get(&class).copied().unwrap_or(0.0));
        let seconds = without_negative(seconds);
        let sum_s: f64 = seconds.iter().sum();
        self.at_work_s += sum_s;
        self.waiting_s += sum_s - seconds[0];
        self.all_looked_s += self.looked_s;
        let looked_s = std::mem::take(&mut self.looked_s);
        self.seconds.clear();
        self.intervals.push(Interval {
            end_s,
            sessions: (looked_s > 0.0).then(|| seconds.map(|s| s / looked_s)),
            transactions_per_s,
        });
    }

    /// Transactions per second at the end of each interval.
    pub fn rates(&self) -> Vec<(f64, Option<f64>)> {
        let rate = |interval: &Interval| (interval.end_s, interval.transactions_per_s);
        self.intervals.iter().map(rate).collect()
    }

    /// A row for each interval.
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

/// Where the time of processors comes from the kernel's account, what is left of a session's time may be negative: more was used
/// than its statements were seen to take. It is taken from what sessions were seen doing while they were at work.
fn without_negative(mut seconds: [f64; 9]) -> [f64; 9] {
    let mut owed: f64 = seconds.iter().filter(|s| **s < 0.0).sum::<f64>().abs();
    for s in &mut seconds {
        *s = s.max(0.0);
    }
    for class in [WaitClass::Client, WaitClass::LogSync, WaitClass::Cpu] {
        let at = CLASSES.iter().position(|c| *c == class);
        if let Some(s) = at.and_then(|at| seconds.get_mut(at)) {
            let taken = owed.min(*s);
            *s -= taken;
            owed -= taken;
        }
    }
    seconds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_sessions_by_class() {
        let mut activity = Activity::default();
        let mut look = Tally::default();
        look.session(WaitClass::Cpu, "at work", 2.0);
        look.session(WaitClass::Lock, "row", 1.0);
        activity.add(&look, 0.5);
        look.clear();
        look.session(WaitClass::Cpu, "at work", 1.0);
        activity.add(&look, 0.5);
        activity.end_interval(1.0, Some(10.0));
        activity.end_interval(2.0, None);
        assert_eq!((activity.at_work_s, activity.waiting_s), (2.0, 0.5));
        assert_eq!(activity.all_looked_s, 1.0);
        let table = activity.table("looks");
        let of = |row: usize, column: &str| table.number(&table.rows[row], column);
        assert_eq!((of(0, "CPU"), of(0, "lock")), (Some(1.5), Some(0.5)));
        assert_eq!(
            (of(0, "transactions"), of(1, "transactions")),
            (Some(10.0), None)
        );
        assert_eq!(of(1, "CPU"), None, "nobody looked");
        assert_eq!(activity.rates(), [(1.0, Some(10.0)), (2.0, None)]);
    }

    #[test]
    fn what_is_negative_is_taken_from_those_at_work() {
        let mut seconds = [0.0; 9];
        (seconds[0], seconds[3], seconds[6], seconds[7]) = (1.0, 0.2, 0.1, -0.5);
        let without = without_negative(seconds);
        let sum = |all: &[f64; 9]| all.iter().sum::<f64>();
        assert!((sum(&without) - sum(&seconds)).abs() < 1e-12);
        assert!((without[0] - 0.8).abs() < 1e-12 && without[7] == 0.0);
    }
}
