//! When a ramp has seen enough.

use archive::{Point, PointKey, Run};
use stats::ramp::{Step, StopRule};

use super::{TOTAL, same_step};
use crate::plan::OltpStep;

/// The percentile that is looked at where no limit is said.
const PERCENTILE: f64 = 95.0;

/// Why the ramp ends behind this key; `None` while it goes on.
pub(super) fn enough(run: &Run, oltp: &OltpStep, key: &PointKey) -> Option<String> {
    let is_ours = |p: &&Point| p.key.test == TOTAL && same_step(&p.key, key);
    let limit = oltp.limit();
    let percentile = limit.map_or(PERCENTILE, |limit| limit.percentile);
    let ours = run.points.iter().filter(is_ours);
    let mut steps: Vec<Step> = ours.map(|p| step_of(p, percentile)).collect();
    steps.sort_by_key(|step| step.users);
    let rule = StopRule::new(limit.map(|limit| limit.limit.as_secs_f64() * 1e6));
    rule.judge(&steps).map(|stop| stop.to_string())
}

/// A level from its point. One at which nothing was completed has no response time: it holds no limit.
fn step_of(point: &Point, percentile: f64) -> Step {
    let response = &point.histograms.response;
    let of = |us: f64| if response.is_empty() { f64::NAN } else { us };
    let (done, failed) = (
        point.figures.operations.unwrap_or(0.0),
        point.figures.errors.unwrap_or(0.0),
    );
    let all = done + failed;
    Step {
        users: point.key.jobs,
        completed_per_s: point.figures.operations_per_s.unwrap_or(0.0),
        response_us: of(response.percentile_us(percentile)),
        response_us_mean: of(response.mean_us()),
        errors_pct: if all > 0.0 {
            failed / all * 100.0
        } else {
            100.0
        },
    }
}
