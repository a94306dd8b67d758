//! Checks of the database as a whole.

use super::bench::{Bench, Checked, Miss, number, same};
use super::place;
use crate::SCHEMA_MARK;

const TABLE: &str = "dbdyno_check_whole";
const SECONDARY: &str = "second";

/// Two tables of one name, each in its own schema.
pub(super) fn secondary_schema(bench: &Bench<'_>) -> Checked {
    bench.with_rows(TABLE, 10, |session, table| {
        let second = bench.offered(bench.target.secondary_schema(SECONDARY))?;
        let mut other = second.open_session()?;
        other.drop_table(TABLE)?;
        let sql = format!("CREATE TABLE {SCHEMA_MARK}.{TABLE} (id BIGINT NOT NULL)");
        other.create_table(TABLE, &sql)?;
        let theirs = format!("SELECT count(*) FROM {}.{TABLE}", other.schema());
        let found = (
            number(other.as_mut(), &theirs),
            number(session, &format!("SELECT count(*) FROM {table}")),
        );
        other.drop_table(TABLE)?;
        drop((other, second));
        bench.target.remove_secondary_schema(SECONDARY)?;
        same("rows of each", (0, 10), (found.0?, found.1?))
    })
}

/// A copy of the database is restored after a change.
pub(super) fn snapshot(bench: &Bench<'_>) -> Checked {
    let snapshot = bench.target.snapshot().map_err(Miss::NotOffered)?;
    let columns = "id BIGINT NOT NULL";
    let mut session = bench.session()?;
    session.drop_table(TABLE)?;
    session.create_table(
        TABLE,
        &format!("CREATE TABLE {SCHEMA_MARK}.{TABLE} ({columns})"),
    )?;
    let table = format!("{}.{TABLE}", session.schema());
    session.batch(&format!("INSERT INTO {table} VALUES (1)"))?;
    // A copy is taken while nobody uses the database.
    drop(session);
    let work = || -> Checked {
        snapshot.take("check")?;
        same("label", Some("check".to_owned()), snapshot.label()?)?;
        let mut session = bench.session()?;
        session.batch(&format!("INSERT INTO {table} VALUES (2)"))?;
        drop(session);
        snapshot.restore()?;
        let mut session = bench.session()?;
        let count = format!("SELECT count(*) FROM {table}");
        same(
            "rows after the restore",
            1,
            number(session.as_mut(), &count)?,
        )
    };
    let outcome = work();
    let removed = snapshot.remove();
    bench.session()?.drop_table(TABLE)?;
    outcome?;
    Ok(removed?)
}

/// Every check drops its tables; the register of dbdyno's tables alone stays.
pub(super) fn nothing_left(bench: &Bench<'_>) -> Checked {
    let mut session = bench.session()?;
    let left = place::left_behind(session.as_mut())?;
    same("tables of the suite", Vec::<String>::new(), left)
}
