//! A judged fleet as JSON, for programs (docs/FLEET.md).

use serde_json::{Value, json as value};

use super::measure::{CONFIDENCE, Figure, Measure, Shift, resamples};
use super::which::{Named, Which};
use super::window::LIMITS;
use super::{Call, Fleet};

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
        "call": call(fleet.call),
        "confidence": CONFIDENCE,
        "seed": fleet.question.seed,
        "resamples": fleet.shifts.first().map(|shift| resamples(shift.systems)),
        "systems": fleet.systems.len(),
        "left_out": {
            "one_sided": fleet.left_out.one_sided,
            "misordered": fleet.left_out.misordered,
        },
        "mix_changed": {
            "systems": fleet.changed.any,
            "by_reads": fleet.changed.reads,
            "by_size": fleet.changed.size,
            "by_rate": fleet.changed.rate,
        },
        "shifts": shifts,
        "strata": strata,
        "which": which(&fleet.which),
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

fn call(call: Call) -> &'static str {
    match call {
        Call::Higher => "higher",
        Call::Lower => "lower",
        Call::NotShown => "not shown",
        Call::TooFew => "refused: too few systems",
        Call::OtherMix => "refused: other mix",
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

fn which(which: &Which) -> Value {
    let list = |named: &[Named]| -> Vec<Value> {
        let one = |n: &Named| {
            value!({
                "system": n.name, "before": n.before, "after": n.after,
                "adjusted_p": n.adjusted_p,
            })
        };
        named.iter().map(one).collect()
    };
    value!({
        "tested": which.tested,
        "worse": list(&which.worse),
        "better": list(&which.better),
        "lowest_without_claim": list(&which.lowest),
    })
}
