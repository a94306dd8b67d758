//! What network interfaces carried: written and read.

use rusqlite::{Connection, Row, Transaction, params};

use super::Result;
use super::rows::rows;
use crate::{InterfaceKind, InterfaceUse, Remark, Traffic};

pub(super) fn insert(
    transaction: &Transaction<'_>,
    id: i64,
    interfaces: &[InterfaceUse],
) -> Result<()> {
    let sql =
        "INSERT INTO interface VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)";
    let mut insert = transaction.prepare_cached(sql)?;
    for (seq, interface) in interfaces.iter().enumerate() {
        let (received, sent) = (&interface.received, &interface.sent);
        insert.execute(params![
            id,
            seq as i64,
            interface.name,
            interface.kind.name(),
            interface.elapsed_s,
            signed(received.bytes),
            signed(received.packets),
            signed(received.errors),
            signed(received.drops),
            signed(sent.bytes),
            signed(sent.packets),
            signed(sent.errors),
            signed(sent.drops),
        ])?;
    }
    Ok(())
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// What is there, and what of it could not be understood.
pub(super) fn read(connection: &Connection, id: i64) -> Result<(Vec<InterfaceUse>, Vec<Remark>)> {
    let mut problems = Vec::new();
    let sql = "SELECT * FROM interface WHERE point_id = ?1 ORDER BY seq";
    let interfaces = rows(connection, sql, [id], |row| interface(row, &mut problems))?;
    Ok((interfaces, problems))
}

fn interface(row: &Row<'_>, problems: &mut Vec<Remark>) -> rusqlite::Result<InterfaceUse> {
    let name: String = row.get("name")?;
    let word: String = row.get("kind")?;
    let kind: InterfaceKind = word.parse().unwrap_or_else(|error| {
        problems.push(Remark::InterfaceUnreadable {
            interface: name.clone(),
            error: format!("{error}"),
        });
        InterfaceKind::default()
    });
    Ok(InterfaceUse {
        name,
        kind,
        elapsed_s: row.get("elapsed_s")?,
        received: traffic(row, "received")?,
        sent: traffic(row, "sent")?,
    })
}

fn traffic(row: &Row<'_>, direction: &str) -> rusqlite::Result<Traffic> {
    let count = |of: &str| -> rusqlite::Result<u64> {
        let count: i64 = row.get(format!("{direction}_{of}").as_str())?;
        Ok(count.cast_unsigned())
    };
    Ok(Traffic {
        bytes: count("bytes")?,
        packets: count("packets")?,
        errors: count("errors")?,
        drops: count("drops")?,
    })
}
