//! Increases of the load counters, per interval.

use engine::{LoadCount, LoadCounts};

/// Sums over the intervals without a reset. An interval with a reset or a restart is left out of sums and time alike,
/// so that rates stay right and nothing is negative.
#[derive(Debug, Default)]
pub(super) struct Rates {
    last: Option<(f64, LoadCounts)>,
    /// Time of the intervals that count.
    pub covered_s: f64,
    pub transactions: Option<f64>,
    /// Increase of each counter that is reported.
    pub risen: Vec<LoadCount>,
    /// Number and duration of the intervals that were left out.
    pub resets: u64,
    pub left_out_s: f64,
    pub reset: String,
    pub lag_s_max: Option<f64>,
}

impl Rates {
    /// Takes counters at a time in seconds from the start; returns the transactions since the last ones, if known.
    pub fn add(&mut self, at_s: f64, now: LoadCounts) -> Option<f64> {
        self.lag_s_max = match (self.lag_s_max, now.lag_s) {
            (Some(most), Some(lag)) => Some(most.max(lag)),
            (most, lag) => most.or(lag),
        };
        let (before_s, before) = self.last.replace((at_s, now.clone()))?;
        let length_s = at_s - before_s;
        if let Some(what) = reset(&before, &now) {
            self.reset = what;
            self.resets += 1;
            self.left_out_s += length_s;
            return None;
        }
        self.covered_s += length_s;
        if self.risen.is_empty() {
            let from_nothing = |count: &LoadCount| LoadCount {
                count: Some(0.0),
                ..count.clone()
            };
            self.risen = now.counts.iter().map(from_nothing).collect();
            self.transactions = Some(0.0);
        }
        let counts = before.counts.iter().zip(&now.counts);
        for (risen, (before, now)) in self.risen.iter_mut().zip(counts) {
            let rise = rise(before.count, now.count);
            risen.count = rise.zip(risen.count).map(|(rise, sum)| sum + rise);
        }
        let transactions = rise(before.transactions, now.transactions);
        self.transactions = self.transactions.zip(transactions).map(|(sum, n)| sum + n);
        transactions
    }

    /// Ends the sequence of counters; the next ones start a new one.
    pub fn interrupt(&mut self, at_s: f64) {
        if let Some((before_s, _)) = self.last.take() {
            self.left_out_s += (at_s - before_s).max(0.0);
        }
    }
}

fn rise(before: Option<f64>, now: Option<f64>) -> Option<f64> {
    Some(now? - before?)
}

/// Evidence that counters were reset in between: the server says so, or one has fallen.
fn reset(before: &LoadCounts, now: &LoadCounts) -> Option<String> {
    if before.era != now.era {
        return Some(format!("they began at {}", now.era.trim()));
    }
    let mut counts = before.counts.iter().zip(&now.counts);
    let fell = counts.find(|(before, now)| rise(before.count, now.count).is_some_and(|n| n < 0.0));
    fell.map(|(_, now)| format!("fewer {} than before", now.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(commits: f64, era: &str) -> LoadCounts {
        LoadCounts {
            transactions: Some(commits),
            counts: vec![LoadCount {
                name: "commits",
                unit: "",
                count: Some(commits),
                figure: "",
            }],
            era: era.into(),
            lag_s: None,
        }
    }

    /// 100 in the first second, a reset, 50 in the third, a fall, 30 in the fifth: 180 in three seconds.
    #[test]
    fn golden_what_a_reset_hides_is_left_out_with_its_time() {
        let mut rates = Rates::default();
        let deltas = [
            (1000.0, "a"),
            (1100.0, "a"),
            (5.0, "b"),
            (55.0, "b"),
            (20.0, "b"),
            (50.0, "b"),
        ];
        let steps = (0..)
            .zip(deltas)
            .map(|(at, (commits, era))| rates.add(f64::from(at), counts(commits, era)));
        let steps: Vec<_> = steps.collect();
        assert_eq!(
            steps,
            [None, Some(100.0), None, Some(50.0), None, Some(30.0)]
        );
        assert_eq!((rates.covered_s, rates.transactions), (3.0, Some(180.0)));
        assert_eq!((rates.resets, rates.left_out_s), (2, 2.0));
        assert_eq!(rates.risen, counts(180.0, "").counts);
    }

    #[test]
    fn what_an_interruption_hides_is_left_out() {
        let mut rates = Rates::default();
        rates.add(0.0, counts(10.0, "a"));
        rates.add(1.0, counts(20.0, "a"));
        rates.interrupt(2.0);
        assert_eq!(rates.add(4.0, counts(500.0, "a")), None);
        assert_eq!(rates.add(5.0, counts(510.0, "a")), Some(10.0));
        assert_eq!((rates.covered_s, rates.transactions), (2.0, Some(20.0)));
    }

    #[test]
    fn a_counter_that_is_not_told_is_unknown() {
        let mut rates = Rates::default();
        let empty = || LoadCounts {
            transactions: None,
            ..counts(1.0, "a")
        };
        rates.add(0.0, empty());
        rates.add(1.0, empty());
        assert_eq!((rates.transactions, rates.covered_s), (None, 1.0));
    }

    #[test]
    fn the_lag_is_the_greatest() {
        let mut rates = Rates::default();
        for lag_s in [None, Some(2.0), Some(0.5), None] {
            rates.add(
                0.0,
                LoadCounts {
                    lag_s,
                    ..counts(1.0, "a")
                },
            );
        }
        assert_eq!(rates.lag_s_max, Some(2.0));
    }
}
