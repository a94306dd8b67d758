//! A limit of the response time in its notation: `p95=50ms`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use stats::Histogram;

use crate::outcome::Outcome;

pub const ERRORS_PCT_MAX: f64 = 1.0;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Objective {
    /// The percentile, 0 < p < 100.
    pub percentile: f64,
    pub limit: Duration,
    pub errors_pct_max: f64,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a response-time limit: write a percentile and a time, such as p95=50ms or p99.9=2s"
)]
pub struct ObjectiveError(String);

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Assessment {
    pub holds: bool,
    /// Operations beyond the limit in percent, including those that failed or were not done in time to be measured.
    pub beyond_pct: f64,
    pub errors_pct: f64,
}

#[derive(Debug, Clone, Copy)]
pub struct Window<'a> {
    pub elapsed: Duration,
    pub completed: u64,
    pub errors: u64,
    /// Operations that were due in it, not done, and are not among the response times.
    pub unfinished: u64,
    /// Response times of the completed operations, and the known ones of unfinished operations.
    pub response: &'a Histogram,
    pub is_whole: bool,
}

impl Objective {
    pub fn held(&self, outcome: &Outcome) -> Assessment {
        let total = outcome.total();
        self.judge(&Window {
            elapsed: outcome.elapsed,
            completed: total.completed,
            errors: total.errors,
            // For some of them, a response time or a lower bound is known.
            unfinished: (outcome.unfinished + total.completed)
                .saturating_sub(total.response.count()),
            response: &total.response,
            is_whole: outcome.fatal.is_none() && !outcome.interrupted,
        })
    }

    /// Judges a window against the objective.
    ///
    /// A failure is not an answer: it counts as beyond the limit. Operations without a known response time, because
    /// they were not done in the window, may be beyond it. As many as are in progress at any moment if the limit is
    /// met (the rate of completions times the limit, Little) are normal; more than that count as beyond the limit. A
    /// target that falls behind an open rate therefore fails although its completed operations were quick. Without
    /// completed operations no objective holds.
    pub fn judge(&self, window: &Window<'_>) -> Assessment {
        let completed = window.completed as f64;
        let errors = window.errors as f64;
        let limit_s = self.limit.as_secs_f64();
        let slow = window.response.count_above_us(limit_s * 1e6) as f64;
        let seconds = window.elapsed.as_secs_f64();
        let per_s = if seconds > 0.0 {
            completed / seconds
        } else {
            0.0
        };
        let excess = (window.unfinished as f64 - (per_s * limit_s).ceil()).max(0.0);
        let share_pct = |part: f64, of: f64| if of > 0.0 { 100.0 * part / of } else { 100.0 };
        let known = window.response.count() as f64;
        let beyond_pct = share_pct(slow + errors + excess, known + errors + excess);
        let errors_pct = share_pct(errors, completed + errors);
        let sound = window.is_whole && window.completed > 0;
        let in_time = beyond_pct <= 100.0 - self.percentile + 1e-9;
        Assessment {
            holds: sound && in_time && errors_pct <= self.errors_pct_max,
            beyond_pct,
            errors_pct,
        }
    }
}

impl FromStr for Objective {
    type Err = ObjectiveError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let read = || {
            let (percentile, limit) = text.trim().split_once('=')?;
            let percentile: f64 = percentile.trim().strip_prefix('p')?.parse().ok()?;
            let limit = limit.trim();
            let unit_at = limit.find(|c: char| c.is_ascii_alphabetic() || c == 'µ')?;
            let (number, unit) = limit.split_at(unit_at);
            let number: f64 = number.trim().parse().ok()?;
            let seconds = number * unit_s(unit)?;
            let limit = Duration::try_from_secs_f64(seconds).ok()?;
            let sound = percentile > 0.0 && percentile < 100.0 && !limit.is_zero();
            sound.then_some(Self {
                percentile,
                limit,
                errors_pct_max: ERRORS_PCT_MAX,
            })
        };
        read().ok_or_else(|| ObjectiveError(text.into()))
    }
}

fn unit_s(unit: &str) -> Option<f64> {
    match unit {
        "us" | "µs" => Some(1e-6),
        "ms" => Some(1e-3),
        "s" => Some(1.0),
        _ => None,
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p{}={:?}", self.percentile, self.limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::KindOutcome;

    #[test]
    fn objectives_are_read_and_written() {
        for text in ["p95=50ms", "p99.9=2s", "p50=1.5ms", "p90=700µs"] {
            let objective: Objective = text.parse().unwrap();
            assert_eq!(objective.to_string(), text);
        }
        let spaced: Objective = " p95 = 50 ms".parse().unwrap();
        assert_eq!(spaced.limit, Duration::from_millis(50));
        for text in [
            "", "95=50ms", "p95", "p95=50", "p95=50m", "p0=1s", "p100=1s", "p95=0s", "p95=-1s",
            "pNaN=1s",
        ] {
            let error = text.parse::<Objective>().unwrap_err().to_string();
            assert!(error.contains("such as p95=50ms"), "{text}: {error}");
        }
    }

    fn outcome(quick: u64, slow: u64, errors: u64) -> Outcome {
        let mut kind = KindOutcome {
            completed: quick + slow,
            errors,
            ..KindOutcome::default()
        };
        (0..quick).for_each(|_| kind.response.record_ns(10_000_000));
        (0..slow).for_each(|_| kind.response.record_ns(100_000_000));
        Outcome {
            elapsed: Duration::from_secs(10),
            kinds: vec![kind],
            ..Outcome::default()
        }
    }

    #[test]
    fn an_outcome_holds_or_not() {
        let objective: Objective = "p95=50ms".parse().unwrap();
        let holds = |outcome: Outcome| objective.held(&outcome).holds;
        assert!(holds(outcome(950, 50, 0)), "exactly 5 % beyond");
        assert!(!holds(outcome(949, 51, 0)));
        assert!(
            holds(outcome(990, 0, 10)) && !holds(outcome(980, 0, 20)),
            "errors"
        );
        assert!(!holds(outcome(945, 45, 10)), "5.5 % slow or failed");
        let strict: Objective = "p99.9=50ms".parse().unwrap();
        assert!(strict.held(&outcome(9_991, 0, 9)).holds);
        let failed = strict.held(&outcome(9_950, 0, 50));
        assert!(!failed.holds && failed.beyond_pct == 0.5);
        assert!(!holds(outcome(0, 0, 0)));
        let fatal = Outcome {
            fatal: Some("gone".into()),
            ..outcome(100, 0, 0)
        };
        assert!(!holds(fatal));
    }

    /// 100/s within 50 ms means 5 in progress at any moment. 100 that wait are 95 too many: 8.7 % beyond the limit.
    #[test]
    fn what_is_left_undone_counts() {
        let objective: Objective = "p95=50ms".parse().unwrap();
        let done = outcome(1000, 0, 0).total();
        let held = |unfinished| {
            objective.judge(&Window {
                elapsed: Duration::from_secs(10),
                completed: 1000,
                errors: 0,
                unfinished,
                response: &done.response,
                is_whole: true,
            })
        };
        assert!(held(5).holds);
        let overloaded = held(100);
        assert!(!overloaded.holds && (overloaded.beyond_pct - 9500.0 / 1095.0).abs() < 1e-9);
    }
}
