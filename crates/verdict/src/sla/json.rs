//! The judgement for programs; docs/FORMAT.md describes it.

use archive::{Run, RunState};
use serde_json::{Value, json as value};

use super::hold::{Judgement, Outcome, Row};
use super::levels::dop;
use crate::metric::unit;

/// Value of `schema`; the number changes when a reader would have to change.
pub const SCHEMA_NAME: &str = "dbdyno-judgement/1";

/// The judgement as a JSON value.
pub fn json(run: &Run, judgement: &Judgement) -> Value {
    value!({
        "schema": SCHEMA_NAME,
        "run": {
            "id": run.id,
            "label": run.label,
            "complete": run.state == RunState::Complete,
            "sound": judgement.sound(),
            "faults": judgement.soundness.faults,
            "points": judgement.soundness.points,
            "points_invalid": judgement.soundness.points_invalid,
            "repetitions": run.repetitions,
        },
        "met": judgement.met(),
        "missed": judgement.missed(),
        "unjudged": judgement.unjudged(),
        "limits": judgement.rows.iter().map(row).collect::<Vec<_>>(),
        "left_out": judgement.left_out.iter().map(|left_out| value!({
            "metric": left_out.metric.to_string(),
            "reason": left_out.reason,
        })).collect::<Vec<_>>(),
    })
}

/// One row; every name is always there, what is not known is null.
fn row(row: &Row) -> Value {
    let finding = row.outcome.finding();
    let interval = finding.and_then(|f| f.interval);
    let (outcome, why) = match &row.outcome {
        Outcome::Met(_) => ("met", None),
        Outcome::Missed { .. } => ("missed", None),
        Outcome::Unjudged { why } => ("unjudged", Some(why)),
    };
    value!({
        "metric": row.metric.to_string(),
        "limit": row.limit.metric.to_string(),
        "target": row.metric.target,
        "test": row.metric.test,
        "figure": row.metric.figure,
        "unit": unit(&row.metric.figure),
        "at_least": row.limit.at_least,
        "at_most": row.limit.at_most,
        "reason": row.limit.reason,
        "outcome": outcome,
        "why": why,
        "surety": finding.map(|f| f.surety),
        "value": finding.map(|f| f.value),
        "missed_by_pct": row.outcome.missed_by_pct(),
        "interval": interval.map(|i| value!({
            "low": i.low, "high": i.high, "confidence": i.confidence,
        })),
        "values": finding.map(|f| f.values.clone()),
        "levels": finding.map(|f| f.levels.iter().map(|level| value!({
            "jobs": level.0, "threads": level.1, "dop": dop(*level),
        })).collect::<Vec<_>>()),
        "steps": finding.map(|f| f.steps.clone()),
    })
}
