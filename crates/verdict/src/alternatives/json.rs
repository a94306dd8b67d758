//! Alternatives as JSON, for programs (docs/FORMAT.md).

use serde_json::{Map, Value, json as value};

use super::{Alternatives, OfMetric, Pair};
use crate::metric;
use crate::outcome::{CONFIDENCE, contrast_json, remarks_json};

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
            value!({
                "side": side.side,
                "run": side.label,
                "name": side.alternative.name,
                "about": side.alternative.about,
                "remarks": remarks_json(&side.alternative.remarks),
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
    let of_pair = |pair: &Pair| {
        let names = value!({ "a": name(pair.a), "b": name(pair.b) });
        contrast_json(names, pair.verdict, &pair.ratio, pair.least_effect)
    };
    let pairs = of_metric.pairs.iter().flatten();
    value!({
        "metric": of_metric.metric.to_string(),
        "unit": metric::unit(&of_metric.metric.figure),
        "better": of_metric.better,
        "rounds": of_metric.rounds,
        "order": of_metric.order.iter().map(|side| name(*side)).collect::<Vec<_>>(),
        "no_verdicts_because": of_metric.pairs.as_ref().err().map(ToString::to_string),
        "pairs": pairs.map(of_pair).collect::<Vec<_>>(),
    })
}
