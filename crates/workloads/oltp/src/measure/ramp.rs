//! End of a ramp.

use archive::{Point, Remark};
use stats::ramp::{Step, StopRule};
use verdict::ramps::{PERCENTILE, ended, step_of};

use crate::step::OltpStep;

/// Reason why a ramp ends after these levels; `None` while it continues.
pub(super) fn enough(levels: &[Point], oltp: &OltpStep) -> Option<Remark> {
    let limit = oltp.limit();
    let percentile = limit.map_or(PERCENTILE, |limit| limit.percentile);
    let mut steps: Vec<Step> = levels.iter().map(|p| step_of(p, percentile)).collect();
    steps.sort_by_key(|step| step.users);
    let rule = StopRule::new(limit.map(|limit| limit.limit.as_secs_f64() * 1e6));
    rule.judge(&steps).map(ended)
}
