//! Backups by the engine's own means, each restored elsewhere and proven.
//!
//! * `step` and `measure`: what a plan says of it, and the points of it.
//! * `repository`: the directory of a backup, and when it is whole.
//! * `proof`: whether a restored database is the one that was backed up.
//!
//! What is backed up is the order-entry database, in which a user works before each backup with a log of acknowledged
//! transactions: so that the restored copy can be held against the tables, the twelve conditions and the log.

mod code;
mod measure;
mod proof;
mod repository;
mod step;
#[cfg(test)]
mod tests;

pub use code::OF_METHOD;
pub use step::WAREHOUSES_DEFAULT;

use std::collections::BTreeSet;

use archive::{PointKey, Remark};
use lab::plan::{TableKind, nearest};
use lab::volume::{Volume, Written};
use lab::{Agenda, Ground, LabError, Measure, Nodes, Plan, Result, RunContext, Step, Workload};
use target::TargetUrl;

use crate::duration;
use crate::oltp;
use crate::volume::{of_order_entry_load, of_small_transactions};
use code::{code_of, title};
use step::BackupStep;

/// Backups as a workload of plans.
pub struct Backups;

/// The methods of a step on a target.
///
/// # Errors
/// Why none of them can be measured there.
fn methods(backup: &BackupStep, target: &Nodes) -> std::result::Result<Vec<String>, Remark> {
    if target.nodes.len() > 1 {
        return Err(Remark::ClusterNotChecked);
    }
    if let Some(obstacle) = oltp::obstacle(&target.engine).or_else(|| target.read_only()) {
        return Err(obstacle);
    }
    let database = target.first().as_ref();
    database.backup().map_err(|why| Remark::NoBackup { why })?;
    let known = known_methods(target);
    if let Some(unknown) = backup
        .methods
        .iter()
        .find(|name| !known.contains(&name.as_str()))
    {
        return Err(Remark::BackupMethodUnknown {
            method: unknown.clone(),
            methods: known.join(", "),
        });
    }
    let known = known.into_iter().map(str::to_owned);
    if let Some(inside) = backup.repository_inside(database) {
        return Err(inside);
    }
    Ok(match backup.methods.is_empty() {
        true => known.collect(),
        false => backup.methods.clone(),
    })
}

/// The methods that a target has; none where it has no backups.
fn known_methods(target: &Nodes) -> Vec<&'static str> {
    let declared = target.first().backup();
    let methods = declared.iter().flat_map(|backup| backup.methods());
    methods.map(|method| method.name).collect()
}

/// Refuses the name of a method that none of the targets has. One that some of them have is left out on the others.
fn refuse_unknown(backup: &BackupStep, ground: &Ground<'_>) -> Result<()> {
    let known: BTreeSet<&str> = ground.targets.iter().flat_map(known_methods).collect();
    let known: Vec<&str> = known.into_iter().collect();
    let mut asked = backup.methods.iter();
    let unknown = asked.find(|name| !known.is_empty() && !known.contains(&name.as_str()));
    unknown.map_or(Ok(()), |name| {
        let hint = nearest(name, &known);
        let known = known.join(", ");
        Err(LabError::Plan(format!(
            "there is no backup method \"{name}\"{hint}; the methods here are {known}"
        )))
    })
}

impl Workload for Backups {
    fn names(&self) -> &'static [&'static str] {
        &["backup"]
    }

    fn tables(&self) -> &'static [TableKind] {
        &[step::TABLE]
    }

    fn check(&self, step: &Step) -> std::result::Result<(), String> {
        step.table::<BackupStep>().check()
    }

    fn lay(&self, step: &Step, ground: &Ground<'_>) -> Result<Agenda> {
        refuse_unknown(step.table(), ground)?;
        let mut agenda = Agenda::default();
        let places = ground.places().filter(|(target, _)| !target.is_replica());
        for (target, base) in places {
            let key = |code: String| PointKey {
                test: code,
                ..base.clone()
            };
            let (keys, obstacle) = match methods(step.table(), target) {
                Ok(methods) => {
                    let codes = methods.iter().map(|method| code_of(method));
                    (codes.map(key).collect(), None)
                }
                Err(obstacle) => (vec![key("BACKUP".into())], Some(obstacle)),
            };
            agenda.add(keys, obstacle, title);
        }
        Ok(agenda)
    }

    fn written(&self, steps: &[&Step], _engine: &str) -> Result<Written> {
        let mut written = Written::default();
        steps
            .iter()
            .for_each(|step| written.add(volume(step.table())));
        Ok(written)
    }

    fn duration_s(&self, _plan: &Plan, step: &Step, _engine: &str, _replicas: u32) -> Result<f64> {
        let backup: &BackupStep = step.table();
        Ok(duration::of_load(volume(backup).written_bytes) + backup.work_seconds)
    }

    fn title(&self, code: &str) -> Result<String> {
        Ok(title(code))
    }

    fn definition(&self, _code: &str, targets: &[TargetUrl], number: usize) -> Result<String> {
        Ok(oltp::fingerprint(targets[number].engine()))
    }

    fn begin<'a>(&'a self, context: &'a RunContext<'a>) -> Box<dyn Measure + 'a> {
        Box::new(measure::Measurement { context })
    }
}

/// The database, a backup and its restored copy.
fn volume(backup: &BackupStep) -> Volume {
    let load = of_order_entry_load(backup.warehouses);
    let work = of_small_transactions(backup.work_seconds);
    Volume {
        written_bytes: (load.written_bytes.saturating_mul(3)).saturating_add(work.written_bytes),
        room_bytes: (load.room_bytes.saturating_mul(3)).saturating_add(work.room_bytes),
    }
}
