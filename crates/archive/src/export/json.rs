//! JSON: the whole run, each point one flat row.

use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value, json};
use stats::HistogramSnapshot;

use crate::store::{finite::finite, state_name, steady_name};
use crate::{
    Latency, OperationSample, OperationTimes, Point, Remark, Run, TargetRecord, TransactionKind,
};

/// Value of `schema` in every export; the number changes when a reader would have to change.
pub const SCHEMA_NAME: &str = "dbdyno-result/2";

/// The distributions and the figures read from them: `service_us_p99`, `service_histogram` …
pub(super) const DISTRIBUTIONS: [&str; 2] = ["service", "response"];
/// Endings of the latency figures, in the order of [`Latency::named`].
pub(super) const PERCENTILES: [&str; 7] = ["mean", "p50", "p90", "p95", "p99", "p99_9", "max"];

/// Writes the run as pretty-printed JSON with a line end, one point after the other.
///
/// # Errors
/// As writing.
pub fn write_json(run: &Run, to: impl Write) -> io::Result<()> {
    write_json_with(run, &[], to)
}

/// … with what others make of the run, under its names, at the end.
///
/// # Errors
/// As writing.
pub fn write_json_with(run: &Run, more: &[(&str, Value)], mut to: impl Write) -> io::Result<()> {
    let exported = Exported {
        more,
        ..Exported::of(run)
    };
    serde_json::to_writer_pretty(&mut to, &exported)?;
    to.write_all(b"\n")
}

/// The run as [`write_json`] writes it.
pub fn json_text(run: &Run) -> String {
    let mut text = Vec::new();
    write_json(run, &mut text)
        .expect("a Vec takes everything, and names and values are strings and finite numbers");
    String::from_utf8(text).expect("JSON is always valid UTF-8")
}

/// The run as a JSON value; `docs/dbdyno-result.schema.json` describes it.
pub fn json(run: &Run) -> Value {
    serde_json::to_value(Exported::of(run))
        .expect("names and values are strings and finite numbers")
}

/// What is exported, in any of serde's formats. Its points are converted one at a time: a run of thousands would take a
/// multiple of its own memory.
#[derive(Debug, Clone, Copy)]
pub struct Exported<'a> {
    run: &'a Run,
    has_distributions: bool,
    has_device_samples: bool,
    more: &'a [(&'a str, Value)],
}

impl<'a> Exported<'a> {
    pub fn of(run: &'a Run) -> Self {
        Self {
            run,
            has_distributions: true,
            has_device_samples: true,
            more: &[],
        }
    }

    /// The same without the distributions, which are most of it.
    #[must_use]
    pub fn without_distributions(self) -> Self {
        Self {
            has_distributions: false,
            ..self
        }
    }

    /// The same without the samples of devices; the devices stay.
    #[must_use]
    pub fn without_device_samples(self) -> Self {
        Self {
            has_device_samples: false,
            ..self
        }
    }
}

impl Serialize for Exported<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let run = self.run;
        let mut whole = serializer.serialize_map(None)?;
        whole.serialize_entry("schema", SCHEMA_NAME)?;
        whole.serialize_entry("run", &head(run))?;
        whole.serialize_entry("targets", &run.targets)?;
        whole.serialize_entry("platform", &run.platform)?;
        whole.serialize_entry("inventory", &run.inventory)?;
        whole.serialize_entry("missing", &missing(run))?;
        whole.serialize_entry("points", &Points(*self))?;
        for (name, value) in self.more {
            whole.serialize_entry(name, value)?;
        }
        whole.end()
    }
}

struct Points<'a>(Exported<'a>);

impl Serialize for Points<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Exported {
            run,
            has_distributions,
            has_device_samples,
            ..
        } = self.0;
        serializer.collect_seq(run.points.iter().map(|point| {
            let mut row = row(run, point);
            if !has_distributions {
                for kind in DISTRIBUTIONS {
                    row.shift_remove(&format!("{kind}_histogram"));
                }
            }
            if !has_device_samples {
                without_samples(&mut row);
            }
            row
        }))
    }
}

/// Takes the samples from the devices of a row.
fn without_samples(row: &mut Map<String, Value>) {
    let devices = row.get_mut("devices").and_then(Value::as_array_mut);
    for device in devices.into_iter().flatten() {
        device["samples"] = json!([]);
    }
}

fn head(run: &Run) -> Value {
    json!({
        "id": run.id,
        "label": run.label,
        "renamed_from": run.renamed_from,
        "note": run.note,
        "state": state_name(run.state),
        "valid": run.valid(),
        "reasons": exported(&run.reasons),
        "started_at": run.started_at,
        "finished_at": run.finished_at,
        "tool_version": run.tool_version,
        "plan_name": run.plan_name,
        "plan_toml": run.plan_toml,
        "seed": run.seed,
        "repetitions": run.repetitions,
        "points_planned": run.points_planned,
        "points_finished": run.points.len(),
        "study": run.study,
    })
}

fn exported(remarks: &[Remark]) -> Value {
    remarks.iter().map(Remark::exported).collect()
}

fn missing(run: &Run) -> Vec<Value> {
    let each = run.missing.iter().map(|m| {
        json!({
            "target": target(run, m.target).name,
            "test": m.test,
            "title": m.title,
            "reason": m.reason.exported(),
        })
    });
    each.collect()
}

/// One point, flat: the row of every export.
pub(super) fn row(run: &Run, point: &Point) -> Map<String, Value> {
    let point = finite(point);
    let mut row = Map::new();
    let mut put = |name: &str, value: Value| {
        row.insert(name.to_owned(), value);
    };
    let key = &point.key;
    let target = target(run, key.target);
    put("repetition", key.repetition.into());
    put("step", key.step.into());
    put("target", target.name.into());
    put("engine", target.engine.into());
    put("engine_version", target.engine_version.into());
    put("test", key.test.clone().into());
    put("title", point.title.clone().into());
    put("component", point.component.name().into());
    put("nodes", key.nodes.into());
    put("jobs", key.jobs.into());
    put("threads", key.threads.into());
    put("dop", (u64::from(key.jobs) * u64::from(key.threads)).into());
    for (figure, value) in point.figures.iter() {
        put(figure.name, value.into());
    }
    let histograms = [&point.histograms.service, &point.histograms.response];
    for (kind, histogram) in DISTRIBUTIONS.into_iter().zip(histograms) {
        for (ending, value) in latencies(histogram) {
            put(&format!("{kind}_us_{ending}"), value.into());
        }
    }
    put("valid", point.valid().into());
    put("crowded", point.figures.is_crowded().into());
    put("reasons", exported(&point.reasons));
    put("notes", exported(&point.notes));
    put("steady", point.steady.map(steady_name).into());
    put("timed_events", json!(point.timed_events));
    let held = &point.held_back;
    let bottleneck = held.bottleneck.as_ref();
    put(
        "bottleneck_resource",
        bottleneck.map(|b| b.resource.name()).into(),
    );
    put(
        "bottleneck_sentence",
        bottleneck.map(|b| b.sentence.clone()).into(),
    );
    put("background_events", json!(held.background_events));
    put("wait_histograms", json!(held.wait_histograms));
    put("samples", json!(point.samples));
    let by = &point.by_operation;
    put(
        "operation_times",
        by.times.iter().map(operation_times).collect(),
    );
    put(
        "operation_samples",
        by.samples.iter().map(operation_sample).collect(),
    );
    put(
        "transactions",
        by.transactions.iter().map(transaction_kind).collect(),
    );
    put("devices", json!(point.devices));
    put("engine_io", json!(point.engine_io));
    put("interfaces", json!(point.interfaces));
    put("executions", json!(point.executions));
    put("observed", json!(point.observed));
    put("work", json!(point.work));
    put("seed", point.seed.into());
    put("configuration", point.configuration.clone().into());
    put("definition", point.definition.clone().into());
    put("started_at", point.started_at.clone().into());
    for (kind, histogram) in DISTRIBUTIONS.into_iter().zip(histograms) {
        let bytes = (!histogram.is_empty()).then(|| BASE64.encode(histogram.encoded()));
        put(&format!("{kind}_histogram"), bytes.into());
    }
    row
}

fn operation_times(times: &OperationTimes) -> Value {
    json!({
        "observer": times.observer,
        "subject": times.subject,
        "operation": times.operation,
        "phase": times.phase,
        "count": times.count,
        "mean_us": times.mean_us,
        "remark": times.remark,
        "histogram": times.encoded().map(|bytes| BASE64.encode(bytes)),
    })
}

fn transaction_kind(kind: &TransactionKind) -> Value {
    json!({
        "name": kind.name,
        "completed": kind.completed,
        "rows": kind.rows,
        "rows_per_transaction": kind.rows_per_transaction(),
    })
}

fn operation_sample(sample: &OperationSample) -> Value {
    json!({
        "at_s": sample.at_s,
        "operation": sample.operation,
        "operations": sample.operations,
        "service_us_mean": sample.service_us_mean,
        "response_us_mean": sample.response_us_mean,
    })
}

/// The figures read from a histogram; all unknown when nothing was recorded.
fn latencies(histogram: &HistogramSnapshot) -> [(&'static str, Option<f64>); 7] {
    match Latency::of(histogram) {
        Some(latency) => latency.named().map(|(ending, value)| (ending, Some(value))),
        None => PERCENTILES.map(|ending| (ending, None)),
    }
}

/// The target with that number; a nameless one when the archive's record of it was changed.
pub(super) fn target(run: &Run, index: u32) -> TargetRecord {
    run.targets.get(index as usize).cloned().unwrap_or_default()
}
