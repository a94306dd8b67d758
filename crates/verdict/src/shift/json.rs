//! Shifts as JSON, for programs (docs/FORMAT.md).

use serde_json::{Value, json as value};

use super::{Certainty, Shift, Side};
use crate::outcome::verdict_word;

/// The shifts as a JSON list.
pub fn json(shifts: &[Shift]) -> Value {
    shifts.iter().map(shift).collect()
}

fn shift(shift: &Shift) -> Value {
    let interval = shift.improvement_interval_pct();
    let (known_by, verdict) = match &shift.certainty {
        Certainty::Repetitions(compared) => ("repetitions", Some(verdict_word(compared.verdict))),
        Certainty::Within { .. } => ("intervals within one run each", None),
        Certainty::Nothing => ("means alone", None),
    };
    value!({
        "test": shift.test,
        "is_of_database": shift.is_of_database,
        "target": shift.target,
        "threads": shift.threads,
        "jobs_a": shift.jobs,
        "jobs_b": shift.jobs_after,
        "observer": shift.observer,
        "operation": shift.operation,
        "phase": shift.phase,
        "place": shift.place,
        "issued_by_test": shift.is_issued,
        "repetitions": shift.repetitions.usable,
        "repetitions_needed": shift.repetitions.needed,
        "a": side(&shift.before),
        "b": side(&shift.after),
        "ratio": shift.ratio(),
        "improvement_pct": shift.improvement_pct(),
        "improvement_pct_low": interval.map(|i| i.0),
        "improvement_pct_high": interval.map(|i| i.1),
        "known_by": known_by,
        "verdict": verdict,
        "buckets": shift.octaves().iter().map(|b| value!({
            "low_us": b.low_us, "high_us": b.high_us, "pct_a": b.before_pct, "pct_b": b.after_pct,
        })).collect::<Vec<_>>(),
    })
}

fn side(side: &Side) -> Value {
    let shares = side.known_shares();
    value!({
        "count": side.count,
        "mean_us": side.mean_us,
        "p50_us": side.percentile_us(|l| l.p50_us, 2),
        "p99_us": side.percentile_us(|l| l.p99_us, 100),
        "p99_9_us": side.percentile_us(|l| l.p99_9_us, 1000),
        "within_62_us_pct": shares.map(|s| s.within_62_us_pct),
        "within_120_us_pct": shares.map(|s| s.within_120_us_pct),
        "above_1_ms_pct": shares.map(|s| s.above_1_ms_pct),
        "above_2_ms_pct": shares.map(|s| s.above_2_ms_pct),
        "above_4_ms_pct": shares.map(|s| s.above_4_ms_pct),
    })
}
