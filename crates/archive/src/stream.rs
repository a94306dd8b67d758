//! Events of a run while it is measured, and of an archived run in replay.
//!
//! It is written as JSON, one object per event (`--events`, the live page); the archive stays the record.

use serde::{Deserialize, Serialize};

use crate::{EventClass, Figures, Latency, Point, PointKey, Remark, Sample};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum StreamEvent {
    RunBegins {
        run: String,
        at: String,
        planned: usize,
        todo: usize,
    },
    /// A point begins; its data may be prepared first.
    PointBegins(PointHead),
    /// One interval of the point at work.
    Snapshot(Box<Snapshot>),
    PointEnds(Box<PointResult>),
    /// Something to know about the run, outside its points.
    Remark {
        text: String,
    },
    /// Result of a comparison of two sides.
    Verdict {
        text: String,
    },
    RunEnds {
        /// Label of the run; none where it did not begin.
        run: Option<String>,
        complete: bool,
        /// Why they were not.
        problem: Option<String>,
    },
}

/// Which point it is, and what it is called.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PointHead {
    /// Step of the plan, target, test and parallelism.
    pub key: PointKey,
    pub title: String,
    pub target_name: String,
}

/// One interval. What is not known is absent, never 0.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Snapshot {
    /// Seconds since the point began, its preparation included.
    pub at_s: f64,
    pub length_s: f64,
    /// Operations that ended; `None` before the first one.
    pub operations: Option<u64>,
    pub errors: Option<u64>,
    /// Filled buckets of their response times: upper end in ns, and how many.
    pub response_ns: Vec<(u64, u64)>,
    /// The same of their service times.
    pub service_ns: Vec<(u64, u64)>,
    /// The same by kinds of operations, where the point has several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_operation: Vec<OperationSnapshot>,
    /// 99th percentile of the response times, where nothing else is stored (replayed runs).
    pub response_us_p99: Option<f64>,
    /// Their mean, where nothing else is stored (I/Os below the database).
    pub response_us_mean: Option<f64>,
    pub users: u32,
    /// Hardware threads of the target's machine.
    pub cores: Option<u32>,
    pub host: Option<Sample>,
    pub devices: Vec<DeviceRates>,
    /// Sessions in each class of waits on average; empty where the engine does not tell.
    pub waits: Vec<(EventClass, f64)>,
}

/// Operations of one kind that ended in an interval.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct OperationSnapshot {
    pub operation: String,
    pub operations: u64,
    pub errors: u64,
    /// Filled buckets of their response times: upper end in ns, and how many.
    pub response_ns: Vec<(u64, u64)>,
    /// The same of their service times.
    pub service_ns: Vec<(u64, u64)>,
}

/// Work of a block device in an interval.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceRates {
    pub name: String,
    pub read_iops: Option<f64>,
    pub write_iops: Option<f64>,
    pub busy_pct: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PointResult {
    pub key: PointKey,
    pub title: String,
    pub valid: bool,
    pub reasons: Vec<String>,
    pub notes: Vec<String>,
    pub operations: Option<f64>,
    pub operations_per_s: Option<f64>,
    pub errors: Option<f64>,
    pub elapsed_s: Option<f64>,
    pub redo_mb_per_s: Option<f64>,
    pub cpu_pct_avg: Option<f64>,
    pub response_us_p50: Option<f64>,
    pub response_us_p95: Option<f64>,
    pub response_us_p99: Option<f64>,
    /// Where the jobs' time went: event, and its part in percent.
    pub top_events: Vec<(String, f64)>,
}

impl PointResult {
    pub fn of(point: &Point) -> Self {
        let figures: &Figures = &point.figures;
        let sentences = |all: &[Remark]| all.iter().map(ToString::to_string).collect();
        let response = Latency::of(&point.histograms.response);
        let response = response.as_ref();
        let events = point.timed_events.iter();
        Self {
            key: point.key.clone(),
            title: point.title.clone(),
            valid: point.valid(),
            reasons: sentences(&point.reasons),
            notes: sentences(&point.notes),
            operations: figures.operations,
            operations_per_s: figures.operations_per_s,
            errors: figures.errors,
            elapsed_s: figures.elapsed_s,
            redo_mb_per_s: figures.redo_mb_per_s,
            cpu_pct_avg: figures.cpu_pct_avg,
            response_us_p50: response.map(|l| l.p50_us),
            response_us_p95: response.map(|l| l.p95_us),
            response_us_p99: response.map(|l| l.p99_us),
            top_events: events.map(|e| (e.event.clone(), e.share_pct)).collect(),
        }
    }
}
