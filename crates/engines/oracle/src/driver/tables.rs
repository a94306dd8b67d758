//! Tables of dbdyno's own, on a server that commits each statement which makes or removes one.
//!
//! Its object number, which is never given twice, distinguishes a table from others of its name. It is known when the table is there, so
//! that one whose maker was killed in between is nobody's.

use engine::register::{self, SCHEMA_MARK};
use engine::{Result, Session, TargetError};

use super::client::Client;
use super::explain::is_unknown_to_stand_in;

/// Makes a table by a statement, and enters it.
pub(super) fn create(session: &mut impl Session, table: &str, sql: &str) -> Result<()> {
    register::entered(session)?;
    if session.relations()?.contains_key(table) {
        return Err(register::there_already(session, table));
    }
    // An entry of a table that somebody has dropped would be of another one.
    register::strike(session, table)?;
    let sql = sql.replace(SCHEMA_MARK, session.schema());
    session.batch(&sql)?;
    let identity = session.relations()?.remove(table);
    let identity = identity.ok_or_else(|| {
        TargetError::statement(format!(
            "the statement that should create the table {table} did not create it in dbdyno's schema"
        ))
    })?;
    register::enter(session, table, &identity)
}

pub(super) fn remove(session: &mut impl Session, table: &str) -> Result<bool> {
    if !register::is_there_and_ours(session, table)? {
        return Ok(false);
    }
    let schema = session.schema().to_owned();
    session.batch(&format!("DROP TABLE {schema}.{table} PURGE"))?;
    register::strike(session, table)?;
    Ok(true)
}

/// The steps of a query, from the table that every user has for plans; `None` where the server cannot explain statements.
pub(super) fn explained(
    client: &mut Client,
    sql: &str,
) -> Result<Option<Vec<Vec<Option<String>>>>> {
    const ID: &str = "dbdyno";
    let forget = format!("DELETE FROM plan_table WHERE statement_id = '{ID}'");
    match client.run(&format!("EXPLAIN PLAN SET STATEMENT_ID = '{ID}' FOR {sql}")) {
        Err(error) if is_unknown_to_stand_in(&error) => return Ok(None),
        other => other?,
    }
    let rows = client.texts(&format!(
        "SELECT lpad(' ', depth) || operation || ' ' || options, object_name FROM plan_table WHERE statement_id = '{ID}' ORDER BY id"
    ))?;
    client.run(&forget)?;
    Ok(Some(rows))
}
