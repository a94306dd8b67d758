use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use olap::work::{Answers, Rows, Work, WorkOptions};
use olap::{Function, Metadata, OlapError, Source};
use workload::Meter;

use crate::common::*;

/// Rows of a table without a partner in the other.
const ORPHANS: [&str; 2] = [
    "SELECT count(*) FROM lineitem WHERE l_orderkey NOT IN (SELECT o_orderkey FROM orders)",
    "SELECT count(*) FROM orders WHERE o_orderkey NOT IN (SELECT l_orderkey FROM lineitem)",
];

fn number(database: &Database, sql: &str) -> u64 {
    let rows = database.session().texts(sql).unwrap();
    rows[0][0].as_ref().unwrap().parse().unwrap()
}

/// Orders in total, of the old ones of set 1, and of its new ones.
fn orders(database: &Database) -> [u64; 3] {
    let between =
        |from, to| format!("SELECT count(*) FROM orders WHERE o_orderkey BETWEEN {from} AND {to}");
    let in_eights = |first: u64, second: u64| {
        number(database, &between(first, first + 7))
            + number(database, &between(second, second + 7))
    };
    [
        number(database, "SELECT count(*) FROM orders"),
        in_eights(0, 32),
        in_eights(8, 40),
    ]
}

pub fn work(database: &Database) -> Work {
    let options = WorkOptions {
        scale: None,
        source: Source::Qualification,
        seed: 1,
        limit: None,
        rows: Rows::Changing,
    };
    let answers = Arc::new(Answers::default());
    Work::open(
        Arc::clone(&database.target),
        database.engine,
        options,
        answers,
    )
    .unwrap()
}

pub fn refresh(database: &Database, functions: &[(Function, u32)]) {
    let (meter, never) = (Arc::new(Meter::default()), AtomicBool::new(false));
    let refresher = work(database).refresher(functions.to_vec(), &meter, &never);
    let mut refresher = refresher.unwrap();
    for (index, _) in (0..).zip(functions) {
        let done = refresher.operate(load::Request::of_job(0, index)).unwrap();
        assert!(
            (30..200).contains(&done.rows),
            "{} {done:?}",
            database.engine
        );
    }
    assert!(
        refresher
            .operate(load::Request::of_job(0, functions.len() as u64))
            .is_err()
    );
}

#[test]
fn orders_come_and_go_and_are_put_back_on_all_engines() {
    for database in Database::all() {
        let engine = database.engine;
        database.load_least();
        assert_eq!(orders(&database), [15_000, 15, 0]);
        assert!(!olap::undo_refreshes(database.target.as_ref()).unwrap());
        work(&database).note_refresh(2).unwrap();
        refresh(&database, &[(Function::NewSales, 1)]);
        assert_eq!(orders(&database), [15_015, 15, 15], "{engine}");
        refresh(
            &database,
            &[
                (Function::ChangedSales, 1),
                (Function::OldSales, 1),
                (Function::NewSales, 2),
            ],
        );
        assert_eq!(orders(&database), [15_015, 0, 15], "{engine}");
        for sql in ORPHANS {
            assert_eq!(number(&database, sql), 0, "{engine} {sql}");
        }
        is_refused(&database);
        let again = database.load(&options(0.01)).unwrap();
        assert!(again.restored && again.rows["orders"] == 15_000, "{engine}");
        assert_eq!(orders(&database), [15_000, 15, 0], "{engine}");
        let checked = database.check(&[1, 3, 4, 18, 21]);
        assert!(checked.is_sound(), "{engine} {:?}", checked.findings);
        assert!(matches!(
            database.load(&options(0.01)),
            Err(OlapError::Present { .. })
        ));
        let mut session = database.session();
        let facts = session.texts("SELECT name FROM dbdyno_olap WHERE name LIKE 'before%'");
        assert_eq!(facts.unwrap().len(), 0, "{engine}");
    }
}

/// A database whose rows have changed since the load is not taken for it.
fn is_refused(database: &Database) {
    let target = database.target.as_ref();
    let check = olap::check(target, database.engine, &[], None, &|_| ());
    let error = check.unwrap_err().to_string();
    assert!(error.contains("load scale 0.01 again"), "{error}");
    let again = work(database).note_refresh(1);
    assert!(
        matches!(again, Err(OlapError::Refreshed { .. })),
        "{again:?}"
    );
    let metadata = Metadata::of_whole(database.session().as_mut()).unwrap();
    assert_eq!(metadata.refreshed, Some(2));
    let other = database.load(&options(0.02)).unwrap_err().to_string();
    assert!(other.contains("differs in scale"), "{other}");
}

#[test]
fn rows_that_somebody_else_changed_are_found_after_a_refresh() {
    let database = Database::sqlite();
    database.load_least();
    work(&database).note_refresh(1).unwrap();
    refresh(&database, &[(Function::NewSales, 1)]);
    let change = "UPDATE lineitem SET l_quantity = l_quantity + 1 WHERE l_orderkey = 100";
    database.session().batch(change).unwrap();
    let error = olap::undo_refreshes(database.target.as_ref()).unwrap_err();
    assert!(error.to_string().contains("l_quantity is"), "{error}");
    // It remains so until it is reloaded.
    assert!(database.load(&options(0.01)).is_err());
    let mut replacing = options(0.01);
    replacing.replace = true;
    assert!(!database.load(&replacing).unwrap().restored);
    assert!(database.check(&[1]).is_sound());
}
