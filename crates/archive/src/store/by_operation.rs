//! Times by kind of operation: written and read.

use rusqlite::{Connection, Transaction, params};

use super::Result;
use super::rows::rows;
use crate::{ByOperation, OperationSample, OperationTimes, Remark, TransactionKind};

pub(super) fn insert(transaction: &Transaction<'_>, id: i64, by: &ByOperation) -> Result<()> {
    let signed = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    let sql = "INSERT INTO operation_times VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
    let mut insert = transaction.prepare_cached(sql)?;
    for (seq, times) in by.times.iter().enumerate() {
        insert.execute(params![
            id,
            seq as i64,
            times.observer,
            times.subject,
            times.operation,
            times.phase,
            times.count.map(signed),
            times.mean_us,
            times.remark,
            times.encoded(),
        ])?;
    }
    let sql = "INSERT INTO operation_sample VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let mut insert = transaction.prepare_cached(sql)?;
    for (seq, sample) in by.samples.iter().enumerate() {
        insert.execute(params![
            id,
            seq as i64,
            sample.at_s,
            sample.operation,
            signed(sample.operations),
            sample.service_us_mean,
            sample.response_us_mean,
        ])?;
    }
    let sql = "INSERT INTO transaction_kind VALUES (?1, ?2, ?3, ?4, ?5)";
    let mut insert = transaction.prepare_cached(sql)?;
    for (seq, kind) in by.transactions.iter().enumerate() {
        let (completed, rows) = (signed(kind.completed), signed(kind.rows));
        insert.execute(params![id, seq as i64, kind.name, completed, rows])?;
    }
    Ok(())
}

/// What is there, and what of it could not be understood.
pub(super) fn read(connection: &Connection, id: i64) -> Result<(ByOperation, Vec<Remark>)> {
    let sql = "SELECT * FROM operation_times WHERE point_id = ?1 ORDER BY seq";
    let mut problems = Vec::new();
    let times = rows(connection, sql, [id], |row| {
        let mut times = OperationTimes::default();
        times.observer = row.get("observer")?;
        times.subject = row.get("subject")?;
        times.operation = row.get("operation")?;
        times.phase = row.get("phase")?;
        times.count = row.get::<_, Option<i64>>("count")?.map(i64::cast_unsigned);
        times.mean_us = row.get("mean_us")?;
        times.remark = row.get("remark")?;
        let Some(bytes) = row.get::<_, Option<Vec<u8>>>("v2_deflate")? else {
            return Ok(times);
        };
        let bare = times.clone();
        Ok(times.with_encoded(bytes).unwrap_or_else(|error| {
            let OperationTimes {
                observer,
                operation,
                phase,
                ..
            } = &bare;
            problems.push(Remark::OperationTimesUnreadable {
                observer: observer.clone(),
                operation: operation.clone(),
                phase: phase.clone(),
                error: error.to_string(),
            });
            bare
        }))
    })?;
    let sql = "SELECT * FROM operation_sample WHERE point_id = ?1 ORDER BY seq";
    let samples = rows(connection, sql, [id], |row| {
        Ok(OperationSample {
            at_s: row.get("at_s")?,
            operation: row.get("operation")?,
            operations: row.get::<_, i64>("operations")?.cast_unsigned(),
            service_us_mean: row.get("service_us_mean")?,
            response_us_mean: row.get("response_us_mean")?,
        })
    })?;
    let sql = "SELECT * FROM transaction_kind WHERE point_id = ?1 ORDER BY seq";
    let transactions = rows(connection, sql, [id], |row| {
        Ok(TransactionKind {
            name: row.get("name")?,
            completed: row.get::<_, i64>("completed")?.cast_unsigned(),
            rows: row.get::<_, i64>("rows")?.cast_unsigned(),
        })
    })?;
    let by_operation = ByOperation {
        times,
        samples,
        transactions,
    };
    Ok((by_operation, problems))
}
