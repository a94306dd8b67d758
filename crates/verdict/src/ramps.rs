//! Comparison of two ramps of users: users at equal response time, response time at equal users, throughput at the
//! knee.

mod json;

use archive::{Point, PointKey, Remark, Run};
use stats::HistogramSnapshot;
use stats::compare::Design;
use stats::ramp::{Limits, RampComparison, RampQuestion, Step, Stop, compare};

pub use json::json;

use crate::analyses::{confidence, seen};
use crate::outcome::Terms;

/// Test whose levels are users.
pub const USERS: &str = "OLTP";
/// Percentile that is compared without a limit.
pub const PERCENTILE: f64 = 95.0;
/// Failed operations, in percent, up to which a level meets a limit.
pub const ERRORS_PCT_MAX: f64 = 1.0;

#[derive(Debug, Clone, PartialEq)]
pub struct Ramps {
    pub target: String,
    pub percentile: f64,
    /// Response-time limit, µs; `None` without one, or if the sides have different ones.
    pub limit_us: Option<f64>,
    pub design: Design,
    pub found: RampComparison,
}

pub fn ended(stop: Stop) -> Remark {
    match stop {
        Stop::Errors {
            users,
            errors_pct,
            limit_pct,
        } => Remark::RampFailed {
            users,
            errors_pct,
            limit_pct,
        },
        Stop::OverLimit {
            users,
            response_ms,
            limit_ms,
        } => Remark::RampTooSlow {
            users,
            limit_ms,
            response_ms,
        },
        Stop::Flat {
            since_users,
            users,
            completed_per_s,
        } => Remark::RampFlat {
            users,
            users_since: since_users,
            completed_per_s,
        },
    }
}

/// A level from its point, even from an invalid one: for deciding when a ramp may end.
pub fn step_of(point: &Point, percentile: f64) -> Step {
    let figure = |name: &str| point.figures.get(name);
    step(
        point.key.jobs,
        figure,
        &point.histograms.response,
        percentile,
    )
}

/// A level for conclusions: without figures if its point is invalid.
pub(crate) fn sound_step_of(point: &Point, percentile: f64) -> Step {
    if point.valid() {
        step_of(point, percentile)
    } else {
        invalid_step(point.key.jobs, |name| point.figures.get(name))
    }
}

/// An invalid level, from its figures by name: only its share of failures counts.
pub fn invalid_step(users: u32, figure: impl Fn(&str) -> Option<f64>) -> Step {
    Step::without_figures(users, errors_pct(figure).unwrap_or(f64::NAN))
}

fn errors_pct(figure: impl Fn(&str) -> Option<f64>) -> Option<f64> {
    let failed = figure("errors").unwrap_or(0.0);
    let all = figure("operations").unwrap_or(0.0) + failed;
    (all > 0.0).then(|| failed / all * 100.0)
}

/// A level from its figures, by name, and its response times. One without completed operations has no response time:
/// it meets no limit.
pub fn step(
    users: u32,
    figure: impl Fn(&str) -> Option<f64>,
    response: &HistogramSnapshot,
    percentile: f64,
) -> Step {
    let errors_pct = errors_pct(&figure).unwrap_or(100.0);
    let figure = |name: &str| figure(name).unwrap_or(0.0);
    let of = |us: f64| if response.is_empty() { f64::NAN } else { us };
    Step {
        users,
        completed_per_s: figure("operations_per_s"),
        response_us: of(response.percentile_us(percentile)),
        response_us_mean: of(response.mean_us()),
        errors_pct,
    }
}

pub fn ramps(a: &Run, b: &Run, terms: Terms) -> Vec<Ramps> {
    let design = terms.design(a, b);
    let confidence = confidence(a, b, 1);
    let [a, b] = &seen(a, b);
    let places = places(a)
        .into_iter()
        .filter(|place| levels(b, *place).count() > 1);
    let compared = places.map(|place| {
        let first = |run: &'_ Run| levels(run, place).next().map(|p| p.work.clone());
        let (of_a, of_b) = (first(a).unwrap_or_default(), first(b).unwrap_or_default());
        let percentile = of_a.limit_percentile.unwrap_or(PERCENTILE);
        let same = of_a.limit_percentile == of_b.limit_percentile;
        let limit_us = of_a
            .limit_response_us
            .filter(|us| same && of_b.limit_response_us == Some(*us));
        let question = RampQuestion {
            limits: limit_us.map(|response_us| Limits {
                response_us,
                errors_pct: ERRORS_PCT_MAX,
            }),
            design,
            band: terms.band,
            confidence,
        };
        let of = |run| repetitions(run, place, percentile);
        Ramps {
            target: name(a, place.0),
            percentile,
            limit_us,
            design,
            found: compare(&of(a), &of(b), &question),
        }
    });
    compared.collect()
}

type StepOfTarget = (u32, u32);

fn places(run: &Run) -> Vec<StepOfTarget> {
    let mut places: Vec<StepOfTarget> = Vec::new();
    for point in &run.points {
        let place = (point.key.target, point.key.step);
        if !places.contains(&place) && levels(run, place).count() > 1 {
            places.push(place);
        }
    }
    places
}

fn levels(run: &Run, place: StepOfTarget) -> impl Iterator<Item = &Point> {
    let is_ours = move |key: &PointKey| key.test == USERS && (key.target, key.step) == place;
    let points = run.points.iter();
    points.filter(move |point| is_ours(&point.key))
}

fn repetitions(run: &Run, place: StepOfTarget, percentile: f64) -> Vec<Vec<Step>> {
    let each = (1..=run.repetitions).map(|repetition| {
        let ours = levels(run, place).filter(|p| p.key.repetition == repetition);
        ours.map(|p| sound_step_of(p, percentile)).collect()
    });
    each.collect()
}

fn name(run: &Run, target: u32) -> String {
    let target = run.targets.get(target as usize);
    target.map_or_else(String::new, |target| target.name.clone())
}
