//! A screening, or alternatives, as JSON, for programs (docs/FORMAT.md).

use archive::Remark;
use serde_json::{Map, Value, json as value};

use super::{Contrasts, Judged, Kind, OfMetric, Side};
use crate::metric;
use crate::outcome::{CONFIDENCE, verdict_word};

/// The contrasts as a JSON value. The number in `schema` changes when a reader would have to change.
pub fn json(found: &Contrasts) -> Value {
    let sides: Vec<Value> = found
        .sides
        .iter()
        .map(|side| of_side(found, side))
        .collect();
    let mut object = match found.kind() {
        Kind::Screening => value!({
            "schema": "dbdyno-screening/1",
            "study": found.study,
            "rounds": found.rounds,
            "resolution": found.resolution,
            "factors": found.factors,
            "configurations": sides,
            "remarks": remarks_json(&found.remarks),
        }),
        Kind::Alternatives => value!({
            "schema": "dbdyno-alternatives/1",
            "study": found.study,
            "rounds": found.rounds,
            "alternatives": sides,
        }),
    };
    object["cautions"] = value!(found.cautions);
    object["confidence_together"] = CONFIDENCE.into();
    object["confidence_each"] = found.confidence.into();
    object["band_pct"] = (found.band.equivalence * 100.0).into();
    object["metrics"] = found.metrics.iter().map(|of| of_one(found, of)).collect();
    object
}

fn of_side(found: &Contrasts, side: &Side) -> Value {
    let by_metric = |figures: &[Option<f64>]| -> Map<String, Value> {
        let each = found.metrics.iter().zip(figures);
        let each = each.map(|(of, figure)| (of.metric.to_string(), value!(figure)));
        each.collect()
    };
    let medians = by_metric(&side.medians);
    match found.kind() {
        Kind::Screening => value!({
            "side": side.side, "run": side.label, "high": side.high, "medians": medians,
        }),
        Kind::Alternatives => value!({
            "side": side.side,
            "run": side.label,
            "name": side.alternative.name,
            "about": side.alternative.about,
            "remarks": remarks_json(&side.alternative.remarks),
            "medians": medians,
            "geometric_means": by_metric(&side.means),
        }),
    }
}

fn of_one(found: &Contrasts, of: &OfMetric) -> Value {
    let name = |side: usize| found.sides[side].alternative.name.as_str();
    let judged = of.contrasts.iter().flatten().enumerate();
    let contrasts: Vec<Value> = judged
        .map(|(number, judged)| {
            let names = match judged.pair {
                Some([a, b]) => value!({ "a": name(a), "b": name(b) }),
                None => value!({ "factor": found.factors[number].key }),
            };
            of_contrast(names, judged)
        })
        .collect();
    let why = of.contrasts.as_ref().err().map(ToString::to_string);
    let mut object = value!({
        "metric": of.metric.to_string(),
        "unit": metric::unit(&of.metric.figure),
        "better": of.better,
        "rounds": of.rounds,
    });
    match found.kind() {
        Kind::Screening => {
            object["no_effects_because"] = why.into();
            object["effects"] = contrasts.into();
        }
        Kind::Alternatives => {
            object["order"] = of.order.iter().map(|side| name(*side)).collect();
            object["no_verdicts_because"] = why.into();
            object["pairs"] = contrasts.into();
        }
    }
    object
}

/// A contrast that was judged, after the names of its sides.
fn of_contrast(names: Value, judged: &Judged) -> Value {
    let contrast = &judged.contrast;
    let mut object = names;
    object["verdict"] = verdict_word(judged.verdict).into();
    object["ratio"] = contrast.ratio.estimate.into();
    object["ratio_low"] = contrast.ratio.low.into();
    object["ratio_high"] = contrast.ratio.high.into();
    object["spread_log"] = contrast.sd_log.into();
    object["least_effect_pct"] = judged.least_effect.map(|share| share * 100.0).into();
    object["warnings"] = (contrast.warnings.iter().map(ToString::to_string)).collect();
    object
}

fn remarks_json(remarks: &[Remark]) -> Value {
    let with_sentence = |remark: &Remark| {
        let mut object = value!(remark);
        object["sentence"] = remark.to_string().into();
        object
    };
    remarks.iter().map(with_sentence).collect()
}
