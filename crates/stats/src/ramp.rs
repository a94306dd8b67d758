//! Ramps: a workload measured at more and more users. Stop rule, users supported within a response time, the knee,
//! and the comparison of two ramps.

mod compare;
mod stop;

pub use compare::{Figure, RampComparison, RampQuestion, compare};
pub use stop::{Stop, StopRule};

use crate::censored::Bounds;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    pub users: u32,
    pub completed_per_s: f64,
    /// The response time that is checked against limits, as a rule a percentile, in microseconds.
    pub response_us: f64,
    pub response_us_mean: f64,
    pub errors_pct: f64,
}

impl Step {
    /// A step without figures: its measurement is invalid. It holds no limit, and ends what a ramp has shown.
    /// `errors_pct` is not a number where nothing ended at all.
    pub fn without_figures(users: u32, errors_pct: f64) -> Self {
        Self {
            users,
            completed_per_s: f64::NAN,
            response_us: f64::NAN,
            response_us_mean: f64::NAN,
            errors_pct,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    pub response_us: f64,
    pub errors_pct: f64,
}

impl Supported {
    /// Bounds of the supported users: equal if they are interpolated, else the largest step that holds and the
    /// smallest that does not; without an upper end if all steps hold the limits.
    pub fn bounds(&self) -> Bounds {
        match self.interpolated {
            Some(users) => Bounds::exactly(users),
            None => Bounds {
                low: self.users.map_or(0.0, f64::from),
                high: self.exceeded.map_or(f64::INFINITY, f64::from),
            },
        }
    }
}

impl Limits {
    /// True if a step holds the limits; a figure that is not a number does not.
    pub fn hold(&self, step: &Step) -> bool {
        step.response_us <= self.response_us && step.errors_pct <= self.errors_pct
    }

    fn miss(&self, step: &Step) -> Miss {
        if step.errors_pct > self.errors_pct {
            Miss::Errors
        } else if step.response_us > self.response_us {
            Miss::Response
        } else {
            Miss::Unknown
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Miss {
    Response,
    Errors,
    Unknown,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Supported {
    /// Users of the largest step that holds the limits together with all smaller ones. `None` if the smallest step
    /// does not hold them.
    pub users: Option<u32>,
    /// Users of the smallest step that does not hold the limits: the other end of the bracket. `None` if all do, and
    /// more users may be supported than were tried.
    pub exceeded: Option<u32>,
    pub miss: Option<Miss>,
    /// Users at which the response time crosses its limit, interpolated between the two; `None` if one of them is
    /// missing, or the errors were too many.
    pub interpolated: Option<f64>,
    /// True if a larger step holds the limits again: the ramp is not monotone, and its steps were too short or
    /// disturbed.
    pub holds_again: bool,
}

/// The users that are supported within limits, from the steps of one ramp in any order.
///
/// Method: the largest step that holds the limits and has only such steps below it. Between it and the next
/// one the response time is interpolated linearly: N = N₁ + (L − R₁)/(R₂ − R₁)·(N₂ − N₁). Beyond saturation
/// the mean response time of a closed system rises linearly with its users (R = N/X − Z); a percentile need not, so
/// that the bracket says how far the interpolation may be off.
/// Golden: 20, 30 and 70 ms at 100, 200 and 300 users hold 50 ms up to 200 users, interpolated 250.
pub fn supported(steps: &[Step], limits: &Limits) -> Supported {
    let sorted = ascending(steps);
    let held = sorted.iter().take_while(|step| limits.hold(step)).count();
    let last_held = held.checked_sub(1).map(|last| sorted[last]);
    let exceeded = sorted.get(held);
    let interpolated = last_held.zip(exceeded).and_then(|(one, other)| {
        let share = (limits.response_us - one.response_us) / (other.response_us - one.response_us);
        let between = f64::from(other.users) - f64::from(one.users);
        let crosses = other.response_us > limits.response_us && share.is_finite();
        crosses.then(|| f64::from(one.users) + share * between)
    });
    Supported {
        users: last_held.map(|step| step.users),
        exceeded: exceeded.map(|step| step.users),
        miss: exceeded.map(|step| limits.miss(step)),
        interpolated,
        holds_again: sorted.iter().skip(held).any(|step| limits.hold(step)),
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Knee {
    pub step_users: u32,
    /// Users at the knee, interpolated between the neighbouring steps.
    pub users: f64,
    pub completed_per_s: f64,
    /// False if the knee lies at the edge of the ramp, or beyond.
    pub is_inside: bool,
}

/// The knee of the curve of response time against throughput: where power, throughput divided by mean response
/// time, is greatest. Up to there more users bring more throughput than they cost response time, beyond they
/// cost more than they bring.
///
/// Method: the step with the greatest power, made finer by a parabola through it and its neighbours.
/// Source: Kleinrock, Power and deterministic rules of thumb for probabilistic problems in computer
/// communications, ICC 1979. Limits: three steps for an interpolation, which is good to a part of a
/// step; steps without throughput or with figures that are no numbers are left out; `None` when none is left.
/// Golden: for M/M/1 with a service rate of 1, R = 1/(1 − X), power is X·(1 − X) and the knee lies at half the
/// load, X = 0.5, also when no step does.
pub fn knee(steps: &[Step]) -> Option<Knee> {
    let sorted: Vec<Step> = ascending(steps)
        .into_iter()
        .filter(|step| power(step).is_some())
        .collect();
    let at = |i: usize| power(&sorted[i]).unwrap_or(0.0);
    let best = (0..sorted.len()).max_by(|a, b| at(*a).total_cmp(&at(*b)))?;
    let step = sorted[best];
    let neighbours = best
        .checked_sub(1)
        .zip(Some(best + 1).filter(|next| *next < sorted.len()));
    let mut knee = Knee {
        step_users: step.users,
        users: f64::from(step.users),
        completed_per_s: step.completed_per_s,
        is_inside: neighbours.is_some(),
    };
    if let Some((before, after)) = neighbours {
        let points = [before, best, after].map(|i| (f64::from(sorted[i].users), at(i)));
        if let Some(users) = vertex(points) {
            let beyond = if users < knee.users { before } else { after };
            knee.completed_per_s = between(&step, &sorted[beyond], users);
            knee.users = users;
        }
    }
    Some(knee)
}

fn power(step: &Step) -> Option<f64> {
    let power = step.completed_per_s / step.response_us_mean;
    (power.is_finite() && power > 0.0 && step.response_us_mean > 0.0).then_some(power)
}

/// The vertex of the parabola through three points, the middle one the highest.
fn vertex([(x0, y0), (x1, y1), (x2, y2)]: [(f64, f64); 3]) -> Option<f64> {
    let (left, right) = ((x1 - x0) * (y1 - y2), (x1 - x2) * (y1 - y0));
    let x = x1 - 0.5 * ((x1 - x0) * left - (x1 - x2) * right) / (left - right);
    (x.is_finite() && x > x0 && x < x2).then_some(x)
}

/// Throughput at a number of users on the line between two steps.
fn between(one: &Step, other: &Step, users: f64) -> f64 {
    let (from, to) = (f64::from(one.users), f64::from(other.users));
    let share = if from == to {
        0.0
    } else {
        (users - from) / (to - from)
    };
    one.completed_per_s + share * (other.completed_per_s - one.completed_per_s)
}

fn ascending(steps: &[Step]) -> Vec<Step> {
    let mut sorted = steps.to_vec();
    sorted.sort_by_key(|step| step.users);
    sorted
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        response_us: 50e3,
        errors_pct: 1.0,
    };

    pub fn step(users: u32, completed_per_s: f64, response_ms: f64) -> Step {
        Step {
            users,
            completed_per_s,
            response_us: response_ms * 1e3,
            response_us_mean: response_ms * 500.0,
            errors_pct: 0.0,
        }
    }

    /// A closed system of one server of 10 ms and a pause of 990 ms by its asymptotes: 100 users saturate it.
    pub fn asymptotic(users: u32) -> Step {
        let response_ms = (f64::from(users) * 10.0 - 990.0).max(10.0);
        step(
            users,
            f64::from(users) / (0.99 + response_ms / 1e3),
            response_ms,
        )
    }

    #[test]
    fn golden_supported() {
        let steps = [
            step(300, 3.0, 70.0),
            step(100, 1.0, 20.0),
            step(200, 2.0, 30.0),
        ];
        let found = supported(&steps, &LIMITS);
        assert_eq!((found.users, found.exceeded), (Some(200), Some(300)));
        assert_eq!(
            (found.interpolated, found.holds_again),
            (Some(250.0), false)
        );
        // Beyond saturation the line is the truth: 10·N − 990 = 50 at N = 104.
        let ramp: Vec<Step> = (1..30).map(|i| asymptotic(i * 10)).collect();
        let found = supported(&ramp, &LIMITS);
        assert_eq!(found.users, Some(100));
        assert!((found.interpolated.unwrap() - 104.0).abs() < 1e-9);
    }

    #[test]
    fn what_was_not_shown_is_not_said() {
        let all = supported(&[step(100, 1.0, 20.0), step(200, 2.0, 50.0)], &LIMITS);
        assert_eq!(
            (all.users, all.exceeded, all.interpolated),
            (Some(200), None, None)
        );
        let none = supported(&[step(100, 1.0, 51.0), step(200, 2.0, 20.0)], &LIMITS);
        assert_eq!(
            (none.users, none.exceeded, none.interpolated),
            (None, Some(100), None)
        );
        assert!(none.holds_again, "200 users hold what 100 do not");
        assert_eq!(supported(&[], &LIMITS).users, None);
        let wrong = Step {
            errors_pct: 1.5,
            ..step(200, 2.0, 30.0)
        };
        let found = supported(&[step(100, 1.0, 20.0), wrong], &LIMITS);
        assert_eq!((found.users, found.interpolated), (Some(100), None));
        assert_eq!(found.miss, Some(Miss::Errors));
        let unknown = step(200, 2.0, f64::NAN);
        let found = supported(&[step(100, 1.0, 20.0), unknown], &LIMITS);
        assert_eq!((found.users, found.interpolated), (Some(100), None));
        // A level that is invalid ends what was shown, also in the middle of the ramp.
        for errors_pct in [0.0, f64::NAN] {
            let invalid = Step::without_figures(200, errors_pct);
            let ramp = [step(100, 1.0, 20.0), invalid, step(300, 3.0, 30.0)];
            let found = supported(&ramp, &LIMITS);
            assert_eq!((found.users, found.exceeded), (Some(100), Some(200)));
            assert_eq!(
                (found.miss, found.interpolated),
                (Some(Miss::Unknown), None)
            );
            assert!(found.holds_again);
        }
        let failed = Step::without_figures(200, 5.0);
        let found = supported(&[step(100, 1.0, 20.0), failed], &LIMITS);
        assert_eq!(found.miss, Some(Miss::Errors));
    }

    /// M/M/1 at loads of which none is a half; users stand for the load in percent.
    #[test]
    fn golden_knee() {
        let mm1 = |percent: u32| {
            let load = f64::from(percent) / 100.0;
            Step {
                response_us_mean: 1.0 / (1.0 - load),
                ..step(percent, load, 0.0)
            }
        };
        let steps: Vec<Step> = [90, 10, 35, 56, 75].into_iter().map(mm1).collect();
        let found = knee(&steps).unwrap();
        assert_eq!((found.step_users, found.is_inside), (56, true));
        assert!((found.users - 50.0).abs() < 1e-9 && (found.completed_per_s - 0.5).abs() < 1e-9);
        let ramp: Vec<Step> = (1..30).map(|i| asymptotic(i * 10)).collect();
        let found = knee(&ramp).unwrap();
        assert!(
            found.step_users == 100 && (95.0..105.0).contains(&found.users),
            "{found:?}"
        );
    }

    #[test]
    fn a_knee_at_the_edge_is_said_to_be_there() {
        let rising = [step(1, 1.0, 10.0), step(2, 2.0, 11.0)];
        let found = knee(&rising).unwrap();
        assert_eq!(
            (found.step_users, found.users, found.is_inside),
            (2, 2.0, false)
        );
        let nothing = [
            step(1, 0.0, 10.0),
            step(2, 1.0, 0.0),
            step(3, f64::NAN, 1.0),
        ];
        assert_eq!(knee(&nothing), None);
        let flat = [step(1, 1.0, 10.0), step(2, 1.0, 10.0), step(3, 1.0, 10.0)];
        assert!(knee(&flat).unwrap().users.is_finite());
        let twice = [step(1, 1.0, 10.0), step(1, 2.0, 10.0), step(1, 1.0, 10.0)];
        assert_eq!(knee(&twice).unwrap().users, 1.0);
    }
}
