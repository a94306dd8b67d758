//! Tables that tests read: loaded once, verified, and restored after a change by somebody else.

use std::collections::HashSet;

use archive::Remark;
use engine::{Feature, Fetched, Result, SCHEMA_MARK, Session, Target, Value};

use crate::bench::Bench;
use crate::data::{self, Rows};

use crate::expectation::{Expectation, Sizes};
use crate::library::Table;

/// Register of the loaded tables, with rows and generator.
pub(crate) const REGISTER: &str = "dbdyno_register";

/// Makes sure that `table` is complete and analysed; loads it otherwise.
pub fn ensure(bench: &Bench, table: Table) -> Result<()> {
    let mut session = bench.target.open_session()?;
    if is_loaded(session.as_mut(), bench, table)? {
        return Ok(());
    }
    load(session.as_mut(), bench, table)?;
    drop(session);
    bench.checkpoint()
}

/// Reads the whole table and compares it with the generator. Returns a difference once: a changed table is reloaded
/// before the next point that needs it.
///
/// The first time in a run every cell of every row is compared; before the other points only the count and the sums of
/// [`Expectation::Scan`], at a fraction of the cost.
pub fn proof(bench: &Bench, table: Table) -> Result<Option<Remark>> {
    let name = table.name();
    let rows = bench.size.rows(table);
    let mut session = bench.target.open_session()?;
    let (found, right) = if bench.proven.insert(table) {
        let sql = format!("SELECT id, skey, grp, amount, day, label, pad FROM {name}");
        (
            query(session.as_mut(), &sql)?,
            data::expect_every_cell(rows),
        )
    } else {
        let sizes = Sizes {
            table: rows,
            small: bench.size.small,
        };
        (
            scan(session.as_mut(), name)?,
            Expectation::Scan.answer(sizes),
        )
    };
    if found == right {
        return Ok(None);
    }
    bench.proven.forget(table);
    strike(session.as_mut(), name)?;
    Ok(Some(Remark::TableChanged {
        table: name.to_owned(),
    }))
}

/// Count and sums over every row of a table of the bench shape, for [`Expectation::Scan`].
pub fn scan(session: &mut dyn Session, table: &str) -> Result<Fetched> {
    query(
        session,
        &format!("SELECT count(*), sum(amount), sum(length(label)), sum(length(pad)) FROM {table}"),
    )
}

pub fn query(session: &mut dyn Session, sql: &str) -> Result<Fetched> {
    let statement = session.prepare(sql)?;
    session.fetch(statement, &[])
}

/// Recreates an empty table in one of the shapes of the library.
pub fn recreate(session: &mut dyn Session, bench: &Bench, shape: &str, name: &str) -> Result<()> {
    session.drop_table(name)?;
    let place = format!("{}.{name}", session.schema());
    let sql = bench.library.create_table(shape, &bench.engine, &place);
    session.create_table(name, &sql)
}

/// Restores the state in which every block of a study begins: without the tables that its tests read, so that each
/// block loads its own and none profits from another.
pub fn restore(target: &dyn Target, read: &HashSet<Table>) -> Result<()> {
    if target.lacks(Feature::Tables).is_some() || read.is_empty() {
        return Ok(());
    }
    let mut session = target.open_session()?;
    let is_registered = session.is_entered(REGISTER)?;
    for table in read {
        if is_registered {
            strike(session.as_mut(), table.name())?;
        }
        session.drop_table(table.name())?;
    }
    drop(session);
    target.checkpoint()
}

fn is_loaded(session: &mut dyn Session, bench: &Bench, table: Table) -> Result<bool> {
    if !session.is_entered(REGISTER)? {
        let sql = format!(
            "CREATE TABLE {SCHEMA_MARK}.{REGISTER} (name VARCHAR(64) NOT NULL PRIMARY KEY, loaded BIGINT NOT NULL, \
             generator BIGINT NOT NULL)"
        );
        session.create_table(REGISTER, &sql)?;
    }
    let known = session.prepare(&format!(
        "SELECT count(*) FROM {REGISTER} WHERE name = ? AND loaded = ? AND generator = ?"
    ))?;
    let rows = bench.size.rows(table);
    let found = session.fetch(
        known,
        &[
            Value::Text(table.name()),
            Value::Int(rows as i64),
            Value::Int(data::GENERATOR as i64),
        ],
    )?;
    // The register may outlive a table that somebody dropped or emptied.
    Ok(found.digest == 1
        && query(session, &format!("SELECT count(*) FROM {}", table.name()))
            .is_ok_and(|count| count.digest == rows))
}

fn load(session: &mut dyn Session, bench: &Bench, table: Table) -> Result<()> {
    let name = table.name();
    let rows = bench.size.rows(table);
    bench.proven.forget(table);
    strike(session, name)?;
    recreate(session, bench, "bench", name)?;
    session.bulk_load(name, &mut Rows::all(rows))?;
    if table == Table::Small {
        session.create_index(name, &format!("{name}_skey"), "skey")?;
    }
    session.analyse(name)?;
    // Registered last, so that a load that was killed half-way is repeated.
    let schema = session.schema();
    session.batch(&format!(
        "INSERT INTO {schema}.{REGISTER} VALUES ('{name}', {rows}, {})",
        data::GENERATOR
    ))
}

fn strike(session: &mut dyn Session, name: &str) -> Result<()> {
    let schema = session.schema();
    session.batch(&format!(
        "DELETE FROM {schema}.{REGISTER} WHERE name = '{name}'"
    ))
}
