//! A screening as JSON, for programs (docs/FORMAT.md).

use archive::Factor;
use serde_json::{Map, Value, json as value};

use super::{Effect, OfMetric, Screening};
use crate::metric;
use crate::outcome::{CONFIDENCE, contrast_json, remarks_json};

/// Value of `schema` in the JSON; the number changes when a reader would have to change.
pub const SCHEMA_NAME: &str = "dbdyno-screening/1";

/// The screening as a JSON value.
pub fn json(screening: &Screening) -> Value {
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
        "remarks": remarks_json(&screening.remarks),
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
            let of_factor = |(factor, of): (&Factor, &Effect)| {
                let name = value!({ "factor": factor.key });
                contrast_json(name, of.verdict, &of.effect, of.least_effect)
            };
            (pairs.map(of_factor).collect(), None)
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
