//! Backups by the engine's own means, each restored elsewhere and verified.
//!
//! * `step` and `measure`: the plan's tables and the points.
//! * `room`: space that a method needs in the repository.
//! * `repository`: the directory of a backup and its manifest.
//! * `proof`: comparison of a restored database with its source.
//!
//! The order-entry database is backed up. A user works in it before each backup and logs the acknowledged transactions,
//! so that the restored copy can be checked against the tables, the twelve conditions and the log.

#![forbid(unsafe_code)]

mod code;
mod figures;
mod impact;
mod measure;
mod programs;
mod proof;
mod repository;
mod restore;
mod room;
mod step;
#[cfg(test)]
mod tests;

pub use code::OF_METHOD;
pub use proof::{Digests, Evidence, Proven, digests};
pub use repository::Repository;
pub use restore::{Chosen, RestoreResult, restore_and_prove};
pub use step::WAREHOUSES_DEFAULT;

use std::collections::BTreeSet;

use archive::{PointKey, Remark};
use engine::{BackupMethod, TargetUrl};
use lab::plan::TableKind;
use lab::volume::{Volume, Written};
use lab::{Agenda, Ground, LabError, Measure, Nodes, Result, RunContext, Step, Workload};
use workload::volume::of_small_transactions;

use code::{code_of, method_of, title};
use room::Needed;
use step::BackupStep;

pub struct Backups;

fn obstacle(backup: &BackupStep, target: &Nodes) -> Option<Remark> {
    if target.nodes.len() > 1 {
        return Some(Remark::ClusterNotChecked);
    }
    if let Some(obstacle) = oltp::obstacle(&target.engine).or_else(|| target.read_only()) {
        return Some(obstacle);
    }
    let database = target.first().as_ref();
    match database.backup() {
        Err(why) => Some(Remark::NoBackup { why }),
        Ok(_) => backup.repository_inside(database),
    }
}

fn obstacle_of(options: &BackupStep, name: &str, target: &Nodes) -> Option<Remark> {
    let backup = target.first().backup().ok()?;
    let Some((method, _)) = method_of(&backup.methods(), name) else {
        return Some(Remark::BackupMethodUnknown {
            method: name.to_owned(),
            methods: names(&backup.methods()).join(", "),
        });
    };
    if options.point_in_time && method.log_archive.is_none() {
        return Some(Remark::BackupNoPointInTime {
            method: name.to_owned(),
        });
    }
    if options.max_mb_per_s.is_some() && !method.has_rate {
        return Some(Remark::BackupNoRate {
            method: name.to_owned(),
        });
    }
    let lacks = || backup.method(method.name)?.lacks();
    let why = options.processors.here().err().or_else(lacks)?;
    Some(Remark::BackupMethodLacks {
        method: name.to_owned(),
        why,
    })
}

/// Refuses a method that no target has. A method that only some targets have is left out on the others.
fn refuse_unknown(backup: &BackupStep, ground: &Ground<'_>) -> Result<()> {
    let known = ground.targets.iter().flat_map(|target| {
        let declared = target.first().backup().ok();
        declared.map_or(Vec::new(), |backup| backup.methods())
    });
    let known: Vec<BackupMethod> = known.collect();
    let mut requested = backup.methods.iter();
    let unknown = requested.find(|name| !known.is_empty() && method_of(&known, name).is_none());
    unknown.map_or(Ok(()), |name| {
        let known: BTreeSet<&str> = names(&known).into_iter().collect();
        let known: Vec<&str> = known.into_iter().collect();
        let hint = archive::nearest(name, &known);
        let known = known.join(", ");
        Err(LabError::Plan(format!(
            "there is no backup method \"{name}\"{hint}; the methods here are {known}"
        )))
    })
}

fn names(methods: &[BackupMethod]) -> Vec<&'static str> {
    methods.iter().map(|method| method.name).collect()
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
            let key = |code: String, threads: u32| PointKey {
                test: code,
                threads,
                ..base.clone()
            };
            if let Some(obstacle) = obstacle(step.table(), target) {
                agenda.add(vec![key("BACKUP".into(), 1)], Some(obstacle), title);
                continue;
            }
            let methods = target.first().backup().map_or(Vec::new(), |b| b.methods());
            for (name, channels) in step.table::<BackupStep>().points(&methods) {
                let keys = channels
                    .iter()
                    .map(|channels| key(code_of(&name), *channels));
                agenda.add(
                    keys.collect(),
                    obstacle_of(step.table(), &name, target),
                    title,
                );
            }
        }
        Ok(agenda)
    }

    fn written(&self, steps: &[&Step], scheme: &str, _replicas: u32) -> Result<Written> {
        let mut written = Written::default();
        for step in steps {
            let backup: &BackupStep = step.table();
            let load = oltp::measure::load_volume(backup.whole_warehouses());
            written.loads_bytes = written.loads_bytes.saturating_add(load.written_bytes);
            volumes(backup, scheme).for_each(|volume| written.add(volume));
        }
        Ok(written)
    }

    fn timed_s(&self, step: &Step, scheme: &str, _replicas: u32) -> Result<f64> {
        let backup: &BackupStep = step.table();
        Ok(volumes(backup, scheme).count() as f64 * backup.work_seconds)
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

/// Backups and restored copies, which need space next to the database: one volume per point.
fn volumes(backup: &BackupStep, scheme: &str) -> impl Iterator<Item = Volume> {
    let load = oltp::measure::load_volume(backup.whole_warehouses());
    let work = of_small_transactions(backup.work_seconds_in_all());
    let methods = engines::backup_methods(scheme);
    let needed = backup
        .points(&methods)
        .into_iter()
        .flat_map(|(name, channels)| {
            let method = method_of(&methods, &name);
            let needed = method.map(|(method, _)| Needed::by(&method, backup, load.room_bytes));
            needed.into_iter().cycle().take(channels.len())
        });
    let needed: Vec<Needed> = needed.collect();
    needed.into_iter().map(move |needed| Volume {
        written_bytes: needed.bytes().saturating_add(work.written_bytes),
        room_bytes: needed.bytes().saturating_add(work.room_bytes),
    })
}
