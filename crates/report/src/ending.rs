//! The end of a measurement on a terminal in about ten lines: subject, best figures, limits, confidence, warnings.

mod best;

use archive::{Grade, Graded, Run, TargetRecord};

use crate::grade::grade;
use crate::html::first::limits::{self, Limit};
use crate::html::{
    HtmlOptions, alternatives, columnar, divide, forest, of_kind, screening, verdict,
};
use crate::level::{self, TestGroup};
use crate::scorecard::{self, Against};
use crate::terminal::table::{cut, length, wrap};
use crate::terminal::{Paint, clean};
use crate::{number, users};
use ::verdict::contrasts::Kind;

/// Most resources named as limits.
const LIMITS_MAX: usize = 3;
const WARNINGS_MAX: usize = 3;
/// Most sentences about a comparison, and most lines of each.
const SENTENCES_MAX: usize = 4;
const LINES_MAX: usize = 2;
/// Most sentences besides the figures of a run.
const ANSWERS_MAX: usize = 2;
/// Cautions that the grade takes into account.
const GRADED: [&str; 4] = ["State", "Steady state", "Noise", "Other programs"];

/// Lines about a run or study of this name for a terminal of this width, each ending in a line feed.
pub fn ending(
    name: &str,
    run: &Run,
    against: &[Against<'_>],
    options: &HtmlOptions,
    width: usize,
    colour: bool,
) -> String {
    let paint = Paint { colour };
    let groups = level::tests(run, scorecard::rank);
    let (sides, against) = &divide(run, against);
    let others = against.iter().filter_map(|other| match other {
        Against::Run(other) if other.plan_name == run.plan_name => Some(*other),
        _ => None,
    });
    let others: Vec<&Run> = others.chain(sides.iter().copied()).collect();
    let [title, subject] = subject(name, run, &others);
    let mut lines = vec![paint.bold(&cut(&clean(&title), width))];
    lines.push(wrap(&clean(&subject), width, 2));
    let found = outcomes(run, sides, against, options);
    let more = found.len().saturating_sub(SENTENCES_MAX);
    if found.is_empty() {
        let supported = users::summaries(&groups).into_iter();
        let supported = supported.flat_map(|summary| summary.sentences);
        let said = supported.chain(columnar::answer(run, against));
        let said: Vec<String> = said.take(ANSWERS_MAX).collect();
        // A sentence takes two lines.
        let rows = best::ROWS_MAX - LINES_MAX * said.len();
        lines.extend(best::lines(run, &groups, rows, width, &paint));
        lines.extend(said.iter().map(|text| paragraph(text, width)));
    }
    let said = found.iter().take(SENTENCES_MAX);
    lines.extend(said.map(|text| paragraph(text, width)));
    if more > 0 {
        lines.push(format!("  and {more} more on the page"));
    }
    lines.extend(limited(&limits::limits(&groups)).map(|text| paragraph(&text, width)));
    let graded = grade(run, &others);
    let sentence = paragraph(&graded.sentence, width);
    lines.push(match graded.value {
        Grade::DoNotUse => paint.red(&sentence),
        Grade::GoodToUse | Grade::Indicative => sentence,
    });
    lines.extend(warnings(run, &groups, &graded, width));
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// A sentence of at most two lines.
fn paragraph(text: &str, width: usize) -> String {
    let text = wrap(&clean(&format!("  {text}")), width, 4);
    let mut lines = text.splitn(LINES_MAX, '\n');
    let first: Vec<&str> = lines.by_ref().take(LINES_MAX - 1).collect();
    let rest = lines.next().map(|rest| match rest.split_once('\n') {
        Some((line, _)) => cut(&format!("{line} …"), width),
        None => rest.to_owned(),
    });
    let all: Vec<&str> = first.into_iter().chain(rest.as_deref()).collect();
    all.join("\n")
}

/// "before: smoke on SQLite 3.45.1", and "host vm-3, 2 cores, 3.80 GiB · 8 points in 12 s".
fn subject(name: &str, run: &Run, others: &[&Run]) -> [String; 2] {
    let targets = run.targets.iter().take(best::TARGETS_MAX).map(database);
    let mut targets: Vec<String> = targets.collect();
    targets.dedup();
    let more = match run.targets.len().saturating_sub(best::TARGETS_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let title = match run.is_of_parameter_file() {
        true => format!("{name}: parameter file on {}", level::storage_name(run)),
        false => format!("{name}: {} on {}{more}", run.plan_name, targets.join(", ")),
    };
    let platform = &run.platform;
    let host = platform
        .host_name
        .as_ref()
        .map(|host| format!("host {host}"));
    let cores = platform.threads.map(|n| number::counted(n.into(), "core"));
    let memory = platform.memory_bytes.map(number::bytes);
    let host: Vec<String> = [host, cores, memory].into_iter().flatten().collect();
    let all: Vec<&Run> = others.iter().copied().chain([run]).collect();
    let points: usize = all.iter().map(|run| run.points.len()).sum();
    let points = number::counted(points as u64, "point");
    let time = duration(&all).map_or_else(String::new, |time| format!(" in {time}"));
    let parts = [host.join(", "), format!("{points}{time}")];
    let parts: Vec<&String> = parts.iter().filter(|part| !part.is_empty()).collect();
    let parts: Vec<&str> = parts.into_iter().map(String::as_str).collect();
    [title, parts.join(" · ")]
}

/// "PostgreSQL 15.3": the number of the version alone.
fn database(target: &TargetRecord) -> String {
    let version = target.engine_version.split_whitespace().next();
    let version = version.unwrap_or_default();
    if target.engine_version.contains(&target.engine) {
        return target.engine_version.clone();
    }
    format!("{} {version}", target.engine).trim_end().to_owned()
}

fn duration(runs: &[&Run]) -> Option<String> {
    let seconds = Run::elapsed(runs)?.as_secs();
    Some(match seconds {
        ..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    })
}

/// Sentences that answer the question of a study or comparison; empty for a single run.
fn outcomes(
    run: &Run,
    sides: &[&Run],
    against: &[Against<'_>],
    options: &HtmlOptions,
) -> Vec<String> {
    let (_, screened) = screening::view(run, of_kind(sides, Kind::Screening), options);
    let (_, ordered) = alternatives::view(run, of_kind(sides, Kind::Alternatives), options);
    let mut said = Vec::new();
    said.extend(screened.iter().flat_map(screening::Outcome::sentences));
    said.extend(ordered.iter().flat_map(alternatives::Outcome::sentences));
    for outcome in forest::view(run, against, options).outcomes {
        said.push(format!("{}: {}.", question(&outcome), outcome.tally));
        said.extend(outcome.advice.map(str::to_owned));
        said.extend(outcome.said);
    }
    said
}

/// The settings of the sides of a study that differs in nothing else, or its question.
fn question(outcome: &forest::Outcome) -> String {
    match &outcome.changed[..] {
        [[_, a, b]] if outcome.is_of_settings => format!("A {a}, B {b}"),
        _ => outcome.question.clone(),
    }
}

/// "locks", but "CPU" and "WAL syncs".
fn within_a_sentence(name: &str) -> String {
    match name.chars().take(2).all(char::is_uppercase) {
        true => name.to_owned(),
        false => name.to_lowercase(),
    }
}

/// "Limits: CPU in 5 of 8 tests, WAL syncs in 2."
fn limited(found: &[Limit<'_>]) -> Option<String> {
    let of: usize = found.iter().map(|limit| limit.tests.len()).sum();
    let known = || {
        found
            .iter()
            .filter(|limit| limits::is_known(limit.resource))
    };
    match found {
        [] => None,
        [only] if of == 1 => {
            let first = only.sentence.split("; ").next().unwrap_or_default();
            let first = first.split(", ").next().unwrap_or_default();
            Some(format!("Limit: {}.", first.trim_end_matches('.')))
        }
        _ if known().next().is_none() => Some(format!("Limits: none found in {of} tests.")),
        _ => {
            let named = known().take(LIMITS_MAX).map(|limit| {
                let name = within_a_sentence(limits::name(limit.resource));
                format!("{name} in {}", limit.tests.len())
            });
            let mut named: Vec<String> = named.collect();
            let counted = known().take(LIMITS_MAX).map(|limit| limit.tests.len());
            let rest = of - counted.sum::<usize>();
            named.extend((rest > 0).then(|| format!("none of these in {rest}")));
            Some(format!("Limits: {} of {of} tests.", named.join(", ")))
        }
    }
}

/// Reasons that the grade does not name, then those of invalid points, then other cautions, one line each.
fn warnings(run: &Run, groups: &[TestGroup<'_>], graded: &Graded, width: usize) -> Vec<String> {
    let of_grade = graded.reasons.iter().map(|reason| number::capital(reason));
    let of_grade = of_grade.filter(|reason| !graded.sentence.contains(&reason[1..]));
    let whole = verdict::view(run, groups, &[]);
    let reasons = whole.reasons.iter();
    let reasons = reasons.map(|reason| format!("{}: {}", reason.place, reason.text));
    let cautions = whole.items.iter().filter(|item| item.tone == "warn");
    let cautions = cautions.filter(|item| !GRADED.contains(&item.name));
    let cautions = cautions.map(|item| format!("{}: {}", item.name, item.text));
    let all: Vec<String> = of_grade.chain(reasons).chain(cautions).collect();
    let more = match all.len().saturating_sub(WARNINGS_MAX) + whole.reasons_more {
        0 => String::new(),
        more => format!(" (and {more} more on the page)"),
    };
    let last = all.len().min(WARNINGS_MAX);
    let lines = (1..).zip(all.iter().take(WARNINGS_MAX)).map(|(at, text)| {
        let more = if at == last { more.as_str() } else { "" };
        let room = width.saturating_sub(length(more));
        format!("{}{more}", cut(&clean(&format!("! {text}")), room))
    });
    lines.collect()
}
