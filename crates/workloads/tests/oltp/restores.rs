//! Restore of the initial state: from the copy of a database, or by a load if there can be none.

use std::sync::atomic::AtomicBool;

use ::mysql::local::MARIADB;
use engine::{Cooled, Session};
use local_server::LocalServer;
use oltp::metadata::note_transactions;
use oltp::{OltpError, Restored, Way, restore};

use crate::common::*;

/// All columns of every table that every engine returns alike, in any order of the rows.
const DIGESTS: [&str; 9] = [
    "SELECT i_id, i_im_id, i_name, i_data FROM item",
    "SELECT w_id, w_name, w_street_1, w_street_2, w_city, w_state, w_zip FROM warehouse",
    "SELECT d_id, d_w_id, d_name, d_street_1, d_city, d_zip, d_next_o_id FROM district",
    "SELECT c_id, c_d_id, c_w_id, c_first, c_last, c_credit, c_payment_cnt, c_delivery_cnt, c_data FROM customer",
    "SELECT h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_data FROM history",
    "SELECT o_id, o_d_id, o_w_id, o_c_id, o_ol_cnt, o_all_local FROM orders",
    "SELECT no_o_id, no_d_id, no_w_id FROM new_order",
    "SELECT ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_dist_info FROM order_line",
    "SELECT s_i_id, s_w_id, s_quantity, s_dist_01, s_dist_10, s_ytd, s_order_cnt, s_data FROM stock",
];
/// Columns that the digests leave out.
const SUMS: &str = "SELECT round(sum(w_ytd) * 100), round(sum(w_tax) * 10000), \
    (SELECT round(sum(d_ytd) * 100) FROM district), (SELECT round(sum(i_price) * 100) FROM item), \
    (SELECT round(sum(c_balance) * 100) FROM customer), (SELECT round(sum(c_discount) * 10000) FROM customer), \
    (SELECT round(sum(h_amount) * 100) FROM history), (SELECT count(o_carrier_id) FROM orders), \
    (SELECT round(sum(ol_amount) * 100) FROM order_line), (SELECT count(ol_delivery_d) FROM order_line) \
    FROM warehouse";

fn rows(session: &mut dyn Session) -> Vec<String> {
    let mut all: Vec<String> = DIGESTS
        .iter()
        .map(|sql| {
            let statement = session.prepare(sql).unwrap();
            let found = session.fetch(statement, &[]).unwrap();
            format!("{} rows, digest {}", found.rows, found.digest)
        })
        .collect();
    all.extend(sums(session));
    all
}

fn sums(session: &mut dyn Session) -> Vec<String> {
    let sums = session.texts(SUMS).unwrap();
    sums.into_iter().flatten().flatten().collect()
}

/// Leaves the database as transactions do.
fn use_up(session: &mut dyn Session) {
    note_transactions(session).unwrap();
    for sql in [
        "UPDATE warehouse SET w_ytd = w_ytd + 1",
        "UPDATE customer SET c_data = 'other' WHERE c_id < 1000",
        "DELETE FROM new_order WHERE no_d_id = 1",
        "INSERT INTO orders VALUES (9999, 1, 1, 1, '2026-01-02 00:00:00', NULL, 0, 1)",
        "DELETE FROM stock WHERE s_i_id > 5000",
    ] {
        session.batch(sql).unwrap();
    }
}

fn restored(database: &Database) -> Result<Restored, OltpError> {
    let never = AtomicBool::new(false);
    let target = database.target.as_ref();
    restore(target, database.engine, None, &never, &|_| ())
}

/// Dirty pages cannot leave the page cache.
fn assert_cold(restored: &Restored, engine: &str) {
    let is_cold = restored.cooled == Cooled::Cold;
    assert!(
        is_cold || !testing::syncs_work(),
        "{engine}: {:?}",
        restored.cooled
    );
}

#[test]
fn every_engine_comes_back_to_the_same_rows() {
    let absent = restored(&Database::sqlite());
    assert!(matches!(absent, Err(OltpError::Absent)));
    for (engine, times) in [("sqlite", 2), ("postgres", 1), ("mariadb", 1), ("mysql", 1)] {
        if engine == "mysql" && !mysql_is_there() {
            continue;
        }
        let database = Database::loaded(engine, 1);
        let right = rows(database.session().as_mut());
        let first = restored(&database).unwrap();
        assert_eq!(first.way, Way::CopyTaken);
        assert_cold(&first, database.engine);
        for _ in 0..times {
            let mut session = database.session();
            use_up(session.as_mut());
            assert!(!right.ends_with(&sums(session.as_mut())));
            drop(session);
            let again = restored(&database).unwrap();
            assert_eq!(again.way, Way::CopyRestored, "{}", database.engine);
            assert_cold(&again, database.engine);
            assert!(again.metadata.whole && !again.metadata.transactions_since_load);
            assert_eq!(
                rows(database.session().as_mut()),
                right,
                "{}",
                database.engine
            );
        }
        assert_eq!(database.check().broken(), [0_u32; 0]);
    }
}

/// The copy is removed with its original.
#[test]
fn another_database_is_not_put_back() {
    let database = Database::loaded("sqlite", 1);
    assert_eq!(restored(&database).unwrap().way, Way::CopyTaken);
    let other = oltp::LoadOptions {
        seed: 2,
        replace: true,
        ..options(1)
    };
    database.load(&other).unwrap();
    let label = database.target.snapshot().unwrap().label();
    assert_eq!(label.unwrap(), None);
    let taken = restored(&database).unwrap();
    assert_eq!((taken.way, taken.metadata.seed), (Way::CopyTaken, 2));
}

/// A copy is of the whole file: tables that others have added since would be lost.
#[test]
fn tables_of_others_are_never_brought_back() {
    let database = Database::loaded("sqlite", 1);
    assert_eq!(restored(&database).unwrap().way, Way::CopyTaken);
    let mut session = database.session();
    let mine = "CREATE TABLE dbdyno_mine (x INTEGER); INSERT INTO dbdyno_mine VALUES (7)";
    session.batch(mine).unwrap();
    use_up(session.as_mut());
    drop(session);
    let again = restored(&database).unwrap();
    let Way::Reloaded { no_copy: Some(why) } = again.way else {
        panic!("{:?}", again.way);
    };
    assert!(why.contains("dbdyno_mine"), "{why}");
    let rows = database
        .session()
        .texts("SELECT x FROM dbdyno_mine")
        .unwrap();
    assert_eq!(rows, [[Some("7".to_owned())]]);
}

#[test]
fn a_file_that_is_open_elsewhere_is_left_alone() {
    let database = Database::loaded("sqlite", 1);
    restored(&database).unwrap();
    let mut session = database.session();
    use_up(session.as_mut());
    let message = restored(&database).unwrap_err().to_string();
    assert!(message.contains("is still open"), "{message}");
    drop(session);
    assert_eq!(restored(&database).unwrap().way, Way::CopyRestored);
}

#[test]
fn a_server_that_dbdyno_did_not_start_is_reloaded() {
    let url = engines::parse(
        "mariadb+local:?innodb_buffer_pool_size=64M&innodb_flush_log_at_trx_commit=0",
    )
    .unwrap();
    let server = LocalServer::start_for(&MARIADB, &url).unwrap();
    let socket = server.socket_path().display().to_string();
    let database = Database::running(
        "mysql",
        &format!("mysql://root@localhost/dbdyno?socket={socket}"),
    );
    database.load(&options(1)).unwrap();
    let right = rows(database.session().as_mut());
    let first = restored(&database).unwrap();
    let why = "dbdyno did not start this server and cannot stop it or copy its files";
    assert_eq!(
        first.way,
        Way::Untouched {
            no_copy: why.into()
        }
    );
    assert!(matches!(first.cooled, Cooled::Lukewarm(_)));
    use_up(database.session().as_mut());
    let again = restored(&database).unwrap();
    assert_eq!(
        again.way,
        Way::Reloaded {
            no_copy: Some(why.into())
        }
    );
    assert_eq!(rows(database.session().as_mut()), right);
    drop(database);
}
