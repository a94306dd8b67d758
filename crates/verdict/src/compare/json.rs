//! A comparison as JSON, for programs (docs/FORMAT.md).

use serde_json::{Value, json as value};
use stats::compare::Design;
use stats::forecast::Further;

use super::{Comparison, EFFECT, Oddity, Pair, Row, Scatter};
use crate::metric;
use crate::outcome::{ratio_and_interval, verdict_word};
use crate::ramps::Ramps;
use crate::shift::Shift;

/// Value of `schema` in the JSON; the number changes when a reader would have to change.
pub const SCHEMA_NAME: &str = "dbdyno-comparison/1";

/// The comparison as a JSON value, with the ramps of users and the times below a database that both runs have.
pub fn json(comparison: &Comparison, ramps: &[Ramps], shifts: &[Shift]) -> Value {
    value!({
        "schema": SCHEMA_NAME,
        "a": comparison.a,
        "b": comparison.b,
        "design": design(comparison.design),
        "slice_ms": comparison.slice_ms,
        "analyses": comparison.analyses.as_ref().map(|analyses| value!({
            "effect_pct": analyses.effect * 100.0,
            "taken": analyses.taken,
            "planned": analyses.planned,
            "pairs_max": analyses.pairs_max,
            "ended": analyses.ended,
            "answered": comparison.is_answered(analyses.effect),
        })),
        "arranged": comparison.arranged,
        "decides": comparison.design.decides(),
        "repetitions_a": comparison.repetitions.0,
        "repetitions_b": comparison.repetitions.1,
        "primary_named": comparison.named,
        "effect_pct": EFFECT * 100.0,
        "differences": comparison.differences,
        "cautions": comparison.cautions,
        "metrics": comparison.rows.iter().map(row).collect::<Vec<_>>(),
        "ramps": crate::ramps::json(ramps),
        "shifts": crate::shift::json(shifts),
    })
}

fn row(row: &Row) -> Value {
    let result = &row.result;
    let (further, undecidable) = match result.further {
        Some(Further::More(n)) => (Some(n), false),
        Some(Further::Undecidable) => (None, true),
        None => (None, false),
    };
    let [estimate_a, estimate_b] = row.sides();
    let [ratio, low, high, confidence] = ratio_and_interval(result);
    value!({
        "metric": row.metric.to_string(),
        "title": row.title,
        "unit": metric::unit(&row.metric.figure),
        "better": row.better,
        "primary": row.primary,
        "verdict": verdict_word(result.verdict),
        "band_pct": row.band.equivalence * 100.0,
        "noise_pct": (row.band.noise > 0.0).then_some(row.band.noise * 100.0),
        "median_a": stats::summary::median(&row.a),
        "median_b": stats::summary::median(&row.b),
        "estimate_a": estimate_a,
        "estimate_b": estimate_b,
        "ratio": ratio,
        "ratio_low": low,
        "ratio_high": high,
        "confidence": confidence,
        "spread_log": result.sd_log,
        "rank_p": result.rank_p,
        "rank_p_holm": row.holm_p,
        "cliffs_delta": result.cliffs_delta,
        "further_needed": further,
        "undecidable": undecidable,
        "advised_for_effect": row.advised,
        "least_effect_pct": row.least_effect.map(|share| share * 100.0),
        "least_effect_pct_at_end": row.least_effect_at_end.map(|share| share * 100.0),
        "oddities": row.oddities.iter().map(oddity).collect::<Vec<_>>(),
        "pairs": row.pairs.iter().map(pair).collect::<Vec<_>>(),
        "scatter": row.scatter.as_ref().map(scatter),
        "values_a": row.a,
        "values_b": row.b,
        "warnings": result.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

fn oddity(oddity: &Oddity) -> Value {
    let mut fields = value!(oddity);
    fields["code"] = oddity.code().into();
    fields
}

fn pair(pair: &Pair) -> Value {
    let [a, b] = &pair.figures;
    let [started_at_a, started_at_b] = &pair.started_at;
    value!({
        "pair": pair.number,
        "first": if pair.is_a_first { "a" } else { "b" },
        "started_at_a": started_at_a,
        "started_at_b": started_at_b,
        "value_a": a,
        "value_b": b,
        "ratio": pair.ratio(),
        "ratio_a_first": pair.by_order.map(|order| order.ratio[0]),
        "ratio_b_first": pair.by_order.map(|order| order.ratio[1]),
        "level_a_first": pair.by_order.map(|order| order.level[0]),
        "level_b_first": pair.by_order.map(|order| order.level[1]),
    })
}

fn scatter(scatter: &Scatter) -> Value {
    let components = &scatter.components;
    let share = components.within_share;
    value!({
        "total_pct": components.total * 100.0,
        "within_pct": components.within * 100.0,
        "between_pct": components.between * 100.0,
        "within": scatter.within,
        "between": scatter.between,
        "within_share": share.estimate,
        "within_share_low": share.low,
        "within_share_high": share.high,
        "remedy": scatter.remedy,
    })
}

fn design(design: Design) -> &'static str {
    match design {
        Design::Paired => "pairs",
        Design::PairedInstances => "pairs of one instance each",
        Design::Interleaved => "interleaved",
        Design::Sequential { .. } => "one after the other",
    }
}
