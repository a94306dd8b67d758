//! `skew.html`: I/Os of each SD and WD, and the deviation of the WDs from their shares.

use super::columns::{LOWER, Sums, UPPER, figures};
use crate::engine::{Cell, Outcome};
use crate::run::{Rate, Run};

/// Percent by which a share must be off for the difference to be shown.
const DELTA_SHOWN_PCT: f64 = 0.1;

/// Tables of one run; empty for a single SD and WD.
pub(super) fn tables(run: &Run, cells: &[Cell], seconds: f64) -> String {
    let workloads = workloads(run);
    if run.storage.len() < 2 && workloads.len() < 2 {
        return String::new();
    }
    let sums = |wanted: &dyn Fn(usize, usize) -> bool| {
        Sums::of(cells, seconds, None, |cell| {
            wanted(cell.stream, cell.storage)
        })
    };
    let total = sums(&|_, _| true);
    let mut text = format!(
        "\nCounts reported below are for non-warmup intervals.\n\n{}{}{}\n{}",
        head("Slave:", "", ""),
        row("localhost-0", &total, ""),
        row("Total", &total, ""),
        head("SD:", "", "")
    );
    for (index, sd) in run.storage.iter().enumerate() {
        text.push_str(&row(&sd.name, &sums(&|_, storage| storage == index), ""));
    }
    text.push_str(&row("Total", &total, ""));
    text.push_str(
        "\nCalculated versus requested workload skew. (Delta only shown if > 0.10% absolute)\n",
    );
    if matches!(run.rate, Rate::Max { .. }) && !run.rate.is_controlled() {
        text.push_str("Note that for an Uncontrolled MAX run workload skew is irrelevant.\n");
    }
    text.push('\n');
    text.push_str(&head(
        "WD:",
        "       skew     skew    skew",
        "  requested observed   delta",
    ));
    for workload in workloads {
        let own = sums(&|stream, _| run.streams[stream].workload == workload);
        let requested: f64 = run
            .streams
            .iter()
            .filter(|s| s.workload == workload)
            .map(|s| s.share * 100.0)
            .sum();
        text.push_str(&row(
            workload,
            &own,
            &shares(requested, observed_pct(&own, &total)),
        ));
    }
    text.push_str(&row(
        "Total",
        &total,
        &shares(100.0, observed_pct(&total, &total)),
    ));
    text
}

/// WD with the largest deviation from its requested share, and the deviation in percent.
#[must_use]
pub fn worst_share(run: &Run, outcome: &Outcome) -> Option<(String, f64)> {
    let requested = run.streams.iter().any(|stream| stream.is_share_requested);
    let operations = outcome.total().operations;
    if !requested || operations == 0 {
        return None;
    }
    let missed = workloads(run).into_iter().map(|workload| {
        let wanted: f64 = run
            .streams
            .iter()
            .filter(|s| s.workload == workload)
            .map(|s| s.share * 100.0)
            .sum();
        let cells = outcome
            .cells
            .iter()
            .filter(|cell| run.streams[cell.stream].workload == workload);
        let done: u64 = cells.map(|cell| cell.all().operations).sum();
        (
            workload.to_owned(),
            (done as f64 * 100.0 / operations as f64 - wanted).abs(),
        )
    });
    missed.max_by(|one, other| one.1.total_cmp(&other.1))
}

fn workloads(run: &Run) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for stream in &run.streams {
        if names.last() != Some(&stream.workload.as_str()) {
            names.push(&stream.workload);
        }
    }
    names
}

fn observed_pct(own: &Sums, total: &Sums) -> f64 {
    own.all().operations as f64 * 100.0 / total.all().operations.max(1) as f64
}

fn shares(requested_pct: f64, observed_pct: f64) -> String {
    let delta = requested_pct - observed_pct;
    let shown = if delta.abs() > DELTA_SHOWN_PCT {
        format!(" {delta:>6.2}%")
    } else {
        String::new()
    };
    format!("   {requested_pct:>7.2}% {observed_pct:>7.2}%{shown}")
}

fn head(what: &str, upper: &str, lower: &str) -> String {
    format!("{:13}{UPPER}{upper}\n{what:<13}{LOWER}{lower}\n", "")
}

fn row(name: &str, sums: &Sums, more: &str) -> String {
    format!("{name:<13}{}{more}\n", figures(sums))
}
