//! When a ramp has seen enough.

use archive::{Point, PointKey, Run};
use stats::ramp::{Step, StopRule};
use verdict::ramps::{PERCENTILE, step_of};

use super::{TOTAL, same_step};
use crate::plan::OltpStep;

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
