//! `dbdyno ab`: two configurations measured in turn, then compared; and the measuring of studies of more.

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
use stats::multiple::confidence_of_each;
use stats::ratio::fewest_pairs;
use until::Known;
pub(crate) use until::Watch;
use verdict::compare::{BAND_DEFAULT, CONFIDENCE, Options, compare};
use verdict::metric::Metric;
use workload::Library;

use super::compare::{How, earlier_studies, equal_studies, judge_and_show};
use crate::arguments::{AbArguments, BandAsked, SecretText, SideAsked, urls};
use crate::consent::Forecast;
use crate::exit::{InvalidInput, Status};
use crate::place::{self, WorkFiles};
use crate::progress::Screen;
use crate::say::say;
use crate::watch::Watched;

/// Earlier studies whose scatter is looked at: the newest ones.
const STUDIES_MAX: usize = 5;

pub fn ab(arguments: &AbArguments, archive_asked: &Option<PathBuf>) -> Result<Status> {
    super::prices::check(&arguments.judging.prices)?;
    let watched = arguments.watch.open()?;
    if let Some(name) = &arguments.resume {
        refuse_more_sides(name, archive_asked)?;
    }
    let [a, b] = two(measured(arguments, archive_asked, &watched)?)?;
    let status = show(&a, &b, arguments, archive_asked, &watched)?;
    if a.valid() && b.valid() {
        return Ok(status);
    }
    say(&format!(
        "dbdyno: points of this study are invalid; `dbdyno report {} --against {}` shows which and why",
        b.label, a.label
    ));
    Ok(Status::CheckFailed)
}

/// A study of more sides has another result.
fn refuse_more_sides(name: &str, archive: &Option<PathBuf>) -> Result<()> {
    let first = super::load_run(&SideLabel::new(name, 0).to_string(), archive)?;
    match first.study.map_or(2, |study| study.sides) {
        2 => Ok(()),
        sides => Err(InvalidInput(format!(
            "study {name} has {sides} sides; resume it with `dbdyno study --resume {name}`"
        ))
        .into()),
    }
}

/// The runs of a study of two sides.
///
/// # Errors
/// When it has more.
pub fn two(runs: Vec<Run>) -> Result<[Run; 2]> {
    runs.try_into()
        .map_err(|runs: Vec<Run>| anyhow!("the study has {} sides, not two", runs.len()))
}

/// Carries a study out, or goes on with one; gives its runs.
///
/// # Errors
/// What is wrong with it, or ended it.
pub fn measured(
    arguments: &AbArguments,
    archive_asked: &Option<PathBuf>,
    watched: &Watched,
) -> Result<Vec<Run>> {
    let archive = place::archive(archive_asked)?;
    let library = super::library(arguments.library.as_deref())?;
    lab::signal::install();
    let mut screen = Screen::watched(watched.clone());
    let finished = match &arguments.resume {
        Some(name) => resume(name, arguments, &archive, &library, &mut screen),
        None => begin(arguments, archive_asked, &library, &mut screen),
    };
    screen.close();
    screen.run_ends(&finished);
    let (ids, files) = finished?;
    if let Some(files) = files {
        files.remove();
    }
    let kept = Archive::open_read_only(&archive)?;
    let runs = ids
        .into_iter()
        .map(|id| Ok(kept.load_run(&RunName::Id(id))?));
    runs.collect()
}

/// Compares the runs of a study and prints that.
///
/// # Errors
/// When they cannot be compared as asked, or nothing can be printed.
pub fn show(
    a: &Run,
    b: &Run,
    arguments: &AbArguments,
    archive: &Option<PathBuf>,
    watched: &Watched,
) -> Result<Status> {
    let how = How {
        watched,
        judging: &arguments.judging,
        anyway: true,
        // Its blocks alternate.
        trust_sequential: false,
    };
    judge_and_show(a, b, &how, archive)
}

type Measured = Result<(study::Finished, Option<WorkFiles>)>;

fn begin(
    arguments: &AbArguments,
    archive: &Option<PathBuf>,
    library: &Library,
    screen: &mut Screen,
) -> Measured {
    let mut workloads = workload::registry(library.clone());
    let common = arguments.settings.iter().map(|text| Setting::parse(text));
    let mut common = common.collect::<lab::Result<Vec<_>>>()?;
    let text = match &arguments.plan_text {
        Some(text) => text.clone(),
        None => Plan::text(&arguments.plan)?,
    };
    let mut plan = Plan::parse(&workloads, &text, &common)?;
    workloads.prepare(&mut plan)?;
    let metrics = metrics(arguments, &workloads, &plan)?;
    let pairs = pairs(arguments, metrics);
    let until = until_asked(arguments, (pairs, metrics))?;
    common.push(Setting::parse(&format!("repeat={pairs}"))?);
    // Settings of one side must be right before a directory is made for its targets.
    if !arguments.targets.is_empty() {
        let targets = urls(&arguments.targets)?;
        let targets = own(arguments).iter().map(|_| targets.clone()).collect();
        sides(arguments, &workloads, &text, &common, targets)?;
    }
    let host = super::server_host(&arguments.server)?;
    match &until {
        Some(until) => {
            let known = known(&plan, &until.primary, archive);
            until::foretell(until, metrics, &known, &arguments.permission)?;
            agree_to_few(arguments, pairs, metrics)?;
        }
        // Whoever has more than two says itself what it takes.
        None if !arguments.sides.is_empty() => {}
        None => {
            foretell(arguments, (pairs, metrics), &plan, archive)?;
            agree_to_few(arguments, pairs, metrics)?;
        }
    }
    let archive_path = place::archive(archive)?;
    let (targets, files) = targets(arguments)?;
    let built = sides(arguments, &workloads, &text, &common, targets)
        .and_then(|sides| agreed(arguments, library, sides));
    let seed = super::seed(arguments.seed);
    screen.drawn_with(seed);
    let options = built.map(|(sides, workloads)| StudyOptions {
        sides,
        rounds: pairs,
        until: until.clone(),
        slice: arguments.interleave,
        archive: archive_path,
        name: arguments.name.clone(),
        seed,
        workloads,
        clock: Arc::new(SystemClock),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        stated: super::stated(arguments.platform.as_deref()).unwrap_or_default(),
        host,
    });
    screen.may_stop(until.is_some());
    let mut watch = Watch::new(until.unwrap_or_default(), metrics, screen.teller());
    let finished = options.and_then(|options| Ok(study::study(options, &mut watch, screen)?));
    match finished {
        Ok(finished) => Ok((finished, files)),
        Err(error) => {
            // A study that was entered is resumed with its files; without one nobody needs them.
            if let Some(files) = files.filter(|_| !screen.entered()) {
                files.remove();
            }
            Err(error)
        }
    }
}

/// The sides with the permission of their user: for what is written, and for what others do meanwhile.
fn agreed(
    arguments: &AbArguments,
    library: &Library,
    mut sides: Vec<Side>,
) -> Result<(Vec<Side>, Vec<Registry>)> {
    // What the plan of each can ask for.
    let registries = sides.iter().map(|_| workload::registry(library.clone()));
    let mut workloads: Vec<Registry> = registries.collect();
    let mut forecasts = Vec::new();
    for (number, (side, workloads)) in sides.iter_mut().zip(&mut workloads).enumerate() {
        // In slices the databases of both stand at once.
        let turn = if arguments.interleave.is_some() {
            0
        } else {
            number
        };
        side.targets = arguments.permission.share(&side.targets)?;
        // A script may be set for one side alone.
        let mut plan = side.plan.clone();
        workloads.prepare(&mut plan)?;
        let of_side = Forecast::of(&plan, workloads, &side.targets, true)?;
        forecasts.extend(of_side.into_iter().map(|forecast| forecast.of_side(turn)));
    }
    arguments.permission.ask(&forecasts)?;
    Ok((sides, workloads))
}

/// What is asked of each side alone.
fn own(arguments: &AbArguments) -> Vec<SideAsked> {
    let setting = |settings: &Vec<SecretText>| SideAsked {
        settings: settings.clone(),
        ..SideAsked::default()
    };
    match arguments.sides.as_slice() {
        [] => vec![setting(&arguments.a), setting(&arguments.b)],
        sides => sides.to_vec(),
    }
}

fn sides(
    arguments: &AbArguments,
    workloads: &Registry,
    text: &str,
    common: &[Setting],
    targets: Vec<Vec<TargetUrl>>,
) -> Result<Vec<Side>> {
    let of_sides = own(arguments).into_iter().zip(&targets);
    let side = |(asked, targets): (SideAsked, &Vec<TargetUrl>)| {
        let own = asked.settings.iter().map(|text| text.expose().to_owned());
        let own: Vec<String> = own.collect();
        Ok(Side {
            screened: asked.screened,
            alternative: asked.alternative,
            ..Side::new(workloads, text, common, &own, targets)?
        })
    };
    of_sides.map(side).collect()
}

/// The targets of all sides. The default ones share their files unless a side sets something of the
/// database: a setting such as the page size is fixed when its file is made.
fn targets(arguments: &AbArguments) -> Result<(Vec<Vec<TargetUrl>>, Option<WorkFiles>)> {
    let own = own(arguments);
    let of_all = |targets: Vec<TargetUrl>| own.iter().map(|_| targets.clone()).collect();
    if !arguments.targets.is_empty() {
        return Ok((of_all(urls(&arguments.targets)?), None));
    }
    let files = WorkFiles::create(arguments.work_dir.as_deref())?;
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

/// Says how likely the study is to stay inconclusive, before it begins.
fn foretell(
    arguments: &AbArguments,
    (pairs, metrics): (u32, usize),
    plan: &Plan,
    archive: &Option<PathBuf>,
) -> Result<()> {
    let band = match arguments.judging.band {
        BandAsked::Share(band) => band,
        BandAsked::Learned => {
            // Told now, not after an hour of measuring, when there is nothing to learn from.
            equal_studies(&like(plan), archive)?;
            BAND_DEFAULT
        }
    };
    let spread = known_spread(plan, archive);
    let text = report::chances((pairs, metrics), band, arguments.judging.effect, spread);
    for line in text.lines() {
        say(line);
    }
    Ok(())
}

/// Asks whether a study is meant that has too few pairs for any verdict.
fn agree_to_few(arguments: &AbArguments, pairs: u32, metrics: usize) -> Result<()> {
    let fewest = fewest_pairs(confidence_of_each(CONFIDENCE, metrics));
    if pairs as usize >= fewest {
        return Ok(());
    }
    let sure = CONFIDENCE * 100.0;
    let intervals = match metrics {
        1 => format!("a confidence interval of {sure:.0} % needs"),
        n => format!("intervals of {n} primary metrics that hold together at {sure:.0} % need"),
    };
    let reason = format!("no verdict is possible with --pairs {pairs}: {intervals} {fewest}");
    let what = match metrics {
        1 => "raise --pairs",
        _ => "raise --pairs, or name fewer primary metrics in the plan",
    };
    arguments.permission.agree(&reason, what)
}

/// The pairs that are asked for, else as many as are usual, or as the intervals of so many metrics need.
fn pairs(arguments: &AbArguments, metrics: usize) -> u32 {
    let fewest = fewest_pairs(confidence_of_each(CONFIDENCE, metrics));
    let usual = match arguments.until {
        Some(_) => until::PAIRS_DEFAULT,
        None => study::PAIRS_DEFAULT,
    };
    let usual = usual.max(fewest as u32);
    arguments.pairs.unwrap_or(usual)
}

/// How the study is looked at before its end, if that is asked for.
fn until_asked(arguments: &AbArguments, (pairs, metrics): (u32, usize)) -> Result<Option<Until>> {
    let Some(effect) = arguments.until else {
        return Ok(None);
    };
    let BandAsked::Share(band) = arguments.judging.band else {
        let why = "--until needs a band that is a percentage, and not learned";
        return Err(InvalidInput(why.into()).into());
    };
    let usual = Some(until::WITHIN_DEFAULT).filter(|_| arguments.pairs.is_none());
    let (within, primary) = (arguments.within.or(usual), &arguments.judging.primary);
    until::until((effect, band), primary, (pairs, metrics), within).map(Some)
}

/// How many primary metrics the study will have, as far as that is known before its databases are opened: those that the
/// user or the plan names, else a throughput of each test; on each database.
fn metrics(arguments: &AbArguments, workloads: &Registry, plan: &Plan) -> Result<usize> {
    let targets = match arguments.targets.len() {
        0 => 2,
        given => given,
    };
    metrics_of(&arguments.judging.primary, targets, workloads, plan)
}

fn metrics_of(
    asked: &[String],
    targets: usize,
    workloads: &Registry,
    plan: &Plan,
) -> Result<usize> {
    let named = match asked {
        [] => &plan.primary,
        asked => asked,
    };
    if !named.is_empty() {
        return Ok(named.len() * targets);
    }
    Ok(workloads.tests(plan)?.len() * targets)
}

/// The largest scatter of a primary metric in the newest studies of this plan, planned with the spread
/// that is exceeded once in five; `None` when the archive has no such study.
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

/// The newest studies of this plan on this machine.
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

/// What the newest studies of this plan showed, metric by metric.
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

/// How long a pair of a finished study took. Only one that watched the time knows of pauses after an interruption.
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

/// A run of the plan on this machine, as far as earlier ones are recognised by it.
fn like(plan: &Plan) -> Run {
    let mut run = Run::planned(&plan.name);
    run.platform = ::host::facts(Path::new("/"));
    run
}

fn resume(
    name: &str,
    arguments: &AbArguments,
    archive: &Path,
    library: &Library,
    screen: &mut Screen,
) -> Measured {
    let begun = super::sides_of(&Archive::open_read_only(archive)?, name)?;
    if begun.iter().any(|run| run.state != RunState::Complete) {
        let begun: Vec<&Run> = begun.iter().collect();
        super::resumed::agree(&arguments.permission, archive, &begun)?;
    }
    let files = place::work_files_of(&begun[0])?;
    let until = begun[0].study.clone().unwrap_or_default().until;
    let registry = || workload::registry(library.clone());
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
