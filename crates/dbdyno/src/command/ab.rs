//! `dbdyno ab`: two configurations measured in turn, then compared.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use archive::{Archive, Run, RunName};
use host::SystemClock;
use lab::study::{self, Side, StudyOptions};
use lab::{Plan, Registry, Setting};
use target::TargetUrl;
use verdict::compare::{BAND_DEFAULT, CONFIDENCE, Options, compare};

use super::compare::{earlier_studies, equal_studies, judge_and_show};
use crate::arguments::{AbArguments, BandAsked, SecretText, urls};
use crate::consent::Forecast;
use crate::exit::Status;
use crate::place::{self, WorkFiles};
use crate::progress::Screen;
use crate::say::say;

/// Earlier studies whose scatter is looked at: the newest ones.
const STUDIES_MAX: usize = 5;

pub fn ab(arguments: &AbArguments, archive_asked: &Option<PathBuf>) -> Result<Status> {
    let archive = place::archive(archive_asked);
    let workloads = workload::registry(super::library(arguments.library.as_deref())?);
    lab::signal::install();
    let mut screen = Screen::new();
    let measured = match &arguments.resume {
        Some(name) => resume(name, &archive, workloads, &mut screen),
        None => begin(arguments, archive_asked, workloads, &mut screen),
    };
    screen.close();
    let ([a, b], files) = measured?;
    if let Some(files) = files {
        files.remove();
    }
    let kept = Archive::open_read_only(&archive)?;
    let (a, b) = (
        kept.load_run(&RunName::Id(a))?,
        kept.load_run(&RunName::Id(b))?,
    );
    let status = judge_and_show(&a, &b, &arguments.judging, true, archive_asked)?;
    if a.valid() && b.valid() {
        return Ok(status);
    }
    say(&format!(
        "dbdyno: points of this study are invalid; `dbdyno report {} --against {}` shows which and why",
        b.label, a.label
    ));
    Ok(Status::CheckFailed)
}

type Measured = Result<(study::Finished, Option<WorkFiles>)>;

fn begin(
    arguments: &AbArguments,
    archive: &Option<PathBuf>,
    mut workloads: Registry,
    screen: &mut Screen,
) -> Measured {
    let common = arguments.settings.iter().map(|text| Setting::parse(text));
    let mut common = common.collect::<lab::Result<Vec<_>>>()?;
    common.push(Setting::parse(&format!("repeat={}", arguments.pairs))?);
    let text = Plan::text(&arguments.plan)?;
    let mut plan = Plan::parse(&workloads, &text, &common)?;
    workloads.prepare(&mut plan)?;
    // Settings of one side must be right before a directory is made for its targets.
    if !arguments.targets.is_empty() {
        let targets = urls(&arguments.targets)?;
        sides(arguments, &workloads, &text, &common, &targets, &targets)?;
    }
    let host = super::server_host(&arguments.server)?;
    foretell(arguments, &plan, archive)?;
    let (targets, files) = targets(arguments)?;
    let built = sides(
        arguments,
        &workloads,
        &text,
        &common,
        &targets[0],
        &targets[1],
    )
    .and_then(|sides| agreed(arguments, &mut workloads, sides));
    let options = built.map(|sides| StudyOptions {
        sides,
        pairs: arguments.pairs,
        archive: place::archive(archive),
        name: arguments.name.clone(),
        seed: arguments.seed,
        workloads,
        clock: Arc::new(SystemClock),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        stated: super::stated(arguments.platform.as_deref()).unwrap_or_default(),
        host,
    });
    let finished = options.and_then(|options| Ok(study::study(options, screen)?));
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
    workloads: &mut Registry,
    mut sides: [Side; 2],
) -> Result<[Side; 2]> {
    let mut forecasts = Vec::new();
    for side in &mut sides {
        side.targets = arguments.permission.share(&side.targets)?;
        // A script may be set for one side alone.
        let mut plan = side.plan.clone();
        workloads.prepare(&mut plan)?;
        forecasts.extend(Forecast::of(&plan, workloads, &side.targets, true)?);
    }
    arguments.permission.ask(&forecasts)?;
    Ok(sides)
}

fn sides(
    arguments: &AbArguments,
    workloads: &Registry,
    text: &str,
    common: &[Setting],
    targets_a: &[TargetUrl],
    targets_b: &[TargetUrl],
) -> Result<[Side; 2]> {
    let own = |own: &[SecretText]| own.iter().map(|text| text.expose().to_owned()).collect();
    let (a, b): (Vec<String>, Vec<String>) = (own(&arguments.a), own(&arguments.b));
    Ok([
        Side::new(workloads, text, common, &a, targets_a)?,
        Side::new(workloads, text, common, &b, targets_b)?,
    ])
}

/// The targets of both sides. The default ones share their files unless a side sets something of the
/// database: a setting such as the page size is fixed when its file is made.
fn targets(arguments: &AbArguments) -> Result<([Vec<TargetUrl>; 2], Option<WorkFiles>)> {
    if !arguments.targets.is_empty() {
        let targets = urls(&arguments.targets)?;
        return Ok(([targets.clone(), targets], None));
    }
    let files = WorkFiles::create(arguments.work_dir.as_deref())?;
    let warn = |sentence: &str| say(&format!("dbdyno: warning: {sentence}"));
    let mut settings = arguments.a.iter().chain(&arguments.b);
    let targets = if settings.any(|s| s.expose().starts_with("target.")) {
        [
            files.targets_named("a", warn),
            files.targets_named("b", |_| {}),
        ]
    } else {
        let shared = files.targets(warn);
        [shared.clone(), shared]
    };
    Ok((targets, Some(files)))
}

/// Says how likely the study is to stay inconclusive, before it begins.
fn foretell(arguments: &AbArguments, plan: &Plan, archive: &Option<PathBuf>) -> Result<()> {
    let band = match arguments.judging.band {
        BandAsked::Share(band) => band,
        BandAsked::Learned => {
            // Told now, not after an hour of measuring, when there is nothing to learn from.
            equal_studies(&like(plan), archive)?;
            BAND_DEFAULT
        }
    };
    let spread = known_spread(plan, archive);
    let text = report::chances(arguments.pairs, band, arguments.judging.effect, spread);
    for line in text.lines() {
        say(line);
    }
    let fewest = stats::ratio::fewest_pairs(CONFIDENCE);
    if arguments.pairs as usize >= fewest {
        return Ok(());
    }
    let reason = format!(
        "no verdict is possible with --pairs {}: a confidence interval of {:.0} % needs {fewest}",
        arguments.pairs,
        CONFIDENCE * 100.0
    );
    arguments.permission.agree(&reason, "raise --pairs")
}

/// The largest scatter of a primary metric in the newest studies of this plan, planned with the spread
/// that is exceeded once in five; `None` when the archive has no such study.
fn known_spread(plan: &Plan, archive: &Option<PathBuf>) -> Option<(f64, usize)> {
    let studies = earlier_studies(&like(plan), archive).ok()?;
    let newest = &studies[studies.len().saturating_sub(STUDIES_MAX)..];
    let spreads = newest.iter().filter_map(|(a, b)| {
        let compared = compare(a, b, &Options::default()).ok()?;
        let spreads = compared.primary().filter_map(|row| {
            let n = row.a.len().min(row.b.len());
            stats::forecast::spread_upper(row.result.sd_log?, n).ok()
        });
        spreads.reduce(f64::max)
    });
    let spreads: Vec<f64> = spreads.collect();
    Some((stats::summary::median(&spreads)?, spreads.len()))
}

/// A run of the plan on this machine, as far as earlier ones are recognised by it.
fn like(plan: &Plan) -> Run {
    let mut run = Run::planned(&plan.name);
    run.platform = ::host::facts(Path::new("/"));
    run
}

fn resume(name: &str, archive: &Path, workloads: Registry, screen: &mut Screen) -> Measured {
    let begun = Archive::open_read_only(archive)?.load_run(&RunName::Label(format!("{name}-a")))?;
    let files = place::work_files_of(&begun);
    let finished = study::resume(name, archive, workloads, Arc::new(SystemClock), screen)?;
    Ok((finished, files))
}
