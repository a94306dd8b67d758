//! `dbdyno run`: measure, then print the summary and write the page.

mod backup;
mod columnar;
mod olap;
mod oltp;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use archive::{Archive, Run, RunName, RunState};
use column_store::Level;
use engine::TargetUrl;
use host::SystemClock;
use host::inventory::Stated;
use lab::{HostOptions, Plan, Registry, RunOptions, Setting};

use super::ending::Ending;
use super::requests::{PlanSource, RunRequest};
use super::resumed;
use super::shape::Shape;
use crate::arguments::positional::{Kind, check_targets, split};
use crate::arguments::{RunArguments, Workload, urls};
use crate::consent::{Forecast, Permission};
use crate::console::say;
use crate::exit::{Status, invalid};
use crate::locations::{self, WorkFiles};
use crate::progress::Screen;

/// Plan of a run that names none.
const PLAN_DEFAULT: &str = "quick";

pub fn run(typed: RunArguments, archive: &Option<PathBuf>) -> Result<Status> {
    let request = match typed.workload {
        None => of_plan(typed)?,
        Some(Workload::Oltp(options)) => oltp::request(*options)?,
        Some(Workload::Olap(options)) => olap::request(*options)?,
        Some(Workload::Columnar(options)) => columnar::request(*options)?,
        Some(Workload::Backup(options)) => backup::request(*options)?,
    };
    measure(&request, archive)
}

/// Carries out a run and shows its results.
pub(super) fn measure(request: &RunRequest, archive: &Option<PathBuf>) -> Result<Status> {
    let ending = Ending::new(&request.options.results, &locations::archive(archive)?)?;
    ending.of_run(&carry_out(request, archive)?)
}

/// A run of a built-in plan or a plan file.
fn of_plan(mut typed: RunArguments) -> Result<RunRequest> {
    if typed.resume.is_some() {
        return Ok(RunRequest {
            resume: typed.resume,
            ..RunRequest::of(PlanSource::default(), Vec::new(), typed.occasion)
        });
    }
    let mut given = split("run", Some(&Kind::plan()), &typed.texts)?;
    given.targets.extend(typed.targets);
    let plan = given.subject.unwrap_or_else(|| PLAN_DEFAULT.to_owned());
    let plan = PlanSource::Named(plan);
    // A misspelt plan is reported first.
    let text = plan.text()?;
    let shape = Shape {
        time: typed.time,
        clients: typed.clients,
    };
    // A key that is set as well is the more precise wish.
    let settings = &mut typed.occasion.options.settings;
    settings.splice(0..0, shape.settings(&text)?);
    check_targets("run", &given.targets, typed.occasion.options.demo)?;
    Ok(RunRequest::of(plan, given.targets, typed.occasion))
}

/// Carries out a run without showing its results.
pub(super) fn carry_out(request: &RunRequest, archive: &Option<PathBuf>) -> Result<Run> {
    let archive = locations::archive(archive)?;
    lab::signal::install();
    let mut screen = Screen::watched(request.options.watch.open()?);
    let measured = match &request.resume {
        Some(name) => resume(name, request, &archive, &mut screen),
        None => begin(request, &archive, &mut screen),
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

fn begin(request: &RunRequest, archive: &Path, screen: &mut Screen) -> Measured {
    let prepared = Prepared::of(request)?;
    screen.drawn_with(prepared.seed);
    let measured = prepared.measure(request.options.name.clone(), archive, screen);
    match measured {
        Ok(run) => Ok((run, prepared.files)),
        Err(error) => {
            // An entered run is resumed with its files; before that they are useless.
            if let Some(files) = prepared.files.filter(|_| !screen.entered()) {
                files.remove();
            }
            Err(error)
        }
    }
}

/// A run before its start, with the consent of its user.
pub(super) struct Prepared {
    pub plan: Plan,
    pub targets: Vec<TargetUrl>,
    pub files: Option<WorkFiles>,
    pub seed: u64,
    pub stated: Stated,
    pub host: HostOptions,
}

impl Prepared {
    /// Checks the request and asks for consent to large volumes. On an error nothing is left on disk.
    pub fn of(request: &RunRequest) -> Result<Self> {
        Self::of_runs(request, 1)
    }

    /// The same for several runs in succession.
    pub fn of_runs(request: &RunRequest, runs: usize) -> Result<Self> {
        let prepared = Self::without_consent(request)?;
        let all: Vec<&Self> = std::iter::repeat_n(&prepared, runs).collect();
        if let Err(error) = Self::ask(&all, &request.options.permission) {
            if let Some(files) = prepared.files {
                files.remove();
            }
            return Err(error);
        }
        Ok(prepared)
    }

    /// Announces the volume of all runs together, and asks for consent if it is large.
    pub fn ask(runs: &[&Self], permission: &Permission) -> Result<()> {
        let forecast = |(side, run): (usize, &&Self)| {
            // Each registry reads the scripts of its own plan.
            let mut workloads = run.registry()?;
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
        let plans: Vec<&Plan> = runs.iter().map(|run| &run.plan).collect();
        permission.ask(&forecasts.concat(), &plans)
    }

    /// Checks the request without asking. On an error nothing is left on disk.
    pub fn without_consent(request: &RunRequest) -> Result<Self> {
        let mut settings = request
            .options
            .settings
            .iter()
            .map(|text| Setting::parse(text))
            .collect::<lab::Result<Vec<_>>>()?;
        if let Some(repeat) = request.repeat {
            settings.push(Setting::parse(&format!("repeat={repeat}"))?);
        }
        let text = request.plan.text()?;
        let mut workloads = super::registry(&text, &settings)?;
        let mut plan = Plan::parse(&workloads, &text, &settings)?;
        // Errors in the plan are reported before a directory is created for its targets.
        workloads.prepare(&mut plan)?;
        let stated = super::stated(request.options.platform.as_deref())?;
        let host = super::server_host(&request.options.server, &stated)?;
        let (targets, files) = targets(request, &plan)?;
        Ok(Self {
            plan,
            targets,
            files,
            seed: super::seed(request.options.seed),
            stated,
            host,
        })
    }

    /// The workloads, with the library that the plan names.
    fn registry(&self) -> Result<Registry> {
        let library = super::library(self.plan.library.as_deref())?;
        Ok(workloads::registry(library))
    }

    pub fn measure(
        &self,
        label: Option<String>,
        archive: &Path,
        screen: &mut Screen,
    ) -> Result<Run> {
        let workloads = self.registry()?;
        let (plan, targets) = (self.plan.clone(), self.targets.clone());
        let options = RunOptions {
            label,
            stated: self.stated.clone(),
            host: self.host.clone(),
            ..RunOptions::new(plan, targets, archive, self.seed, workloads)
        };
        Ok(lab::run(options, screen)?)
    }
}

/// The databases to measure, and the files of temporary ones.
fn targets(request: &RunRequest, plan: &Plan) -> Result<(Vec<TargetUrl>, Option<WorkFiles>)> {
    let (mut targets, files) = if request.targets.is_empty() {
        let files = WorkFiles::create(request.options.work_dir.as_deref())?;
        let mut targets = files.targets(|sentence| say(&format!("dbdyno: warning: {sentence}")));
        let lifts = plan.step.iter().any(|step| step.uses == "columnar");
        if lifts && request.replicas.is_empty() && column_store::available().is_none() {
            // A plan with populated tables needs a column store.
            targets.extend(column_store::urls(&[Level::QueryHigh], None, None));
        }
        if !request.replicas.is_empty() {
            // SQLite is always available; DuckDB already stores columns.
            targets.truncate(1);
            if let (Some(first), Some(bytes)) = (targets.first_mut(), request.cache_bytes) {
                *first = engines::with_cache(first.clone(), bytes)?;
            }
        }
        (targets, Some(files))
    } else {
        let targets = urls(&request.targets)?;
        (request.options.permission.share(&targets)?, None)
    };
    for target in &mut targets {
        target.settings.extend(request.of_target.clone());
    }
    targets.extend(request.replicas.iter().cloned());
    Ok((targets, files))
}

fn resume(name: &str, request: &RunRequest, archive: &Path, screen: &mut Screen) -> Measured {
    let name: RunName = name.parse()?;
    let begun = Archive::open_read_only(archive)?.load_run(&name)?;
    if begun.is_of_parameter_file() {
        return invalid(format!(
            "run {} carried out a parameter file, which cannot be resumed; run the file again with dbdyno vdbench",
            begun.label
        ));
    }
    if begun.state != RunState::Complete {
        resumed::agree(&request.options.permission, archive, &[&begun])?;
    }
    let files = locations::work_files_of(&begun)?;
    let workloads = super::registry(&begun.plan_toml, &[])?;
    let run = lab::resume(&name, archive, workloads, Arc::new(SystemClock), screen)?;
    Ok((run, files))
}
