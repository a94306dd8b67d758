//! Profile of an observed load: amounts per transaction, active sessions, and the data.

use archive::{About, Cell, Observed, Point, load_row};

use super::error::TwinError;

/// More statements than a script's transaction has: they do not belong to one, but commit by themselves.
pub(super) const STATEMENTS_MAX: f64 = 240.0;

/// Largest share of full-page images in the log with which the rest is known: the size of each image is uncertain.
const IMAGES_MAX: f64 = 0.5;

/// Greatest delay with which PostgreSQL's sessions publish their counts.
const LATE_S: f64 = 1.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Transaction,
    /// For statements that commit by themselves without being counted as transactions.
    Statement,
}

impl Unit {
    pub fn name(self) -> &'static str {
        match self {
            Self::Transaction => "transaction",
            Self::Statement => "statement",
        }
    }
}

/// Amounts per unit; `None` is unknown.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Profile {
    pub unit: Unit,
    pub per_s: f64,
    pub writing: Option<f64>,
    pub statements: Option<f64>,
    /// True if BEGIN and COMMIT are included. PostgreSQL counts a prepared one only at its first execution.
    pub counts_ends: bool,
    /// Possible error in percent of immediate counts, because transactions are counted up to a second late.
    pub late_pct: f64,
    pub rows_read: Option<f64>,
    /// Rows found through indexes, if the engine counts them separately.
    pub rows_fetched: Option<f64>,
    pub rows_returned: Option<f64>,
    pub rows_inserted: Option<f64>,
    pub rows_updated: Option<f64>,
    pub rows_deleted: Option<f64>,
    pub rolled_back: Option<f64>,
    /// Log without full-page images; unknown if it consists of little else.
    pub log_bytes: Option<f64>,
    pub active_sessions: Option<f64>,
    pub active_sessions_max: Option<f64>,
    pub working_set_mb: Option<f64>,
    pub hit_ratio_pct: Option<f64>,
}

impl Profile {
    /// `page_image_bytes` is the size of a full page in the log.
    ///
    /// # Errors
    /// When nothing was counted from which a transaction could be made.
    pub fn of(point: &Point, page_image_bytes: f64) -> Result<Self, TwinError> {
        let load = table(point, About::Load).ok_or(TwinError::NothingCounted)?;
        let column = |name: &str, column: &str| load.number(load.row(name)?, column);
        let total = |name: &str| column(name, "amount");
        let transactions = total(load_row::TRANSACTIONS).unwrap_or(0.0);
        let transactions_per_s = column(load_row::TRANSACTIONS, "per second").unwrap_or(0.0);
        let calls = table(point, About::Statements).and_then(calls);
        let statements_per_s = column(load_row::STATEMENTS, "per second").or(calls);
        let per_transaction = statements_per_s.map(|n| n / transactions_per_s);
        let is_transactions = transactions > 0.0
            && per_transaction.is_none_or(|statements| statements <= STATEMENTS_MAX);
        let (unit, units, per_s) = match (is_transactions, total(load_row::STATEMENTS)) {
            (true, _) => (Unit::Transaction, transactions, transactions_per_s),
            (false, Some(statements)) if statements > 0.0 => {
                let per_s = statements_per_s.unwrap_or(0.0);
                (Unit::Statement, statements, per_s)
            }
            _ => return Err(TwinError::NothingAtWork),
        };
        let counts_ends = load.row(load_row::STATEMENTS).is_some();
        let each = |name: &str| total(name).map(|n| n / units);
        let physical = each(load_row::PHYSICAL_READS).or(each(load_row::PHYSICAL_READS_OR_CACHED));
        let logical = each(load_row::LOGICAL_READS).filter(|n| *n > 0.0);
        let images_bytes = each(load_row::PAGE_IMAGES).unwrap_or(0.0) * page_image_bytes;
        let log_bytes = each(load_row::LOG).map(|mb| mb * 1e6);
        let changed = [
            load_row::ROWS_INSERTED,
            load_row::ROWS_UPDATED,
            load_row::ROWS_DELETED,
        ];
        let changed = changed.map(each);
        let returned = table(point, About::Statements)
            .and_then(|all| Some(counted_per_s(all, "rows", |_| true)? / per_s))
            .zip(changed.iter().copied().sum::<Option<f64>>());
        Ok(Self {
            unit,
            per_s,
            writing: each(load_row::WRITING).map(|part| part.min(1.0)),
            statements: statements_per_s.map(|n| n / per_s),
            counts_ends,
            late_pct: match point.figures.elapsed_s {
                Some(s) if !counts_ends => 100.0 * LATE_S / s.max(LATE_S),
                _ => 0.0,
            },
            rows_read: each(load_row::ROWS_READ).or(each(load_row::ROWS_SCANNED)),
            rows_fetched: each(load_row::ROWS_FETCHED),
            rows_returned: each(load_row::ROWS_SENT)
                .or(returned.map(|(rows, changed)| (rows - changed).max(0.0))),
            rows_inserted: changed[0],
            rows_updated: changed[1],
            rows_deleted: changed[2],
            rolled_back: each(load_row::ROLLBACKS),
            log_bytes: log_bytes
                .filter(|bytes| images_bytes <= IMAGES_MAX * bytes)
                .map(|bytes| bytes - images_bytes),
            active_sessions: point.figures.active_sessions_mean,
            active_sessions_max: point.figures.active_sessions_max,
            working_set_mb: table(point, About::Tables)
                .and_then(|tables| sum(tables, "size"))
                .filter(|mb| *mb > 0.0),
            hit_ratio_pct: physical
                .zip(logical)
                .map(|(physical, logical)| (1.0 - physical / logical).clamp(0.0, 1.0) * 100.0),
        })
    }
}

fn table(point: &Point, about: About) -> Option<&Observed> {
    point.observed.iter().find(|table| table.about == about)
}

/// Calls per second of statements that return rows or read pages, and so are neither BEGIN nor COMMIT; `None` if
/// statements are from samples.
fn calls(all: &Observed) -> Option<f64> {
    counted_per_s(all, "calls", |row| {
        ["rows", "logical reads"].map(|name| all.number(row, name)) != [Some(0.0); 2]
    })
}

/// Statements per second. Each was counted for its time divided by its time per second: longer than all others, or
/// since its counts were reset. `None` if one is unknown.
fn counted_per_s(all: &Observed, column: &str, is_wanted: impl Fn(&[Cell]) -> bool) -> Option<f64> {
    let number = |row: &[Cell], column: &str| all.number(row, column);
    let covers_s = |row: &[Cell]| {
        let sessions = number(row, "active sessions")?;
        Some(number(row, "time")? / sessions)
    };
    // A statement without time takes the period of the others.
    let longest = all
        .rows
        .iter()
        .filter_map(|row| covers_s(row))
        .fold(0.0, f64::max);
    let counts = all.rows.iter().filter(|row| is_wanted(row));
    let per_s = counts.map(|row| match (number(row, column)?, covers_s(row)?) {
        (0.0, _) => Some(0.0),
        (count, covered_s) if covered_s > 0.0 => Some(count / covered_s),
        (count, _) => (longest > 0.0).then_some(count / longest),
    });
    (!all.rows.is_empty()).then(|| per_s.sum())?
}

/// Sum of a column over the rows that have it; `None` if none has.
fn sum(table: &Observed, column: &str) -> Option<f64> {
    let cells = |row: &Vec<Cell>| table.number(row, column);
    let known: Vec<f64> = table.rows.iter().filter_map(cells).collect();
    (!known.is_empty()).then(|| known.iter().sum())
}
