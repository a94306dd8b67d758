//! One run, or several of the same plan that differ in their size, beside each other on one page.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use archive::{Archive, ArchiveError, Run, RunName, RunState};
use column_store::{Level, urls};
use host::SystemClock;
use workload::columnar::memory::usable_bytes;

use super::asked::{StudyRequest, judged, refuse_taken};
use crate::arguments::RunArguments;
use crate::command::run::Prepared;
use crate::command::{library, print_coloured, resumed, terminal_columns, wants_colour};
use crate::exit::Status;
use crate::place;
use crate::progress::Screen;

/// A run of the study.
enum Stage {
    Complete(Box<Run>),
    Begun(Box<Run>),
    New(Box<Prepared>),
}

/// What is asked of a run of the study.
pub(super) struct Planned {
    pub label: String,
    /// Keys of the plan that it sets alone.
    pub settings: Vec<String>,
    /// Settings of its targets alone.
    pub of_target: BTreeMap<String, String>,
}

pub(super) fn carry_out(asked: &StudyRequest<'_>) -> Result<Status> {
    let parts = asked.built_in.scale(asked.size()).parts();
    let planned = parts.into_iter().map(|part| Planned {
        label: part.label(&asked.name),
        settings: part.settings,
        of_target: BTreeMap::new(),
    });
    let runs = measure(asked, &planned.collect::<Vec<_>>())?;
    let all: Vec<&Run> = runs.iter().collect();
    if let Some((last, others)) = all.split_last() {
        asked.write_page(last, others)?;
    }
    Ok(judged(Status::Fine, &all))
}

/// Carries out the runs of a study one after the other, or goes on with them; prints each.
///
/// # Errors
/// What is wrong with one of them, before the first begins; what ended one.
pub(super) fn measure(asked: &StudyRequest<'_>, planned: &[Planned]) -> Result<Vec<Run>> {
    lab::signal::install();
    let mut runs: Vec<Run> = Vec::new();
    for (label, stage) in stages(asked, planned)? {
        let run = measured(asked, &label, stage).map_err(|error| asked.of_study(error))?;
        print_coloured(&report::terminal(
            &run,
            &[],
            terminal_columns(),
            wants_colour(),
        ))?;
        runs.push(run);
    }
    Ok(runs)
}

/// All runs of the study with their labels. Whatever is wrong with one is told before the first is measured.
fn stages(asked: &StudyRequest<'_>, planned: &[Planned]) -> Result<Vec<(String, Stage)>> {
    let mut stages: Vec<(String, Stage)> = Vec::new();
    for one in planned {
        match stage(asked, one) {
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
    let asked_for = Prepared::ask(&new.collect::<Vec<_>>(), &asked.arguments.permission);
    match asked_for {
        Ok(()) => Ok(stages),
        Err(error) => {
            abandon(stages);
            Err(error)
        }
    }
}

/// Nobody needs the files of runs that are not begun.
fn abandon(stages: Vec<(String, Stage)>) {
    for (_, stage) in stages {
        if let Stage::New(prepared) = stage
            && let Some(files) = prepared.files
        {
            files.remove();
        }
    }
}

fn stage(asked: &StudyRequest<'_>, planned: &Planned) -> Result<Stage> {
    if !asked.is_resumed() {
        refuse_taken(&planned.label, &asked.archive)?;
        return prepared(asked, planned);
    }
    match kept(&planned.label, &asked.archive)? {
        Some(run) if run.state == RunState::Complete => Ok(Stage::Complete(Box::new(run))),
        Some(run) => {
            resumed::agree(&asked.arguments.permission, &asked.archive, &[&run])?;
            Ok(Stage::Begun(Box::new(run)))
        }
        None => prepared(asked, planned),
    }
}

fn kept(label: &str, archive: &Path) -> Result<Option<Run>> {
    let name = RunName::Label(label.to_owned());
    match Archive::open_read_only(archive)?.load_run(&name) {
        Err(ArchiveError::UnknownRun { .. }) => Ok(None),
        loaded => Ok(Some(loaded?)),
    }
}

fn prepared(asked: &StudyRequest<'_>, planned: &Planned) -> Result<Stage> {
    let scale = asked.built_in.scale(asked.size());
    let levels: Vec<Level> = scale.levels()?;
    // All levels are in memory at the same time.
    let memory = usable_bytes().map(|bytes| bytes / levels.len().max(1) as u64);
    let mut arguments = asked.run_arguments()?;
    // Behind those of the size, before what the user sets.
    let at = arguments.settings.len() - asked.arguments.settings.len();
    (arguments.settings).splice(at..at, planned.settings.clone());
    arguments.of_target = planned.of_target.clone();
    let prepared = Prepared::unasked(&RunArguments {
        replicas: if levels.is_empty() {
            Vec::new()
        } else {
            urls(&levels, memory, None)
        },
        cache_bytes: memory.filter(|_| !levels.is_empty()),
        ..arguments
    })?;
    Ok(Stage::New(Box::new(prepared)))
}

fn measured(asked: &StudyRequest<'_>, label: &str, stage: Stage) -> Result<Run> {
    let mut screen = Screen::watched(asked.watched.clone());
    let measured = match stage {
        Stage::Complete(run) => return Ok(*run),
        Stage::Begun(begun) => resumed_run(&begun, &asked.archive, &mut screen),
        Stage::New(prepared) => {
            screen.drawn_with(prepared.seed);
            let measured = prepared.measure(Some(label.to_owned()), &asked.archive, &mut screen);
            // A run that was entered is resumed with its files.
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
    let files = place::work_files_of(begun)?;
    let name = RunName::Label(begun.label.clone());
    let workloads = workload::registry(library(None)?);
    let run = lab::resume(&name, archive, workloads, Arc::new(SystemClock), screen)?;
    if let Some(files) = files {
        files.remove();
    }
    Ok(run)
}
