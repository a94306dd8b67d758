//! Observations of a database at work: tables as its server reports them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Cell, Column};

words! {
    pub enum About {
        /// Facts of the server: role, version, start.
        Server = "server",
        /// Sessions at work by class of wait, interval by interval.
        Activity = "activity",
        /// Work done, per second and per transaction.
        Load = "load",
        /// Statements that took most time.
        Statements = "statements",
        /// Sessions that waited for locks of others.
        Blockers = "blockers",
        /// The longest transactions.
        Transactions = "transactions",
        /// Lag of replicas, or of this one.
        Replication = "replication",
        /// Tables with most reads and changes.
        Tables = "tables",
        /// Indexes without use.
        Indexes = "indexes",
        /// Cost of the observation.
        Cost = "cost",
        /// Facts that could not be observed, and their remedy.
        Unseen = "unseen",
    }
}

/// Rows of the load that programs read, by the names that stand in their first cell; not every engine has each.
pub mod load_row {
    pub const TRANSACTIONS: &str = "transactions";
    pub const ROLLBACKS: &str = "rollbacks";
    /// Those that changed anything.
    pub const WRITING: &str = "transactions that wrote";
    pub const STATEMENTS: &str = "statements";
    /// By scans and through indexes.
    pub const ROWS_READ: &str = "rows read";
    /// Rows of scans of whole tables, and entries of indexes.
    pub const ROWS_SCANNED: &str = "rows read by scans";
    pub const ROWS_FETCHED: &str = "rows fetched through indexes";
    pub const ROWS_SENT: &str = "rows sent to clients";
    pub const ROWS_INSERTED: &str = "rows inserted";
    pub const ROWS_UPDATED: &str = "rows updated";
    pub const ROWS_DELETED: &str = "rows deleted";
    pub const LOGICAL_READS: &str = "logical reads";
    pub const PHYSICAL_READS: &str = "physical reads";
    /// With reads that the file system's cache answers.
    pub const PHYSICAL_READS_OR_CACHED: &str = "physical reads, page cache included";
    /// MB.
    pub const LOG: &str = "log";
    /// Whole pages that the log took, after checkpoints.
    pub const PAGE_IMAGES: &str = "whole pages in the log";
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Observed {
    /// Subject of the table.
    pub about: About,
    /// Where it comes from, as the server calls it.
    pub source: String,
    /// Why there are no rows, or what they lack.
    pub remark: Option<String>,
    /// Columns with their units.
    pub columns: Vec<Column>,
    /// Cells by row; null where unknown.
    pub rows: Vec<Vec<Cell>>,
}

impl Observed {
    pub fn new(about: About, source: &str, columns: &[(&str, &str)]) -> Self {
        Self {
            about,
            source: source.to_owned(),
            remark: None,
            columns: columns
                .iter()
                .map(|(name, unit)| Column::new(name, unit))
                .collect(),
            rows: Vec::new(),
        }
    }

    pub fn unknown(about: About, source: &str, why: String) -> Self {
        Self {
            remark: Some(why),
            ..Self::new(about, source, &[])
        }
    }

    pub fn row(&self, name: &str) -> Option<&[Cell]> {
        let is_its =
            |row: &&Vec<Cell>| matches!(row.first(), Some(Cell::Text(text)) if text == name);
        self.rows.iter().find(is_its).map(Vec::as_slice)
    }

    pub fn number(&self, row: &[Cell], column: &str) -> Option<f64> {
        let at = self.columns.iter().position(|c| c.name == column)?;
        match row.get(at)? {
            Cell::Number(number) => Some(*number),
            Cell::Text(_) | Cell::Unknown(()) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_keeps_what_is_known_and_says_what_is_not() {
        let mut table = Observed::new(About::Load, "counters", &[("what", ""), ("amount", "MB")]);
        table.rows.push(vec!["log".into(), 1.5.into()]);
        table.rows.push(vec!["temporary".into(), f64::NAN.into()]);
        let amounts = table.rows.iter().map(|row| table.number(row, "amount"));
        assert_eq!(amounts.collect::<Vec<_>>(), [Some(1.5), None]);
    }
}
