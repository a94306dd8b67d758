//! Whether servers let as many sessions in as a run needs: found before it begins, not at its largest level.

use archive::PointKey;
use stats::words::counted;

use crate::Plan;
use crate::error::{LabError, Result};
use crate::nodes::Nodes;
use crate::registry::Registry;
use crate::workload::Sessions;

/// Beside those of the work: one that watches. The one that holds a target's lock is there already.
const OWN: u64 = 1;

/// Refuses a plan of which a point needs more sessions than a server lets in.
///
/// # Errors
/// With what is needed, what limits it, and what to do.
pub(crate) fn check(
    plan: &Plan,
    workloads: &Registry,
    points: &[PointKey],
    targets: &[Nodes],
) -> Result<()> {
    for (number, target) in (0..).zip(targets) {
        let of_target = points.iter().filter(|key| key.target == number);
        let asked = of_target.map(|key| {
            let step = &plan.step[key.step as usize - 1];
            (key, workloads.of(step).sessions(step, key))
        });
        // The first of those that need most.
        let Some((key, most)) = asked.rev().max_by_key(|(_, asked)| asked.count) else {
            continue;
        };
        // Jobs are dealt to the nodes in turn.
        let needed = most.count.div_ceil(target.nodes.len() as u64) + OWN;
        for node in &target.nodes {
            let Some(left) = node.sessions_left().filter(|left| left.count < needed) else {
                continue;
            };
            return Err(LabError::Plan(format!(
                "{} needs {needed} sessions ({OWN} of them for dbdyno itself), but {} accepts only {} more: {}; raise this \
                 limit, or {}",
                words(key, &most),
                target.record().name,
                left.count,
                left.limit,
                most.remedy
            )));
        }
    }
    Ok(())
}

fn words(key: &PointKey, sessions: &Sessions) -> String {
    let who = counted(u64::from(key.jobs), sessions.who);
    format!("{} with {who}", key.test)
}
