//! A run: enters a plan into the archive and measures it, or resumes an interrupted one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use archive::{Archive, NewRun, Platform, Run, RunName, RunState};
use engine::{TargetError, TargetUrl};
use host::inventory::Stated;
use host::{SystemClock, WallClock};

use crate::agenda::Agenda;
use crate::error::{LabError, Result};
use crate::machine::{HostOptions, Machine};
use crate::nodes::{Nodes, group, urls_of, urls_of_run};
use crate::observer::{Observer, tell_rights};
use crate::registry::Registry;
use crate::sessions::Beside;
use crate::work::{Queue, Work};
use crate::{Plan, sessions, signal};

pub struct RunOptions {
    pub plan: Plan,
    pub targets: Vec<TargetUrl>,
    pub archive: PathBuf,
    /// Label; generated if `None`.
    pub label: Option<String>,
    pub seed: u64,
    pub workloads: Registry,
    pub clock: Arc<dyn WallClock>,
    pub tool_version: String,
    /// Facts that the machine's owner states.
    pub stated: Stated,
    pub host: HostOptions,
}

impl RunOptions {
    /// A run of this plan by the clock of this machine, with a generated label.
    pub fn new(
        plan: Plan,
        targets: Vec<TargetUrl>,
        archive: &Path,
        seed: u64,
        workloads: Registry,
    ) -> Self {
        Self {
            plan,
            targets,
            archive: archive.to_owned(),
            label: None,
            seed,
            workloads,
            clock: Arc::new(SystemClock),
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            stated: Stated::default(),
            host: HostOptions::default(),
        }
    }
}

/// Carries out a plan, and returns the complete run.
///
/// # Errors
/// Invalid input is found before anything is touched; later failures of the environment end the run with every
/// finished point in the archive.
pub fn run(mut options: RunOptions, observer: &mut dyn Observer) -> Result<Run> {
    options.workloads.prepare(&mut options.plan)?;
    if let Some(label) = &options.label {
        archive::store::check_label(label)?;
    }
    let room = sessions::most(&options.plan, &options.workloads);
    let groups = group(&sessions::with_room(&options.targets, room)?)?;
    let machine = Machine::of(&groups, &options.host)?;
    let mut archive = Archive::open(&options.archive)?;
    let targets = opened(&groups, &options.plan, &options.workloads)?;
    let agenda = (options.workloads).lay(&options.plan, &targets, machine.threads())?;
    refuse_nothing_to_read(&agenda, &targets)?;
    sessions::check(
        &options.plan,
        &options.workloads,
        &agenda.points,
        &targets,
        &Beside::default(),
    )?;
    let sites: Vec<_> = targets.iter().map(|t| machine.site(t)).collect();
    if let Some(requested) = options.label.take() {
        let label = archive.free_name(&requested, |name| vec![name.to_owned()])?;
        if label != requested {
            observer.is_renamed(&requested, &label);
        }
        options.label = Some(label);
    }
    let id = archive.create_run(&NewRun {
        label: options.label.clone(),
        plan_name: options.plan.name.clone(),
        plan_toml: options.plan.to_toml(),
        seed: options.seed,
        repetitions: options.plan.repetitions(),
        targets: sites.iter().map(|site| site.record.clone()).collect(),
        platform: machine.platform.clone(),
        inventory: machine.inventory(&options.stated, &targets, &sites),
        study: None,
        missing: agenda.missing,
        tool_version: options.tool_version.clone(),
        started_at: host::clock::rfc3339(options.clock.now()),
        planned: agenda.points.clone(),
    })?;
    let label = options.label.clone().unwrap_or_else(|| format!("run-{id}"));
    signal::can_be_resumed("run", &label);
    observer.begins(&label, agenda.points.len(), agenda.points.len());
    tell_rights(observer, sites.iter().map(|site| &site.record));
    let work = Work {
        plan: &options.plan,
        workloads: &options.workloads,
        targets: &targets,
        machine: &machine,
        seed: options.seed,
        clock: &options.clock,
        letter: None,
        side: None,
    };
    let queue = Queue {
        id,
        label,
        planned: agenda.points.len(),
        finished: 0,
        todo: agenda.points,
    };
    work.through(&mut archive, &queue, observer)
}

/// Opens the targets of a plan, read-only if it only observes.
fn opened(groups: &[Vec<TargetUrl>], plan: &Plan, workloads: &Registry) -> Result<Vec<Nodes>> {
    let open: fn(&TargetUrl) -> engine::Result<_> = if workloads.is_observation(plan)? {
        engines::open_observed
    } else {
        engines::open
    };
    let groups = groups.iter();
    groups.map(|group| Nodes::open_each(group, open)).collect()
}

/// Refuses a plan that only writes if all targets are read-only.
fn refuse_nothing_to_read(agenda: &Agenda, targets: &[Nodes]) -> Result<()> {
    let refused = targets.iter().find_map(|target| target.first().read_only());
    match refused.filter(|_| agenda.points.is_empty()) {
        Some(why) => Err(TargetError::unreachable(why).into()),
        None => Ok(()),
    }
}

/// Resumes a run that was interrupted or killed, and returns the complete run.
///
/// # Errors
/// Also if the run is complete, or was begun on another machine.
pub fn resume(
    name: &RunName,
    archive_path: &Path,
    mut workloads: Registry,
    clock: Arc<dyn WallClock>,
    observer: &mut dyn Observer,
) -> Result<Run> {
    let mut archive = Archive::open(archive_path)?;
    archive.lock_run(archive.run_id(name)?)?;
    let begun = archive.load_run(name)?;
    if begun.state == RunState::Complete {
        return Err(LabError::Plan(format!(
            "run {} is complete; there is nothing to resume",
            begun.label
        )));
    }
    let groups = group(&urls_of_run(&begun)?)?;
    let machine = Machine::of(&groups, &HostOptions::of_run(&begun))?;
    refuse_other_machine(&begun.platform, &machine.platform)?;
    let mut plan = Plan::parse(&workloads, &begun.plan_toml, &[])?;
    workloads.prepare(&mut plan)?;
    refuse_other_definitions(&begun, &plan, &workloads)?;
    let targets = opened(&groups, &plan, &workloads)?;
    let planned = archive.planned(begun.id)?;
    let finished = archive.finished(begun.id)?;
    let todo: Vec<_> = planned
        .iter()
        .filter(|key| !finished.contains(key))
        .cloned()
        .collect();
    signal::can_be_resumed("run", &begun.label);
    sessions::check(&plan, &workloads, &todo, &targets, &Beside::default())?;
    observer.begins(&begun.label, planned.len(), todo.len());
    let records: Vec<_> = targets.iter().map(Nodes::record).collect();
    tell_rights(observer, &records);
    let work = Work {
        plan: &plan,
        workloads: &workloads,
        targets: &targets,
        machine: &machine,
        seed: begun.seed,
        clock: &clock,
        letter: None,
        side: None,
    };
    let queue = Queue {
        id: begun.id,
        label: begun.label.clone(),
        planned: planned.len(),
        finished: planned.len() - todo.len(),
        todo,
    };
    work.through(&mut archive, &queue, observer)
}

/// A run with points of two machines would describe neither.
pub(crate) fn refuse_other_machine(begun: &Platform, now: &Platform) -> Result<()> {
    let same = begun.processor == now.processor
        && begun.threads == now.threads
        && begun.memory_bytes == now.memory_bytes;
    if same {
        return Ok(());
    }
    Err(LabError::Plan(
        "this run was started on another machine (processor or memory differs); start a new run here"
            .into(),
    ))
}

/// The same holds for points with different definitions of their tests.
pub(crate) fn refuse_other_definitions(
    begun: &Run,
    plan: &Plan,
    workloads: &Registry,
) -> Result<()> {
    // The first node of each represents all.
    let urls = begun.targets.iter().map(urls_of);
    let urls: Vec<Vec<TargetUrl>> = urls.collect::<Result<_>>()?;
    let urls: Vec<TargetUrl> = urls
        .into_iter()
        .filter_map(|urls| urls.into_iter().next())
        .collect();
    for point in &begun.points {
        let step = (point.key.step as usize)
            .checked_sub(1)
            .and_then(|at| plan.step.get(at));
        let number = point.key.target as usize;
        let (Some(step), true) = (step, number < urls.len()) else {
            continue;
        };
        let workload = workloads.of(step);
        if workload.definition(&point.key.test, &urls, number)? != point.definition {
            return Err(LabError::Plan(format!(
                "run {} was started with another definition of {}; resume it with the same library, or start a new run",
                begun.label, point.key.test
            )));
        }
    }
    Ok(())
}
