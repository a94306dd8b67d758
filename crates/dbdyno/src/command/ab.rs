//! `dbdyno ab`: two configurations measured in alternation and compared; and the measuring of studies with more sides.

mod until;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, anyhow};
use archive::{Archive, Run, RunName, RunState, SideLabel, StudyPart, Until};
use engine::TargetUrl;
use host::SystemClock;
use lab::study::{self, Side, StudyOptions};
use lab::{Plan, Registry, Setting};
use report::Against;
use stats::multiple::confidence_of_each;
use stats::ratio::fewest_pairs;
use until::Known;
pub(crate) use until::Watch;
use verdict::compare::{BAND_DEFAULT, CONFIDENCE, Options, compare};
use verdict::metric::Metric;

use super::compare::{How, earlier_studies, equal_studies, html_options, judge_and_show};
use super::ending::{Ending, Outcome};
use super::requests::{AbRequest, SideRequest};
use super::sides::Tables;
use crate::arguments::{AbArguments, BandOption, urls};
use crate::consent::Forecast;
use crate::console::say;
use crate::event_outputs::Watched;
use crate::exit::{Status, invalid};
use crate::locations::{self, WorkFiles};
use crate::progress::Screen;

/// Number of newest studies whose scatter is taken into account.
const STUDIES_MAX: usize = 5;

pub fn ab(typed: &AbArguments, archive_option: &Option<PathBuf>) -> Result<Status> {
    super::prices::check(&typed.judging.prices)?;
    let watched = typed.options.watch.open()?;
    let request = &AbRequest::of(typed)?;
    if let Some(name) = &request.run.resume {
        refuse_more_sides(name, archive_option)?;
    }
    let ending = Ending::new(
        &request.run.options.results,
        &locations::archive(archive_option)?,
    )?;
    let [a, b] = two(measured(request, archive_option, &watched)?)?;
    let status = show(&a, &b, request, ending.tables(), archive_option, &watched)?;
    let status = judged(status, &[&a, &b]);
    let name = b.study.as_ref().map_or(&b.label, |study| &study.name);
    let outcome = Outcome {
        name,
        run: &b,
        against: vec![Against::Run(&a)],
        options: html_options(&typed.judging, false, &[&a, &b])?,
    };
    ending.of_study(&outcome, &typed.judging, status)
}

/// The status, lowered if figures are missing.
pub fn judged(status: Status, runs: &[&Run]) -> Status {
    if runs.iter().all(|run| run.valid()) {
        return status;
    }
    say("dbdyno: points of this study are invalid; the page gives the reasons");
    Status::CheckFailed
}

/// Studies with more than two sides are shown elsewhere.
fn refuse_more_sides(name: &str, archive: &Option<PathBuf>) -> Result<()> {
    let first = super::load_run(&SideLabel::new(name, 0).to_string(), archive)?;
    match first.study.map_or(2, |study| study.sides) {
        2 => Ok(()),
        sides => invalid(format!(
            "study {name} has {sides} sides; resume it with `dbdyno study --resume {name}`"
        )),
    }
}

/// The runs of a study with two sides; an error if it has more.
pub fn two(runs: Vec<Run>) -> Result<[Run; 2]> {
    runs.try_into()
        .map_err(|runs: Vec<Run>| anyhow!("the study has {} sides, not two", runs.len()))
}

/// Runs or resumes a study, and returns its runs.
pub fn measured(
    request: &AbRequest,
    archive_option: &Option<PathBuf>,
    watched: &Watched,
) -> Result<Vec<Run>> {
    let archive = locations::archive(archive_option)?;
    lab::signal::install();
    let mut screen = Screen::watched(watched.clone());
    let finished = match &request.run.resume {
        Some(name) => resume(name, request, &archive, &mut screen),
        None => begin(request, archive_option, &mut screen),
    };
    screen.close();
    screen.run_ends(&finished);
    let (ids, files) = finished?;
    if let Some(files) = files {
        files.remove();
    }
    let store = Archive::open_read_only(&archive)?;
    let runs = ids
        .into_iter()
        .map(|id| Ok(store.load_run(&RunName::Id(id))?));
    runs.collect()
}

/// Compares the runs of a study and prints the result.
pub fn show(
    a: &Run,
    b: &Run,
    request: &AbRequest,
    tables: Tables,
    archive: &Option<PathBuf>,
    watched: &Watched,
) -> Result<Status> {
    let how = How {
        watched,
        judging: &request.judging,
        allow_mismatch: true,
        tables,
        trust_sequential: false,
    };
    judge_and_show(a, b, &how, archive)
}

type Measured = Result<(study::Finished, Option<WorkFiles>)>;

fn begin(request: &AbRequest, archive: &Option<PathBuf>, screen: &mut Screen) -> Measured {
    let common = request
        .run
        .options
        .settings
        .iter()
        .map(|text| Setting::parse(text));
    let mut common = common.collect::<lab::Result<Vec<_>>>()?;
    let text = request.run.plan.text()?;
    let mut workloads = super::registry(&text, &common)?;
    let mut plan = Plan::parse(&workloads, &text, &common)?;
    workloads.prepare(&mut plan)?;
    let metrics = metrics(request, &workloads, &plan)?;
    let pairs = pairs(request, metrics);
    let until = interim_analyses(request, pairs, metrics)?;
    common.push(Setting::parse(&format!("repeat={pairs}"))?);
    // Settings of one side are checked before a directory is created for its targets.
    if !request.run.targets.is_empty() {
        let targets = urls(&request.run.targets)?;
        let targets = request.sides.iter().map(|_| targets.clone()).collect();
        sides(request, &workloads, &text, &common, targets)?;
    }
    let stated = super::stated(request.run.options.platform.as_deref())?;
    let host = super::server_host(&request.run.options.server, &stated)?;
    match &until {
        Some(until) => {
            let known = known(&plan, &until.primary, archive);
            until::announce(until, metrics, &known, &request.run.options.permission)?;
            agree_to_few(request, pairs, metrics)?;
        }
        // Studies with more than two sides announce their cost themselves.
        None if request.is_announced() => {}
        None => {
            estimate(request, pairs, metrics, &plan, archive)?;
            agree_to_few(request, pairs, metrics)?;
        }
    }
    let archive_path = locations::archive(archive)?;
    let (targets, files) = targets(request)?;
    let built = sides(request, &workloads, &text, &common, targets)
        .and_then(|sides| agreed(request, sides));
    let seed = super::seed(request.run.options.seed);
    screen.drawn_with(seed);
    let options = built.map(|(sides, workloads)| StudyOptions {
        until: until.clone(),
        slice: request.interleave,
        name: request.run.options.name.clone(),
        stated,
        host,
        ..StudyOptions::new(sides, pairs, &archive_path, seed, workloads)
    });
    screen.may_stop(until.is_some());
    let mut watch = Watch::new(until.unwrap_or_default(), metrics, screen.teller());
    let finished = options.and_then(|options| Ok(study::study(options, &mut watch, screen)?));
    match finished {
        Ok(finished) => Ok((finished, files)),
        Err(error) => {
            // An entered study is resumed with its files; before that they are useless.
            if let Some(files) = files.filter(|_| !screen.entered()) {
                files.remove();
            }
            Err(error)
        }
    }
}

/// The sides, once the user has agreed to the written volume and to other active sessions.
fn agreed(request: &AbRequest, mut sides: Vec<Side>) -> Result<(Vec<Side>, Vec<Registry>)> {
    // Each side has its own plan, which may need different permissions.
    let registries = sides.iter().map(|side| {
        let library = super::library(side.plan.library.as_deref())?;
        Ok(workloads::registry(library))
    });
    let mut workloads = registries.collect::<Result<Vec<Registry>>>()?;
    let mut forecasts = Vec::new();
    for (number, (side, workloads)) in sides.iter_mut().zip(&mut workloads).enumerate() {
        // With slices, the databases of both sides exist at the same time.
        let turn = if request.interleave.is_some() {
            0
        } else {
            number
        };
        side.targets = request.run.options.permission.share(&side.targets)?;
        // A script may be set for only one side.
        let mut plan = side.plan.clone();
        workloads.prepare(&mut plan)?;
        let of_side = Forecast::of(&plan, workloads, &side.targets, true)?;
        forecasts.extend(of_side.into_iter().map(|forecast| forecast.of_side(turn)));
    }
    let plans: Vec<&Plan> = sides.iter().map(|side| &side.plan).collect();
    request.run.options.permission.ask(&forecasts, &plans)?;
    Ok((sides, workloads))
}

fn sides(
    request: &AbRequest,
    workloads: &Registry,
    text: &str,
    common: &[Setting],
    targets: Vec<Vec<TargetUrl>>,
) -> Result<Vec<Side>> {
    let of_sides = request.sides.iter().zip(&targets);
    let side = |(side, targets): (&SideRequest, &Vec<TargetUrl>)| {
        let own = side.settings.iter().map(|text| text.expose().to_owned());
        let own: Vec<String> = own.collect();
        Ok(Side {
            screened: side.screened.clone(),
            alternative: side.alternative.clone(),
            ..Side::new(workloads, text, common, &own, targets)?
        })
    };
    of_sides.map(side).collect()
}

/// The targets of all sides. The default ones share their files unless a side has its own database settings: a setting such as the page
/// size is fixed when the file is created.
fn targets(request: &AbRequest) -> Result<(Vec<Vec<TargetUrl>>, Option<WorkFiles>)> {
    let own = &request.sides;
    let of_all = |targets: Vec<TargetUrl>| own.iter().map(|_| targets.clone()).collect();
    if !request.run.targets.is_empty() {
        return Ok((of_all(urls(&request.run.targets)?), None));
    }
    let files = WorkFiles::create(request.run.options.work_dir.as_deref())?;
    let warn = |sentence: &str| say(&format!("dbdyno: warning: {sentence}"));
    let mut settings = own.iter().flat_map(|side| side.settings.iter());
    let targets = if settings.any(|s| s.expose().starts_with("target.")) {
        let named = (0..own.len()).map(|number| {
            let letter = String::from(StudyPart::letter(number));
            match number {
                0 => files.targets_named(&letter, warn),
                _ => files.targets_named(&letter, |_| {}),
            }
        });
        named.collect()
    } else {
        of_all(files.targets(warn))
    };
    Ok((targets, Some(files)))
}

/// Announces the probability of an inconclusive study before it begins.
fn estimate(
    request: &AbRequest,
    pairs: u32,
    metrics: usize,
    plan: &Plan,
    archive: &Option<PathBuf>,
) -> Result<()> {
    let band = match request.judging.band {
        BandOption::Share(band) => band,
        BandOption::Learned => {
            // An error in the archive is reported now instead of after an hour of measuring.
            equal_studies(&like(plan), archive)?;
            BAND_DEFAULT
        }
    };
    let spread = known_spread(plan, archive);
    let text = report::chances(pairs, metrics, band, spread);
    for line in text.lines() {
        say(line);
    }
    Ok(())
}

/// Asks for consent to a study with too few pairs for any verdict.
fn agree_to_few(request: &AbRequest, pairs: u32, metrics: usize) -> Result<()> {
    let fewest = fewest_pairs(confidence_of_each(CONFIDENCE, metrics));
    if pairs as usize >= fewest {
        return Ok(());
    }
    let sure = CONFIDENCE * 100.0;
    let intervals = match metrics {
        1 => format!("a confidence interval of {sure:.0} % needs"),
        n => format!("intervals of {n} primary metrics that hold together at {sure:.0} % need"),
    };
    let reason = format!("no verdict is possible with --repeat {pairs}: {intervals} {fewest}");
    let what = match metrics {
        1 => "raise --repeat",
        _ => "raise --repeat, or name fewer primary metrics in the plan",
    };
    request.run.options.permission.agree(&reason, what)
}

/// The requested pairs, else the usual number, or as many as the intervals of this many metrics need.
fn pairs(request: &AbRequest, metrics: usize) -> u32 {
    let fewest = fewest_pairs(confidence_of_each(CONFIDENCE, metrics));
    let usual = match request.until {
        Some(_) => until::PAIRS_DEFAULT,
        None => study::PAIRS_DEFAULT,
    };
    let usual = usual.max(fewest as u32);
    request.pairs.unwrap_or(usual)
}

/// The plan of interim analyses, if requested.
fn interim_analyses(request: &AbRequest, pairs: u32, metrics: usize) -> Result<Option<Until>> {
    let Some(effect) = request.until else {
        return Ok(None);
    };
    let BandOption::Share(band) = request.judging.band else {
        return invalid("--until needs a band that is a percentage, and not learned");
    };
    let usual = Some(until::WITHIN_DEFAULT).filter(|_| request.pairs.is_none());
    let (within, primary) = (request.within.or(usual), &request.judging.primary);
    until::until(effect, band, primary, pairs, metrics, within).map(Some)
}

/// Expected number of primary metrics before the databases are opened: those that the user or the plan names, else a throughput per test,
/// on each database.
fn metrics(request: &AbRequest, workloads: &Registry, plan: &Plan) -> Result<usize> {
    let targets = match request.run.targets.len() {
        0 => 2,
        given => given,
    };
    metrics_of(&request.judging.primary, targets, workloads, plan)
}

fn metrics_of(
    named: &[String],
    targets: usize,
    workloads: &Registry,
    plan: &Plan,
) -> Result<usize> {
    let named = match named {
        [] => &plan.primary,
        named => named,
    };
    if !named.is_empty() {
        return Ok(named.len() * targets);
    }
    Ok(workloads.tests(plan)?.len() * targets)
}

/// The largest scatter of a primary metric in the newest studies of this plan, planned with the spread that is exceeded once in five;
/// `None` without such a study in the archive.
fn known_spread(plan: &Plan, archive: &Option<PathBuf>) -> Option<(f64, usize)> {
    let spreads = newest(plan, archive).into_iter().filter_map(|(a, b)| {
        let spreads = spreads(&a, &b, &[]);
        spreads
            .into_iter()
            .map(|(_, spread)| spread)
            .reduce(f64::max)
    });
    let spreads: Vec<f64> = spreads.collect();
    Some((stats::summary::median(&spreads)?, spreads.len()))
}

fn newest(plan: &Plan, archive: &Option<PathBuf>) -> Vec<(Run, Run)> {
    let mut studies = earlier_studies(&like(plan), archive).unwrap_or_default();
    studies.split_off(studies.len().saturating_sub(STUDIES_MAX))
}

/// The scatter of the primary metrics of a study, planned with the spread that is exceeded once in five.
fn spreads(a: &Run, b: &Run, primary: &[Metric]) -> Vec<(String, f64)> {
    let options = Options {
        primary,
        ..Options::default()
    };
    let Ok(compared) = compare(a, b, &options) else {
        return Vec::new();
    };
    let spreads = compared.primary().filter_map(|row| {
        let n = row.a.len().min(row.b.len());
        let spread = stats::forecast::spread_upper(row.result.sd_log?, n).ok()?;
        Some((row.metric.to_string(), spread))
    });
    spreads.collect()
}

/// The scatter in the newest studies of this plan, by metric.
fn known(plan: &Plan, primary: &[String], archive: &Option<PathBuf>) -> Known {
    let primary: Vec<Metric> = primary
        .iter()
        .filter_map(|text| text.parse().ok())
        .collect();
    let studies = newest(plan, archive);
    let mut by_metric: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (a, b) in &studies {
        for (metric, spread) in spreads(a, b, &primary) {
            by_metric.entry(metric).or_default().push(spread);
        }
    }
    let median =
        |(metric, spreads): (String, Vec<f64>)| Some((metric, stats::summary::median(&spreads)?));
    let pairs = studies.iter().filter_map(|(a, _)| pair_of(a));
    let pairs_s: Vec<f64> = pairs.map(|pair| pair.as_secs_f64()).collect();
    Known {
        spreads: by_metric.into_iter().filter_map(median).collect(),
        pair: stats::summary::median(&pairs_s).map(Duration::from_secs_f64),
        studies: studies.len(),
    }
}

/// Duration of a pair in a finished study; only a study with a time limit accounts for pauses after an interruption.
fn pair_of(run: &Run) -> Option<Duration> {
    let until = run.study.as_ref().and_then(|study| study.until.as_ref());
    if let Some(until) = until {
        let pair_s = until.elapsed_s / f64::from(until.pairs().max(1));
        return Duration::try_from_secs_f64(pair_s).ok();
    }
    let begun: jiff::Timestamp = run.started_at.parse().ok()?;
    let ended: jiff::Timestamp = run.finished_at.as_ref()?.parse().ok()?;
    let took = Duration::try_from(ended.duration_since(begun)).ok()?;
    Some(took / run.repetitions.max(1))
}

/// A run of the plan on this machine, in the form by which earlier ones are recognised.
fn like(plan: &Plan) -> Run {
    let mut run = Run::planned(&plan.name);
    run.platform = ::host::facts(Path::new("/"));
    run
}

fn resume(name: &str, request: &AbRequest, archive: &Path, screen: &mut Screen) -> Measured {
    let begun = super::sides_of(&Archive::open_read_only(archive)?, name)?;
    if begun.iter().any(|run| run.state != RunState::Complete) {
        let begun: Vec<&Run> = begun.iter().collect();
        super::resumed::agree(&request.run.options.permission, archive, &begun)?;
    }
    let files = locations::work_files_of(&begun[0])?;
    let until = begun[0].study.clone().unwrap_or_default().until;
    let library = super::library(Plan::library_of(&begun[0].plan_toml, &[]).as_deref())?;
    let registry = || workloads::registry(library.clone());
    let mut workloads = registry();
    let mut plan = Plan::parse(&workloads, &begun[0].plan_toml, &[])?;
    workloads.prepare(&mut plan)?;
    screen.may_stop(until.is_some());
    let until = until.unwrap_or_default();
    let metrics = metrics_of(&until.primary, begun[0].targets.len(), &workloads, &plan)?;
    let mut watch = Watch::new(until, metrics, screen.teller());
    let finished = study::resume(
        name,
        archive,
        &registry,
        Arc::new(SystemClock),
        &mut watch,
        screen,
    )?;
    Ok((finished, files))
}
