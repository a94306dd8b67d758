//! Metrics of a comparison: the primary ones, and all others that both runs have.

use std::collections::BTreeSet;

use archive::{Better, Run};
use serde::Serialize;

use super::{CompareError, NotComparable, Pairing};
use crate::metric::{self, Metric};

/// Figures of each level that are compared in addition to the primary metrics.
const SECONDARY: [&str; 3] = ["response_us_p50", "response_us_p99", "table_memory_mb"];
/// Largest number of metrics of one comparison; a larger plan is compared in its first ones.
const METRICS_MAX: usize = 2_000;

/// Origin of the primary metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Named {
    /// The plan, before the run.
    #[serde(rename = "in the plan")]
    InPlan,
    /// The rule for plans that name none: the throughput of every test at its best level.
    #[serde(rename = "by rule")]
    ByRule,
    /// The options of the comparison, after the run.
    #[serde(rename = "afterwards")]
    Afterwards,
}

/// Primary metrics with their origin: this request, A's plan, or the rule.
pub(crate) fn primary(
    a: &Run,
    b: &Run,
    requested: &[Metric],
    pairing: &Pairing,
) -> Result<(Vec<Metric>, Named), CompareError> {
    let (wanted, named) = if requested.is_empty() {
        (in_plan(a)?, Named::InPlan)
    } else {
        (requested.to_vec(), Named::Afterwards)
    };
    if wanted.is_empty() {
        return Ok((by_rule(a, b, pairing), Named::ByRule));
    }
    let mut metrics = Vec::new();
    for metric in &wanted {
        if metric::better(&metric.figure) == Better::Neither {
            return Err(CompareError::NoDirection(metric.clone()));
        }
        for (target, _) in &pairing.targets {
            let one = metric.on(target);
            let named = metric.target.as_ref().is_none_or(|t| t == target);
            if named && a.points.iter().any(|p| one.covers(a, p)) {
                metrics.push(one);
            }
        }
    }
    if metrics.is_empty() && named == Named::InPlan {
        // The plan was narrowed to other tests than those of its metrics.
        return Ok((by_rule(a, b, pairing), Named::ByRule));
    }
    if metrics.is_empty() {
        return Err(NotComparable::NothingInCommon {
            a: a.label.clone(),
            b: b.label.clone(),
        }
        .into());
    }
    Ok((metrics, named))
}

fn in_plan(run: &Run) -> Result<Vec<Metric>, CompareError> {
    // The plan was checked before it was measured; an altered one has been refused by now.
    let plan: toml::Table = toml::from_str(&run.plan_toml).unwrap_or_default();
    let list = plan.get("primary").and_then(toml::Value::as_array);
    let texts = list.into_iter().flatten().filter_map(toml::Value::as_str);
    Ok(texts.map(str::parse).collect::<Result<_, _>>()?)
}

/// Throughput of every common test at its best level.
fn by_rule(a: &Run, b: &Run, pairing: &Pairing) -> Vec<Metric> {
    let mut metrics = Vec::new();
    for (target, _) in &pairing.targets {
        for test in tests(a, target) {
            let metric = throughput(a, target, &test, None);
            let there = |run: &Run, m: &Metric| run.points.iter().any(|p| m.covers(run, p));
            if there(b, &pairing.in_b(&metric)) {
                metrics.push(metric);
            }
        }
    }
    metrics.truncate(METRICS_MAX);
    metrics
}

fn tests(run: &Run, target: &str) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let on_target = |index: u32| {
        run.targets
            .get(index as usize)
            .is_some_and(|t| t.name == target)
    };
    run.points
        .iter()
        .filter(|p| on_target(p.key.target) && seen.insert(p.key.test.clone()))
        .map(|p| p.key.test.clone())
        .collect()
}

/// Queries per hour if a test yields those, rows per second if it reads or writes rows, otherwise operations per
/// second.
fn throughput(run: &Run, target: &str, test: &str, level: Option<(u32, u32)>) -> Metric {
    let metric = |figure: &str| Metric {
        target: Some(target.to_owned()),
        test: test.to_owned(),
        level,
        figure: figure.to_owned(),
    };
    let any = metric("operations_per_s");
    let points = || {
        let mine = run.points.iter();
        mine.filter(|p| p.valid() && any.covers(run, p))
    };
    let is_known_of_all = |figure: &str| points().all(|p| p.figures.get(figure).is_some());
    match points().next() {
        Some(_) if is_known_of_all("scaled_queries_per_h") => metric("scaled_queries_per_h"),
        _ if is_known_of_all("rows_per_s") => metric("rows_per_s"),
        _ => any,
    }
}

/// Throughput at every level if there are several, and response times at all.
pub(super) fn secondary(a: &Run, pairing: &Pairing, primary: &[Metric]) -> Vec<Metric> {
    let mut metrics = Vec::new();
    for (target, _) in &pairing.targets {
        for test in tests(a, target) {
            let levels = levels(a, target, &test);
            for level in &levels {
                if levels.len() > 1 {
                    metrics.push(throughput(a, target, &test, Some(*level)));
                }
                metrics.extend(SECONDARY.map(|figure| Metric {
                    target: Some(target.clone()),
                    test: test.clone(),
                    level: Some(*level),
                    figure: figure.to_owned(),
                }));
            }
        }
    }
    // A figure that neither side has is no row.
    metrics.retain(|m| !primary.contains(m) && m.values(a).iter().any(Option::is_some));
    metrics.truncate(METRICS_MAX);
    metrics
}

fn levels(run: &Run, target: &str, test: &str) -> BTreeSet<(u32, u32)> {
    let any = Metric {
        target: Some(target.to_owned()),
        test: test.to_owned(),
        level: None,
        figure: "operations_per_s".to_owned(),
    };
    run.points
        .iter()
        .filter(|p| any.covers(run, p))
        .map(|p| (p.key.jobs, p.key.threads))
        .collect()
}
