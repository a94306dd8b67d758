//! Since when servers run that somebody else started: a point behind a restart says so.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use archive::{Point, Remark};

use crate::nodes::Nodes;

/// Since when the servers of each target ran when one of its points was measured last.
#[derive(Debug, Default)]
pub struct Servers {
    last: Mutex<HashMap<u32, String>>,
    /// Targets whose data went with an earlier server and are loaded again, until a point says so.
    reloaded: Mutex<HashSet<u32>>,
}

impl Servers {
    /// Behind the points that a run has already.
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

    /// Has the next point of a target say that its data are loaded again, if they are.
    pub fn note_reloaded(&self, target: u32, is_reloaded: bool) {
        if is_reloaded {
            let mut reloaded = self.reloaded.lock().unwrap_or_else(PoisonError::into_inner);
            reloaded.insert(target);
        }
    }

    /// Marks points that belong together, and were just measured, with the start of their servers.
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
        // The first one stands for all of them.
        points[0].notes.extend(self.notes(target, since));
    }

    /// Since when the servers of a target run, and whether that is later than at the point before.
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

/// Since when the servers of a target run; of several nodes the latest start.
pub fn since(target: &Nodes) -> Option<String> {
    let since = target.nodes.iter().map(|node| node.running_since());
    // Of nodes that do not all tell, nobody knows which was started last.
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
        let told = |target, second| servers.notes(target, at(second)).len();
        assert_eq!((told(0, 1), told(1, 2)), (1, 1), "two targets");
        let [runs, restarted] = &servers.notes(0, at(3))[..] else {
            panic!("not told")
        };
        assert_eq!(*runs, Remark::RunsSince { since: at(3) });
        assert_eq!(*restarted, Remark::Restarted { before: at(1) });
        assert_eq!(told(0, 3), 1, "told once");
    }
}
