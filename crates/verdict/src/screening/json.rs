//! A screening as JSON, for programs (docs/FORMAT.md).

use serde_json::{Map, Value, json as value};

use super::{Effect, OfMetric, Screening};
use crate::metric;
use crate::outcome::{CONFIDENCE, verdict_word};

/// Value of `schema` in the JSON; the number changes when a reader would have to change.
pub const SCHEMA_NAME: &str = "dbdyno-screening/1";

/// The screening as a JSON value.
pub fn json(screening: &Screening) -> Value {
    let remarks = screening.remarks.iter();
    value!({
        "schema": SCHEMA_NAME,
        "study": screening.study,
        "rounds": screening.rounds,
        "resolution": screening.resolution,
        "factors": screening.factors,
        "configurations": screening.configurations.iter().map(|row| {
            let medians = screening.metrics.iter().zip(&row.medians);
            let medians: Map<String, Value> = medians
                .map(|(of_metric, median)| (of_metric.metric.to_string(), value!(median)))
                .collect();
            value!({ "side": row.side, "run": row.label, "high": row.high, "medians": medians })
        }).collect::<Vec<_>>(),
        "remarks": remarks.map(|remark| {
            let mut told = value!(remark);
            told["sentence"] = remark.to_string().into();
            told
        }).collect::<Vec<_>>(),
        "cautions": screening.cautions,
        "confidence_together": CONFIDENCE,
        "confidence_each": screening.confidence,
        "band_pct": screening.band.equivalence * 100.0,
        "metrics": screening.metrics.iter().map(|of_metric| of_one(screening, of_metric)).collect::<Vec<_>>(),
    })
}

fn of_one(screening: &Screening, of_metric: &OfMetric) -> Value {
    let (effects, why) = match &of_metric.effects {
        Ok(effects) => {
            let pairs = screening.factors.iter().zip(effects);
            let told = pairs.map(|(factor, found)| effect(&factor.key, found));
            (told.collect(), None)
        }
        Err(why) => (Vec::new(), Some(why.to_string())),
    };
    value!({
        "metric": of_metric.metric.to_string(),
        "unit": metric::unit(&of_metric.metric.figure),
        "better": of_metric.better,
        "rounds": of_metric.rounds,
        "no_effects_because": why,
        "effects": effects,
    })
}

fn effect(key: &str, found: &Effect) -> Value {
    let Effect {
        effect,
        verdict,
        least_effect,
    } = found;
    value!({
        "factor": key,
        "verdict": verdict_word(*verdict),
        "ratio": effect.ratio.estimate,
        "ratio_low": effect.ratio.low,
        "ratio_high": effect.ratio.high,
        "spread_log": effect.sd_log,
        "least_effect_pct": least_effect.map(|share| share * 100.0),
        "warnings": effect.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}
