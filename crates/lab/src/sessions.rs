//! Whether servers let as many sessions in as a run needs: found before it begins, not at its largest level.

use archive::PointKey;

use crate::error::{LabError, Result};
use crate::nodes::Nodes;
use crate::plan::Used;
use crate::{Plan, Step};

/// Beside those of the work: one that watches. The one that holds a target's lock is there already.
const OWN: u64 = 1;

/// Refuses a plan of which a point needs more sessions than a server lets in.
///
/// # Errors
/// With what is needed, what limits it, and what to do.
pub(crate) fn check(plan: &Plan, points: &[PointKey], targets: &[Nodes]) -> Result<()> {
    for (number, target) in (0..).zip(targets) {
        let of_target = points.iter().filter(|key| key.target == number);
        let asked = of_target.map(|key| asked(&plan.step[key.step as usize - 1], key));
        // The first of those that need most.
        let asked = asked.rev();
        let Some(most) = asked.max_by_key(|asked| asked.sessions) else {
            continue;
        };
        // Jobs are dealt to the nodes in turn.
        let needed = most.sessions.div_ceil(target.nodes.len() as u64) + OWN;
        for node in &target.nodes {
            let Some(left) = node.sessions_left().filter(|left| left.count < needed) else {
                continue;
            };
            return Err(LabError::Plan(format!(
                "{} needs {needed} sessions at once, of which {OWN} is dbdyno's own, and {} lets {} more in: {}; raise that, \
                 or {}",
                most.words,
                target.record().name,
                left.count,
                left.limit,
                most.remedy
            )));
        }
    }
    Ok(())
}

/// What a point asks for.
struct Asked {
    sessions: u64,
    words: String,
    remedy: &'static str,
}

fn asked(step: &Step, key: &PointKey) -> Asked {
    const SHARE: &str =
        "ask for fewer users, or let them share connections (connections = N, --connections N)";
    let jobs = u64::from(key.jobs);
    let words = |who: &str| match jobs {
        1 => format!("{} with 1 {who}", key.test),
        jobs => format!("{} with {jobs} {who}s", key.test),
    };
    match step.used() {
        Used::Oltp(oltp) => Asked {
            sessions: oltp.connections(key.jobs).into(),
            words: words("user"),
            remedy: SHARE,
        },
        // The annex in which users work holds a session of its own.
        Used::Mixed(oltp, olap) => Asked {
            sessions: u64::from(oltp.connections(oltp.users()[0]))
                + u64::from(olap.streams().max(1))
                + 1,
            words: words("user"),
            remedy: SHARE,
        },
        Used::Olap(_) | Used::Columnar(_) | Used::Tests => Asked {
            sessions: jobs,
            words: words("job"),
            remedy: "ask for fewer jobs",
        },
    }
}
