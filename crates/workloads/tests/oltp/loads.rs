//! The loader: its results, its refusals, and its resumption.

use std::sync::atomic::{AtomicBool, Ordering};

use oltp::{LoadOptions, Metadata, OltpError, TABLES, WarehouseRows};
use workload::loading::Event;

use crate::common::*;
use crate::loaded::as_loaded;
use testing::Says;

/// Columns of the specification, with values that do not depend on the seed.
const FIXED: &str = "
    SELECT count(*) FROM customer WHERE c_balance = -10 AND c_ytd_payment = 10.00 => 6000
    SELECT count(*) FROM customer WHERE c_middle = 'OE' AND c_credit_lim = 50000.00 => 6000
    SELECT count(*) FROM customer WHERE c_since = '2026-01-01 00:00:00' => 6000
    SELECT count(*) FROM history WHERE h_amount = 10 => 6000
    SELECT count(*) FROM orders WHERE o_carrier_id IS NULL => 1800
    SELECT count(*) FROM order_line WHERE ol_amount = 0 => %delivered
    SELECT count(*) FROM order_line WHERE ol_delivery_d IS NOT NULL => %delivered
    SELECT count(DISTINCT c_last) FROM customer => 100
    SELECT min(d_next_o_id) + max(d_next_o_id) FROM district => 602
";

#[test]
fn all_engines_hold_the_same_rows() {
    let engines = ["sqlite", "postgres", "mariadb", "mysql"];
    let engines = &engines[..3 + usize::from(mysql_is_there())];
    let loaded = engines.iter().map(|engine| as_loaded(engine, 2));
    let loaded: Vec<_> = loaded.collect();
    let databases = engines.iter().map(|engine| Database::loaded(engine, 2));
    let databases: Vec<_> = databases.collect();
    for other in &loaded[1..] {
        assert_eq!(other.rows, loaded[0].rows);
        assert_eq!(other.warehouses, loaded[0].warehouses);
    }
    for database in &databases {
        assert_eq!(database.check().broken(), [0_u32; 0]);
        let mut session = database.session();
        let session = session.as_mut();
        let delivered = "SELECT sum(o_ol_cnt) FROM orders WHERE o_carrier_id IS NOT NULL";
        let delivered = one(session, delivered);
        for (sql, right) in testing::rows(FIXED) {
            let right = right.replace("%delivered", &delivered);
            assert_eq!(one(session, sql), right, "{}: {sql}", database.engine);
        }
    }
    let texts = |database: &Database, sql: &str| database.session().texts(sql).unwrap();
    for sql in [
        "SELECT w_id, w_name, w_city, w_zip, round(w_tax * 10000) FROM warehouse ORDER BY w_id",
        "SELECT s_i_id, s_quantity, s_dist_10, s_data FROM stock WHERE s_w_id = 2 AND s_i_id < 50 ORDER BY 1",
        "SELECT ol_i_id, round(ol_amount * 100), ol_dist_info FROM order_line \
         WHERE ol_w_id = 1 AND ol_d_id = 10 AND ol_o_id > 290 ORDER BY ol_o_id, ol_number",
        "SELECT c_first, c_last, c_credit, c_data FROM customer \
         WHERE c_w_id = 2 AND c_d_id = 3 AND c_id < 50 ORDER BY c_id",
        "SELECT o_c_id, o_carrier_id FROM orders WHERE o_w_id = 2 AND o_d_id = 9 ORDER BY o_id",
    ] {
        let clean = |rows: Vec<Vec<Option<String>>>| -> Vec<Vec<Option<String>>> {
            let cell = |text: String| text.trim_end_matches(".0").to_owned();
            rows.into_iter()
                .map(|row| row.into_iter().map(|c| c.map(cell)).collect())
                .collect()
        };
        let right = clean(texts(&databases[0], sql));
        for other in &databases[1..] {
            assert_eq!(clean(texts(other, sql)), right, "{}: {sql}", other.engine);
        }
    }
    older_versions_loaded_whole_ones(&databases[0]);
    refuses(&databases[0], true);
    refuses(&databases[2], false);
    databases.iter().for_each(drops);
}

/// Older versions did not store the share.
fn older_versions_loaded_whole_ones(database: &Database) {
    let mut session = database.session();
    let mut rows = || Metadata::read(session.as_mut()).unwrap().unwrap().rows;
    assert_eq!(rows(), WarehouseRows::Tenth);
    let fact = "dbdyno_oltp WHERE name = 'warehouse_rows'";
    let mut session = database.session();
    change_one(session.as_mut(), &format!("DELETE FROM {fact}"));
    assert_eq!(rows(), WarehouseRows::Full);
    let again = "INSERT INTO dbdyno_oltp (name, value) VALUES ('warehouse_rows', 'tenth')";
    change_one(session.as_mut(), again);
}

fn refuses(database: &Database, takes_no_foreign_keys: bool) {
    let refused = |options: LoadOptions| database.load(&options).unwrap_err().to_string();
    assert!(refused(options(2)).contains("2 warehouses is already loaded here"));
    assert!(refused(options(3)).contains("differs in size: 2 instead of 3"));
    let differs = |field: fn(&mut LoadOptions), says: &str| {
        let mut wanted = options(2);
        field(&mut wanted);
        refused(wanted).says(says);
    };
    differs(
        |o| o.rows = WarehouseRows::Full,
        "differs in rows: tenth instead of full",
    );
    differs(|o| o.seed = 9, "differs in seed: 1 instead of 9");
    let says = if takes_no_foreign_keys {
        "load without foreign keys"
    } else {
        "differs in foreign keys (1 = with): 0 instead of 1"
    };
    differs(|o| o.foreign_keys = true, says);
}

fn drops(database: &Database) {
    assert!(oltp::drop_all(database.target.as_ref(), database.engine).unwrap());
    assert!(!oltp::drop_all(database.target.as_ref(), database.engine).unwrap());
    let absent = oltp::check(database.target.as_ref(), database.engine, false);
    assert!(matches!(absent, Err(OltpError::Absent)));
    let mut session = database.session();
    for table in TABLES {
        assert!(
            session.prepare(&format!("SELECT * FROM {table}")).is_err(),
            "{table}"
        );
    }
}

/// A load that is stopped at any moment ends like an uninterrupted one.
#[test]
fn a_load_that_was_broken_off_goes_on() {
    let others = Database::mariadb_and_mysql();
    for database in [Database::sqlite(), Database::postgres()]
        .into_iter()
        .chain(others)
    {
        stopped_after(&database, 2, |event| is_step(event, "items"));
        let not_whole = oltp::check(database.target.as_ref(), database.engine, false).unwrap_err();
        not_whole.to_string().says("0 of 2 warehouses");
        stopped_after(&database, 2, |event| {
            matches!(event, Event::Parts { done: 1, .. })
        });
        // State after a load was killed: some tables of a warehouse, without its mark.
        let mut session = database.session();
        let rows = "INSERT INTO new_order VALUES (1, 1, 2), (2, 1, 2); \
                    INSERT INTO orders VALUES (1, 1, 2, 1, '2026-01-01 00:00:00', 1, 0, 1)";
        session.batch(rows).unwrap();
        drop(session);
        stopped_after(&database, 2, |event| is_step(event, "index of customers"));
        let loaded = database.load(&options(2)).unwrap();
        assert_eq!(loaded.warehouses, 0, "only steps were missing");
        assert_eq!(loaded.rows, 0, "only steps were missing");
        assert_eq!(database.check().broken(), [0_u32; 0], "{}", database.engine);
    }
}

fn is_step(event: &Event<'_>, begin: &str) -> bool {
    matches!(event, Event::Step(name) if name.starts_with(begin))
}

fn stopped_after(database: &Database, warehouses: u32, moment: impl Fn(&Event<'_>) -> bool + Sync) {
    let stop = AtomicBool::new(false);
    let options = LoadOptions {
        jobs: Some(1),
        ..options(warehouses)
    };
    let tell = |event: Event<'_>| {
        stop.fetch_or(moment(&event), Ordering::Relaxed);
    };
    let (target, engine) = (database.target.as_ref(), database.engine);
    let error = oltp::load(target, engine, &options, &stop, &tell).unwrap_err();
    assert!(matches!(error, OltpError::Interrupted), "{error:?}");
}

/// If a step commits before its note, a completed step without a note is skipped.
#[test]
fn a_step_that_was_done_and_not_noted_does_no_harm() {
    let database = Database::mariadb();
    stopped_after(&database, 1, |event| is_step(event, "index of orders"));
    let mut session = database.session();
    let note = "DELETE FROM dbdyno_oltp WHERE name = 'index of customers by name'";
    change_one(session.as_mut(), note);
    drop(session);
    database.load(&options(1)).unwrap();
    assert_eq!(database.check().broken(), [0_u32; 0]);
    let indexes = "SELECT count(DISTINCT index_name) FROM information_schema.statistics \
                   WHERE table_schema = database() AND table_name IN ('customer', 'orders')";
    assert_eq!(one(database.session().as_mut(), indexes), "3");
}

#[test]
fn foreign_keys_hold_and_refuse_on_postgres() {
    let count = "SELECT count(*)::text FROM pg_constraint WHERE contype = 'f' AND connamespace = 'dbdyno'::regnamespace";
    foreign_keys_hold_and_refuse(&Database::postgres(), count);
}

#[test]
fn foreign_keys_hold_and_refuse_on_mariadb_and_mysql() {
    let count = "SELECT count(*) FROM information_schema.referential_constraints WHERE constraint_schema = database()";
    for database in Database::mariadb_and_mysql() {
        foreign_keys_hold_and_refuse(&database, count);
    }
}

fn foreign_keys_hold_and_refuse(database: &Database, count: &str) {
    let wanted = LoadOptions {
        foreign_keys: true,
        ..options(1)
    };
    database.load(&wanted).unwrap();
    let mut session = database.session();
    assert_eq!(one(session.as_mut(), count), "10");
    let orphan = session.batch("INSERT INTO new_order VALUES (9999, 1, 1)");
    orphan.unwrap_err().message.says("foreign key");
    let metadata = Metadata::read(session.as_mut()).unwrap().unwrap();
    assert!(metadata.foreign_keys && metadata.whole && !metadata.transactions_since_load);
    drop(session);
    // Reloading removes everything, keys included.
    let again = LoadOptions {
        replace: true,
        ..options(1)
    };
    database.load(&again).unwrap();
    assert_eq!(database.check().broken(), [0_u32; 0]);
    assert!(!database.check().metadata.foreign_keys);
}

#[test]
fn engines_without_its_tables_are_refused() {
    let mock = open("mock:");
    let never = AtomicBool::new(false);
    let outcome = oltp::load(mock.as_ref(), "mock", &options(1), &never, &|_| ());
    let message = outcome.unwrap_err().to_string();
    message.says_all(&["does not run on mock", "sqlite"]);
}

/// A file with somebody's own `customer` is never touched; one with dbdyno's is opened again.
#[test]
fn tables_of_others_are_refused_and_ours_are_not() {
    let directory = tempfile::tempdir().unwrap();
    let url = |name: &str| format!("sqlite:{}/{name}", directory.path().display());
    let ours = open(&url("ours.db"));
    let never = AtomicBool::new(true);
    // Interrupted at once: the tables exist.
    let outcome = oltp::load(ours.as_ref(), "sqlite", &options(1), &never, &|_| ());
    assert!(outcome.is_err());
    drop(ours);
    let ours = open(&url("ours.db"));
    let mut session = ours.open_session().unwrap();
    session.batch("CREATE TABLE mine (x INTEGER)").unwrap();
    drop(session);
    drop(ours);
    let parsed = engines::parse(&url("ours.db")).unwrap();
    let message = engines::open(&parsed).err().unwrap().message;
    assert!(message.contains("mine"), "{message}");
}
