//! Checks before a run begins, and not at its largest level, that servers and this process allow as many sessions as
//! it needs. Servers that are started for the run get that limit.

use archive::PointKey;
use engine::TargetUrl;
use stats::words::counted;

use crate::Plan;
use crate::error::{LabError, Result};
use crate::nodes::Nodes;
use crate::registry::Registry;
use crate::workload::Sessions;

/// One session in addition to those of the work samples waits. The lock of a target is held by an existing one.
const OWN: u64 = 1;
/// Open files of this process in addition to its sessions: archive, logs, counters of the machine, event loops, and
/// connections that cancel statements.
const FILES_BESIDE: u64 = 256;

/// Sessions of the plan's largest point, as far as known before its targets are opened.
pub(crate) fn most(plan: &Plan, workloads: &Registry) -> u64 {
    let of_step = |step| {
        let workload = workloads.of(step);
        let key = PointKey::of("", workload.jobs_most(step));
        workload.sessions(step, &key).count
    };
    plan.step.iter().map(of_step).max().unwrap_or(0)
}

/// The targets, with a limit of `sessions` if servers are started for them.
pub(crate) fn with_room(urls: &[TargetUrl], sessions: u64) -> Result<Vec<TargetUrl>> {
    let sessions = u32::try_from(sessions).unwrap_or(u32::MAX);
    let with_room = urls
        .iter()
        .map(|url| Ok(engines::with_sessions(url.clone(), sessions)?));
    with_room.collect()
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Needed {
    of_node: u64,
    /// Sockets of this process for all nodes; 0 if the database runs inside it.
    sockets: u64,
}

/// Sessions of another side at the same time, by target.
#[derive(Debug, Clone, Default)]
pub(crate) struct Beside {
    pub needed: Vec<Needed>,
    pub on_one_database: bool,
}

impl Beside {
    fn of(&self, target: u32) -> Needed {
        let needed = (self.needed.get(target as usize).copied()).unwrap_or_default();
        Needed {
            of_node: needed.of_node * u64::from(self.on_one_database),
            ..needed
        }
    }
}

/// Refuses a plan with a point that needs more sessions, together with those of another side, than a server or the
/// limit of sockets allows; returns the need of each target.
pub(crate) fn check(
    plan: &Plan,
    workloads: &Registry,
    points: &[PointKey],
    targets: &[Nodes],
    beside: &Beside,
) -> Result<Vec<Needed>> {
    let mut all_needed = vec![Needed::default(); targets.len()];
    for (number, target) in (0..).zip(targets) {
        let of_target = points.iter().filter(|key| key.target == number);
        let of_points = of_target.map(|key| {
            let step = &plan.step[key.step as usize - 1];
            (key, workloads.of(step).sessions(step, key))
        });
        // The first of the largest points is reported.
        let Some((key, most)) = of_points.rev().max_by_key(|(_, sessions)| sessions.count) else {
            continue;
        };
        // Jobs are assigned to the nodes in turn.
        let needed = most.count.div_ceil(target.nodes.len() as u64) + OWN;
        let nodes = if target.is_embedded {
            0
        } else {
            target.nodes.len() as u64
        };
        let own = Needed {
            of_node: needed,
            sockets: needed.saturating_mul(nodes),
        };
        all_needed[number as usize] = own;
        let others = beside.of(number);
        let needed = needed + others.of_node;
        let of_others = match others.of_node {
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
            check_files(own.sockets, others.sockets, key, &most)?;
        }
    }
    Ok(all_needed)
}

/// Largest number of open files of this process with these sockets, its own and those of the other side.
fn files(own: u64, others: u64, open: u64) -> u64 {
    own.saturating_add(others)
        .saturating_add(open + FILES_BESIDE)
}

fn check_files(own: u64, others: u64, key: &PointKey, most: &Sessions) -> Result<()> {
    let files = files(own, others, host::limits::open_files().unwrap_or(0));
    let needed = own.saturating_add(others);
    let of_others = match others {
        0 => String::new(),
        others => format!(" ({others} of them the other side's)"),
    };
    match host::limits::raise_open_files(files) {
        Some(limit) if limit < files => Err(LabError::Plan(format!(
            "{} needs {needed} sessions{of_others}, for which dbdyno opens up to {files} files, but the system allows it {limit}; raise the limit \
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

#[cfg(test)]
mod tests {
    use super::*;

    /// With 5000 users per side plus dbdyno's own sessions, two instances need sockets for both, and one database has
    /// to allow both.
    #[test]
    fn golden_sessions_of_both_sides() {
        let needed = Needed {
            of_node: 5001,
            sockets: 5001,
        };
        for (on_one_database, of_node) in [(false, 0), (true, 5001)] {
            let beside = Beside {
                needed: vec![needed],
                on_one_database,
            };
            assert_eq!(beside.of(0), Needed { of_node, ..needed });
            assert_eq!(files(5001, beside.of(0).sockets, 20), 10_278);
        }
        let alone = Beside::default().of(0);
        assert_eq!(
            (alone, files(5001, alone.sockets, 20)),
            (Needed::default(), 5277)
        );
    }
}
