//! The rows of an export: a run, the tests that it lacks, and its points.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use stats::HistogramSnapshot;

use super::flat::Percentiles;
use crate::remark::with_sentences;
use crate::{
    BackgroundEvent, Component, DeviceUse, EngineIo, Execution, Figures, InterfaceUse, Missing,
    Observed, OperationSample, OperationTimes, Point, Remark, Resource, Run, RunState, Sample,
    Section, Steady, StudyPart, TargetRecord, TimedEvent, TransactionKind, WaitHistogram, WorkDone,
};

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RunRow<'a> {
    /// Number in its archive.
    id: i64,
    /// Unique name in its archive.
    label: &'a str,
    /// The label that the run was measured under; null if it was not renamed.
    renamed_from: Option<&'a str>,
    /// The user's note on the run; null without one.
    note: Option<&'a str>,
    /// State of the run.
    state: RunState,
    /// True if the run is complete and unchanged and every point is valid.
    valid: bool,
    /// Why the run as a whole is invalid.
    #[serde(serialize_with = "with_sentences")]
    reasons: &'a [Remark],
    /// Wall-clock start.
    started_at: &'a str,
    /// Wall-clock end.
    finished_at: Option<&'a str>,
    /// Version of dbdyno that measured the run.
    tool_version: &'a str,
    /// Name of the plan.
    plan_name: &'a str,
    /// The plan as it was executed.
    plan_toml: &'a str,
    /// Seed from which every point's seed is derived (64 bits).
    seed: u64,
    /// Repetitions requested.
    repetitions: u32,
    /// Points of the complete run.
    points_planned: u32,
    /// Points that are finished.
    points_finished: usize,
    /// Its part in a study; null outside one.
    study: Option<&'a StudyPart>,
}

impl<'a> RunRow<'a> {
    pub(super) fn of(run: &'a Run) -> Self {
        Self {
            id: run.id,
            label: &run.label,
            renamed_from: run.renamed_from.as_deref(),
            note: run.note.as_deref(),
            state: run.state,
            valid: run.valid(),
            reasons: &run.reasons,
            started_at: &run.started_at,
            finished_at: run.finished_at.as_deref(),
            tool_version: &run.tool_version,
            plan_name: &run.plan_name,
            plan_toml: &run.plan_toml,
            seed: run.seed,
            repetitions: run.repetitions,
            points_planned: run.points_planned,
            points_finished: run.points.len(),
            study: run.study.as_ref(),
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct MissingRow<'a> {
    /// Short name of the target.
    target: &'a str,
    /// Test code.
    test: &'a str,
    /// Title of the test.
    title: &'a str,
    /// Why the target cannot do it.
    #[serde(serialize_with = "with_sentence")]
    reason: &'a Remark,
}

impl<'a> MissingRow<'a> {
    pub(super) fn of(run: &'a Run, missing: &'a Missing) -> Self {
        Self {
            target: target(run, missing.target).map_or("", |target| &target.name),
            test: &missing.test,
            title: &missing.title,
            reason: &missing.reason,
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PointRow<'a> {
    /// Repetition of the whole plan, from 1.
    repetition: u32,
    /// Step of the plan, from 1.
    step: u32,
    /// Short name of the target.
    target: &'a str,
    /// Kind of database.
    engine: &'a str,
    /// Version as the engine reports it.
    engine_version: &'a str,
    /// Test code.
    test: &'a str,
    /// Title of the test.
    title: &'a str,
    /// Part of the platform that the test loads.
    component: Component,
    /// Nodes of the cluster (#N).
    nodes: u32,
    /// Concurrent database sessions (#J).
    jobs: u32,
    /// Degree of parallelism inside one job (#T).
    threads: u32,
    /// Degree of parallelism: jobs × threads.
    dop: u64,
    #[serde(flatten)]
    figures: &'a Figures,
    #[serde(flatten)]
    percentiles: Percentiles<'a>,
    /// True if there are no reasons of invalidity.
    valid: bool,
    /// True if programs other than the database and the driver used more of the processors, or of the device, than a
    /// point tolerates.
    crowded: Option<bool>,
    /// Why the point is invalid.
    #[serde(serialize_with = "with_sentences")]
    reasons: &'a [Remark],
    /// Remarks that do not make the point invalid.
    #[serde(serialize_with = "with_sentences")]
    notes: &'a [Remark],
    /// Was the throughput steady?
    steady: Option<Steady>,
    timed_events: &'a [TimedEvent],
    /// Resource that limited the point; null if not judged.
    bottleneck_resource: Option<Resource>,
    /// … in one sentence with its numbers.
    bottleneck_sentence: Option<&'a str>,
    background_events: &'a [BackgroundEvent],
    wait_histograms: &'a [WaitHistogram],
    samples: &'a [Sample],
    operation_times: &'a [OperationTimes],
    operation_samples: &'a [OperationSample],
    transactions: Vec<TransactionRow<'a>>,
    devices: &'a [DeviceUse],
    engine_io: &'a [EngineIo],
    interfaces: &'a [InterfaceUse],
    executions: &'a [Execution],
    observed: &'a [Observed],
    sections: &'a [Section],
    work: &'a WorkDone,
    /// Seed of everything random in the point (64 bits).
    seed: u64,
    /// Fingerprint of everything that was configured.
    configuration: &'a str,
    /// Fingerprint of the test definition with its SQL.
    definition: &'a str,
    /// Wall-clock start.
    started_at: &'a str,
    /// HdrHistogram V2, deflated, in nanoseconds; null when nothing was recorded.
    #[schemars(extend("contentEncoding" = "base64"))]
    service_histogram: Option<String>,
    /// HdrHistogram V2, deflated, in nanoseconds; null when nothing was recorded.
    #[schemars(extend("contentEncoding" = "base64"))]
    response_histogram: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct TransactionRow<'a> {
    #[serde(flatten)]
    kind: &'a TransactionKind,
    /// Mean rows per transaction; null if none was completed.
    rows_per_transaction: Option<f64>,
}

impl<'a> PointRow<'a> {
    /// `point` has finite numbers alone.
    pub(super) fn of(run: &'a Run, point: &'a Point) -> Self {
        let (key, by, held) = (&point.key, &point.by_operation, &point.held_back);
        let target = target(run, key.target);
        let of_target = |text: fn(&TargetRecord) -> &str| target.map_or("", text);
        let bottleneck = held.bottleneck.as_ref();
        let text = |histogram: &HistogramSnapshot| {
            (!histogram.is_empty()).then(|| BASE64.encode(histogram.encoded()))
        };
        let transactions = by.transactions.iter().map(|kind| TransactionRow {
            kind,
            rows_per_transaction: kind.rows_per_transaction(),
        });
        Self {
            repetition: key.repetition,
            step: key.step,
            target: of_target(|target| &target.name),
            engine: of_target(|target| &target.engine),
            engine_version: of_target(|target| &target.engine_version),
            test: &key.test,
            title: &point.title,
            component: point.component,
            nodes: key.nodes,
            jobs: key.jobs,
            threads: key.threads,
            dop: u64::from(key.jobs) * u64::from(key.threads),
            figures: &point.figures,
            percentiles: Percentiles(&point.histograms),
            valid: point.valid(),
            crowded: point.figures.is_crowded(),
            reasons: &point.reasons,
            notes: &point.notes,
            steady: point.steady,
            timed_events: &point.timed_events,
            bottleneck_resource: bottleneck.map(|bottleneck| bottleneck.resource),
            bottleneck_sentence: bottleneck.map(|bottleneck| bottleneck.sentence.as_str()),
            background_events: &held.background_events,
            wait_histograms: &held.wait_histograms,
            samples: &point.samples,
            operation_times: &by.times,
            operation_samples: &by.samples,
            transactions: transactions.collect(),
            devices: &point.devices,
            engine_io: &point.engine_io,
            interfaces: &point.interfaces,
            executions: &point.executions,
            observed: &point.observed,
            sections: &point.sections,
            work: &point.work,
            seed: point.seed,
            configuration: &point.configuration,
            definition: &point.definition,
            started_at: &point.started_at,
            service_histogram: text(&point.histograms.service),
            response_histogram: text(&point.histograms.response),
        }
    }
}

/// The target of this number; an archive that was changed may lack it.
pub(super) fn target(run: &Run, index: u32) -> Option<&TargetRecord> {
    run.targets.get(index as usize)
}

fn with_sentence<S: Serializer>(remark: &Remark, serializer: S) -> Result<S::Ok, S::Error> {
    remark.exported().serialize(serializer)
}
