//! Check that two runs measure the same: properties that must agree, and those that are only mentioned.

use std::collections::BTreeSet;

use archive::{Point, Remark, Run, RunState, Steady};
use stats::compare::Design;

use crate::metric::Metric;
use crate::outcome::Terms;
use crate::ramps::USERS;

const LOADED: &str = "OLTP-LOAD";

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotComparable {
    #[error("run {0} cannot be compared with itself; name two runs")]
    Itself(String),
    /// The archive was changed outside dbdyno.
    #[error("run {run} cannot be compared: {reason}")]
    Altered { run: String, reason: String },
    #[error(
        "runs {a} and {b} have no test on a target of the same engine in common; choose runs of the same tests"
    )]
    NothingInCommon { a: String, b: String },
    #[error("runs {a} and {b} were measured differently: {what}; measure both in the same way")]
    Differently { a: String, b: String, what: String },
}

#[derive(Debug, Clone, PartialEq)]
pub struct Pairing {
    pub design: Design,
    /// Short names of the targets: in A, in B.
    pub targets: Vec<(String, String)>,
    /// Sentences on the whole comparison.
    pub cautions: Vec<String>,
    pub left_out: Vec<String>,
}

impl Pairing {
    /// The metric of run A with its name in run B.
    pub fn in_b(&self, metric: &Metric) -> Metric {
        let other = self
            .targets
            .iter()
            .find(|(a, _)| Some(a) == metric.target.as_ref())
            .map(|(_, b)| b.clone());
        Metric {
            target: other.or_else(|| metric.target.clone()),
            ..metric.clone()
        }
    }
}

pub(crate) fn pairing(
    a: &Run,
    b: &Run,
    terms: &Terms,
    allow_mismatch: bool,
) -> Result<Pairing, NotComparable> {
    if a.id == b.id && a.label == b.label && a.started_at == b.started_at {
        return Err(NotComparable::Itself(a.label.clone()));
    }
    for run in [a, b] {
        if let Some(reason) = run.reasons.first() {
            return Err(NotComparable::Altered {
                run: run.label.clone(),
                reason: reason.to_string(),
            });
        }
    }
    let targets = targets_in_common(a, b);
    if common_tests(a, b, &targets).is_empty() {
        return Err(NotComparable::NothingInCommon {
            a: a.label.clone(),
            b: b.label.clone(),
        });
    }
    let design = terms.design(a, b);
    let mut cautions = Vec::new();
    let different = measured_differently(a, b, &targets);
    if !different.is_empty() && !design.is_paired() && !allow_mismatch {
        return Err(NotComparable::Differently {
            a: a.label.clone(),
            b: b.label.clone(),
            what: different.join("; "),
        });
    }
    cautions.extend(
        different
            .into_iter()
            .map(|what| format!("measured differently: {what}")),
    );
    cautions.extend([a, b].into_iter().flat_map(unsettled));
    if design.is_paired() {
        cautions.extend(carried_over(a, b).into_iter().map(str::to_owned));
    }
    Ok(Pairing {
        design,
        targets,
        cautions,
        left_out: [a, b].into_iter().flat_map(left_out).collect(),
    })
}

/// Targets with equal names correspond; so do the only targets of two runs.
fn targets_in_common(a: &Run, b: &Run) -> Vec<(String, String)> {
    if let ([one], [other]) = (a.targets.as_slice(), b.targets.as_slice()) {
        return vec![(one.name.clone(), other.name.clone())];
    }
    a.targets
        .iter()
        .filter(|t| b.targets.iter().any(|u| u.name == t.name))
        .map(|t| (t.name.clone(), t.name.clone()))
        .collect()
}

fn tests_on(run: &Run, target: &str) -> BTreeSet<String> {
    run.points
        .iter()
        .filter(|p| name_of(run, p) == target)
        .map(|p| p.key.test.clone())
        .collect()
}

fn common_tests(a: &Run, b: &Run, targets: &[(String, String)]) -> BTreeSet<String> {
    targets
        .iter()
        .flat_map(|(x, y)| {
            let of_b = tests_on(b, y);
            tests_on(a, x).into_iter().filter(move |t| of_b.contains(t))
        })
        .collect()
}

fn name_of<'r>(run: &'r Run, point: &Point) -> &'r str {
    let target = run.targets.get(point.key.target as usize);
    target.map_or("", |t| t.name.as_str())
}

/// True for sides of a study with different settings of the plan, whose consequences are intended differences.
fn plan_is_varied(a: &Run, b: &Run) -> bool {
    let (Some(x), Some(y)) = (&a.study, &b.study) else {
        return false;
    };
    let is_of_plan = |setting: &String| {
        let key = setting.split('=').next().unwrap_or_default();
        !matches!(key.split('.').next(), Some("target" | "host"))
    };
    x.pairs_with(y) && x.settings.iter().chain(&y.settings).any(is_of_plan)
}

/// True if every common level was measured on data of another size, and no study varies that size: such rates are not
/// comparable.
pub fn differ_in_size(a: &Run, b: &Run) -> bool {
    if plan_is_varied(a, b) {
        return false;
    }
    let targets = targets_in_common(a, b);
    let level = |point: &Point| (point.key.test.clone(), point.key.jobs, point.key.threads);
    let in_common = targets.iter().flat_map(|(x, y)| {
        let of_a = a.points.iter().filter(move |p| name_of(a, p) == x);
        of_a.filter_map(move |one| {
            let mut of_b = b.points.iter().filter(|p| name_of(b, p) == y);
            let other = of_b.find(|other| level(other) == level(one))?;
            Some(one.work.size != other.work.size)
        })
    });
    let mut in_common = in_common.peekable();
    in_common.peek().is_some() && in_common.all(|differs| differs)
}

/// Differences in scale, protocol and definition that nobody requested, one phrase each.
fn measured_differently(a: &Run, b: &Run, targets: &[(String, String)]) -> Vec<String> {
    let is_varied = plan_is_varied(a, b);
    let mut found: Vec<(String, BTreeSet<String>)> = Vec::new();
    for (x, y) in targets {
        for one in a.points.iter().filter(|p| name_of(a, p) == x) {
            let other = b.points.iter().find(|p| {
                name_of(b, p) == y
                    && (&p.key.test, p.key.jobs, p.key.threads)
                        == (&one.key.test, one.key.jobs, one.key.threads)
            });
            let unlike = other.map_or(Vec::new(), |other| unlike(one, other, x == y));
            for (_, what) in unlike
                .into_iter()
                .filter(|(by_plan, _)| !(is_varied && *by_plan))
            {
                match found.iter_mut().find(|(k, _)| *k == what) {
                    Some((_, tests)) => drop(tests.insert(one.key.test.clone())),
                    None => found.push((what, [one.key.test.clone()].into())),
                }
            }
        }
    }
    found
        .into_iter()
        .map(|(what, tests)| {
            let tests: Vec<String> = tests.into_iter().collect();
            format!("{what} ({})", tests.join(", "))
        })
        .collect()
}

/// Differences of two points of one test, with both values if they are words, and true for those that the plan
/// determines.
fn unlike(a: &Point, b: &Point, same_engine: bool) -> Vec<(bool, String)> {
    let (x, y) = (&a.work, &b.work);
    let words = |what: &str, x: &str, y: &str| {
        let (own, others) = (differing(x, y), differing(y, x));
        (x != y).then(|| format!("{what}: \"{own}\" and \"{others}\""))
    };
    let other = |differs: bool, what: &str| differs.then(|| what.to_owned());
    let by_plan = [
        words("the size of the data", &x.size, &y.size),
        other(
            x.mode != y.mode || x.seconds != y.seconds,
            "the length of a point (work or time)",
        ),
        other(
            same_engine && x.operations_per_job != y.operations_per_job,
            "the amount of work",
        ),
        words("the schedule", &x.schedule, &y.schedule),
        other(
            same_engine && a.definition != b.definition,
            "the definition of the test",
        ),
    ];
    let cache = words("the state of the cache", x.cache.name(), y.cache.name());
    let by_plan = by_plan.into_iter().flatten().map(|what| (true, what));
    by_plan.chain(cache.map(|what| (false, what))).collect()
}

fn differing(list: &str, other: &str) -> String {
    let others: Vec<&str> = other.split(", ").collect();
    let own = list.split(", ").filter(|part| !others.contains(part));
    match own.collect::<Vec<_>>().join(", ") {
        // A list that only lacks parts is shown whole.
        own if own.is_empty() => list.to_owned(),
        own => own,
    }
}

/// State that the previous block of a study left to the next one.
fn carried_over(a: &Run, b: &Run) -> Vec<&'static str> {
    // Sides in alternating slices affect each other equally.
    if a.study
        .as_ref()
        .is_some_and(|study| study.slice_ms.is_some())
    {
        return Vec::new();
    }
    let any = |what: fn(&Point) -> bool| a.points.iter().chain(&b.points).any(what);
    let mut said = Vec::new();
    if any(|p| p.work.server_since.is_some()) {
        said.push(
            "the server ran throughout: each block began with the buffers and the page cache that the block before had \
             left, which the random order gives to every side alike",
        );
    }
    if any(|p| p.key.test == USERS) && !any(|p| p.key.test == LOADED) {
        said.push(
            "order entry began in each block with the database that the block before had left, which grows: load it in \
             every repetition",
        );
    }
    said
}

fn left_out(run: &Run) -> Vec<String> {
    let mut said = Vec::new();
    let invalid = run.points.iter().filter(|p| !p.valid()).count();
    if invalid > 0 {
        said.push(format!(
            "{invalid} of {} points of run {} are invalid and were left out",
            run.points.len(),
            run.label
        ));
    }
    if run.state != RunState::Complete {
        said.push(format!(
            "run {} is not complete: {} of {} points",
            run.label,
            run.points.len(),
            run.points_planned
        ));
    }
    said
}

/// Activity that had not settled.
fn unsettled(run: &Run) -> Vec<String> {
    let mut said = Vec::new();
    let count =
        |what: fn(&Point) -> bool| run.points.iter().filter(|p| p.valid() && what(p)).count();
    let moving = count(|p| p.steady == Some(Steady::Trend));
    if moving > 0 {
        said.push(format!(
            "throughput was rising or falling during {moving} of {} points of run {}",
            run.points.len(),
            run.label
        ));
    }
    let is_cold = |note: &Remark| matches!(note, Remark::NotWarmedUp { .. });
    let cold = run
        .points
        .iter()
        .filter(|p| p.notes.iter().any(is_cold))
        .count();
    if cold > 0 {
        said.push(format!(
            "the warm-up of run {} ended at its time limit, before throughput was shown to be steady ({cold} times)",
            run.label
        ));
    }
    said
}
