//! The loader: its results, its refusals, and the state after an interruption.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use olap::{LoadOptions, Metadata, OlapError, TABLES};
use workload::loading::Event;

use crate::common::*;
use testing::Says;

/// Cells whose texts do not depend on the engine, from rows all over the tables.
const SAMPLES: &[&str] = &[
    "SELECT r_name, r_comment FROM region ORDER BY r_regionkey",
    "SELECT s_name, s_address, s_phone, s_comment FROM supplier ORDER BY s_suppkey",
    "SELECT p_name, p_mfgr, p_brand, p_type, p_container FROM part WHERE p_partkey > 1990 ORDER BY p_partkey",
    "SELECT c_name, c_mktsegment, c_comment FROM customer WHERE c_custkey < 20 ORDER BY c_custkey",
    "SELECT o_orderkey, o_clerk, o_orderpriority, o_comment FROM orders WHERE o_orderkey < 100 ORDER BY 1",
    "SELECT l_orderkey, l_linenumber, l_shipdate, l_shipinstruct, l_comment FROM lineitem \
     WHERE l_partkey = 17 ORDER BY 1, 2",
];

#[test]
fn all_engines_hold_the_same_rows_whatever_the_jobs() {
    let databases = Database::all();
    let mut samples: Vec<Vec<Vec<Vec<String>>>> = Vec::new();
    for (jobs, database) in (1..).zip(&databases) {
        let request = LoadOptions {
            jobs: Some(jobs),
            ..options(0.01)
        };
        let loaded = database.load(&request).unwrap();
        assert_eq!(loaded.rows["lineitem"], 60_175, "{}", database.engine);
        assert_eq!(loaded.rows["orders"], 15_000);
        let mut session = database.session();
        let sample = |sql: &&str| {
            let rows = session.texts(sql).unwrap();
            olap::Answer::of(rows).rows
        };
        samples.push(SAMPLES.iter().map(sample).collect());
        let metadata = Metadata::of_whole(session.as_mut()).unwrap();
        assert_eq!(metadata.rows, loaded.rows);
    }
    for (database, sample) in databases.iter().zip(&samples) {
        assert_eq!(sample, &samples[0], "{}", database.engine);
        assert!(sample.iter().all(|rows| !rows.is_empty()));
        refuses(database);
        assert!(olap::drop_all(database.target.as_ref()).unwrap());
        assert!(!olap::drop_all(database.target.as_ref()).unwrap());
        let gone = |table| format!("SELECT count(*) FROM {table}");
        assert!(
            TABLES
                .iter()
                .all(|t| database.session().texts(&gone(t)).is_err())
        );
    }
}

fn refuses(database: &Database) {
    let refused = |options: LoadOptions| database.load(&options).unwrap_err().to_string();
    let there = refused(options(0.01));
    there.says("scale 0.01 is already loaded here");
    let other = refused(options(0.02));
    other.says("differs in scale: 0.01 instead of 0.02");
    let replaced = LoadOptions {
        replace: true,
        ..options(0.01)
    };
    assert_eq!(database.load(&replaced).unwrap().rows["orders"], 15_000);
}

/// Interrupts a load when `when` says so, and loads again; returns the events of the second load.
fn broken_off(database: &Database, when: impl Fn(Event<'_>) -> bool + Sync) -> String {
    let target = database.target.as_ref();
    let stop = AtomicBool::new(false);
    let tell = |event: Event<'_>| {
        if when(event) {
            stop.store(true, Ordering::Relaxed);
        }
    };
    let request = LoadOptions {
        jobs: Some(1),
        ..options(0.01)
    };
    let outcome = olap::load(target, database.engine, &request, &stop, &tell);
    assert!(
        matches!(outcome, Err(OlapError::Interrupted)),
        "{outcome:?}"
    );
    let check = olap::check(target, database.engine, &[], None, &|_| ());
    assert!(
        matches!(check, Err(OlapError::NotWhole { .. })),
        "{check:?}"
    );
    let messages = Mutex::new(String::new());
    let tell = |event: Event<'_>| {
        if let Event::Note(note) = event {
            messages.lock().unwrap().push_str(note);
        }
    };
    let never = AtomicBool::new(false);
    let loaded = olap::load(target, database.engine, &options(0.01), &never, &tell).unwrap();
    assert_eq!(loaded.rows_in_all(), 86_805, "{}", database.engine);
    assert!(database.check(&[3, 9]).is_sound(), "{}", database.engine);
    messages.into_inner().unwrap()
}

#[test]
fn complete_tables_of_an_interrupted_load_are_reused() {
    for database in Database::all() {
        let messages = broken_off(&database, |event| {
            matches!(event, Event::Parts { done: 3, .. })
        });
        let reused = "tables kept: customer, orders, lineitem";
        assert!(messages.contains(reused), "{} {messages}", database.engine);
    }
}

#[test]
fn a_load_that_was_interrupted_among_its_keys_is_repeated() {
    let database = Database::sqlite();
    let messages = broken_off(
        &database,
        |event| matches!(event, Event::Step(step) if step.contains("index of orders")),
    );
    messages.says("loaded again from the start");
}

/// Two workloads have tables called customer and orders: neither takes the other's for its own.
#[test]
fn the_order_entry_database_is_left_alone() {
    let database = Database::sqlite();
    let never = AtomicBool::new(false);
    let of_order_entry = oltp::LoadOptions {
        warehouses: 1,
        rows: oltp::WarehouseRows::Tenth,
        jobs: None,
        seed: 1,
        foreign_keys: false,
        replace: true,
    };
    let load_order_entry = || {
        oltp::load(
            database.target.as_ref(),
            "sqlite",
            &of_order_entry,
            &never,
            &|_| (),
        )
    };
    database.load_least();
    assert!(matches!(load_order_entry(), Err(oltp::OltpError::Rival)));
    assert!(!oltp::drop_all(database.target.as_ref(), "sqlite").unwrap());
    assert_eq!(database.check(&[1]).findings.len(), 2);
    assert!(olap::drop_all(database.target.as_ref()).unwrap());
    load_order_entry().unwrap();
    let mut replacing = options(0.01);
    replacing.replace = true;
    assert!(matches!(database.load(&replacing), Err(OlapError::Rival)));
    assert!(!olap::drop_all(database.target.as_ref()).unwrap());
}
