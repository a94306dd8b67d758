//! Checks of one session: statements, transactions, errors, counters.

use std::time::{Duration, Instant};

use super::bench::{Bench, Checked, Miss, Numbers, STATEMENT_TIME_MAX, failed, number, same};
use crate::source::{Cell, Kind};
use crate::{Counters, ErrorKind, Feature, FirstRow, Result, Value};

const ROWS: i64 = 100;
const TABLE: &str = "dbdyno_check_rows";
/// So many rows, joined four times with themselves, take hours.
const LONG_ROWS: i64 = 2000;
const LIMIT: Duration = Duration::from_millis(300);

fn count(table: &str) -> String {
    format!("SELECT count(*) FROM {table}")
}

pub(super) fn tables(bench: &Bench<'_>) -> Checked {
    bench.with_table(TABLE, "id BIGINT NOT NULL", |session, _| {
        same(
            "the table is entered as dbdyno's",
            true,
            session.is_entered(TABLE)?,
        )?;
        let sql = format!("CREATE TABLE {{schema}}.{TABLE} (id BIGINT NOT NULL)");
        match session.create_table(TABLE, &sql) {
            Err(_) => Ok(()),
            Ok(()) => Err(failed(
                "an error for a table that exists",
                "it was created again",
            )),
        }
    })
}

pub(super) fn parameters(bench: &Bench<'_>) -> Checked {
    bench.with_rows(TABLE, ROWS, |session, table| {
        let sql = format!("SELECT id, n FROM {table} WHERE id >= ? AND id < ?");
        let select = session.prepare(&sql)?;
        for begin in [1, 10, ROWS] {
            let bounds = [Value::Int(begin), Value::Int(begin + 5)];
            let found = session.fetch(select, &bounds)?;
            let ids = begin..(begin + 5).min(ROWS + 1);
            same("rows", ids.clone().count() as u64, found.rows)?;
            same(
                "sum of their numbers",
                ids.sum::<i64>(),
                found.digest as i64,
            )?;
        }
        Ok(())
    })
}

pub(super) fn rows_changed(bench: &Bench<'_>) -> Checked {
    bench.with_rows(TABLE, ROWS, |session, table| {
        let mut run = |sql: &str| {
            let statement = session.prepare(sql)?;
            session.execute(statement, &[])
        };
        let insert = format!("INSERT INTO {table} SELECT id + 100, 0 FROM {table} WHERE id <= 3");
        same("rows inserted", 3, run(&insert)?)?;
        // Of a row that stays as it was, too: otherwise an update would seem to have found none.
        let update = format!("UPDATE {table} SET n = 0 WHERE id <= 10");
        same("rows updated to what they were", 10, run(&update)?)?;
        let none = format!("UPDATE {table} SET n = 1 WHERE id < 0");
        same("rows updated where there are none", 0, run(&none)?)?;
        let delete = format!("DELETE FROM {table} WHERE id > 100");
        same("rows deleted", 3, run(&delete)?)
    })
}

pub(super) fn first_row(bench: &Bench<'_>) -> Checked {
    bench.with_table(
        TABLE,
        "id BIGINT NOT NULL, v VARCHAR(20)",
        |session, table| {
            session.batch(&format!(
                "INSERT INTO {table} VALUES (7, 'seven'); INSERT INTO {table} VALUES (8, NULL)"
            ))?;
            let sql = format!("SELECT v, id FROM {table} WHERE id >= ? ORDER BY id");
            let statement = session.prepare(&sql)?;
            bench.offered(session.check_kept(statement, 0))?;
            let mut first = |id: i64| -> Result<(u64, FirstRow)> {
                let mut row = FirstRow::default();
                let rows = session.fetch_first(statement, &[Value::Int(id)], &mut row)?;
                Ok((rows, row))
            };
            let (rows, row) = first(7)?;
            same("rows", 2, rows)?;
            same("text", Some(Value::Text("seven")), row.value(0))?;
            same("number", Some(Value::Int(7)), row.value(1))?;
            let (_, row) = first(8)?;
            same("null", None, row.value(0))?;
            let (rows, row) = first(9)?;
            same(
                "rows where there are none",
                (0, true),
                (rows, row.is_empty()),
            )
        },
    )
}

pub(super) fn commit_and_rollback(bench: &Bench<'_>) -> Checked {
    bench.with_rows(TABLE, ROWS, |session, table| {
        let delete = session.prepare(&format!("DELETE FROM {table} WHERE id <= ?"))?;
        session.begin()?;
        session.execute(delete, &[Value::Int(10)])?;
        session.rollback()?;
        same(
            "rows after a rollback",
            ROWS,
            number(session, &count(table))?,
        )?;
        session.begin()?;
        session.execute(delete, &[Value::Int(10)])?;
        session.commit()?;
        // A transaction that has ended is not rolled back.
        session.rollback()?;
        let mut other = bench.session()?;
        let seen = number(other.as_mut(), &count(table))?;
        same("rows after a commit, in another session", ROWS - 10, seen)
    })
}

pub(super) fn load_in_transaction(bench: &Bench<'_>) -> Checked {
    bench.with_rows(TABLE, ROWS, |session, table| {
        session.begin()?;
        let loaded = session.append(TABLE, &mut Numbers(1001..1051))?;
        same("rows loaded", 50, loaded)?;
        session.rollback()?;
        same(
            "rows after a rollback",
            ROWS,
            number(session, &count(table))?,
        )?;
        session.begin()?;
        session.append(TABLE, &mut Numbers(1001..1051))?;
        session.commit()?;
        same(
            "rows after a commit",
            ROWS + 50,
            number(session, &count(table))?,
        )
    })
}

pub(super) fn indexes(bench: &Bench<'_>) -> Checked {
    bench.with_rows(TABLE, ROWS, |session, table| {
        let index = "dbdyno_check_n";
        session.create_index(TABLE, index, "n")?;
        session.analyse(TABLE)?;
        let sql = format!("SELECT count(*) FROM {table} WHERE n = 0");
        same("rows by the index", ROWS, number(session, &sql)?)?;
        session.drop_index(TABLE, index)?;
        session.drop_index_if_exists(TABLE, index)?;
        same("rows without it", ROWS, number(session, &sql)?)
    })
}

/// A violated constraint is no conflict, and the session goes on.
pub(super) fn unique_violation(bench: &Bench<'_>) -> Checked {
    bench.with_rows(TABLE, ROWS, |session, table| {
        let insert = session.prepare(&format!("INSERT INTO {table} VALUES (?, 0)"))?;
        let Err(error) = session.execute(insert, &[Value::Int(1)]) else {
            return Err(failed("an error for a key that exists", "it was inserted"));
        };
        session.rollback()?;
        same("kind of the error", ErrorKind::Statement, error.kind)?;
        same(
            "rows inserted afterwards",
            1,
            session.execute(insert, &[Value::Int(101)])?,
        )
    })
}

pub(super) fn error_in_transaction(bench: &Bench<'_>) -> Checked {
    bench.with_rows(TABLE, ROWS, |session, table| {
        session.begin()?;
        session.batch(&format!("DELETE FROM {table} WHERE id = 1"))?;
        let wrong = session.batch(&format!("SELECT nothing FROM {table}_absent"));
        if wrong.is_ok() {
            return Err(failed("an error for a table that does not exist", "none"));
        }
        session.rollback()?;
        same(
            "rows after the rollback",
            ROWS,
            number(session, &count(table))?,
        )
    })
}

pub(super) fn time_limit(bench: &Bench<'_>) -> Checked {
    bench.with_rows(TABLE, LONG_ROWS, |session, table| {
        bench.offered(session.limit_statements(Some(LIMIT)))?;
        let sql = format!(
            "SELECT count(*) FROM {table} a, {table} b, {table} c, {table} d \
             WHERE a.id + b.id * c.id + d.id = -1"
        );
        let long = session.prepare(&sql)?;
        let begin = Instant::now();
        let outcome = session.fetch(long, &[]);
        let took = begin.elapsed();
        let Err(error) = outcome else {
            return Err(failed(
                "an error after 0.3 s",
                format!("an answer after {took:.1?}"),
            ));
        };
        same("kind of the error", ErrorKind::Statement, error.kind)?;
        if took > STATEMENT_TIME_MAX {
            return Err(failed(
                "an end after 0.3 s",
                format!("an end after {took:.1?}"),
            ));
        }
        session.rollback()?;
        session.limit_statements(None)?;
        same(
            "rows afterwards",
            LONG_ROWS,
            number(session, &count(table))?,
        )
    })
}

pub(super) fn plans(bench: &Bench<'_>) -> Checked {
    bench.with_rows(TABLE, ROWS, |session, table| {
        match session.plan(&count(table))? {
            Some(plan) if plan.trim().is_empty() => Err(failed("the steps of a plan", "none")),
            Some(_) => Ok(()),
            None => Err(Miss::NotOffered(
                "the engine does not show its plans".into(),
            )),
        }
    })
}

pub(super) fn parallel_statements(bench: &Bench<'_>) -> Checked {
    let target = bench.target;
    bench.with_rows(TABLE, LONG_ROWS, |_, table| {
        if target.threads_max() < 2 {
            return Err(Miss::NotOffered(format!(
                "this server allows {} thread per statement",
                target.threads_max()
            )));
        }
        let before = target.threads();
        target.set_threads(2)?;
        let measure = || -> Checked {
            same("threads", 2, target.threads())?;
            let mut session = bench.session()?;
            same("rows", LONG_ROWS, number(session.as_mut(), &count(table))?)
        };
        let outcome = measure();
        target.set_threads(before)?;
        outcome
    })
}

/// Work of every session counts, whether the engine counts by session or as a whole.
pub(super) fn counters(bench: &Bench<'_>) -> Checked {
    bench.with_rows(TABLE, LONG_ROWS, |session, table| {
        // Session or engine counts, not always both.
        let sum = |of_session: Counters| {
            let of_target = bench.target.counters();
            Counters {
                buffer_gets: of_session.buffer_gets.or(of_target.buffer_gets),
                redo_bytes: of_session.redo_bytes.or(of_target.redo_bytes),
                pages_read: of_session.pages_read.or(of_target.pages_read),
            }
        };
        let before = sum(session.counters());
        session.batch(&format!("UPDATE {table} SET n = n + 1"))?;
        let changed = format!("SELECT count(*) FROM {table} WHERE n = 1");
        same("rows changed", LONG_ROWS, number(session, &changed)?)?;
        let rise = sum(session.counters()).since(before);
        if before == Counters::default() {
            return Err(Miss::NotOffered(
                "the engine counts neither page accesses nor log".into(),
            ));
        }
        // A database in memory needs no log.
        let is_logged = bench.target.lacks(Feature::Storage).is_none();
        let log = before.redo_bytes.filter(|_| is_logged);
        for (what, before, rise) in [
            ("page accesses", before.buffer_gets, rise.buffer_gets),
            ("bytes of log", log, rise.redo_bytes),
        ] {
            if before.is_some() && rise.is_none_or(|rise| rise == 0) {
                let seen = rise.map_or("a reset".to_owned(), |rise| rise.to_string());
                return Err(failed(
                    format!("{what} rise with {LONG_ROWS} updates"),
                    seen,
                ));
            }
        }
        Ok(())
    })
}

pub(super) fn checkpoint(bench: &Bench<'_>) -> Checked {
    bench.with_rows(TABLE, ROWS, |session, table| {
        bench.target.checkpoint()?;
        same(
            "rows after a checkpoint",
            ROWS,
            number(session, &count(table))?,
        )
    })
}

/// The catalogue and the rows, as a column store would load them.
pub(super) fn whole_tables(bench: &Bench<'_>) -> Checked {
    let columns = format!(
        "id BIGINT NOT NULL PRIMARY KEY, label VARCHAR(20), amount DECIMAL(12,2), moment {}",
        bench.names.moment
    );
    bench.with_table(TABLE, &columns, |session, table| {
        session.batch(&format!(
            "INSERT INTO {table} VALUES (1, 'one', 1.25, '2026-01-31 12:00:00'); \
             INSERT INTO {table} VALUES (2, NULL, NULL, NULL)"
        ))?;
        // Some engines read only what is in the file.
        bench.target.checkpoint()?;
        let source = bench.offered(bench.target.source())?;
        let tables = source.tables()?;
        let Some(found) = tables.iter().find(|it| it.name == TABLE) else {
            return Err(failed(
                format!("a table {TABLE}"),
                format!("{} others", tables.len()),
            ));
        };
        let names: Vec<&str> = found.columns.iter().map(|it| it.name.as_str()).collect();
        same("columns", vec!["id", "label", "amount", "moment"], names)?;
        let of_id = &found.columns[0].kind;
        if !matches!(of_id, Ok(Kind::Int(_))) {
            return Err(failed("id is an integer", format!("{of_id:?}")));
        }
        let mut reader = source.open_reader()?;
        let (mut ids, mut nulls, mut rows) = (0, 0, 0);
        for part in source.parts(found, 1) {
            reader.read(found, &part, &mut |cells| {
                rows += 1;
                for cell in cells {
                    nulls += usize::from(*cell == Cell::Null);
                }
                if let Some(Cell::Int(id)) = cells.first() {
                    ids += id;
                }
                Ok(())
            })?;
        }
        same("rows, sum of ids, nulls", (2, 3, 3), (rows, ids, nulls))
    })
}
