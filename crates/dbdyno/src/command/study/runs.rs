//! One run, or several of the same plan with different sizes, on one page.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use archive::{Archive, ArchiveError, Point, Run, RunName, RunState};
use column_store::{Level, urls};
use columnar::memory::usable_bytes;
use host::SystemClock;
use lab::Plan;
use olap::step::OlapStep;

use super::request::{StudyRequest, refuse_taken};
use crate::command::data::database::{lasts, open};
use crate::command::requests::RunRequest;
use crate::command::run::Prepared;
use crate::command::{library, resumed};
use crate::exit::Status;
use crate::locations;
use crate::progress::Screen;

enum Stage {
    Complete(Box<Run>),
    Begun(Box<Run>),
    New(Box<Prepared>),
}

pub(super) struct Planned {
    pub label: String,
    /// Keys of the plan that only this run sets.
    pub settings: Vec<String>,
    /// Settings of only this run's targets.
    pub of_target: BTreeMap<String, String>,
}

pub(super) fn carry_out(request: &StudyRequest<'_>) -> Result<Status> {
    let parts = request.built_in.scale(request.size()).parts();
    let planned = parts.into_iter().map(|part| Planned {
        label: part.label(&request.name),
        settings: part.settings,
        of_target: BTreeMap::new(),
    });
    let runs = measure(request, &planned.collect::<Vec<_>>())?;
    let all: Vec<&Run> = runs.iter().collect();
    match all.split_last() {
        Some((last, others)) => request.end(last, others, Status::Fine),
        None => Ok(Status::Fine),
    }
}

/// Carries out or resumes the runs of a study in succession. Errors in any of them are reported before the first begins.
pub(super) fn measure(request: &StudyRequest<'_>, planned: &[Planned]) -> Result<Vec<Run>> {
    lab::signal::install();
    let mut runs: Vec<Run> = Vec::new();
    for (label, stage) in stages(request, planned)? {
        if let Some(previous) = runs.last() {
            drop_loaded(request, previous, &stage)?;
        }
        let run = measured(request, &label, stage)?;
        request.ending.print_tables(&run)?;
        runs.push(run);
    }
    Ok(runs)
}

/// Drops the analytical database that the previous run loaded, because the next one loads another scale. A database that was there before
/// the study, or that holds another scale by now, stays.
fn drop_loaded(request: &StudyRequest<'_>, previous: &Run, next: &Stage) -> Result<()> {
    let is_load = |point: &&Point| point.key.test == olap::measure::LOAD;
    let is_due = match next {
        Stage::New(_) => true,
        Stage::Begun(run) => !run.points.iter().any(|point| is_load(&point)),
        Stage::Complete(_) => false,
    };
    if !is_due {
        return Ok(());
    }
    let plan = Plan::parse(
        &workloads::registry(library(None)?),
        &previous.plan_toml,
        &[],
    )?;
    let targets = request.targets()?;
    for point in previous.points.iter().filter(is_load) {
        let is_loaded = point.figures.get("rows_per_s").is_some();
        let Some(url) = targets.get(point.key.target as usize) else {
            continue;
        };
        if !is_loaded || !lasts(&url.url()?)? {
            continue;
        }
        let (target, _) = open(url)?;
        let there = olap::Metadata::read(target.open_session()?.as_mut())?;
        // Steps are counted from 1.
        let step: &OlapStep = plan.step[point.key.step as usize - 1].table();
        if there.is_some_and(|there| Some(there.scale) == step.scale()) {
            olap::drop_all(target.as_ref())?;
        }
    }
    Ok(())
}

/// All runs of the study with their labels; errors in any of them are reported before the first is measured.
fn stages(request: &StudyRequest<'_>, planned: &[Planned]) -> Result<Vec<(String, Stage)>> {
    let mut stages: Vec<(String, Stage)> = Vec::new();
    for one in planned {
        match stage(request, one) {
            Ok(stage) => stages.push((one.label.clone(), stage)),
            Err(error) => {
                abandon(stages);
                return Err(error);
            }
        }
    }
    let new = stages.iter().filter_map(|(_, stage)| match stage {
        Stage::New(prepared) => Some(&**prepared),
        Stage::Complete(_) | Stage::Begun(_) => None,
    });
    let consent = Prepared::ask(
        &new.collect::<Vec<_>>(),
        &request.arguments.options.permission,
    );
    match consent {
        Ok(()) => Ok(stages),
        Err(error) => {
            abandon(stages);
            Err(error)
        }
    }
}

/// Removes the files of runs that have not begun.
fn abandon(stages: Vec<(String, Stage)>) {
    for (_, stage) in stages {
        if let Stage::New(prepared) = stage
            && let Some(files) = prepared.files
        {
            files.remove();
        }
    }
}

fn stage(request: &StudyRequest<'_>, planned: &Planned) -> Result<Stage> {
    if !request.is_resumed() {
        refuse_taken(&planned.label, &request.archive)?;
        return prepared(request, planned);
    }
    match stored(&planned.label, &request.archive)? {
        Some(run) if run.state == RunState::Complete => Ok(Stage::Complete(Box::new(run))),
        Some(run) => {
            resumed::agree(
                &request.arguments.options.permission,
                &request.archive,
                &[&run],
            )?;
            Ok(Stage::Begun(Box::new(run)))
        }
        None => prepared(request, planned),
    }
}

fn stored(label: &str, archive: &Path) -> Result<Option<Run>> {
    let name = RunName::Label(label.to_owned());
    match Archive::open_read_only(archive)?.load_run(&name) {
        Err(ArchiveError::UnknownRun { .. }) => Ok(None),
        loaded => Ok(Some(loaded?)),
    }
}

fn prepared(request: &StudyRequest<'_>, planned: &Planned) -> Result<Stage> {
    let scale = request.built_in.scale(request.size());
    let levels: Vec<Level> = scale.levels()?;
    // All levels are in memory at the same time.
    let memory = usable_bytes().map(|bytes| bytes / levels.len().max(1) as u64);
    let mut run = request.run_request()?;
    // These settings come after those of the size and before the user's.
    let at = run.options.settings.len() - request.keys.settings.len();
    run.options
        .settings
        .splice(at..at, planned.settings.clone());
    run.of_target = planned.of_target.clone();
    let prepared = Prepared::without_consent(&RunRequest {
        replicas: if levels.is_empty() {
            Vec::new()
        } else {
            urls(&levels, memory, None)
        },
        cache_bytes: memory.filter(|_| !levels.is_empty()),
        ..run
    })?;
    Ok(Stage::New(Box::new(prepared)))
}

fn measured(request: &StudyRequest<'_>, label: &str, stage: Stage) -> Result<Run> {
    let mut screen = Screen::watched(request.watched.clone());
    let measured = match stage {
        Stage::Complete(run) => return Ok(*run),
        Stage::Begun(begun) => resumed_run(&begun, &request.archive, &mut screen),
        Stage::New(prepared) => {
            screen.drawn_with(prepared.seed);
            let measured = prepared.measure(Some(label.to_owned()), &request.archive, &mut screen);
            // An entered run is resumed with its files.
            let is_needed = measured.is_err() && screen.entered();
            if let Some(files) = prepared.files.filter(|_| !is_needed) {
                files.remove();
            }
            measured
        }
    };
    screen.close();
    screen.run_ends(&measured);
    measured
}

fn resumed_run(begun: &Run, archive: &Path, screen: &mut Screen) -> Result<Run> {
    let files = locations::work_files_of(begun)?;
    let name = RunName::Label(begun.label.clone());
    let workloads = workloads::registry(library(None)?);
    let run = lab::resume(&name, archive, workloads, Arc::new(SystemClock), screen)?;
    if let Some(files) = files {
        files.remove();
    }
    Ok(run)
}
