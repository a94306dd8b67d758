//! Next steps: measures that the figures of a run support, with their sentences.

use archive::{Advice, Grade, Resource, Run, RunState};

use super::limits::{self, Limit};
use crate::grade::{self, Reason};
use crate::html::figure::id_of;
use crate::html::forest::Outcome;
use crate::html::sweep;
use crate::level::TestGroup;
use crate::number;

/// Severity of a rule whose violation has cost performance or availability.
const IMPORTANT: &str = "important";
/// A resource is worth relieving if it limits one of this many tests.
const SHARE_MIN: usize = 5;
const TESTS_MAX: usize = 4;

#[derive(Debug, PartialEq)]
pub enum Measure<'a> {
    FindFailures {
        invalid: usize,
        points: usize,
        test: &'a str,
    },
    Resume {
        measured: usize,
        planned: u32,
        /// A parameter file can only be run again.
        is_of_parameter_file: bool,
    },
    MorePairs {
        undecided: usize,
        primary: usize,
        is_of_parameter_file: bool,
    },
    Relieve {
        resource: Resource,
        tests: usize,
        /// Code of the first of them.
        test: &'a str,
        of: usize,
        /// For the CPU, its median use at the best levels of these tests.
        cpu_pct: Option<f64>,
        log_shares: Option<&'a str>,
    },
    /// One device of several under the data does most of the work.
    SpreadData {
        device: &'a str,
        busy_pct: f64,
        others_pct: f64,
        test: &'a str,
    },
    /// An important rule is violated.
    FollowRule { rule: &'a Advice, more: usize },
    /// Steps that make the grade better.
    Again {
        steps: Vec<&'static str>,
        grade: Grade,
    },
    /// The highest level was the best, and no resource was exhausted.
    LoadMore { tests: Vec<&'a str>, of: usize },
}

/// Measures by importance: threats to the figures first, then limits of the platform, then ways to more certainty.
pub fn measures<'a>(
    run: &'a Run,
    groups: &[TestGroup<'a>],
    found: &[Limit<'a>],
    outcomes: &[Outcome],
) -> Vec<Measure<'a>> {
    let again = again(run);
    // On a shared machine the figures say little about the platform's limits.
    let is_shared = |measure: &Measure<'_>| {
        matches!(
            measure,
            Measure::Again {
                grade: Grade::DoNotUse,
                ..
            }
        )
    };
    let (before, after) = match again {
        Some(first) if is_shared(&first) => (Some(first), None),
        after => (None, after),
    };
    let all = [
        failures(run),
        resume(run),
        before,
        more_pairs(run, outcomes),
        relief(found),
        spread(groups),
        rule(run),
        after,
        more_load(groups),
    ];
    all.into_iter().flatten().collect()
}

/// One measure for all reasons of the grade that a second measurement mends.
fn again<'a>(run: &Run) -> Option<Measure<'a>> {
    let mut steps: Vec<(&str, Grade)> = Vec::new();
    let is_of_file = run.is_of_parameter_file();
    for reason in grade::reasons(run) {
        let step = match reason {
            Reason::Heavy { .. } | Reason::Others(_) => "stop other programs first",
            Reason::Trend(_) | Reason::Unsteady(_) | Reason::Short(_) | Reason::Brief { .. } => {
                match is_of_file {
                    true => "longer (-e, or elapsed= in the file)",
                    false => "longer (--time)",
                }
            }
            Reason::Once { .. } if is_of_file => "three times (-l 3)",
            Reason::Once { .. } => "three times (--repeat 3)",
            Reason::Apart { .. } if is_of_file => "more often (-l)",
            Reason::Apart { .. } => "more often (--repeat)",
            Reason::Driver { .. } => "with the driver on a faster machine",
            Reason::ForeignSettings { .. } => "on your own server, or with its settings in the URL",
            _ => continue,
        };
        if !steps.iter().any(|(known, _)| *known == step) {
            steps.push((step, reason.grade()));
        }
    }
    let grade = steps.iter().map(|(_, grade)| *grade).max()?;
    Some(Measure::Again {
        steps: steps.into_iter().map(|(step, _)| step).collect(),
        grade,
    })
}

fn failures(run: &Run) -> Option<Measure<'_>> {
    let invalid = || run.points.iter().filter(|point| !point.valid());
    let test = &invalid().next()?.key.test;
    Some(Measure::FindFailures {
        invalid: invalid().count(),
        points: run.points.len(),
        test,
    })
}

fn resume(run: &Run) -> Option<Measure<'_>> {
    (run.state != RunState::Complete).then_some(Measure::Resume {
        measured: run.points.len(),
        planned: run.points_planned,
        is_of_parameter_file: run.is_of_parameter_file(),
    })
}

fn more_pairs<'a>(run: &Run, outcomes: &[Outcome]) -> Option<Measure<'a>> {
    let open = outcomes.iter().find(|outcome| outcome.undecided > 0)?;
    Some(Measure::MorePairs {
        undecided: open.undecided,
        primary: open.primary,
        is_of_parameter_file: run.is_of_parameter_file(),
    })
}

/// The most important limit, if it holds back a fifth of the tests. A resource used by other programs is no limit of the platform.
fn relief<'a>(found: &[Limit<'a>]) -> Option<Measure<'a>> {
    let is_own = |limit: &&Limit<'_>| match limit.resource {
        Resource::Cpu | Resource::Device | Resource::Several => limit.crowded * 2 <= limit.known,
        resource => limits::is_known(resource),
    };
    let of: usize = found.iter().map(|limit| limit.tests.len()).sum();
    let mut frequent = found
        .iter()
        .filter(|limit| limit.tests.len() * SHARE_MIN >= of);
    let first = frequent.find(is_own)?;
    Some(Measure::Relieve {
        resource: first.resource,
        tests: first.tests.len(),
        test: first.tests.first()?.0,
        of,
        cpu_pct: stats::summary::median(&first.cpu_pct).filter(|_| first.resource == Resource::Cpu),
        log_shares: first.log_shares,
    })
}

fn spread<'a>(groups: &[TestGroup<'a>]) -> Option<Measure<'a>> {
    let hot = limits::hot_device(groups)?;
    Some(Measure::SpreadData {
        device: hot.name,
        busy_pct: hot.busy_pct,
        others_pct: hot.others_pct,
        test: hot.test,
    })
}

fn rule(run: &Run) -> Option<Measure<'_>> {
    let broken = |rule: &&Advice| {
        let is_broken = rule.decision == "advised_otherwise" && rule.severity == IMPORTANT;
        is_broken && !is_set_on_purpose(run, &rule.what)
    };
    let mut broken = run.inventory.advice.iter().filter(broken);
    let rule = broken.next()?;
    Some(Measure::FollowRule {
        rule,
        more: broken.count(),
    })
}

/// True for a setting of this study side or of a target's URL: advice against a deliberate choice helps nobody.
fn is_set_on_purpose(run: &Run, what: &str) -> bool {
    let name = what.split(' ').next().unwrap_or(what);
    let key = |pair: &str| -> String {
        let key = pair.split('=').next().unwrap_or_default();
        key.rsplit('.').next().unwrap_or_default().to_owned()
    };
    let of_study = run.study.iter().flat_map(|study| &study.settings);
    let in_urls = run.targets.iter().flat_map(|target| {
        let settings = target
            .url
            .split_once('?')
            .map_or("", |(_, settings)| settings);
        settings.split('&')
    });
    of_study
        .map(String::as_str)
        .chain(in_urls)
        .any(|pair| key(pair) == name)
}

fn more_load<'a>(groups: &[TestGroup<'a>]) -> Option<Measure<'a>> {
    let mut sweeps = 0;
    let mut tests = Vec::new();
    for group in groups {
        let rate = sweep::rate_figure(group).name;
        for curve in group.curves.iter().filter(|curve| curve.levels.len() > 1) {
            let (Some(peak), Some(last)) = (curve.peak(rate), curve.levels.last()) else {
                continue;
            };
            let Some(bottleneck) = &peak.first().held_back.bottleneck else {
                continue;
            };
            sweeps += 1;
            let is_open = peak.dop() == last.dop() && bottleneck.resource == Resource::None;
            if is_open && !tests.contains(&group.test) {
                tests.push(group.test);
            }
        }
    }
    (!tests.is_empty()).then_some(Measure::LoadMore { tests, of: sweeps })
}

impl Measure<'_> {
    pub fn what(&self) -> String {
        match self {
            Self::FindFailures { .. } => {
                "Find out why checks failed, then measure those tests again".to_owned()
            }
            Self::Resume {
                is_of_parameter_file: true,
                ..
            } => "Run the parameter file again: dbdyno vdbench".to_owned(),
            Self::Resume { .. } => "Resume the run: dbdyno run --resume".to_owned(),
            Self::MorePairs { is_of_parameter_file: true, .. } => {
                "Run both lists at least six times (-l 6), and compare with --trust-sequential if nothing else changed; or take turns \
                 with dbdyno ab storage"
                    .to_owned()
            }
            Self::MorePairs { .. } => {
                "Measure more pairs in alternating blocks (dbdyno ab)".to_owned()
            }
            Self::Relieve {
                log_shares: Some(device),
                ..
            } => format!(
                "Put the WAL on a separate device: it shares {device} with the data (dbdyno study redo measures the gain)"
            ),
            Self::Relieve { resource, .. } => relieve(*resource).to_owned(),
            Self::SpreadData { device, .. } => {
                format!("Spread the data over all its devices: {device} does most of the work")
            }
            Self::FollowRule { rule, .. } => {
                format!("Try {}: {} (now {})", rule.what, rule.advised, rule.found)
            }
            Self::Again { steps, .. } => format!("Measure again: {}", steps.join(", ")),
            Self::LoadMore { .. } => "Raise the load: the maximum was not reached".to_owned(),
        }
    }

    pub fn evidence(&self) -> String {
        match self {
            Self::FindFailures {
                invalid,
                points,
                test,
            } => format!("{invalid} of {points} points are invalid, the first in {test}."),
            Self::Resume {
                measured, planned, ..
            } => {
                format!("{measured} of {planned} points were measured.")
            }
            Self::MorePairs {
                undecided, primary, ..
            } => format!(
                "{undecided} of {} inconclusive.",
                number::counted(*primary as u64, "primary metric"),
            ),
            Self::Relieve {
                resource,
                tests,
                of,
                cpu_pct,
                ..
            } => {
                let cpu =
                    cpu_pct.map(|pct| format!("; CPU {} % there (median)", number::figure(pct)));
                format!(
                    "{}: the limit of {tests} of {} at the best level{}.",
                    limits::name(*resource),
                    number::counted(*of as u64, "test"),
                    cpu.unwrap_or_default(),
                )
            }
            Self::SpreadData {
                device,
                busy_pct,
                others_pct,
                test,
            } => format!(
                "{device} was busy for {} % of the time and the others for {} % on average, at the best level of {test}.",
                number::figure(*busy_pct),
                number::figure(*others_pct),
            ),
            Self::FollowRule { rule, more } => {
                let others = match more {
                    0 => String::new(),
                    more => format!(" {more} more important rules are not followed."),
                };
                format!(
                    "{}. Source: {}.{others}",
                    rule.why.trim_end_matches('.'),
                    rule.source
                )
            }
            Self::Again { grade, .. } => match grade {
                Grade::DoNotUse => "Until then, do not use the figures.".to_owned(),
                _ => "Until then, the figures are indicative.".to_owned(),
            },
            Self::LoadMore { tests, of } => format!(
                "The highest level is the best one and nothing is saturated in {} of {}: {}.",
                tests.len(),
                number::counted(*of as u64, "sweep"),
                codes(tests),
            ),
        }
    }

    pub fn section_id(&self) -> String {
        match self {
            Self::FindFailures { test, .. }
            | Self::SpreadData { test, .. }
            | Self::Relieve { test, .. } => id_of(test),
            Self::LoadMore { tests, .. } => tests
                .first()
                .map_or_else(|| "method".to_owned(), |test| id_of(test)),
            Self::MorePairs { .. } => "forest".to_owned(),
            Self::FollowRule { .. } => "practice".to_owned(),
            Self::Resume { .. } | Self::Again { .. } => "sure".to_owned(),
        }
    }
}

/// "T132, T611, T621, T626 and 3 more".
fn codes(tests: &[&str]) -> String {
    let named = tests[..tests.len().min(TESTS_MAX)].join(", ");
    match tests.len().saturating_sub(TESTS_MAX) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

fn relieve(resource: Resource) -> &'static str {
    match resource {
        Resource::Cpu => "Add CPU cores, use faster ones, or make the statements cheaper",
        Resource::Device => "Use faster storage, or add memory so that less is read",
        Resource::LogSync => {
            "Put the WAL on a device with faster syncs, or commit more work at once"
        }
        Resource::Lock => {
            "Find the rows that sessions wait for, and hold their locks for less time"
        }
        Resource::Latch => {
            "Look at the top wait events: run fewer sessions, or reduce contention in the server"
        }
        Resource::Memory => "Add memory, or let the database use less: the machine is paging",
        Resource::Network => "Use a faster network, or fewer round trips per transaction",
        Resource::Scheduling => {
            "Run the driver on a separate machine, or do more work per round trip"
        }
        Resource::Driver => {
            "Use a faster machine for the driver: the platform was not at its limit"
        }
        Resource::OtherWait | Resource::Several => "Look at the top wait events of these tests",
        Resource::None | Resource::Unknown => "Look at the wait events",
    }
}
