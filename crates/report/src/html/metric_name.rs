//! What a metric is called on the page.

use verdict::compare::Row;
use verdict::metric::Metric;

/// How the metric of a row is named on the page.
pub(super) fn label(row: &Row) -> String {
    name(&row.metric)
}

/// How a metric is named on the page.
pub(super) fn name(metric: &Metric) -> String {
    let figure = match metric.figure.as_str() {
        "operations_per_s" => "ops/s".to_owned(),
        "rows_per_s" => "rows/s".to_owned(),
        // Times are shown with their unit.
        other => other.replace("_us", "").replace('_', " "),
    };
    let target = metric.target.as_deref().unwrap_or_default();
    let level = match metric.level {
        Some((jobs, 1)) => format!(" @{jobs}"),
        Some((jobs, threads)) => format!(" @{jobs}×{threads}"),
        None => String::new(),
    };
    format!("{target} {}{level} {figure}", metric.test)
}
