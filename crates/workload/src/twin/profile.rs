//! What an observation tells of a load: amounts of a transaction, sessions at work, and the data behind it.

use archive::{About, Observed, ObservedCell, Point, load_row};

use super::error::TwinError;

/// More statements than a script's transaction has: they do not belong to one, but commit by themselves.
pub(super) const STATEMENTS_MAX: f64 = 240.0;

/// Largest part of the log that whole pages may be, so that what is left of it is known: how much of each page is logged is not.
const IMAGES_MAX: f64 = 0.5;

/// PostgreSQL's sessions publish what they counted at most so late.
const LATE_S: f64 = 1.0;

/// What all amounts are divided by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Transaction,
    /// Where statements commit by themselves, and the server does not count that as a transaction.
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

/// Amounts are those of one unit; `None` is what the observation does not know.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Profile {
    pub unit: Unit,
    pub per_s: f64,
    pub writing: Option<f64>,
    pub statements: Option<f64>,
    /// Whether BEGIN and COMMIT are among them. PostgreSQL counts one that is prepared only when it is first executed.
    pub counts_ends: bool,
    /// By how many percent what is counted at once may be off: where transactions arrive up to a second behind it.
    pub late_pct: f64,
    pub rows_read: Option<f64>,
    /// Those of them that were found through indexes, where the engine tells them apart.
    pub rows_fetched: Option<f64>,
    pub rows_returned: Option<f64>,
    pub rows_inserted: Option<f64>,
    pub rows_updated: Option<f64>,
    pub rows_deleted: Option<f64>,
    pub rolled_back: Option<f64>,
    /// Without whole pages; not known where the log consists of little else.
    pub log_bytes: Option<f64>,
    pub active_sessions: Option<f64>,
    pub active_sessions_max: Option<f64>,
    /// Size of the hottest tables.
    pub working_set_mb: Option<f64>,
    pub hit_ratio_pct: Option<f64>,
}

impl Profile {
    /// Of an observation, where a whole page in the log has so many bytes.
    ///
    /// # Errors
    /// When nothing was counted that a transaction could be made of.
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

/// Calls per second of statements that return rows or look at pages, and so are neither BEGIN nor COMMIT; nothing where statements
/// are from samples.
fn calls(all: &Observed) -> Option<f64> {
    counted_per_s(all, "calls", |row| {
        ["rows", "logical reads"].map(|name| all.number(row, name)) != [Some(0.0); 2]
    })
}

/// A count of statements per second. Each was counted for its time divided by what that is per second: longer than all else was, or
/// since its counts were reset. Nothing where that is unknown of one of them.
fn counted_per_s(
    all: &Observed,
    column: &str,
    is_wanted: impl Fn(&[ObservedCell]) -> bool,
) -> Option<f64> {
    let number = |row: &[ObservedCell], column: &str| all.number(row, column);
    let covers_s = |row: &[ObservedCell]| {
        let sessions = number(row, "active sessions")?;
        Some(number(row, "time")? / sessions)
    };
    // Of one that took no time it is that of the others.
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

/// Sum of a column over the rows that have it; nothing where none has.
fn sum(table: &Observed, column: &str) -> Option<f64> {
    let cells = |row: &Vec<ObservedCell>| table.number(row, column);
    let known: Vec<f64> = table.rows.iter().filter_map(cells).collect();
    (!known.is_empty()).then(|| known.iter().sum())
}
