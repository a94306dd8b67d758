//! Result rows of a test and their columns.

use std::sync::LazyLock;

use crate::number;

pub struct ResultTable {
    /// Subject of the figures; `None` for the first table.
    pub title: Option<&'static str>,
    /// Two heads per column: quantity and unit.
    pub heads: Vec<[&'static str; 2]>,
    pub curves: Vec<(String, Vec<RowView>)>,
}

pub struct RowView {
    /// Cells without the validity mark.
    pub cells: Vec<String>,
    /// "✓ valid", "✓ valid, started late", "✗ invalid", "2 of 3 valid", "published".
    pub mark: String,
    /// Class: "", "invalid" or "theirs".
    pub class: &'static str,
    pub notes: Vec<usize>,
}

/// A column: heads, figure and format. It is shown if at least one row has the figure.
#[derive(Clone, Copy)]
pub struct Column {
    pub heads: [&'static str; 2],
    pub figure: &'static str,
    pub write: fn(Option<f64>) -> String,
}

/// The published layout, with further columns that only some tests fill: quantity, unit, figure and format.
const LAYOUT: &str = "\
rows | /s | rows_per_s | figure
operations | /s | operations_per_s | figure
queries | /min | queries_per_min | figure
queries × SF | /h | scaled_queries_per_h | figure
new orders | /min | new_orders_per_min | figure
gets | /s | buffer_gets_per_s | figure
CPU | % avg | cpu_pct_avg | whole
CPU | % peak | cpu_pct_peak | whole
CPU | % database | cpu_by_database_pct | whole
CPU | % others | cpu_by_others_pct | whole
cores | left avg | cores_left_avg | decimal
cores | left peak | cores_left_peak | decimal
busy | cores | busy_cores_mean | decimal
workers |  | workers | whole
read | IOPS | read_iops | whole
write | IOPS | write_iops | whole
total | IOPS | total_iops | whole
read | MB/s | read_mb_per_s | figure
write | MB/s | write_mb_per_s | figure
total | MB/s | total_mb_per_s | figure
read ms | mean | read_await_ms | figure
read ms | p99 | read_await_ms_p99 | figure
write ms | mean | write_await_ms | figure
write ms | p99 | write_await_ms_p99 | figure
others | read MB/s | read_by_others_mb_per_s | figure
others | write MB/s | write_by_others_mb_per_s | figure
engine | read MB/s | engine_read_mb_per_s | figure
engine | write MB/s | engine_write_mb_per_s | figure
redo | MB/s | redo_mb_per_s | figure
in flight | mean | in_flight_mean | figure
service | p50 | service_us_p50 | latency
service | p99 | service_us_p99 | latency
response | p50 | response_us_p50 | latency
response | p99 | response_us_p99 | latency
response | max | response_us_max | latency
connection | wait p99 | connection_wait_us_p99 | latency
session | memory MB | session_memory_mb | figure
copy age | p50 ms | copy_age_ms_p50 | whole
copy age | p95 ms | copy_age_ms_p95 | whole
copy lag | p95 transactions | copy_lag_transactions_p95 | whole
round trips | /op | round_trips_per_operation | figure
rolled | back | rolled_back | whole
first job | s | first_finish_s | figure
time | s | elapsed_s | figure
driver | % of time | little_error_pct | figure";

pub static COLUMNS: LazyLock<Vec<Column>> = LazyLock::new(|| {
    let column = |line: &'static str| {
        let mut parts = line.split('|').map(str::trim);
        let mut next = || parts.next().unwrap_or_default();
        let (heads, figure) = ([next(), next()], next());
        let write = match next() {
            "whole" => number::whole,
            "decimal" => number::one_decimal,
            "latency" => number::latency,
            _ => number::figure_or_unknown,
        };
        Column {
            heads,
            figure,
            write,
        }
    };
    LAYOUT.lines().map(column).collect()
});
