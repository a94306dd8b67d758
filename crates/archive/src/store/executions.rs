//! Single executions of statements: written and read.

use rusqlite::{Connection, Row, Transaction, params};

use super::Result;
use super::rows::rows;
use crate::Execution;

pub(super) fn insert(
    transaction: &Transaction<'_>,
    id: i64,
    executions: &[Execution],
) -> Result<()> {
    let sql = "INSERT INTO execution VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    let mut insert = transaction.prepare_cached(sql)?;
    for (seq, execution) in executions.iter().enumerate() {
        insert.execute(params![
            id,
            seq as i64,
            execution.round,
            execution.statement,
            signed(execution.elapsed_us),
            execution.plan,
            signed(execution.device_read_bytes),
            signed(execution.buffer_gets),
            signed(execution.pages_read),
        ])?;
    }
    Ok(())
}

fn signed(count: Option<u64>) -> Option<i64> {
    count.map(|count| i64::try_from(count).unwrap_or(i64::MAX))
}

pub(super) fn read(connection: &Connection, id: i64) -> Result<Vec<Execution>> {
    let sql = "SELECT * FROM execution WHERE point_id = ?1 ORDER BY seq";
    rows(connection, sql, [id], execution)
}

fn execution(row: &Row<'_>) -> rusqlite::Result<Execution> {
    let count = |column: &str| -> rusqlite::Result<Option<u64>> {
        let count: Option<i64> = row.get(column)?;
        Ok(count.map(i64::cast_unsigned))
    };
    Ok(Execution {
        round: row.get("round")?,
        statement: row.get("statement")?,
        elapsed_us: count("elapsed_us")?,
        plan: row.get("plan")?,
        device_read_bytes: count("device_read_bytes")?,
        buffer_gets: count("buffer_gets")?,
        pages_read: count("pages_read")?,
    })
}
