//! Databases of the sides of a study: of one in its block, of both at once in slices.

use std::sync::Arc;
use std::time::Duration;

use engine::{Target, TargetUrl};

use super::side::Side;
use super::slices::{Layout, Together, is_same_place};
use crate::error::{LabError, Result};
use crate::nodes::{Nodes, group};
use crate::registry::Registry;

/// Schemas for separate tables of each side.
const SCHEMAS: [&str; 2] = ["side_a", "side_b"];
/// Limit of the wait for a session that removes them.
const PATIENCE: Duration = Duration::from_secs(30);

pub(super) fn open(urls: &[TargetUrl]) -> Result<Vec<Nodes>> {
    group(urls)?.iter().map(|g| Nodes::open(g)).collect()
}

/// Opens the requirements of sides on one database and closes them, so that an obstacle is found before anything is
/// entered.
pub(super) fn try_out(sides: &[Side], workloads: &[Registry]) -> Result<()> {
    let layout = Layout::of(sides, workloads)?;
    match (layout.together, layout.own_tables) {
        (Together::TwoInstances, _) | (Together::Shared, false) => Ok(()),
        (_, own_tables) => {
            let standing = Standing::open(sides, workloads, 0, layout);
            let tried = standing.and_then(Standing::close);
            tried.map_err(|error| match error {
                LabError::Target(error) if own_tables => LabError::Plan(format!(
                    "each side needs tables of its own: {error}; or give each side a database of its own (target=URL), or measure \
                     them in blocks, without slices"
                )),
                error => error,
            })
        }
    }
}

/// A side's targets, at the common start of all blocks.
pub(super) fn opened(side: &Side, workloads: &Registry) -> Result<Vec<Nodes>> {
    restored(open(&side.targets)?, side, workloads)
}

fn restored(targets: Vec<Nodes>, side: &Side, workloads: &Registry) -> Result<Vec<Nodes>> {
    for node in targets.iter().flat_map(|t| &t.nodes) {
        if node.read_only().is_none() {
            let mut each = workloads.by_workload(side.plan.step.iter());
            each.try_for_each(|(workload, steps)| workload.restore(&steps, node.as_ref()))?;
        }
    }
    Ok(targets)
}

pub(super) struct Standing {
    schemas: [Option<Vec<Nodes>>; 2],
    /// Targets of the side opened last, if they differ from those of the other one.
    last: Option<Vec<Nodes>>,
    /// Targets of the side opened first; they hold the locks.
    base: Vec<Nodes>,
    first: usize,
}

impl Standing {
    /// Opens the databases of both sides, number `first` first.
    pub fn open(
        sides: &[Side],
        workloads: &[Registry],
        first: usize,
        layout: Layout,
    ) -> Result<Self> {
        let (last, own_tables) = (1 - first, layout.own_tables);
        let at_start = |targets: Vec<Nodes>, side: usize| match own_tables {
            // The tests ignore existing tables.
            true => Ok(targets),
            false => restored(targets, &sides[side], &workloads[side]),
        };
        let mut standing = Self {
            schemas: [None, None],
            last: None,
            base: at_start(open(&sides[first].targets)?, first)?,
            first,
        };
        standing.last = match layout.together {
            Together::Shared => None,
            Together::OneServer => {
                let companions = standing.companions(&sides[first], &sides[last])?;
                Some(at_start(companions, last)?)
            }
            Together::TwoInstances => Some(opened(&sides[last], &workloads[last])?),
        };
        if own_tables {
            // A killed study may have left schemas.
            standing.remove_schemas()?;
            for side in [first, last] {
                standing.schemas[side] = Some(standing.schemas_of(side)?);
            }
        }
        Ok(standing)
    }

    pub fn of(&self, side: usize) -> &[Nodes] {
        self.schemas[side].as_deref().unwrap_or(self.opened(side))
    }

    fn opened(&self, side: usize) -> &[Nodes] {
        let last = self.last.as_deref().filter(|_| side != self.first);
        last.unwrap_or(&self.base)
    }

    /// Closes the databases, and removes everything created for the sides.
    pub fn close(mut self) -> Result<()> {
        let has_schemas = self.schemas.iter().any(Option::is_some);
        self.schemas = [None, None];
        if has_schemas {
            self.remove_schemas()
        } else {
            Ok(())
        }
    }

    /// The targets of `other` with separate sessions, in addition to those of the base if they are of the same
    /// database.
    fn companions(&self, first: &Side, other: &Side) -> Result<Vec<Nodes>> {
        let urls = group(&first.targets)?.concat();
        let nodes = self.base.iter().flat_map(|targets| &targets.nodes);
        let there: Vec<(&TargetUrl, &Arc<dyn Target>)> = urls.iter().zip(nodes).collect();
        let beside = |url: &TargetUrl| {
            let mut there = there.iter();
            match there.find(|(first, _)| is_same_place(first, url)) {
                Some((_, node)) => node.companion(url),
                None => engines::open(url),
            }
        };
        let groups = group(&other.targets)?;
        groups
            .iter()
            .map(|urls| Nodes::open_each(urls, beside))
            .collect()
    }

    fn schemas_of(&self, side: usize) -> Result<Vec<Nodes>> {
        let schema = |nodes: &Nodes| Ok(nodes.secondary_schema(SCHEMAS[side])?);
        self.opened(side).iter().map(schema).collect()
    }

    fn remove_schemas(&self) -> Result<()> {
        for (side, schema) in SCHEMAS.into_iter().enumerate() {
            for node in self.opened(side).iter().flat_map(|targets| &targets.nodes) {
                // No watchdog is active here.
                node.knock(PATIENCE)?;
                node.remove_secondary_schema(schema)?;
            }
        }
        Ok(())
    }
}
