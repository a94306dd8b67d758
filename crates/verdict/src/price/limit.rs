//! Largest number of users within the response-time limit of a run.

use archive::{Point, Run};
use serde::Serialize;
use stats::ramp::{Limits, supported};

use crate::ramps::{ERRORS_PCT_MAX, USERS, sound_step_of};

/// Why there is no figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub enum NotKnown {
    /// The users had no limit.
    #[serde(rename = "no limit")]
    NoLimit,
    /// Not even the fewest users kept it in this many repetitions of all.
    #[serde(rename = "not supported")]
    NotSupported,
    /// The memory of the platform.
    #[serde(rename = "no memory size")]
    NoMemory,
}

/// Users that the run supports within its limit, the fewest of its targets and repetitions; `None` without a limit.
pub fn users_at_limit(run: &Run) -> Option<f64> {
    let of_targets =
        (0..run.targets.len() as u32).filter_map(|target| orders_at_limit(run, target));
    let users = of_targets
        .filter_map(Result::ok)
        .flat_map(|(users, _)| users);
    users.min().map(f64::from)
}

/// Users of the largest supported level and the orders there, by repetition; `None` without users.
#[allow(clippy::type_complexity, reason = "read at one place")]
pub fn orders_at_limit(run: &Run, target: u32) -> Option<Result<(Vec<u32>, Vec<f64>), NotKnown>> {
    let points = run.points.iter();
    let ours: Vec<&Point> = points
        .filter(|point| point.key.test == USERS && point.key.target == target)
        .collect();
    let work = &ours.first()?.work;
    let (Some(response_us), Some(percentile)) = (work.limit_response_us, work.limit_percentile)
    else {
        return Some(Err(NotKnown::NoLimit));
    };
    let limits = Limits {
        response_us,
        errors_pct: ERRORS_PCT_MAX,
    };
    let of_repetition = |repetition| {
        let mut valid = ours.iter().filter(|p| p.key.repetition == repetition);
        let steps: Vec<_> = valid
            .clone()
            .map(|p| sound_step_of(p, percentile))
            .collect();
        let users = supported(&steps, &limits).users?;
        let point = valid.find(|p| p.key.jobs == users)?;
        Some((users, point.figures.new_orders_per_min?))
    };
    let found: Vec<(u32, f64)> = (1..=run.repetitions).filter_map(of_repetition).collect();
    Some(if found.is_empty() {
        Err(NotKnown::NotSupported)
    } else {
        Ok(found.into_iter().unzip())
    })
}
