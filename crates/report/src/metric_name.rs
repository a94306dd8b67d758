//! Short names of metrics.

use verdict::compare::Row;
use verdict::metric::Metric;

pub(crate) fn label(row: &Row) -> String {
    name(&row.metric)
}

pub(crate) fn name(metric: &Metric) -> String {
    let figure = match metric.figure.as_str() {
        "operations_per_s" => "ops/s".to_owned(),
        "rows_per_s" => "rows/s".to_owned(),
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
