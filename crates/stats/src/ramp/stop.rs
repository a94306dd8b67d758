//! The rule that stops a ramp: errors, response time, or throughput that no longer rises.

use super::{Limits, Step};

/// Consecutive steps over the limit of the response time after which a ramp stops; a single one may be a disturbance.
const OVER_LIMIT_STEPS: usize = 2;
const FLAT_STEPS: usize = 3;
/// Smallest rise of throughput that counts, in percent.
const RISE_PCT: f64 = 1.0;
/// Rise of users over the flat steps, in percent: a throughput that keeps up with them would rise by as much, which
/// exceeds [`RISE_PCT`] even where steps are small.
const USERS_RISE_PCT: f64 = 5.0;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StopRule {
    /// Limit of errors, and of the response time if there is one.
    pub limits: Limits,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Stop {
    Errors {
        users: u32,
        errors_pct: f64,
        limit_pct: f64,
    },
    OverLimit {
        users: u32,
        response_ms: f64,
        limit_ms: f64,
    },
    Flat {
        since_users: u32,
        users: u32,
        completed_per_s: f64,
    },
}

impl StopRule {
    pub fn new(response_us: Option<f64>) -> Self {
        Self {
            limits: Limits {
                response_us: response_us.unwrap_or(f64::INFINITY),
                errors_pct: 1.0,
            },
        }
    }

    /// Reason to stop after these steps, given in the order of measuring; `None` to continue.
    ///
    /// Method, in this order: errors beyond their limit at the last step; the response time beyond its limit
    /// at the last two; throughput that did not rise by more than 1 % over the last three steps (or as many as
    /// it takes for the users to rise by 5 %), its best there against its best before.
    pub fn judge(&self, steps: &[Step]) -> Option<Stop> {
        let last = steps.last()?;
        let is_over = |limit: f64, value: f64| value > limit || value.is_nan();
        if is_over(self.limits.errors_pct, last.errors_pct) {
            return Some(Stop::Errors {
                users: last.users,
                errors_pct: last.errors_pct,
                limit_pct: self.limits.errors_pct,
            });
        }
        let over = |step: &Step| is_over(self.limits.response_us, step.response_us);
        let in_a_row = steps.iter().rev().take_while(|step| over(step)).count();
        if in_a_row >= OVER_LIMIT_STEPS {
            return Some(Stop::OverLimit {
                users: last.users,
                response_ms: last.response_us / 1e3,
                limit_ms: self.limits.response_us / 1e3,
            });
        }
        flat(steps, last)
    }
}

fn flat(steps: &[Step], last: &Step) -> Option<Stop> {
    let enough = f64::from(last.users) / (1.0 + USERS_RISE_PCT / 100.0);
    let up_to = steps.len().checked_sub(FLAT_STEPS)?;
    let far_enough = |step: &Step| f64::from(step.users) <= enough;
    let since = steps[..up_to].iter().rposition(far_enough)?;
    let best = |steps: &[Step]| steps.iter().map(|s| s.completed_per_s).fold(0.0, f64::max);
    let (before, after) = steps.split_at(since + 1);
    let rises = best(after) > best(before) * (1.0 + RISE_PCT / 100.0);
    (!rises).then(|| Stop::Flat {
        since_users: steps[since].users,
        users: last.users,
        completed_per_s: last.completed_per_s,
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{asymptotic, step};
    use super::*;

    fn stops(rule: StopRule, ramp: impl Iterator<Item = Step>) -> (u32, Option<Stop>) {
        let mut steps = Vec::new();
        for next in ramp {
            steps.push(next);
            if let Some(stop) = rule.judge(&steps) {
                return (next.users, Some(stop));
            }
        }
        (0, None)
    }

    #[test]
    fn two_steps_over_the_limit_in_a_row() {
        let rule = StopRule::new(Some(50e3));
        let responses = [20.0, 60.0, 40.0, 51.0, 52.0, 20.0];
        let ramp = (1..)
            .zip(responses)
            .map(|(i, ms)| step(i * 100, f64::from(i), ms));
        let (users, stop) = stops(rule, ramp);
        assert_eq!(users, 500, "one alone was not enough");
        let expected = Stop::OverLimit {
            users: 500,
            response_ms: 52.0,
            limit_ms: 50.0,
        };
        assert_eq!(stop, Some(expected));
    }

    #[test]
    fn throughput_that_rises_no_more() {
        let ramp = (1..).map(|i| asymptotic(i * 20));
        let (users, stop) = stops(StopRule::new(None), ramp);
        assert_eq!(users, 160, "the third beyond saturation at 100");
        let expected = Stop::Flat {
            since_users: 100,
            users: 160,
            completed_per_s: 100.0,
        };
        assert_eq!(stop, Some(expected));
    }

    /// Steps of half a percent rise by 1.5 % in three, which is more than 1 %, but not when noise takes it away;
    /// over ten of them it is 5 %.
    #[test]
    fn small_steps_are_given_more_of_them() {
        let noisy = |i: u32| f64::from(i) * if i.is_multiple_of(2) { 0.99 } else { 1.0 };
        let rising = (1000..1200).step_by(5).map(|i| step(i, noisy(i), 10.0));
        assert_eq!(stops(StopRule::new(None), rising), (0, None));
        let level = (1000..1200).step_by(5).map(|i| step(i, 500.0, 10.0));
        assert_eq!(stops(StopRule::new(None), level).0, 1050);
    }

    #[test]
    fn errors_stop_at_once() {
        let failing = Step {
            errors_pct: 1.25,
            ..step(200, 2.0, 10.0)
        };
        let ramp = [step(100, 1.0, 10.0), failing].into_iter();
        let (users, stop) = stops(StopRule::new(None), ramp);
        let expected = Stop::Errors {
            users: 200,
            errors_pct: 1.25,
            limit_pct: 1.0,
        };
        assert_eq!((users, stop), (200, Some(expected)));
        assert_eq!(StopRule::new(None).judge(&[]), None);
        let unknown = step(100, 1.0, f64::NAN);
        let rule = StopRule::new(Some(1.0));
        assert!(
            rule.judge(&[unknown, unknown]).is_some(),
            "what is unknown holds nothing"
        );
    }
}
