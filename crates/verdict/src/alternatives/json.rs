//! Alternatives as JSON, for programs (docs/FORMAT.md).

use serde_json::{Map, Value, json as value};

use super::{Alternatives, OfMetric, Pair};
use crate::metric;
use crate::outcome::{CONFIDENCE, verdict_word};

/// Value of `schema` in the JSON; the number changes when a reader would have to change.
pub const SCHEMA_NAME: &str = "dbdyno-alternatives/1";

/// The alternatives as a JSON value.
pub fn json(found: &Alternatives) -> Value {
    value!({
        "schema": SCHEMA_NAME,
        "study": found.study,
        "rounds": found.rounds,
        "alternatives": found.sides.iter().map(|side| {
            let by_metric = |figures: &[Option<f64>]| -> Map<String, Value> {
                let each = found.metrics.iter().zip(figures);
                let each = each.map(|(of, figure)| (of.metric.to_string(), value!(figure)));
                each.collect()
            };
            let remarks = side.alternative.remarks.iter().map(|remark| {
                let mut told = value!(remark);
                told["sentence"] = remark.to_string().into();
                told
            });
            value!({
                "side": side.side,
                "run": side.label,
                "name": side.alternative.name,
                "about": side.alternative.about,
                "remarks": remarks.collect::<Vec<_>>(),
                "medians": by_metric(&side.medians),
                "geometric_means": by_metric(&side.means),
            })
        }).collect::<Vec<_>>(),
        "cautions": found.cautions,
        "confidence_together": CONFIDENCE,
        "confidence_each": found.confidence,
        "band_pct": found.band.equivalence * 100.0,
        "metrics": found.metrics.iter().map(|of_metric| of_one(found, of_metric)).collect::<Vec<_>>(),
    })
}

fn of_one(found: &Alternatives, of_metric: &OfMetric) -> Value {
    let name = |side: usize| found.sides[side].alternative.name.as_str();
    let pairs = of_metric.pairs.iter().flatten();
    value!({
        "metric": of_metric.metric.to_string(),
        "unit": metric::unit(&of_metric.metric.figure),
        "better": of_metric.better,
        "rounds": of_metric.rounds,
        "order": of_metric.order.iter().map(|side| name(*side)).collect::<Vec<_>>(),
        "no_verdicts_because": of_metric.pairs.as_ref().err().map(ToString::to_string),
        "pairs": pairs.map(|pair| of_pair(pair, name(pair.a), name(pair.b))).collect::<Vec<_>>(),
    })
}

fn of_pair(pair: &Pair, a: &str, b: &str) -> Value {
    let ratio = &pair.ratio;
    value!({
        "a": a,
        "b": b,
        "verdict": verdict_word(pair.verdict),
        "ratio": ratio.ratio.estimate,
        "ratio_low": ratio.ratio.low,
        "ratio_high": ratio.ratio.high,
        "spread_log": ratio.sd_log,
        "least_effect_pct": pair.least_effect.map(|share| share * 100.0),
        "warnings": ratio.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}
