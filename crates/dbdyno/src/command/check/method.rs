//! The method checked against its invariants on one database, with an ordinary plan in a private schema or file.

mod plan;
mod words;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use anyhow::Result;
use archive::{Archive, Run, RunName, Until};
use engine::conformance::CheckPlace;
use engine::{ClockOffset, Inspection, SCHEMA_MARK, TargetError, TargetUrl};
use lab::study::{self, Side, StudyOptions};
use lab::{HostOptions, LabError, Plan, RunOptions};
use serde_json::{Value, json};
use verdict::method::{Clocks, Finding, Measured, Parameters, confirmed, find, own_cost};
use workload::Library;
use workloads::registry;

use crate::command::ab::Watch;
use crate::consent::{Forecast, Permission};
use crate::exit::invalid;
use crate::progress::Screen;
use words::Counted;

const REPETITIONS: u32 = 8;
const USERS_MAX: u32 = 16;
const SESSIONS_SPARED: u64 = 2;
/// Shortest think time, and its least multiple of a round trip.
const THINK_MS_MIN: f64 = 10.0;
const THINK_ROUND_TRIPS: f64 = 10.0;
/// Approximate overhead of a point in seconds.
const BESIDE_S: f64 = 0.5;
const MOCK_S: f64 = 0.3;
const SLICES: f64 = 12.0;

pub(super) struct Method {
    workspace: String,
    parameters: Parameters,
    findings: Vec<Finding>,
    own: Option<Own>,
    time: Duration,
}

/// CPU time of the driver (µs per operation), and its share in percent of an empty statement.
type Own = (f64, f64);

struct Round {
    run: Run,
    mock: Run,
    slices: Run,
    clocks: Result<Clocks, String>,
}

impl Method {
    /// Measures after its user's consent; `None` if the user interrupts. `found` is the earlier inspection of the target.
    pub(super) fn of(
        url: &TargetUrl,
        found: &Inspection,
        seconds: f64,
        host: &HostOptions,
        permission: &Permission,
    ) -> Result<Option<Self>> {
        let workspace = CheckPlace::beside(engines::all(), url)?;
        let parameters = parameters(&workspace, seconds);
        let library = plan::library(workspace.is_private())?;
        agree(&workspace, &parameters, &library, permission)?;
        lab::signal::install();
        let begin = Instant::now();
        let bench = Bench {
            url,
            workspace: &workspace,
            library: &library,
            parameters,
            host,
        };
        let outcome = bench.find(found);
        // The workspace is removed in any case; the first error is reported.
        let removed = if workspace.is_private() {
            Ok(())
        } else {
            workspace.clear()
        };
        let (findings, own) = match outcome {
            Ok(found) => found,
            Err(error) if is_interrupted(&error) => return Ok(None),
            Err(error) => return Err(without_run(error)),
        };
        removed?;
        Ok(Some(Self {
            workspace: workspace.words(),
            parameters,
            findings,
            own,
            time: begin.elapsed(),
        }))
    }

    /// True if no invariant is violated and at least one was decided.
    pub(super) fn is_right(&self) -> bool {
        let counted = Counted::of(&self.findings);
        counted.broken == 0 && counted.holds > 0
    }

    pub(super) fn text(&self) -> String {
        format!("\n{}\n{}", self.head(), words::table(&self.findings))
    }

    /// The invariants in a line.
    pub(super) fn summary(&self) -> String {
        let counted = Counted::of(&self.findings);
        format!(
            "{}\n{} invariants hold, {} broken, {} undecided, {} not offered; --full lists them\n",
            self.head(),
            counted.holds,
            counted.broken,
            counted.undecided,
            counted.not_offered
        )
    }

    fn head(&self) -> String {
        let (parameters, minutes) = (&self.parameters, self.time.as_secs_f64() / 60.0);
        let (repetitions, users) = (parameters.repetitions, parameters.users);
        let workspace = &self.workspace;
        format!(
            "Method, in {workspace} ({repetitions} repetitions, {users} users, {minutes:.1} min)"
        )
    }

    /// The final line: trust, or the reason against it.
    pub(super) fn verdict(&self) -> String {
        words::verdict(&self.findings, self.own)
    }

    pub(super) fn json(&self) -> Value {
        let counted = Counted::of(&self.findings);
        let parameters = &self.parameters;
        json!({
            "place": self.workspace, "is_right": self.is_right(), "verdict": self.verdict(),
            "hold": counted.holds, "broken": counted.broken, "undecided": counted.undecided,
            "not_offered": counted.not_offered,
            "own_us": self.own.map(|(us, _)| us), "own_pct": self.own.map(|(_, pct)| pct),
            "repetitions": parameters.repetitions, "seconds": parameters.seconds, "users": parameters.users,
            "think_ms": parameters.think_ms, "time_s": self.time.as_secs_f64(),
            "invariants": self.findings.iter().map(words::json).collect::<Vec<_>>(),
        })
    }
}

/// As many users as the server admits, and a think time that is long compared with a round trip.
fn parameters(workspace: &CheckPlace, seconds: f64) -> Parameters {
    let left = workspace.sessions_left().map_or(USERS_MAX, |left| {
        u32::try_from(left.count.saturating_sub(SESSIONS_SPARED)).unwrap_or(USERS_MAX)
    });
    let round_trip_ms = workspace.round_trip_us().unwrap_or_default() / 1e3;
    Parameters {
        users: left.clamp(2, USERS_MAX) / 2 * 2,
        think_ms: (THINK_ROUND_TRIPS * round_trip_ms)
            .max(THINK_MS_MIN)
            .round(),
        seconds,
        repetitions: REPETITIONS,
    }
}

fn agree(
    workspace: &CheckPlace,
    parameters: &Parameters,
    library: &Library,
    permission: &Permission,
) -> Result<()> {
    let steps = verdict::method::Role::ALL.len() as f64;
    let minutes =
        f64::from(parameters.repetitions) * steps * (parameters.seconds + BESIDE_S) / 60.0;
    let (words, users) = (workspace.words(), parameters.users);
    permission.agree(
        &format!(
            "--self-test loads the database for about {} min with up to {users} sessions, and creates tables in {words} and \
             drops them",
            minutes.ceil()
        ),
        "leave out --self-test",
    )?;
    let mut workloads = registry(library.clone());
    let mut plan = Plan::parse(&workloads, &plan::text(parameters), &[])?;
    workloads.prepare(&mut plan)?;
    let urls = [workspace.url().clone()];
    let forecasts = Forecast::of(&plan, &workloads, &urls, false)?;
    permission.ask(&forecasts, &[&plan])
}

/// Location and library of the measurement.
struct Bench<'a> {
    /// The database next to the workspace.
    url: &'a TargetUrl,
    workspace: &'a CheckPlace,
    library: &'a Library,
    parameters: Parameters,
    host: &'a HostOptions,
}

impl Bench<'_> {
    /// Results of the invariants, repeated with a second measurement if one is violated.
    fn find(&self, found: &Inspection) -> Result<(Vec<Finding>, Option<Own>)> {
        let round = self.round(found)?;
        let findings = self.findings(&round);
        let own = own_cost(&round.run);
        let by_chance = |it: &Finding| it.outcome.is_broken() && !it.invariant.is_exact();
        if !findings.iter().any(by_chance) {
            return Ok((findings, own));
        }
        tracing::info!("an invariant is broken: everything is measured a second time");
        let again = self.round(found)?;
        Ok((confirmed(findings, self.findings(&again)), own))
    }

    fn findings(&self, round: &Round) -> Vec<Finding> {
        find(&Measured {
            parameters: self.parameters,
            run: &round.run,
            mock: &round.mock,
            slices: &round.slices,
            clocks: round.clocks.clone(),
        })
    }

    fn round(&self, found: &Inspection) -> Result<Round> {
        let files = tempfile::tempdir()?;
        if !self.workspace.is_private() {
            self.workspace.fill(|session| {
                let schema = format!("{}.", session.schema());
                for table in &plan::TABLES {
                    let create = table.create(&format!("{SCHEMA_MARK}."));
                    session.create_table(table.name, &create)?;
                    if let Some(rows) = table.fill(&schema) {
                        session.batch(&rows)?;
                    }
                }
                Ok(())
            })?;
        }
        let before = match found.clock {
            Some(_) => Reading::of(self.url)?,
            None => None,
        };
        let library = mock_library(files.path())?;
        let mock = mock(files.path(), &library)?;
        let text = plan::text(&self.parameters);
        let host = self.host.clone();
        let scripts = self.library.clone();
        let run = measure(files.path(), &text, scripts, self.workspace.url(), host)?;
        if run.points.is_empty() {
            let missing = run.missing.first().map(|it| it.reason.to_string());
            let why = missing.unwrap_or_default();
            let sentence = format!("--self-test has nothing to measure there: {why}; leave it out");
            return invalid(sentence);
        }
        let slices = mock_in_slices(files.path(), &library)?;
        let clocks = match before {
            Some(before) => Reading::of(self.url)?.map(|after| before.until(&after)),
            None => None,
        };
        let unread = || "the server's clock is not read, or there is none besides the driver's";
        Ok(Round {
            run,
            mock,
            slices,
            clocks: clocks.ok_or_else(|| unread().to_owned()),
        })
    }
}

/// The server's clock together with both clocks of this machine.
struct Reading {
    monotonic: Instant,
    wall: SystemTime,
    offset: ClockOffset,
}

impl Reading {
    fn of(url: &TargetUrl) -> Result<Option<Self>> {
        let found = engines::find(url).map_err(LabError::from)?.inspect(url)?;
        Ok(found.clock.map(|offset| Self {
            monotonic: Instant::now(),
            wall: SystemTime::now(),
            offset,
        }))
    }

    /// The time until `after` on the driver's clock and on the server's.
    fn until(&self, after: &Self) -> Clocks {
        let wall_s = match after.wall.duration_since(self.wall) {
            Ok(passed) => passed.as_secs_f64(),
            Err(set_back) => -set_back.duration().as_secs_f64(),
        };
        let gained_us = after.offset.ahead_us - self.offset.ahead_us;
        let uncertainty_us = self.offset.uncertainty_us + after.offset.uncertainty_us;
        Clocks {
            driver_s: (after.monotonic - self.monotonic).as_secs_f64(),
            server_s: wall_s + gained_us as f64 / 1e6,
            uncertainty_s: uncertainty_us as f64 / 1e6,
        }
    }
}

/// The library of bench/aa: a statement of known duration.
fn mock_library(directory: &Path) -> Result<Library> {
    let library = directory.join("library");
    fs::create_dir(&library)?;
    for (name, text) in MOCK_LIBRARY {
        fs::write(library.join(name), text)?;
    }
    super::super::library(Some(&library))
}

fn mock_plan(jobs: u32, seconds: f64, takes: &str) -> Result<(String, TargetUrl)> {
    let plan = format!(
        "name = \"mock\"\nrepeat = {REPETITIONS}\n[validity]\nlate_starts_pct_max = 100.0\nstall_pct_max = 100.0\n\
         [[step]]\nuse = \"library\"\ntests = [\"T900\"]\njobs = [{jobs}]\nmode = \"time\"\nseconds = {seconds:?}\n"
    );
    let url = format!("mock:?{takes}&noise_pct=0&session_noise_pct=0");
    Ok((plan, engines::parse(&url).map_err(LabError::from)?))
}

fn mock(directory: &Path, library: &Library) -> Result<Run> {
    let (plan, url) = mock_plan(1, MOCK_S, &format!("service_us={}", Parameters::MOCK_US))?;
    measure(
        directory,
        &plan,
        library.clone(),
        &url,
        HostOptions::default(),
    )
}

/// A run in slices that alternates with itself; both sides are equivalent.
fn mock_in_slices(directory: &Path, library: &Library) -> Result<Run> {
    let seconds = SLICES * Parameters::SLICE.as_secs_f64();
    let takes = format!("service_us={}&wait=sleep", Parameters::SLICES_US);
    let (plan, url) = mock_plan(Parameters::SLICES_JOBS, seconds, &takes)?;
    let workloads = [library, library].map(|library| registry(library.clone()));
    let targets = [url];
    let side = |workloads| Side::new(workloads, &plan, &[], &[], &targets);
    let archive = directory.join("slices.dbdyno");
    let mut screen = Screen::of_points_unsaid();
    let sides = workloads.iter().map(side).collect::<lab::Result<_>>()?;
    let seed = super::super::seed(None);
    let options = StudyOptions {
        slice: Some(Parameters::SLICE),
        ..StudyOptions::new(sides, REPETITIONS, &archive, seed, workloads.into())
    };
    let done = study::study(
        options,
        &mut Watch::new(Until::default(), 1, screen.teller()),
        &mut screen,
    );
    screen.close();
    let runs = done?;
    let archive = Archive::open_read_only(&archive).map_err(LabError::from)?;
    let first = RunName::Id(runs[0]);
    Ok(archive.load_run(&first).map_err(LabError::from)?)
}

const MOCK_LIBRARY: [(&str, &str); 3] = [
    (
        "sizes.toml",
        include_str!("../../../../../bench/aa/library/sizes.toml"),
    ),
    (
        "T900.toml",
        include_str!("../../../../../bench/aa/library/T900.toml"),
    ),
    (
        "T900.mock.sql",
        include_str!("../../../../../bench/aa/library/T900.mock.sql"),
    ),
];

/// Runs a plan like `dbdyno run`, into a temporary archive.
fn measure(
    directory: &Path,
    plan: &str,
    library: Library,
    url: &TargetUrl,
    host: HostOptions,
) -> Result<Run> {
    let workloads = registry(library);
    let plan = Plan::parse(&workloads, plan, &[])?;
    let mut screen = Screen::of_points_unsaid();
    let archive = directory.join("archive.dbdyno");
    let seed = super::super::seed(None);
    let targets = vec![url.clone()];
    let options = RunOptions {
        host,
        ..RunOptions::new(plan, targets, &archive, seed, workloads)
    };
    let run = lab::run(options, &mut screen);
    screen.close();
    Ok(run?)
}

fn is_interrupted(error: &anyhow::Error) -> bool {
    matches!(
        error.downcast_ref::<LabError>(),
        Some(LabError::Interrupted { .. })
    )
}

/// The temporary run cannot be resumed.
fn without_run(error: anyhow::Error) -> anyhow::Error {
    match error.downcast::<LabError>() {
        Ok(LabError::Broken { message, .. }) => TargetError::unreachable(message).into(),
        Ok(error) => error.into(),
        Err(error) => error,
    }
}
