//! Whether servers let as many sessions in as a run needs, and whether this process may hold them: found before it begins,
//! not at its largest level. Servers that are started for the run are given the room that it needs.

use archive::PointKey;
use stats::words::counted;
use target::TargetUrl;

use crate::Plan;
use crate::error::{LabError, Result};
use crate::nodes::Nodes;
use crate::registry::Registry;
use crate::workload::Sessions;

/// Beside those of the work: one that watches. The one that holds a target's lock is there already.
const OWN: u64 = 1;
/// Files that this process has open beside its sessions: archive, logs, counters of the machine, event loops, and connections
/// on which statements are cancelled.
const FILES_BESIDE: u64 = 256;

/// Sessions of the point of a plan that needs most, as far as that is known before its targets are opened.
pub(crate) fn most(plan: &Plan, workloads: &Registry) -> u64 {
    let of_step = |step| {
        let workload = workloads.of(step);
        let key = PointKey {
            repetition: 1,
            step: 1,
            target: 0,
            test: String::new(),
            nodes: 1,
            jobs: workload.jobs_most(step),
            threads: 1,
        };
        workload.sessions(step, &key).count
    };
    plan.step.iter().map(of_step).max().unwrap_or(0)
}

/// The targets, with room for so many sessions where servers are started for them.
///
/// # Errors
/// When a URL is wrong in itself.
pub(crate) fn with_room(urls: &[TargetUrl], sessions: u64) -> Result<Vec<TargetUrl>> {
    let sessions = u32::try_from(sessions).unwrap_or(u32::MAX);
    let with_room = urls
        .iter()
        .map(|url| Ok(target::with_sessions(url.clone(), sessions)?));
    with_room.collect()
}

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
                "{} needs {needed} sessions ({OWN} of them for dbdyno itself{of_others}), but {} accepts only {} more: {}; {}, \
                 or {}",
                words(key, &most),
                target.record().name,
                left.count,
                left.limit,
                left.how_to_raise,
                most.remedy
            )));
        }
        if !target.is_embedded {
            check_files((needed, target.nodes.len() as u64), key, &most)?;
        }
    }
    Ok(all_needed)
}

/// Refuses more sessions than this process may have sockets.
fn check_files((needed, nodes): (u64, u64), key: &PointKey, most: &Sessions) -> Result<()> {
    let open = host::limits::open_files().unwrap_or(0);
    let files = needed
        .saturating_mul(nodes)
        .saturating_add(open + FILES_BESIDE);
    match host::limits::raise_open_files(files) {
        Some(limit) if limit < files => Err(LabError::Plan(format!(
            "{} needs {needed} sessions, for which dbdyno opens up to {files} files, but the system allows it {limit}; raise the limit \
             (ulimit -Hn {files} as root, LimitNOFILE= of its service, or nofile in /etc/security/limits.conf), or {}",
            words(key, most),
            most.remedy
        ))),
        _ => Ok(()),
    }
}

fn words(key: &PointKey, sessions: &Sessions) -> String {
    let who = counted(u64::from(key.jobs), sessions.who);
    format!("{} with {who}", key.test)
}
