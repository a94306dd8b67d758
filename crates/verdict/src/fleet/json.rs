//! A judged fleet as JSON, for programs (docs/FLEET.md).

use serde_json::{Value, json as value};

use super::Fleet;
use super::measure::{CONFIDENCE, Figure, Measure, Shift, resamples};
use super::window::LIMITS;

/// The fleet without its single systems.
pub fn json(fleet: &Fleet) -> Value {
    let limits_us = fleet.question.limits_us;
    let shifts: Vec<Value> = fleet
        .shifts
        .iter()
        .map(|shift| shift_json(shift, limits_us))
        .collect();
    let strata: Vec<Value> = fleet
        .strata
        .iter()
        .map(
            |(class, shift)| value!({ "mix": class.name(), "shift": shift_json(shift, limits_us) }),
        )
        .collect();
    value!({
        "kind": "observational",
        "limits_us": limits_us,
        "primary": name(fleet.question.primary, limits_us),
        "call": fleet.call,
        "confidence": CONFIDENCE,
        "seed": fleet.question.seed,
        "resamples": fleet.shifts.first().map(|shift| resamples(shift.systems)),
        "systems": fleet.systems.len(),
        "left_out": fleet.left_out,
        "mix_changed": fleet.changed,
        "shifts": shifts,
        "strata": strata,
        "which": fleet.which,
    })
}

/// `write.within_120us`, `read.mean`.
fn name(measure: Measure, limits_us: [f64; LIMITS]) -> String {
    let operation = measure.operation.name();
    match measure.figure {
        Figure::Within(limit) => format!("{operation}.within_{}us", limits_us[limit]),
        Figure::Mean => format!("{operation}.mean"),
    }
}

fn shift_json(shift: &Shift, limits_us: [f64; LIMITS]) -> Value {
    let interval = shift.interval.as_ref().ok();
    let (unit, estimate) = match shift.measure.figure {
        Figure::Within(_) => ("difference of shares", shift.after - shift.before),
        Figure::Mean => ("ratio of means", shift.after / shift.before),
    };
    value!({
        "measure": name(shift.measure, limits_us),
        "unit": unit,
        "systems": shift.systems,
        "undecided": shift.undecided,
        "before": shift.before,
        "after": shift.after,
        "shift": estimate,
        "shift_low": interval.map(|i| i.low),
        "shift_high": interval.map(|i| i.high),
        "median": shift.median,
        "smaller": shift.smaller,
    })
}
