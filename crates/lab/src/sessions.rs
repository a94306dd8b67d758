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

/// Refuses a plan of which a point needs more sessions than a server lets in; gives what it needs on a node of each target.
/// `beside` are those that another side holds there at the same time.
///
/// # Errors
/// With what is needed, what limits it, and what to do.
pub(crate) fn check(
    plan: &Plan,
    workloads: &Registry,
    points: &[PointKey],
    targets: &[Nodes],
    beside: &[u64],
) -> Result<Vec<u64>> {
    let mut all_needed = vec![0; targets.len()];
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
        all_needed[number as usize] = needed;
        let others = beside.get(number as usize).copied().unwrap_or(0);
        let needed = needed + others;
        let of_others = match others {
            0 => String::new(),
            others => format!("; {others} are the other side's"),
        };
        for node in &target.nodes {
            let Some(left) = node.sessions_left().filter(|left| left.count < needed) else {
                continue;
            };
            return Err(LabError::Plan(format!(
                "{} needs {needed} sessions ({OWN} of them for dbdyno itself{of_others}), but {} accepts only {} more: {}; raise this \
                 limit, or {}",
                words(key, &most),
                target.record().name,
                left.count,
                left.limit,
                most.remedy
            )));
        }
    }
    Ok(all_needed)
}

fn words(key: &PointKey, sessions: &Sessions) -> String {
    let who = counted(u64::from(key.jobs), sessions.who);
    format!("{} with {who}", key.test)
}
