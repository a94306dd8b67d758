//! `dbdyno run`: measure, then print tables and scorecard.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use archive::{Archive, Run, RunName, RunState};
use column_store::Level;
use engine::TargetUrl;
use host::SystemClock;
use host::inventory::Stated;
use lab::{HostAsked, Plan, RunOptions, Setting};

use super::{print_coloured, resumed, terminal_columns, wants_colour};
use crate::arguments::{RunArguments, urls};
use crate::consent::{Forecast, Permission};
use crate::exit::{InvalidInput, Status};
use crate::place::{self, WorkFiles};
use crate::progress::Screen;
use crate::say::say;

pub fn run(arguments: RunArguments, archive: &Option<PathBuf>) -> Result<Status> {
    show(&carry_out(&arguments, archive)?)
}

/// The run as it was carried out, before anything of it is shown.
///
/// # Errors
/// When it was not.
pub(super) fn carry_out(arguments: &RunArguments, archive: &Option<PathBuf>) -> Result<Run> {
    let archive = place::archive(archive)?;
    lab::signal::install();
    let mut screen = Screen::watched(arguments.watch.open()?);
    let measured = match &arguments.resume {
        Some(name) => resume(name, arguments, &archive, &mut screen),
        None => begin(arguments, &archive, &mut screen),
    };
    screen.close();
    screen.run_ends(&measured);
    let (run, files) = measured?;
    if let Some(files) = files {
        files.remove();
    }
    Ok(run)
}

type Measured = Result<(Run, Option<WorkFiles>)>;

fn begin(arguments: &RunArguments, archive: &Path, screen: &mut Screen) -> Measured {
    let prepared = Prepared::of(arguments)?;
    screen.drawn_with(prepared.seed);
    let measured = prepared.measure(arguments.name.clone(), archive, screen);
    match measured {
        Ok(run) => Ok((run, prepared.files)),
        Err(error) => {
            // A run that was entered is resumed with its files; without a run nobody needs them.
            if let Some(files) = prepared.files.filter(|_| !screen.entered()) {
                files.remove();
            }
            Err(error)
        }
    }
}

/// What a run is made of, with the permission of its user; all but its label.
pub(super) struct Prepared {
    pub plan: Plan,
    pub targets: Vec<TargetUrl>,
    /// Files of the default targets.
    pub files: Option<WorkFiles>,
    /// Test library, where it is not the built-in one.
    pub library: Option<PathBuf>,
    pub seed: u64,
    pub stated: Stated,
    pub host: HostAsked,
}

impl Prepared {
    /// Asks where much is written.
    ///
    /// # Errors
    /// What is wrong in itself, and when the user does not agree. Nothing stays behind.
    pub fn of(arguments: &RunArguments) -> Result<Self> {
        Self::of_runs(arguments, 1)
    }

    /// The same for so many runs, one after the other.
    ///
    /// # Errors
    /// As [`Prepared::of`].
    pub fn of_runs(arguments: &RunArguments, runs: usize) -> Result<Self> {
        let prepared = Self::unasked(arguments)?;
        let all: Vec<&Self> = std::iter::repeat_n(&prepared, runs).collect();
        if let Err(error) = Self::ask(&all, &arguments.permission) {
            if let Some(files) = prepared.files {
                files.remove();
            }
            return Err(error);
        }
        Ok(prepared)
    }

    /// Says what runs write that follow each other, all together, and asks where that is much.
    ///
    /// # Errors
    /// When their user does not agree.
    pub fn ask(runs: &[&Self], permission: &Permission) -> Result<()> {
        let forecast = |(side, run): (usize, &&Self)| {
            // Each registry reads the scripts of its plan itself.
            let mut workloads = workload::registry(super::library(run.library.as_deref())?);
            workloads.prepare(&mut run.plan.clone())?;
            let forecasts = Forecast::of(&run.plan, &workloads, &run.targets, false)?;
            let of_side = forecasts.into_iter().map(move |one| one.of_side(side));
            Ok(of_side.collect::<Vec<_>>())
        };
        let forecasts = runs
            .iter()
            .enumerate()
            .map(forecast)
            .collect::<Result<Vec<_>>>()?;
        permission.ask(&forecasts.concat())
    }

    /// Before its user was asked.
    ///
    /// # Errors
    /// What is wrong in itself. Nothing stays behind.
    pub fn unasked(arguments: &RunArguments) -> Result<Self> {
        let mut workloads = workload::registry(super::library(arguments.library.as_deref())?);
        let mut settings = arguments
            .settings
            .iter()
            .map(|text| Setting::parse(text))
            .collect::<lab::Result<Vec<_>>>()?;
        if let Some(repeat) = arguments.repeat {
            settings.push(Setting::parse(&format!("repeat={repeat}"))?);
        }
        let text = match &arguments.plan_text {
            Some(text) => text.clone(),
            None => Plan::text(&arguments.plan)?,
        };
        let mut plan = Plan::parse(&workloads, &text, &settings)?;
        // What is wrong in the plan must be said before a directory is made for its targets.
        workloads.prepare(&mut plan)?;
        let host = super::server_host(&arguments.server)?;
        let stated = super::stated(arguments.platform.as_deref())?;
        let (targets, files) = targets(arguments, &plan)?;
        Ok(Self {
            plan,
            targets,
            files,
            library: arguments.library.clone(),
            seed: super::seed(arguments.seed),
            stated,
            host,
        })
    }

    /// Carries it out.
    ///
    /// # Errors
    /// As [`lab::run()`].
    pub fn measure(
        &self,
        label: Option<String>,
        archive: &Path,
        screen: &mut Screen,
    ) -> Result<Run> {
        let options = RunOptions {
            plan: self.plan.clone(),
            targets: self.targets.clone(),
            archive: archive.to_path_buf(),
            label,
            seed: self.seed,
            workloads: workload::registry(super::library(self.library.as_deref())?),
            clock: Arc::new(SystemClock),
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            stated: self.stated.clone(),
            host: self.host.clone(),
        };
        Ok(lab::run(options, screen)?)
    }
}

/// The databases to measure, and the files of those that are made for the run.
fn targets(arguments: &RunArguments, plan: &Plan) -> Result<(Vec<TargetUrl>, Option<WorkFiles>)> {
    let (mut targets, files) = if arguments.targets.is_empty() {
        let files = WorkFiles::create(arguments.work_dir.as_deref())?;
        let mut targets = files.targets(|sentence| say(&format!("dbdyno: warning: {sentence}")));
        let lifts = plan.step.iter().any(|step| step.uses == "columnar");
        if lifts && arguments.replicas.is_empty() && column_store::available().is_none() {
            // A plan that lifts needs somewhere to lift to.
            targets.extend(column_store::urls(&[Level::QueryHigh], None, None));
        }
        if !arguments.replicas.is_empty() {
            // The first is the one that is always there; the other keeps columns itself.
            targets.truncate(1);
            if let (Some(first), Some(bytes)) = (targets.first_mut(), arguments.cache_bytes) {
                *first = engines::with_cache(first.clone(), bytes)?;
            }
        }
        (targets, Some(files))
    } else {
        let targets = urls(&arguments.targets)?;
        (arguments.permission.share(&targets)?, None)
    };
    for target in &mut targets {
        target.settings.extend(arguments.of_target.clone());
    }
    targets.extend(arguments.replicas.iter().cloned());
    Ok((targets, files))
}

fn resume(name: &str, arguments: &RunArguments, archive: &Path, screen: &mut Screen) -> Measured {
    let name: RunName = name.parse()?;
    let begun = Archive::open_read_only(archive)?.load_run(&name)?;
    if begun.is_of_parameter_file() {
        let why = format!(
            "run {} carried out a parameter file, which cannot be resumed; run the file again with dbdyno vdbench",
            begun.label
        );
        return Err(InvalidInput(why).into());
    }
    if begun.state != RunState::Complete {
        resumed::agree(&arguments.permission, archive, &[&begun])?;
    }
    let files = place::work_files_of(&begun)?;
    let workloads = workload::registry(super::library(arguments.library.as_deref())?);
    let run = lab::resume(&name, archive, workloads, Arc::new(SystemClock), screen)?;
    Ok((run, files))
}

pub(super) fn show(run: &Run) -> Result<Status> {
    print_coloured(&report::terminal(
        run,
        &[],
        terminal_columns(),
        wants_colour(),
    ))?;
    if run.valid() {
        return Ok(Status::Fine);
    }
    let label = &run.label;
    let invalid = match run.points.iter().filter(|p| !p.valid()).count() {
        // Its record was changed, or it is not complete.
        0 => format!("run {label} is invalid"),
        invalid => format!(
            "{invalid} of {} points of run {label} are invalid",
            run.points.len()
        ),
    };
    say(&format!("dbdyno: {invalid}; the tables give the reasons"));
    Ok(Status::CheckFailed)
}
