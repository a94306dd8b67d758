//! Start times of servers that are not dbdyno's: a point after a restart says so.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use archive::{Point, Remark};

use crate::nodes::Nodes;

/// Start times of the servers of each target when one of its points was last measured.
#[derive(Debug, Default)]
pub struct Servers {
    last: Mutex<HashMap<u32, String>>,
    /// Targets whose data were lost with an earlier server and are loaded again, until a point says so.
    reloaded: Mutex<HashSet<u32>>,
}

impl Servers {
    /// The state after the existing points of a run.
    pub fn behind<'p>(points: impl IntoIterator<Item = &'p Point>) -> Self {
        let since = points.into_iter().filter_map(|point| {
            let since = point.work.server_since.clone()?;
            Some((point.key.target, since))
        });
        Self {
            last: Mutex::new(since.collect()),
            ..Self::default()
        }
    }

    /// Lets the next point of a target note that its data were loaded again.
    pub fn note_reloaded(&self, target: u32, is_reloaded: bool) {
        if is_reloaded {
            let mut reloaded = self.reloaded.lock().unwrap_or_else(PoisonError::into_inner);
            reloaded.insert(target);
        }
    }

    /// Stores the start times of their servers in points that were measured together.
    pub fn mark(&self, points: &mut [Point], targets: &[Nodes]) {
        let Some(target) = points.first().map(|point| point.key.target) else {
            return;
        };
        let mut reloaded = self.reloaded.lock().unwrap_or_else(PoisonError::into_inner);
        if reloaded.remove(&target) {
            points[0].notes.push(Remark::LoadedAfterInterruption);
        }
        drop(reloaded);
        let Some(since) = since(&targets[target as usize]) else {
            return;
        };
        for point in points.iter_mut() {
            point.work.server_since = Some(since.clone());
        }
        // The first point represents all of them.
        points[0].notes.extend(self.notes(target, since));
    }

    /// Note with the start of the servers of a target, if they have restarted since the previous point.
    fn notes(&self, target: u32, since: String) -> Vec<Remark> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let before = last.insert(target, since.clone());
        let restarted = before.filter(|before| *before != since);
        let restarted = restarted.map(|before| Remark::Restarted { before });
        std::iter::once(Remark::RunsSince { since })
            .chain(restarted)
            .collect()
    }
}

/// Start of the servers of a target; the latest of several nodes.
pub fn since(target: &Nodes) -> Option<String> {
    let since = target.nodes.iter().map(|node| node.running_since());
    // If some nodes do not report it, the latest is unknown.
    since.collect::<Option<Vec<_>>>()?.into_iter().max()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: u32) -> String {
        format!("2026-03-01T08:00:{second:02}Z")
    }

    #[test]
    fn the_first_point_behind_a_restart_says_so() {
        let servers = Servers::default();
        let notes = |target, second| servers.notes(target, at(second)).len();
        assert_eq!((notes(0, 1), notes(1, 2)), (1, 1), "two targets");
        let [runs, restarted] = &servers.notes(0, at(3))[..] else {
            panic!("no note")
        };
        assert_eq!(*runs, Remark::RunsSince { since: at(3) });
        assert_eq!(*restarted, Remark::Restarted { before: at(1) });
        assert_eq!(notes(0, 3), 1, "noted once");
    }
}
