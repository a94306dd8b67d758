//! What a ramp of users says: how many are supported within a response time, and where its knee is.

use stats::ramp::{Knee, Limits, Miss, Step, Supported, knee, supported};
use verdict::ramps::{ERRORS_PCT_MAX, PERCENTILE, USERS, invalid_step, step};

use crate::level::{Curve, Level};
use crate::number;

/// What a ramp of users found out.
pub struct Ramp {
    /// Percentile of the response times that has to hold the limit.
    pub percentile: f64,
    /// That limit, µs, and how many users hold it; `None` where none was asked for.
    pub within: Option<(f64, Supported)>,
    pub knee: Option<Knee>,
}

/// The ramp of a curve; `None` for what is no ramp of users.
pub fn ramp(curve: &Curve<'_>) -> Option<Ramp> {
    let is_of_users = |level: &Level<'_>| level.first().key.test == USERS;
    if curve.levels.len() < 2 || !curve.levels.iter().all(is_of_users) {
        return None;
    }
    let work = &curve.levels[0].first().work;
    let percentile = work.limit_percentile.unwrap_or(PERCENTILE);
    let steps: Vec<Step> = (curve.levels.iter())
        .map(|level| step_of(level, percentile))
        .collect();
    let within = work.limit_response_us.map(|response_us| {
        let limits = Limits {
            response_us,
            errors_pct: ERRORS_PCT_MAX,
        };
        (response_us, supported(&steps, &limits))
    });
    let measured = steps.iter().filter(|step| step.response_us.is_finite());
    let has_room_for_knee = measured.count() > 2;
    Some(Ramp {
        percentile,
        within,
        knee: has_room_for_knee.then(|| knee(&steps)).flatten(),
    })
}

/// A sentence each for the supported users and the knee; none for what is no ramp of users.
pub fn sentences(curve: &Curve<'_>) -> Vec<String> {
    let Some(ramp) = ramp(curve) else {
        return Vec::new();
    };
    let within = ramp.within.map(|(response_us, found)| {
        let limit = format!(
            "p{} ≤ {}",
            ramp.percentile,
            number::latency(Some(response_us))
        );
        supported_words(&found, &limit)
    });
    let knee = ramp.knee.map(|knee| knee_words(&knee));
    within.into_iter().chain(knee).collect()
}

fn step_of(level: &Level<'_>, percentile: f64) -> Step {
    let users = level.first().key.jobs;
    match level.only_valid() {
        Some(valid) => step(
            users,
            |name| valid.figure(name),
            &valid.response(),
            percentile,
        ),
        None => invalid_step(users, |name| level.figure(name)),
    }
}

fn supported_words(found: &Supported, limit: &str) -> String {
    let Some(supported) = found.users else {
        return match found.miss {
            Some(Miss::Errors) => "Too many operations failed at the lowest level.".into(),
            Some(Miss::Response) => {
                format!("Not supported within {limit}: even the smallest number of users.")
            }
            Some(Miss::Unknown) | None => {
                "The lowest level is invalid, so the number of supported users is unknown.".into()
            }
        };
    };
    let users = number::users(supported);
    let mut text = match found.exceeded.zip(found.miss) {
        None => format!(
            "Supported within {limit}: at least {users}; the ramp ended before the limit was exceeded"
        ),
        Some((exceeded, Miss::Response)) => {
            format!("Supported within {limit}: {users}; not supported: {exceeded}")
        }
        Some((exceeded, Miss::Errors)) => {
            format!("Supported within {limit}: {users}; at {exceeded}, too many operations failed")
        }
        Some((exceeded, Miss::Unknown)) => format!(
            "Supported within {limit}: at least {users}; the level of {exceeded} is invalid, so no more is known"
        ),
    };
    if let Some(between) = found.interpolated {
        text += &format!(" (interpolated: {between:.0})");
    }
    if found.holds_again {
        text += "; a higher level met the limit again: measure longer, or repeat the run";
    }
    text + "."
}

fn knee_words(knee: &Knee) -> String {
    let rate = number::full(knee.completed_per_s);
    match knee.is_inside {
        true => format!(
            "Knee: beyond {:.0} users, response time grows faster than throughput ({rate}/s at the knee).",
            knee.users
        ),
        false => {
            "The knee, where response time begins to grow faster than throughput, was not found within this ramp; widen it."
                .into()
        }
    }
}

#[cfg(test)]
mod tests {
    use archive::{Component, Point, PointKey, Remark};
    use stats::Histogram;

    use super::*;

    fn words(users: Option<u32>, exceeded: Option<u32>, interpolated: Option<f64>) -> String {
        let found = Supported {
            users,
            exceeded,
            miss: exceeded.map(|_| Miss::Response),
            interpolated,
            holds_again: false,
        };
        supported_words(&found, "p95 ≤ 50.0 ms")
    }

    #[test]
    fn supported_users_in_words() {
        assert_eq!(
            words(Some(200), Some(300), Some(250.4)),
            "Supported within p95 ≤ 50.0 ms: 200 users; not supported: 300 (interpolated: 250)."
        );
        assert_eq!(
            words(Some(1), None, None),
            "Supported within p95 ≤ 50.0 ms: at least 1 user; the ramp ended before the limit was exceeded."
        );
        assert_eq!(
            words(None, Some(4), None),
            "Not supported within p95 ≤ 50.0 ms: even the smallest number of users."
        );
    }

    /// A level of a ramp in which so many of 1000 operations failed; one failure makes it invalid.
    fn level(users: u32, response_us: u64, failed: f64) -> Point {
        let key = PointKey {
            repetition: 1,
            step: 1,
            target: 0,
            test: USERS.into(),
            nodes: 1,
            jobs: users,
            threads: 0,
        };
        let mut point = Point::blank(key, USERS.into(), Component::Database);
        point.work.limit_percentile = Some(95.0);
        point.work.limit_response_us = Some(50e3);
        point.figures.errors = Some(failed);
        point.figures.operations = Some(1000.0 - failed);
        point.figures.operations_per_s = Some(f64::from(users));
        let mut response = Histogram::new();
        response.record_ns(response_us * 1000);
        point.histograms.response = (&response).into();
        if failed > 0.0 {
            point.reasons.push(Remark::OperationsFailed {
                errors: failed as u64,
                first: "deadlock".into(),
            });
        }
        point
    }

    fn said(levels: &[Point]) -> Vec<String> {
        let level = |(number, point)| Level {
            number,
            points: vec![point],
        };
        sentences(&Curve {
            target: 0,
            step: 1,
            label: "d".into(),
            levels: (1..).zip(levels).map(level).collect(),
        })
    }

    #[test]
    fn a_level_that_failed_ends_what_was_shown() {
        let ramp = [
            level(100, 20_000, 0.0),
            level(200, 30_000, 0.0),
            level(300, 31_000, 50.0),
        ];
        assert_eq!(
            said(&ramp),
            ["Supported within p95 ≤ 50.0 ms: 200 users; at 300, too many operations failed."]
        );
        // One failure is within the limit of errors, but the level is no figure all the same.
        let ramp = [
            level(100, 20_000, 0.0),
            level(200, 30_000, 1.0),
            level(300, 31_000, 0.0),
        ];
        assert_eq!(
            said(&ramp),
            [
                "Supported within p95 ≤ 50.0 ms: at least 100 users; the level of 200 is invalid, so no more is known; \
              a higher level met the limit again: measure longer, or repeat the run."
            ]
        );
        assert_eq!(
            said(&[level(100, 20_000, 50.0), level(200, 20_000, 50.0)]),
            ["Too many operations failed at the lowest level."]
        );
    }
}
