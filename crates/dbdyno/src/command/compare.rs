//! `dbdyno compare`: two runs or a study compared, from the archive alone.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use ::archive::{Archive, ArchiveError, Run, RunName, SideLabel};
use anyhow::Result;
use report::{Against, HtmlOptions};
use serde_json::json;
use stats::compare::Verdict;
use verdict::compare::{Comparison, LEARNED_PAIRS_MIN, Options, Terms, compare as set_against};
use verdict::price;

use super::sides::{Tables, judge_and_show_all, of_two_sides_alone};
use super::{
    array, load_run, load_run_or_study, prices, print, print_coloured, print_json, shown, tell,
};
use crate::arguments::{BandOption, CompareArguments, FailOn, Judging};
use crate::console::leave_output_to_page;
use crate::event_outputs::Watched;
use crate::exit::{InvalidInput, Status, invalid};
use crate::{locations, output};

pub fn compare(arguments: &CompareArguments, archive: &Option<PathBuf>) -> Result<Status> {
    let output = arguments.output.as_deref();
    if output.is_some_and(output::is_standard_output) {
        leave_output_to_page();
    }
    let (mut a, mut b) = match &arguments.b {
        Some(b) => (load_run(&arguments.a, archive)?, load_run(b, archive)?),
        None => {
            let sides = load_run_or_study(&arguments.a, archive)?;
            let all: Vec<&Run> = sides.iter().collect();
            if all.len() > 2 {
                refuse_flags_of_two(arguments)?;
            }
            if let Some(judged) = judge_and_show_all(
                &all,
                &arguments.judging,
                Tables::of_detail(arguments.full),
                &Watched::default(),
            )? {
                return Ok(judged);
            }
            let sides: Result<[Run; 2], _> = sides.try_into();
            let [a, b] = sides.map_err(|_| {
                let why = format!(
                    "{} is one run; name the run to compare it with, or a study alone",
                    arguments.a
                );
                InvalidInput(why)
            })?;
            (a, b)
        }
    };
    array::attach(&arguments.array, &mut [&mut a, &mut b])?;
    let how = How {
        watched: &Watched::default(),
        judging: &arguments.judging,
        allow_mismatch: arguments.allow_mismatch,
        tables: Tables::of_detail(arguments.full),
        trust_sequential: arguments.trust_sequential,
    };
    let status = judge_and_show(&a, &b, &how, archive)?;
    if let Some(path) = output {
        write_page(path, &a, &b, arguments)?;
    }
    Ok(status)
}

/// Writes the page of the second run, with the first beside it.
fn write_page(path: &Path, a: &Run, b: &Run, arguments: &CompareArguments) -> Result<()> {
    let judging = &arguments.judging;
    let options = HtmlOptions {
        generated_at: Some(host::clock::rfc3339(SystemTime::now())),
        ..html_options(judging, arguments.trust_sequential, &[a, b])?
    };
    let page = report::html(b, &[Against::Run(a)], &options);
    output::write_and_tell(path, &page, "page", "-o")
}

/// Options of the page of a study's runs.
pub fn html_options(
    judging: &Judging,
    trust_sequential: bool,
    runs: &[&Run],
) -> Result<HtmlOptions> {
    Ok(HtmlOptions {
        prices: prices::load(&judging.prices, runs)?,
        terms: Terms {
            band: judging.band(),
            trust_sequential,
        },
        primary: judging.primary()?,
        ..HtmlOptions::default()
    })
}

/// Refuses options that a study of more than two sides cannot use.
fn refuse_flags_of_two(arguments: &CompareArguments) -> Result<()> {
    let refused = [
        (!arguments.array.is_empty(), "--array"),
        (arguments.allow_mismatch, "--allow-mismatch"),
        (arguments.output.is_some(), "-o"),
        (arguments.trust_sequential, "--trust-sequential"),
    ];
    match refused.into_iter().find(|(is_given, _)| *is_given) {
        Some((_, flag)) => Err(of_two_sides_alone(flag).into()),
        None => Ok(()),
    }
}

pub struct How<'a> {
    pub watched: &'a Watched,
    pub judging: &'a Judging,
    pub allow_mismatch: bool,
    pub tables: Tables,
    pub trust_sequential: bool,
}

/// Compares and prints, and returns the requested status.
pub fn judge_and_show(
    a: &Run,
    b: &Run,
    how: &How<'_>,
    archive: &Option<PathBuf>,
) -> Result<Status> {
    let judging = how.judging;
    let primary = judging.primary()?;
    let studies = match judging.band {
        BandOption::Share(_) => Vec::new(),
        BandOption::Learned => equal_studies(a, archive)?,
    };
    let terms = Terms {
        band: judging.band(),
        trust_sequential: how.trust_sequential,
    };
    let options = Options {
        terms,
        studies: &studies,
        primary: &primary,
        allow_mismatch: how.allow_mismatch,
    };
    let prices = prices::load(&judging.prices, &[a, b])?;
    let compared = set_against(a, b, &options)?;
    let costs = prices::of_sides(a, b, &compared, &prices);
    let ramps = verdict::ramps::ramps(a, b, terms);
    let shifts = verdict::shift::shifts(a, b, terms);
    tell(how.watched, |shown| report::comparison(&compared, shown));
    if judging.format.is_json() {
        let mut json = verdict::compare::json(&compared, &ramps, &shifts);
        if let Some((bills, change)) = &costs {
            let of = |bill, run| price::json(bill, &price::worth(bill, run));
            json["prices"] = json!({
                "a": of(&bills[0], a), "b": of(&bills[1], b), "change": price::change_json(change),
            });
        }
        print_json(&format!("{json:#}\n"))?;
    } else if how.tables != Tables::None {
        let shown = shown(how.tables == Tables::All);
        print_coloured(&report::comparison(&compared, shown))?;
        print_coloured(&report::ramps(&ramps))?;
        print_coloured(&report::shifts(&shifts, shown))?;
        if let Some(([of_a, of_b], change)) = &costs {
            print_coloured(&report::prices(
                [of_a, of_b],
                change,
                shown.width,
                shown.colour,
            ))?;
        }
        if let Some(advice) = report::toward_a_verdict(&compared) {
            print(&format!("\n{advice}\n"))?;
        }
    }
    Ok(status(&compared, judging.fail_on))
}

fn status(compared: &Comparison, fail_on: Option<FailOn>) -> Status {
    let is = |verdict| compared.any_primary(verdict);
    let failed = match fail_on {
        None => false,
        Some(FailOn::Worse) => is(Verdict::Worse),
        Some(FailOn::Inconclusive) => is(Verdict::Worse) || is(Verdict::Inconclusive),
    };
    if failed { Status::Missed } else { Status::Fine }
}

/// Complete A/A studies of the same plan on the same processor.
pub fn equal_studies(like: &Run, archive: &Option<PathBuf>) -> Result<Vec<(Run, Run)>> {
    let studies: Vec<(Run, Run)> = earlier_studies(like, archive)?
        .into_iter()
        .filter(|(a, b)| verdict::compare::is_same_on_purpose(a, b))
        .collect();
    let pairs: u32 = studies.iter().map(|(a, _)| a.repetitions).sum();
    if (pairs as usize) < LEARNED_PAIRS_MIN {
        return invalid(format!(
            "the archive holds {pairs} pairs of the plan \"{}\" measured against itself, but learning its noise needs at least {LEARNED_PAIRS_MIN}; measure more with `dbdyno ab {} --aa`",
            like.plan_name, like.plan_name
        ));
    }
    Ok(studies)
}

/// Complete studies of the plan of `like` on its machine, oldest first and without `like` itself.
pub fn earlier_studies(like: &Run, archive: &Option<PathBuf>) -> Result<Vec<(Run, Run)>> {
    let archive = match Archive::open_read_only(locations::archive(archive)?) {
        Err(ArchiveError::Absent { .. }) => return Ok(Vec::new()),
        other => other?,
    };
    let mut studies = Vec::new();
    for (id, label) in archive.runs_of_plan(&like.plan_name)? {
        let first = SideLabel::read(&label).filter(|side| side.number == 0 && label != like.label);
        let Some(SideLabel { study, .. }) = first else {
            continue;
        };
        let second = SideLabel::new(study, 1).to_string();
        let Ok(b) = archive.load_run(&RunName::Label(second)) else {
            continue;
        };
        let a = archive.load_run(&RunName::Id(id))?;
        // With more than two sides, other blocks lie between those of a pair, so that its scatter is different.
        let is_study = matches!(
            (&a.study, &b.study),
            (Some(x), Some(y)) if x.pairs_with(y) && x.sides == 2
        );
        let same_machine = a.platform.processor == like.platform.processor;
        if is_study && same_machine && a.valid() && b.valid() {
            studies.push((a, b));
        }
    }
    Ok(studies)
}
