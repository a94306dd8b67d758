//! Result rows of a test and their columns.

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
    /// "✓ valid", "✗ invalid", "2 of 3 valid", "published".
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

pub const fn column(
    heads: [&'static str; 2],
    figure: &'static str,
    write: fn(Option<f64>) -> String,
) -> Column {
    Column {
        heads,
        figure,
        write,
    }
}

/// Pseudo-figures, derived from a figure and the host's hardware threads.
pub const CORES_LEFT_AVG: &str = "cores_left_avg";
pub const CORES_LEFT_PEAK: &str = "cores_left_peak";

/// The published layout, with further columns that only some tests fill.
pub static COLUMNS: [Column; 43] = [
    column(["rows", "/s"], "rows_per_s", number::figure_or_unknown),
    column(
        ["operations", "/s"],
        "operations_per_s",
        number::figure_or_unknown,
    ),
    column(
        ["queries", "/min"],
        "queries_per_min",
        number::figure_or_unknown,
    ),
    column(
        ["queries × SF", "/h"],
        "scaled_queries_per_h",
        number::figure_or_unknown,
    ),
    column(
        ["new orders", "/min"],
        "new_orders_per_min",
        number::figure_or_unknown,
    ),
    column(
        ["gets", "/s"],
        "buffer_gets_per_s",
        number::figure_or_unknown,
    ),
    column(["CPU", "% avg"], "cpu_pct_avg", number::whole),
    column(["CPU", "% peak"], "cpu_pct_peak", number::whole),
    column(["CPU", "% database"], "cpu_by_database_pct", number::whole),
    column(["CPU", "% others"], "cpu_by_others_pct", number::whole),
    column(["cores", "left avg"], CORES_LEFT_AVG, number::one_decimal),
    column(["cores", "left peak"], CORES_LEFT_PEAK, number::one_decimal),
    column(["busy", "cores"], "busy_cores_mean", number::one_decimal),
    column(["workers", ""], "workers", number::whole),
    column(["read", "IOPS"], "read_iops", number::whole),
    column(["write", "IOPS"], "write_iops", number::whole),
    column(["total", "IOPS"], "total_iops", number::whole),
    column(["read", "MB/s"], "read_mb_per_s", number::figure_or_unknown),
    column(
        ["write", "MB/s"],
        "write_mb_per_s",
        number::figure_or_unknown,
    ),
    column(
        ["total", "MB/s"],
        "total_mb_per_s",
        number::figure_or_unknown,
    ),
    column(
        ["read ms", "mean"],
        "read_await_ms",
        number::figure_or_unknown,
    ),
    column(
        ["read ms", "p99"],
        "read_await_ms_p99",
        number::figure_or_unknown,
    ),
    column(
        ["write ms", "mean"],
        "write_await_ms",
        number::figure_or_unknown,
    ),
    column(
        ["write ms", "p99"],
        "write_await_ms_p99",
        number::figure_or_unknown,
    ),
    column(
        ["others", "read MB/s"],
        "read_by_others_mb_per_s",
        number::figure_or_unknown,
    ),
    column(
        ["others", "write MB/s"],
        "write_by_others_mb_per_s",
        number::figure_or_unknown,
    ),
    column(
        ["engine", "read MB/s"],
        "engine_read_mb_per_s",
        number::figure_or_unknown,
    ),
    column(
        ["engine", "write MB/s"],
        "engine_write_mb_per_s",
        number::figure_or_unknown,
    ),
    column(["redo", "MB/s"], "redo_mb_per_s", number::figure_or_unknown),
    column(
        ["in flight", "mean"],
        "in_flight_mean",
        number::figure_or_unknown,
    ),
    column(["response", "p50"], "response_us_p50", number::latency),
    column(["response", "p99"], "response_us_p99", number::latency),
    column(["response", "max"], "response_us_max", number::latency),
    column(
        ["connection", "wait p99"],
        "connection_wait_us_p99",
        number::latency,
    ),
    column(
        ["session", "memory MB"],
        "session_memory_mb",
        number::figure_or_unknown,
    ),
    column(["copy age", "p50 ms"], "copy_age_ms_p50", number::whole),
    column(["copy age", "p95 ms"], "copy_age_ms_p95", number::whole),
    column(
        ["copy lag", "p95 transactions"],
        "copy_lag_transactions_p95",
        number::whole,
    ),
    column(
        ["round trips", "/op"],
        "round_trips_per_operation",
        number::figure_or_unknown,
    ),
    column(["rolled", "back"], "rolled_back", number::whole),
    column(
        ["first job", "s"],
        "first_finish_s",
        number::figure_or_unknown,
    ),
    column(["time", "s"], "elapsed_s", number::figure_or_unknown),
    column(
        ["driver", "% of jobs"],
        "little_error_pct",
        number::figure_or_unknown,
    ),
];
