//! Rows of lifted tables replaced by newer ones. Nobody sees any of them before all are there.
//!
//! DuckDB's own tables are changed in place. Parquet files cannot be: what they have of the changed rows is left out
//! when they are read, and the newer rows lie in a table beside them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::PoisonError;

use super::left_out::{LeftOut, beside};
use super::store::{Store, create};
use duckdb::appender::Appender;
use duckdb::explain::explain;
use duckdb::handle::Connection;
use duckdb::instance::SessionGuard;
use duckdb::source::DIALECT;
use engine::catalogue::{SourceTable, Taker};
use engine::{Result, TargetError};

/// Most ranges of keys of a table that are left out of its files; neighbours are one.
const RANGES_MOST: usize = 100;
/// The table that says of which moment of the source the others are.
pub const SNAPSHOT: &str = "dbdyno_snapshot";

/// Newer rows on their way into lifted tables; without [`Change::commit`] none of them arrives.
pub struct Change<'a> {
    connection: Connection,
    _guard: SessionGuard,
    store: &'a Store,
    left_out: BTreeMap<String, LeftOut>,
}

impl Store {
    /// Begins to replace rows.
    pub fn change(&self) -> Result<Change<'_>> {
        let (connection, guard) = self.instance.connect()?;
        let change = Change {
            connection,
            _guard: guard,
            store: self,
            left_out: self.left_out().clone(),
        };
        change.run("BEGIN TRANSACTION")?;
        Ok(change)
    }

    fn left_out(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, LeftOut>> {
        self.left_out.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Change<'_> {
    /// Replaces the rows of a table whose `key` lies in a range by those that `read` hands out; gives how many these
    /// are.
    ///
    /// # Errors
    /// Those of `read`, what the engine says, or that too many ranges have changed.
    pub fn replace(
        &mut self,
        table: &SourceTable,
        key: &str,
        range: Range<u64>,
        read: impl FnOnce(Taker<'_>) -> Result<()>,
    ) -> Result<u64> {
        let into = match self.store.paths(&table.name) {
            None => table.name.clone(),
            Some(paths) => self.lay_beside(table, key, &range, &paths)?,
        };
        let condition = within(key, &range);
        self.run(&format!(
            "DELETE FROM {} WHERE {condition}",
            DIALECT.quoted(&into)
        ))?;
        self.fill(&into, read)
    }

    /// Fills a table again with the rows that `read` hands out; gives how many these are. The memory of the older ones is
    /// free as soon as nobody sees them any more.
    pub fn renew(
        &mut self,
        table: &SourceTable,
        read: impl FnOnce(Taker<'_>) -> Result<()>,
    ) -> Result<u64> {
        self.refuse_files(table)?;
        self.run(&format!("DROP TABLE {}", DIALECT.quoted(&table.name)))?;
        self.run(&create(&table.name, table)?)?;
        self.fill(&table.name, read)
    }

    /// Puts the rows that `read` hands out into a table, in the place of those with the same keys; gives how many these
    /// are. A row that is handed out twice is there once.
    pub fn upsert(
        &mut self,
        table: &SourceTable,
        keys: &[&str],
        read: impl FnOnce(Taker<'_>) -> Result<()>,
    ) -> Result<u64> {
        self.refuse_files(table)?;
        let beside = beside(&table.name);
        self.run(&create(&beside, table)?)?;
        let rows = self.fill(&beside, read)?;
        let (into, from) = (DIALECT.quoted(&table.name), DIALECT.quoted(&beside));
        let key = |key: &&str| {
            let key = DIALECT.quoted(key);
            format!("{into}.{key} = {from}.{key}")
        };
        let same: Vec<String> = keys.iter().map(key).collect();
        self.run(&format!(
            "DELETE FROM {into} USING {from} WHERE {}; \
             INSERT INTO {into} SELECT DISTINCT * FROM {from}; DROP TABLE {from}",
            same.join(" AND ")
        ))?;
        Ok(rows)
    }

    /// Notes of which moment of the source everything is: microseconds of the caller's own clock, and the transactions that he
    /// had counted by then. Who asks the tables reads it from [`SNAPSHOT`] in the same transaction.
    pub fn note_snapshot(&mut self, at_us: u64, transactions: u64) -> Result<()> {
        self.run(&format!(
            "CREATE OR REPLACE TABLE {SNAPSHOT} AS SELECT {at_us}::BIGINT AS at_us, {transactions}::BIGINT AS transactions"
        ))
    }

    fn refuse_files(&self, table: &SourceTable) -> Result<()> {
        match self.store.paths(&table.name) {
            None => Ok(()),
            Some(_) => Err(TargetError::statement(format!(
                "{} lies in Parquet files, whose rows cannot be replaced one by one",
                table.name
            ))),
        }
    }

    fn fill(&self, into: &str, read: impl FnOnce(Taker<'_>) -> Result<()>) -> Result<u64> {
        let mut appender = Appender::of_cells(&self.connection, into)?;
        let mut rows = 0;
        read(&mut |row| {
            rows += 1;
            appender.put_cells(row).map(drop)
        })?;
        appender.finish()?;
        Ok(rows)
    }

    /// Shows everything that was replaced.
    pub fn commit(self) -> Result<()> {
        self.run("COMMIT")?;
        *self.store.left_out() = self.left_out;
        Ok(())
    }

    /// Leaves the range out of the files of a table; gives the name of the table beside them.
    fn lay_beside(
        &mut self,
        table: &SourceTable,
        key: &str,
        range: &Range<u64>,
        paths: &str,
    ) -> Result<String> {
        let beside = beside(&table.name);
        let is_first = !self.left_out.contains_key(&table.name);
        let out = self.left_out.entry(table.name.clone()).or_default();
        if is_first {
            out.key = key.to_owned();
        }
        if out.key != key {
            return Err(TargetError::statement(format!(
                "rows of {} have already been replaced by {} and cannot now be replaced by {key}; populate the table again",
                table.name, out.key
            )));
        }
        out.ranges = joined(&out.ranges, range);
        if out.ranges.len() > RANGES_MOST {
            return Err(TargetError::statement(format!(
                "more than {RANGES_MOST} ranges of {} have changed; populate the table again",
                table.name
            )));
        }
        let gone: Vec<String> = out.ranges.iter().map(|range| within(key, range)).collect();
        if is_first {
            self.run(&create(&beside, table)?)?;
        }
        self.run(&format!(
            "CREATE OR REPLACE VIEW {} AS SELECT * FROM read_parquet([{paths}]) WHERE ({}) IS NOT TRUE \
             UNION ALL SELECT * FROM {}",
            DIALECT.quoted(&table.name),
            gone.join(" OR "),
            DIALECT.quoted(&beside)
        ))?;
        Ok(beside)
    }

    fn run(&self, sql: &str) -> Result<()> {
        let answer = self.connection.query(sql).map(drop);
        answer.map_err(|m| explain("updating the column store", &m))
    }
}

fn within(key: &str, range: &Range<u64>) -> String {
    let key = DIALECT.quoted(key);
    format!("({key} >= {} AND {key} < {})", range.start, range.end)
}

/// Ranges with one more, those that touch as one, in their order.
fn joined(ranges: &[Range<u64>], more: &Range<u64>) -> Vec<Range<u64>> {
    let mut all: Vec<Range<u64>> = ranges.iter().chain([more]).cloned().collect();
    all.sort_by_key(|range| range.start);
    let mut joined: Vec<Range<u64>> = Vec::with_capacity(all.len());
    for range in all {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_touch_become_one() {
        let some = joined(&joined(&[], &(10..20)), &(30..40));
        assert_eq!(some, [10..20, 30..40]);
        assert_eq!(joined(&some, &(20..25)), [10..25, 30..40]);
        assert_eq!(joined(&some, &(15..35)).first(), Some(&(10..40)));
        assert_eq!(joined(&some, &(12..14)), some);
        assert_eq!(joined(&some, &(0..1)), [0..1, 10..20, 30..40]);
    }
}
