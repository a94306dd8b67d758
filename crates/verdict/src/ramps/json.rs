//! Ramps as part of a comparison's JSON (docs/FORMAT.md).

use serde_json::{Value, json as value};
use stats::ramp::Figure;

use super::Ramps;
use crate::outcome::{ratio_and_interval, verdict_word};

/// The ramps that two runs have in common.
pub fn json(ramps: &[Ramps]) -> Value {
    ramps.iter().map(of_one).collect()
}

fn of_one(ramps: &Ramps) -> Value {
    let found = &ramps.found;
    let at = |(users, figure): &(u32, Figure)| {
        let mut object = of_figure(figure);
        object["users"] = (*users).into();
        object
    };
    value!({
        "target": ramps.target,
        "percentile": ramps.percentile,
        "limit_us": ramps.limit_us,
        "users_at_limit": found.users_at_limit.as_ref().map(of_figure),
        "response_us_at_users": found.response_at_users.iter().map(at).collect::<Vec<_>>(),
        "operations_per_s_at_knee": of_figure(&found.throughput_at_knee),
    })
}

fn of_figure(figure: &Figure) -> Value {
    let compared = &figure.comparison;
    let [ratio, low, high, confidence] = ratio_and_interval(compared);
    value!({
        "values_a": figure.a,
        "values_b": figure.b,
        "left_out": figure.left_out,
        "verdict": verdict_word(compared.verdict),
        "ratio": ratio,
        "ratio_low": low,
        "ratio_high": high,
        "confidence": confidence,
    })
}
