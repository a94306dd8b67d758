//! What a ramp of users says: how many are supported within a response time, and where its knee is.

use stats::ramp::{Knee, Limits, Step, Supported, knee, supported};
use verdict::ramps::{ERRORS_PCT_MAX, PERCENTILE, USERS, step};

use crate::level::{Curve, Level};
use crate::number;

/// A sentence each for the supported users and the knee; none for what is no ramp of users.
pub fn sentences(curve: &Curve<'_>) -> Vec<String> {
    let is_of_users = |level: &Level<'_>| level.first().key.test == USERS;
    if curve.levels.len() < 2 || !curve.levels.iter().all(is_of_users) {
        return Vec::new();
    }
    let work = &curve.levels[0].first().work;
    let percentile = work.limit_percentile.unwrap_or(PERCENTILE);
    let valid: Vec<Level<'_>> = (curve.levels.iter())
        .filter_map(Level::only_valid)
        .collect();
    let steps: Vec<Step> = valid
        .iter()
        .map(|level| step_of(level, percentile))
        .collect();
    let within = work.limit_response_us.map(|response_us| {
        let limits = Limits {
            response_us,
            errors_pct: ERRORS_PCT_MAX,
        };
        let limit = format!("p{percentile} ≤ {}", number::latency(Some(response_us)));
        supported_words(&supported(&steps, &limits), &limit)
    });
    let knee = (steps.len() > 2).then(|| knee(&steps)).flatten();
    let knee = knee.map(|knee| knee_words(&knee));
    within.into_iter().chain(knee).collect()
}

fn step_of(level: &Level<'_>, percentile: f64) -> Step {
    let users = level.first().key.jobs;
    let figure = |name: &str| level.figure(name);
    step(users, figure, &level.response(), percentile)
}

fn supported_words(found: &Supported, limit: &str) -> String {
    let Some(supported) = found.users else {
        return format!("Not supported within {limit}: even the smallest number of users.");
    };
    let mut text = match found.exceeded {
        None => format!(
            "Supported within {limit}: at least {}; the ramp ended before the limit was exceeded",
            number::users(supported)
        ),
        Some(exceeded) => {
            let users = number::users(supported);
            format!("Supported within {limit}: {users}; not supported: {exceeded}")
        }
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
            "The knee, where response time begins to grow faster than throughput, lies outside this ramp."
                .into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(users: Option<u32>, exceeded: Option<u32>, interpolated: Option<f64>) -> String {
        let found = Supported {
            users,
            exceeded,
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
}
