//! Two ramps of users for a terminal.

use stats::Warning;
use stats::compare::Comparison;
use stats::ramp::Figure;
use verdict::compare::{sides, verdict_word as word};
use verdict::ramps::Ramps;

use crate::number;
use crate::terminal::clean;

/// The comparison of two runs' ramps; empty if neither run has one.
pub fn ramps(compared: &[Ramps]) -> String {
    compared.iter().map(one).collect()
}

fn one(ramps: &Ramps) -> String {
    let mut out = format!("\nUser ramps on {}\n", clean(&ramps.target));
    let percentile = ramps.percentile;
    if let (Some(figure), Some(limit_us)) = (&ramps.found.users_at_limit, ramps.limit_us) {
        let limit = number::latency(Some(limit_us));
        out += &line(
            &format!("users within p{percentile} ≤ {limit}"),
            figure,
            |users| format!("{users:.0}"),
        );
    }
    for (users, figure) in &ramps.found.response_at_users {
        out += &line(
            &format!("response p{percentile} at {}", crate::number::users(*users)),
            figure,
            |us| number::latency(Some(us)),
        );
    }
    out += &line(
        "operations/s at the knee",
        &ramps.found.throughput_at_knee,
        number::full,
    );
    let left_out = ramps.found.throughput_at_knee.left_out;
    if left_out > 0 {
        out += &format!(
            "  {left_out} ramps end before their knee and are excluded from the last line\n"
        );
    }
    out
}

/// "Users within p95 ≤ 50 ms: A 8, B 16, B / A 2.000 [1.8, 2.2] better."; `None` without a common limit.
pub(crate) fn supported(ramps: &Ramps) -> Option<String> {
    let figure = ramps.found.users_at_limit.as_ref()?;
    let limit = number::latency(Some(ramps.limit_us?));
    let [a, b] = both(figure, |users| format!("{users:.0}"));
    Some(format!(
        "Users within p{} ≤ {limit}: A {a}, B {b}, B / A {}.",
        ramps.percentile,
        ratio(&figure.comparison).replace("\n    ", "; ")
    ))
}

/// Both values, with enough digits to agree with their ratio.
fn both(figure: &Figure, write: impl Fn(f64) -> String) -> [String; 2] {
    let median = |side: &Vec<Option<f64>>| {
        let known: Vec<f64> = side.iter().flatten().copied().collect();
        stats::summary::median(&known)
    };
    let medians = [&figure.a, &figure.b].map(median);
    sides(medians, &figure.comparison).map(|side| side.map_or_else(|| "–".to_owned(), &write))
}

fn line(what: &str, figure: &Figure, write: impl Fn(f64) -> String) -> String {
    let [a, b] = both(figure, write);
    format!(
        "  {what:<34} {a:>10} → {b:<10} {}\n",
        ratio(&figure.comparison)
    )
}

fn ratio(comparison: &Comparison) -> String {
    let end = |end: f64| {
        if end.is_finite() {
            format!("{end:.3}")
        } else {
            "∞".to_owned()
        }
    };
    let verdict = word(comparison.verdict);
    let mut text = match comparison.ratio {
        Some(ratio) => {
            let (low, high) = (end(ratio.low), end(ratio.high));
            format!("{:.3} [{low}, {high}] {verdict}", ratio.estimate)
        }
        None => verdict.to_owned(),
    };
    let censored = |w: &&Warning| matches!(w, Warning::Censored { .. });
    if let Some(warning) = comparison.warnings.iter().find(censored) {
        text += &format!("\n    {warning}");
    }
    text
}
