//! When a ramp has seen enough.

use archive::Point;
use stats::ramp::{Step, StopRule};
use verdict::ramps::{PERCENTILE, step_of};

use crate::oltp::step::OltpStep;

/// Why a ramp ends behind these levels; `None` while it goes on.
pub(super) fn enough(levels: &[Point], oltp: &OltpStep) -> Option<String> {
    let limit = oltp.limit();
    let percentile = limit.map_or(PERCENTILE, |limit| limit.percentile);
    let mut steps: Vec<Step> = levels.iter().map(|p| step_of(p, percentile)).collect();
    steps.sort_by_key(|step| step.users);
    let rule = StopRule::new(limit.map(|limit| limit.limit.as_secs_f64() * 1e6));
    rule.judge(&steps).map(|stop| stop.to_string())
}
