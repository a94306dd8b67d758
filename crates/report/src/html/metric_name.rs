//! What a metric is called on the page.

use verdict::compare::Row;

/// How a metric is named on the page.
pub(super) fn label(row: &Row) -> String {
    let figure = match row.metric.figure.as_str() {
        "operations_per_s" => "ops/s".to_owned(),
        "rows_per_s" => "rows/s".to_owned(),
        // Times are shown with their unit.
        other => other.replace("_us", "").replace('_', " "),
    };
    let target = row.metric.target.as_deref().unwrap_or_default();
    let level = match row.metric.level {
        Some((jobs, 1)) => format!(" @{jobs}"),
        Some((jobs, threads)) => format!(" @{jobs}×{threads}"),
        None => String::new(),
    };
    format!("{target} {}{level} {figure}", row.metric.test)
}
