//! Figures and percentiles as part of a flat row: values whose names come from tables.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value, json};
use stats::HistogramSnapshot;

use crate::{Better, FIGURES, Figures, Histograms, Latency};

/// Distributions, with the start of an operation that they count from.
const DISTRIBUTIONS: [(&str, &str); 2] = [("service", "actual"), ("response", "intended")];
/// Endings of the latency figures, in the order of [`Latency::named`].
const ENDINGS: [&str; 7] = ["mean", "p50", "p90", "p95", "p99", "p99_9", "max"];

/// `service_us_p99` …: read from the histograms.
#[derive(Debug)]
pub(super) struct Percentiles<'a>(pub &'a Histograms);

impl Serialize for Percentiles<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let histograms = [&self.0.service, &self.0.response];
        for ((kind, _), histogram) in DISTRIBUTIONS.into_iter().zip(histograms) {
            for (ending, value) in latencies(histogram) {
                map.serialize_entry(&format!("{kind}_us_{ending}"), &value)?;
            }
        }
        map.end()
    }
}

/// All unknown when nothing was recorded.
fn latencies(histogram: &HistogramSnapshot) -> [(&'static str, Option<f64>); 7] {
    match Latency::of(histogram) {
        Some(latency) => latency.named().map(|(ending, value)| (ending, Some(value))),
        None => ENDINGS.map(|ending| (ending, None)),
    }
}

impl JsonSchema for Percentiles<'_> {
    fn schema_name() -> Cow<'static, str> {
        "Percentiles".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        numbers(DISTRIBUTIONS.into_iter().flat_map(|(kind, start)| {
            ENDINGS.map(|ending| {
                let meaning =
                    format!("[µs] From the {start} start to the end of an operation: {ending}.");
                (format!("{kind}_us_{ending}"), meaning)
            })
        }))
    }
}

impl JsonSchema for Figures {
    fn schema_name() -> Cow<'static, str> {
        "Figures".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        numbers(FIGURES.iter().map(|figure| {
            let direction = match figure.better {
                Better::Higher => " Higher is better.",
                Better::Lower => " Lower is better.",
                Better::Neither => "",
            };
            let meaning = format!("[{}] {}{direction}", figure.unit, figure.meaning);
            (figure.name.to_owned(), meaning)
        }))
    }
}

/// An object of these numbers, each with its meaning, all present and some null.
fn numbers(named: impl Iterator<Item = (String, String)>) -> Schema {
    let number = |(name, meaning)| {
        (
            name,
            json!({ "type": ["number", "null"], "description": meaning }),
        )
    };
    let properties: Map<String, Value> = named.map(number).collect();
    let required: Vec<&String> = properties.keys().collect();
    json_schema!({ "type": "object", "required": required, "properties": properties })
}
