//! What engines counted of their own I/O: written and read.

use std::str::FromStr;

use rusqlite::{Connection, Row, Transaction, params};

use super::Result;
use super::rows::rows;
use crate::{EngineIo, Remark};

pub(super) fn insert(transaction: &Transaction<'_>, id: i64, all: &[EngineIo]) -> Result<()> {
    let sql = "INSERT INTO engine_io VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    let mut insert = transaction.prepare_cached(sql)?;
    for (seq, io) in all.iter().enumerate() {
        insert.execute(params![
            id,
            seq as i64,
            io.purpose.name(),
            io.operation.name(),
            io.count
                .map(|count| i64::try_from(count).unwrap_or(i64::MAX)),
            io.mb,
            io.time_s,
            io.source,
            io.unknown.map(|unknown| unknown.name()),
        ])?;
    }
    Ok(())
}

/// What is there, and what of it could not be understood.
pub(super) fn read(connection: &Connection, id: i64) -> Result<(Vec<EngineIo>, Vec<Remark>)> {
    let mut problems = Vec::new();
    let sql = "SELECT * FROM engine_io WHERE point_id = ?1 ORDER BY seq";
    let all = rows(connection, sql, [id], |row| engine_io(row, &mut problems))?;
    Ok((all.into_iter().flatten().collect(), problems))
}

/// `None`, with the reason, where it is not known what the row is about.
fn engine_io(row: &Row<'_>, problems: &mut Vec<Remark>) -> rusqlite::Result<Option<EngineIo>> {
    let purpose = word(row, "purpose", problems)?;
    let operation = word(row, "operation", problems)?;
    let unknown = word(row, "unknown", problems)?;
    let count: Option<i64> = row.get("count")?;
    let Some((purpose, operation)) = purpose.zip(operation) else {
        return Ok(None);
    };
    Ok(Some(EngineIo {
        purpose,
        operation,
        count: count.map(i64::cast_unsigned),
        mb: row.get("mb")?,
        time_s: row.get("time_s")?,
        source: row.get("source")?,
        unknown,
    }))
}

/// A column with a known word; `None` where it is NULL, or with the reason where the word is unknown.
fn word<T: FromStr<Err: std::fmt::Display>>(
    row: &Row<'_>,
    column: &str,
    problems: &mut Vec<Remark>,
) -> rusqlite::Result<Option<T>> {
    let word: Option<String> = row.get(column)?;
    let parsed = word.map(|word| word.parse::<T>()).transpose();
    Ok(parsed.unwrap_or_else(|error| {
        problems.push(Remark::EngineIoUnreadable {
            error: format!("{column}: {error}"),
        });
        None
    }))
}
