//! Tables of dbdyno's own, on a server that commits each statement which makes or removes one.
//!
//! A table is entered before it is made, with a word that becomes its comment: what is entered and does not bear
//! the word is another one, whoever made it and whenever.

use crate::guard::TABLE;
use engine::register::{self, SCHEMA_MARK};
use engine::{OWN_TABLES, Result, Session};

/// `options` end the table's definition, each after a space.
pub(super) fn create(
    session: &mut impl Session,
    table: &str,
    sql: &str,
    options: &str,
) -> Result<()> {
    let sql = sql.trim_end().trim_end_matches(';');
    make(session, table, &|token| {
        format!("{sql}\nCOMMENT = '{token}'{options}")
    })
}

/// The query follows what is said of the table.
pub(super) fn create_as(
    session: &mut impl Session,
    table: &str,
    query: &str,
    options: &str,
) -> Result<()> {
    make(session, table, &|token| {
        format!("CREATE TABLE {SCHEMA_MARK}.{table} COMMENT = '{token}'{options} AS {query}")
    })
}

/// Makes a table by the statement that bears a word.
fn make(session: &mut impl Session, table: &str, statement: &dyn Fn(&str) -> String) -> Result<()> {
    register::entered(session)?;
    let token = register::token();
    if session.relations()?.contains_key(table) {
        return Err(register::there_already(session, table));
    }
    register::enter(session, table, &format!("{TABLE}{token}"))?;
    let sql = statement(&token).replace(SCHEMA_MARK, session.schema());
    let made = session.batch(&sql);
    if made.is_err() {
        // The first error is the one to tell; an entry without its table is none.
        let _ = register::strike(session, table);
    }
    made
}

pub(super) fn remove(session: &mut impl Session, table: &str) -> Result<bool> {
    if !register::is_there_and_ours(session, table)? {
        return Ok(false);
    }
    let place = format!("{}.{table}", session.schema());
    session.batch(&format!(
        "LOCK TABLES {place} WRITE, {} WRITE",
        register_of(session)
    ))?;
    // It may have been another one's before it was locked.
    let removed = match register::is_there_and_ours(session, table) {
        Ok(true) => session.batch(&format!("DROP TABLE {place}")).map(|()| true),
        other => other,
    };
    session.batch("UNLOCK TABLES")?;
    if removed? {
        register::strike(session, table)?;
        return Ok(true);
    }
    Ok(false)
}

fn register_of(session: &impl Session) -> String {
    format!("{}.{OWN_TABLES}", session.schema())
}
