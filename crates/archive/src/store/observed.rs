//! What was seen of databases at work: written and read.

use rusqlite::{Connection, Row, Transaction, params};
use serde::de::DeserializeOwned;

use super::Result;
use super::rows::rows;
use crate::{Observed, Remark};

pub(super) fn insert(transaction: &Transaction<'_>, id: i64, all: &[Observed]) -> Result<()> {
    let sql = "INSERT INTO observed VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let mut insert = transaction.prepare_cached(sql)?;
    for (seq, table) in all.iter().enumerate() {
        insert.execute(params![
            id,
            seq as i64,
            table.about.name(),
            table.source,
            table.remark,
            serde_json::json!(table.columns).to_string(),
            serde_json::json!(table.rows).to_string(),
        ])?;
    }
    Ok(())
}

/// What is there, and what of it could not be understood.
pub(super) fn read(connection: &Connection, id: i64) -> Result<(Vec<Observed>, Vec<Remark>)> {
    let mut problems = Vec::new();
    let sql = "SELECT * FROM observed WHERE point_id = ?1 ORDER BY seq";
    let all = rows(connection, sql, [id], table)?;
    let mut tables = Vec::new();
    for table in all {
        match table {
            Ok(table) => tables.push(table),
            Err(error) => problems.push(Remark::ObservedUnreadable { error }),
        }
    }
    Ok((tables, problems))
}

fn table(row: &Row<'_>) -> rusqlite::Result<std::result::Result<Observed, String>> {
    let about: String = row.get("about")?;
    let (columns, cells): (String, String) = (row.get("columns")?, row.get("rows")?);
    let (source, remark) = (row.get("source")?, row.get("remark")?);
    let table = || {
        Ok(Observed {
            about: about
                .parse()
                .map_err(|e: crate::UnknownAbout| e.to_string())?,
            source,
            remark,
            columns: json("columns", &columns)?,
            rows: json("rows", &cells)?,
        })
    };
    Ok(table())
}

fn json<T: DeserializeOwned>(column: &str, text: &str) -> std::result::Result<T, String> {
    serde_json::from_str(text).map_err(|error| format!("{column}: {error}"))
}
