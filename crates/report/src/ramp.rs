//! Results of a ramp of users: the supported number within a response time, and the knee.

use stats::ramp::{Knee, Limits, Miss, Step, Stop, StopRule, Supported, knee, supported};
use verdict::ramps::{ERRORS_PCT_MAX, PERCENTILE, USERS, ended, invalid_step, step};

use crate::level::{Curve, Level};
use crate::number;
use crate::remarks::sentence;

pub struct Ramp {
    /// Percentile of the response times that must meet the limit.
    pub percentile: f64,
    /// That limit (µs) and the supported users; `None` if no limit was requested.
    pub within: Option<(f64, Supported)>,
    pub knee: Option<Knee>,
    /// The reason for its end at the last level, if the rule for ramps ends it there.
    pub stop: Option<Stop>,
    /// Fewest users of a level with figures.
    pub users_min: u32,
}

/// The ramp of a curve; `None` for other curves.
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
    let has_room_for_knee = measured.clone().count() > 2;
    let users_min = measured.map(|step| step.users).min().unwrap_or(0);
    let is_known = steps
        .last()
        .is_some_and(|last| last.response_us.is_finite());
    let stop = StopRule::new(work.limit_response_us).judge(&steps);
    Some(Ramp {
        // The sentence on supported users already mentions a level whose operations fail.
        stop: stop.filter(|stop| is_known && !matches!(stop, Stop::Errors { .. })),
        users_min,
        percentile,
        within,
        knee: has_room_for_knee.then(|| knee(&steps)).flatten(),
    })
}

/// Sentences on the supported users and the knee; empty for other curves.
pub fn sentences(curve: &Curve<'_>) -> Vec<String> {
    let Some(ramp) = ramp(curve) else {
        return Vec::new();
    };
    let stop = ramp.stop.map(|stop| ended(stop).to_string());
    let within = ramp.within.as_ref().map(|(response_us, found)| {
        let limit = format!(
            "p{} ≤ {}",
            ramp.percentile,
            number::latency(Some(*response_us))
        );
        supported_words(found, &limit, stop.as_deref())
    });
    let within = within.or_else(|| Some(sentence(stop.as_deref()?)));
    let knee = ramp.knee.map(|knee| knee_words(&knee, ramp.users_min));
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

fn supported_words(found: &Supported, limit: &str, stop: Option<&str>) -> String {
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
        None if stop.is_some() => format!("Supported within {limit}: at least {users}"),
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
    if let Some(stop) = stop {
        text += &format!("; {stop}");
    }
    if found.holds_again {
        text += "; a higher level met the limit again: measure longer, or repeat the run";
    }
    text + "."
}

fn knee_words(knee: &Knee, users_min: u32) -> String {
    let rate = number::plain(knee.completed_per_s);
    match knee.is_inside {
        true => format!(
            "Knee: beyond {:.0} users, response time grows faster than throughput ({rate}/s at the knee).",
            knee.users
        ),
        false if knee.step_users > users_min => format!(
            "The knee, where response time begins to grow faster than throughput, was not found within this ramp; measure more \
             than {}.",
            number::users(knee.step_users)
        ),
        false if users_min > 1 => format!(
            "The knee lies at or below {}: from there on response time grows faster than throughput; begin with fewer.",
            number::users(users_min)
        ),
        false => "From 1 user on, response time grows faster than throughput.".into(),
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
        supported_words(&found, "p95 ≤ 50.0 ms", None)
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

    /// A level of a ramp with this many failures in 1000 operations; one failure makes it invalid.
    fn level(users: u32, response_us: u64, failed: f64) -> Point {
        let key = PointKey {
            threads: 0,
            ..PointKey::of(USERS, users)
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
                messages: std::collections::BTreeMap::from([("deadlock".into(), failed as u64)]),
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

    /// Modelled on SQLite, which has one writer: a ramp up to 20 users that its rule ended at 16.
    #[test]
    fn a_ramp_that_its_rule_ended_says_so_first() {
        let mut ramp: Vec<Point> = [4, 8, 12, 16]
            .map(|users| level(users, 1_000 * u64::from(users), 0.0))
            .into();
        for (point, per_s) in ramp
            .iter_mut()
            .zip([53_250.0, 50_010.0, 48_420.0, 49_140.0])
        {
            point.figures.operations_per_s = Some(per_s);
        }
        let sentences = said(&ramp);
        assert_eq!(
            sentences,
            [
                "Supported within p95 ≤ 50.0 ms: at least 16 users; the ramp ended at 16 users: throughput has not risen by more \
                 than 1 % since 4 users (last: 49140.0/s).",
                "The knee lies at or below 4 users: from there on response time grows faster than throughput; begin with fewer."
            ]
        );
        for point in &mut ramp {
            point.work.limit_response_us = None;
        }
        assert_eq!(
            said(&ramp)[0],
            "The ramp ended at 16 users: throughput has not risen by more than 1 % since 4 users (last: 49140.0/s)."
        );
        // Rising throughput has its knee beyond the levels, and no rule ends it.
        let rising = [4, 8, 12, 16].map(|users| level(users, 1_000, 0.0));
        assert_eq!(
            said(&rising),
            [
                "Supported within p95 ≤ 50.0 ms: at least 16 users; the ramp ended before the limit was exceeded.",
                "The knee, where response time begins to grow faster than throughput, was not found within this ramp; measure more \
                 than 16 users."
            ]
        );
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
        // One failure is within the limit of errors, but the level is still no figure.
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
