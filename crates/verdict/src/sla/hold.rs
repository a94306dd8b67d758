//! The judgement: every limit against every target that has its test.

use std::collections::BTreeSet;

use archive::{Point, Remark, Run, RunState};
use serde::Serialize;
use stats::Interval;
use stats::interval::median_interval;
use stats::summary::median;

use super::file::{Limit, Sla};
use super::levels::dop;
use crate::metric::{Metric, figure_of};

/// Nominal confidence of the interval of the median; the exact method attains at least this.
const CONFIDENCE: f64 = 0.95;

#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// Validity of the whole run.
    pub soundness: Soundness,
    /// One row for each limit and target, in the order of the file and the run.
    pub rows: Vec<Row>,
    /// Targets without a point of the test of a limit for all targets.
    pub left_out: Vec<LeftOut>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Soundness {
    /// Reasons why the whole run is unsound: it is incomplete, or its record was changed.
    pub faults: Vec<String>,
    /// Points that failed a check; they fail only the limits that cover them.
    pub points_invalid: usize,
    pub points: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub limit: Limit,
    pub metric: Metric,
    pub outcome: Outcome,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The median keeps the limit.
    Met(Finding),
    Missed {
        finding: Finding,
        bound: Bound,
        limit: f64,
    },
    /// There is no valid figure to judge, which is never a pass.
    Unjudged { why: String },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    AtLeast,
    AtMost,
}

/// Judged value, with its certainty.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    pub value: f64,
    pub values: Vec<Option<f64>>,
    /// Exact interval of the median, from six repetitions on.
    pub interval: Option<Interval>,
    pub surety: Surety,
    /// Jobs and threads of the values; several if the best level changes.
    pub levels: BTreeSet<(u32, u32)>,
    /// Steps of the plan whose points were candidates; of several, the best one counted.
    pub steps: BTreeSet<u32>,
}

/// How sure a judgement is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Surety {
    /// The whole interval is on the same side of the limit.
    Clear,
    /// The interval includes the limit: another run may differ.
    WithinNoise,
    /// Two to five repetitions have no interval.
    FewRepetitions,
    /// One repetition does not show noise.
    OneRepetition,
}

/// A target that a limit does not apply to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    pub metric: Metric,
    pub reason: String,
}

pub fn judge(run: &Run, sla: &Sla) -> Judgement {
    let mut judgement = Judgement {
        soundness: soundness(run),
        rows: Vec::new(),
        left_out: Vec::new(),
    };
    for limit in &sla.limits {
        let targets = targets(run, limit, &mut judgement.left_out);
        let metrics = if targets.is_empty() {
            vec![limit.metric.clone()]
        } else {
            targets.iter().map(|name| limit.metric.on(name)).collect()
        };
        judgement.rows.extend(metrics.into_iter().map(|metric| Row {
            limit: limit.clone(),
            outcome: outcome(run, limit, &metric),
            metric,
        }));
    }
    judgement
}

impl Judgement {
    /// False if the run as a whole is unsound and decides nothing, whatever its limits say.
    pub fn sound(&self) -> bool {
        self.soundness.faults.is_empty()
    }

    pub fn met(&self) -> usize {
        self.count(|o| matches!(o, Outcome::Met(_)))
    }

    pub fn missed(&self) -> usize {
        self.count(|o| matches!(o, Outcome::Missed { .. }))
    }

    pub fn unjudged(&self) -> usize {
        self.count(|o| matches!(o, Outcome::Unjudged { .. }))
    }

    fn count(&self, is: impl Fn(&Outcome) -> bool) -> usize {
        self.rows.iter().filter(|row| is(&row.outcome)).count()
    }
}

impl Outcome {
    pub fn finding(&self) -> Option<&Finding> {
        match self {
            Self::Met(finding) | Self::Missed { finding, .. } => Some(finding),
            Self::Unjudged { .. } => None,
        }
    }

    /// Excess over the limit in percent; `None` if it is met, or the limit is 0.
    pub fn missed_by_pct(&self) -> Option<f64> {
        match self {
            Self::Missed { finding, limit, .. } if *limit > 0.0 => {
                Some((finding.value - limit).abs() / limit * 100.0)
            }
            _ => None,
        }
    }
}

fn soundness(run: &Run) -> Soundness {
    let mut faults = Vec::new();
    if run.state != RunState::Complete {
        faults.push(format!(
            "it is not complete: {} of {} points are finished",
            run.points.len(),
            run.points_planned
        ));
    }
    faults.extend(run.reasons.iter().map(Remark::to_string));
    Soundness {
        faults,
        points_invalid: run.points.iter().filter(|p| !p.valid()).count(),
        points: run.points.len(),
    }
}

/// Targets on which the limit must hold; the others go to `left_out`, with the reason.
fn targets(run: &Run, limit: &Limit, left_out: &mut Vec<LeftOut>) -> Vec<String> {
    if limit.metric.target.is_some() {
        return Vec::new();
    }
    let mut with = Vec::new();
    let mut without = Vec::new();
    for (target, record) in (0..).zip(&run.targets) {
        let has = |p: &&Point| p.key.target == target && p.key.test == limit.metric.test;
        if run.points.iter().any(|p| has(&p)) {
            with.push(record.name.clone());
        } else {
            without.push(LeftOut {
                metric: limit.metric.on(&record.name),
                reason: missing(run, target, &limit.metric.test).unwrap_or_else(|| {
                    "the run has no point of the test on this target".to_owned()
                }),
            });
        }
    }
    // If no target has the test, one row says so.
    if !with.is_empty() {
        left_out.extend(without);
    }
    with
}

/// Reason why a target cannot run a test, as the run recorded it.
fn missing(run: &Run, target: u32, test: &str) -> Option<String> {
    run.missing
        .iter()
        .find(|m| m.target == target && m.test == test)
        .map(|m| m.reason.to_string())
}

fn outcome(run: &Run, limit: &Limit, metric: &Metric) -> Outcome {
    let covered: Vec<&Point> = run
        .points
        .iter()
        .filter(|p| metric.covers(run, p))
        .collect();
    if covered.is_empty() {
        return Outcome::Unjudged {
            why: why_nothing(run, metric),
        };
    }
    if let Some(why) = why_invalid(&covered) {
        return Outcome::Unjudged { why };
    }
    let Some(mut finding) = finding(run, metric, &covered) else {
        return Outcome::Unjudged {
            why: format!("the run has no value of {} for this limit", metric.figure),
        };
    };
    finding.surety = surety(&finding, limit);
    match broken(limit, finding.value) {
        Some((bound, limit)) => Outcome::Missed {
            finding,
            bound,
            limit,
        },
        None => Outcome::Met(finding),
    }
}

/// An invalid point under a limit fails it, because the figure of a correct answer is unknown.
fn why_invalid(covered: &[&Point]) -> Option<String> {
    let mut invalid = covered.iter().filter(|p| !p.valid());
    let first = invalid.next()?;
    let more = match invalid.count() {
        0 => String::new(),
        more => format!(" (and {more} more of {} points)", covered.len()),
    };
    Some(format!(
        "the point at DOP {} in repetition {} is invalid: {}{more}",
        dop((first.key.jobs, first.key.threads)),
        first.key.repetition,
        first
            .reasons
            .first()
            .map_or("no reason is given".to_owned(), Remark::to_string),
    ))
}

fn why_nothing(run: &Run, metric: &Metric) -> String {
    let target = match &metric.target {
        None => None,
        Some(name) => match run.targets.iter().position(|t| t.name == *name) {
            Some(at) => Some(at as u32),
            None => {
                let hint = archive::nearest(name, run.targets.iter().map(|t| t.name.as_str()));
                return format!("the run has no target \"{name}\"{hint}");
            }
        },
    };
    let here = |p: &&Point| target.is_none_or(|target| p.key.target == target);
    let levels: BTreeSet<(u32, u32)> = run
        .points
        .iter()
        .filter(|p| here(p) && p.key.test == metric.test)
        .map(|p| (p.key.jobs, p.key.threads))
        .collect();
    if !levels.is_empty() {
        return format!(
            "the test was not measured at this level, but at {}",
            super::levels::levels(&levels)
        );
    }
    let reason = match target {
        Some(target) => missing(run, target, &metric.test),
        None => (0..run.targets.len() as u32).find_map(|t| missing(run, t, &metric.test)),
    };
    reason.unwrap_or_else(|| {
        let tests: BTreeSet<&str> = run.points.iter().map(|p| p.key.test.as_str()).collect();
        let hint = archive::nearest(&metric.test, tests);
        format!("the run has no point of the test \"{}\"{hint}", metric.test)
    })
}

fn finding(run: &Run, metric: &Metric, covered: &[&Point]) -> Option<Finding> {
    let values = metric.values(run);
    let known: Vec<f64> = values.iter().copied().flatten().collect();
    let counted = |p: &&&Point| {
        let at = (p.key.repetition as usize).checked_sub(1);
        let best = at.and_then(|at| values.get(at).copied().flatten());
        best.is_some() && figure_of(p, &metric.figure) == best
    };
    let level = |p: &&Point| (p.key.jobs, p.key.threads);
    Some(Finding {
        value: median(&known)?,
        interval: median_interval(&known, CONFIDENCE).ok(),
        surety: Surety::Clear,
        levels: covered.iter().filter(counted).map(level).collect(),
        steps: covered.iter().map(|p| p.key.step).collect(),
        values,
    })
}

fn surety(finding: &Finding, limit: &Limit) -> Surety {
    let Some(interval) = finding.interval else {
        return match finding.values.iter().flatten().count() {
            1 => Surety::OneRepetition,
            _ => Surety::FewRepetitions,
        };
    };
    let kept = |value: f64| broken(limit, value).is_none();
    let crosses =
        kept(interval.low) != kept(finding.value) || kept(interval.high) != kept(finding.value);
    if crosses {
        Surety::WithinNoise
    } else {
        Surety::Clear
    }
}

/// The bound that a value violates; a value on the bound keeps it.
fn broken(limit: &Limit, value: f64) -> Option<(Bound, f64)> {
    let low = limit.at_least.filter(|low| value < *low);
    let high = limit.at_most.filter(|high| value > *high);
    low.map(|low| (Bound::AtLeast, low))
        .or(high.map(|high| (Bound::AtMost, high)))
}
