//! Order entry with analytical queries beside it as steps of a plan: what each of them does on its own, and what is
//! left of it while the other goes on.
//!
//! Both stand in one server: the analytical tables where they always are, those of order entry in an annex of that
//! database, because they bear the same names. Queries beside order entry are asked of the rows themselves, or of a
//! copy that was lifted out of their server.

mod together;

use ::load::Progress;
use archive::PointKey;
use workload::oltp;

use crate::columnar::{is_replica, source_of};
use crate::done::Measured;
use crate::measure::Bay;
use crate::nodes::Nodes;
use crate::plan::{OlapStep, OltpStep};
use crate::{Step, olap};
use together::Scene;

/// Order entry on its own.
pub const USERS_ALONE: &str = "MIXED-OLTP-ALONE";
/// Queries on their own.
pub const QUERIES_ALONE: &str = "MIXED-OLAP-ALONE";
/// Order entry with queries beside it.
pub const USERS: &str = "MIXED-OLTP";
/// Those queries.
pub const QUERIES: &str = "MIXED-OLAP";
/// Codes with their titles.
const TITLES: [(&str, &str); 4] = [
    (USERS_ALONE, "Mixed: order entry alone"),
    (QUERIES_ALONE, "Mixed: queries alone"),
    (USERS, "Mixed: order entry, queries beside it"),
    (QUERIES, "Mixed: queries, order entry beside them"),
];

/// Title of a point.
pub fn title(code: &str) -> String {
    let known = TITLES.into_iter().find(|(known, _)| *known == code);
    known.map_or(code, |(_, title)| title).to_owned()
}

/// Whether a point with this code is of such a step.
pub(crate) fn owns(code: &str) -> bool {
    TITLES.iter().any(|(known, _)| *known == code)
}

/// Whether a point is of order entry, be it alone or not.
pub(crate) fn is_of_users(code: &str) -> bool {
    [USERS_ALONE, USERS].contains(&code)
}

/// The points of a step at a target, from a key that has everything but test and jobs. Order entry on its own is
/// measured where its tables are, not for each copy of others.
pub(crate) fn keys(
    (oltp, olap): (&OltpStep, &OlapStep),
    base: &PointKey,
    target: &Nodes,
) -> Vec<PointKey> {
    let key = |code: &str, threads: u32| PointKey {
        test: code.to_owned(),
        jobs: jobs_of(code, oltp, olap),
        threads,
        ..base.clone()
    };
    let alone = (!is_replica(target)).then(|| key(USERS_ALONE, 1));
    let at_degree = |threads: u32| [QUERIES_ALONE, USERS, QUERIES].map(|code| key(code, threads));
    let degrees = olap::dop::swept(&olap.dop, target);
    let others = degrees.into_iter().flat_map(at_degree);
    alone.into_iter().chain(others).collect()
}

/// Users, of order entry or of queries.
fn jobs_of(code: &str, oltp: &OltpStep, olap: &OlapStep) -> u32 {
    match is_of_users(code) {
        true => oltp.users()[0],
        false => olap.streams().max(1),
    }
}

/// Why a target cannot do a step at all.
pub(crate) fn obstacle(olap: &OlapStep, targets: &[Nodes], target: &Nodes) -> Option<String> {
    let source = match is_replica(target) {
        false => target,
        true => match source_of(targets) {
            Some(source) => source,
            None => return Some("no target of the run has tables of its own".into()),
        },
    };
    crate::oltp::obstacle(source).or_else(|| olap::obstacle(olap, target))
}

/// The fingerprint of what a point is of. Order entry beside a copy goes on in the engine that the copy comes from.
pub(crate) fn definition(code: &str, engine: &str) -> String {
    match is_of_users(code) {
        true => oltp::fingerprint(engine),
        false => workload::olap::fingerprint(engine),
    }
}

/// Measures what a key asks for; `analytical` knows what the queries answered before.
pub(crate) fn measure(
    bay: &Bay<'_>,
    analytical: &olap::Desk<'_>,
    (step, oltp, olap): (&Step, &OltpStep, &OlapStep),
    key: &PointKey,
    progress: &Progress,
) -> Measured {
    let own = key.target as usize;
    let source = match is_replica(&bay.targets[own]) {
        true => bay.targets.iter().position(|target| !is_replica(target)),
        false => None,
    };
    let scene = Scene {
        bay,
        analytical,
        step,
        oltp,
        olap,
        key,
        source: source.unwrap_or(own),
        progress,
    };
    scene.measure()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_title_and_an_owner() {
        for (code, words) in TITLES {
            assert!(owns(code) && title(code) == words);
        }
        assert!(!owns("OLTP") && !owns("MIXED"));
    }
}
