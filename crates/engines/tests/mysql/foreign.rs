//! Tables of others, and everything that could lead dbdyno to them.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::thread;

use engine::ErrorKind;

use crate::common::*;

on_both! {
    no_setting_leads_to_a_table_of_the_same_name,
    a_table_is_ours_because_we_made_it_and_not_by_its_name,
    what_others_have_put_into_the_database_keeps_dbdyno_out,
    names_that_the_server_folds_are_told_apart_as_it_does,
    a_proxy_that_changes_sessions_is_refused_by_name,
    an_order_of_the_server_leads_to_no_table_of_another_database,
}

const MAKE: &str = "CREATE TABLE {schema}.customer (x INT) ENGINE=InnoDB;\n";

/// A session works in its own database with whatever it is told, and fills and removes nothing elsewhere.
fn no_setting_leads_to_a_table_of_the_same_name(kind: &Kind) {
    let server = kind.server();
    let mut theirs = stage(&server);
    theirs
        .batch(
            "CREATE DATABASE shop; CREATE TABLE shop.customer (x INT, KEY customer_x (x)); \
             INSERT INTO shop.customer VALUES (1); CREATE TABLE shop.dbdyno_t (id BIGINT, pad TEXT)",
        )
        .unwrap();
    let target = opened(&url_of(&server, "root", "dbdyno")).unwrap();
    let mut session = target.open_session().unwrap();
    for place in ["dbdyno", "shop"] {
        // A script may change its own session.
        session.batch(&format!("USE {place}")).unwrap();
        session.create_table("customer", MAKE).unwrap();
        session.create_index("customer", "customer_x", "x").unwrap();
        session.analyse("customer").unwrap();
        session.drop_index("customer", "customer_x").unwrap();
        assert!(session.drop_table("customer").unwrap());
        assert!(!session.drop_table("customer").unwrap());
        let make = "CREATE TABLE {schema}.dbdyno_t (id BIGINT, pad VARCHAR(99))";
        session.create_table("dbdyno_t", make).unwrap();
        session.bulk_load("dbdyno_t", &mut Rows(0..3)).unwrap();
        assert!(session.drop_table("dbdyno_t").unwrap());
    }
    let whole = "SELECT (SELECT count(*) FROM shop.customer USE INDEX (customer_x)) * 10 + \
                 (SELECT count(*) FROM shop.dbdyno_t)";
    assert_eq!(number(theirs.as_mut(), whole), 10);
}

fn a_table_is_ours_because_we_made_it_and_not_by_its_name(kind: &Kind) {
    let server = kind.server();
    let mut theirs = stage(&server);
    let target = opened(&url_of(&server, "root", "dbdyno")).unwrap();
    let mut session = target.open_session().unwrap();
    for swap in [
        "CREATE TABLE dbdyno.customer (x INT)",
        "CREATE TABLE dbdyno.customer (x INT) COMMENT = 'dbdyno'",
        "CREATE VIEW dbdyno.customer AS SELECT 1 AS x",
    ] {
        session.create_table("customer", MAKE).unwrap();
        theirs
            .batch(&format!("DROP TABLE dbdyno.customer; {swap}"))
            .unwrap();
        let error = session.drop_table("customer").unwrap_err();
        assert_eq!(error.kind, ErrorKind::Foreign, "{swap}: {error}");
        let error = session.create_table("customer", MAKE).unwrap_err();
        assert!(error.message.contains("already"), "{swap}: {error}");
        let kind = if swap.contains("VIEW") {
            "VIEW"
        } else {
            "TABLE"
        };
        theirs
            .batch(&format!("DROP {kind} dbdyno.customer"))
            .unwrap();
    }
    // A failed making leaves no entry that a later table could be taken for.
    assert!(
        session
            .create_table("orders", "CREATE TABLE {schema}.orders (x NOTYPE)")
            .is_err()
    );
    assert!(!session.is_entered("orders").unwrap());
}

fn what_others_have_put_into_the_database_keeps_dbdyno_out(kind: &Kind) {
    let server = kind.server();
    let mut theirs = stage(&server);
    theirs.batch("CREATE USER evil@localhost").unwrap();
    for (made, what) in [
        (
            "CREATE VIEW dbdyno.dbdyno_tables AS SELECT 'customer' AS name, '' AS identity",
            "register",
        ),
        (
            "CREATE TABLE dbdyno.customer (x INT); CREATE TABLE dbdyno.dbdyno_tables (name VARCHAR(64)); \
             INSERT INTO dbdyno.dbdyno_tables VALUES ('customer'), ('dbdyno_tables')",
            "dbdyno_tables",
        ),
        (
            "CREATE DEFINER = evil@localhost FUNCTION dbdyno.f() RETURNS INT NO SQL RETURN 1",
            "\"f\"",
        ),
        (
            "CREATE TABLE dbdyno.dbdyno_x (x INT); CREATE TRIGGER dbdyno.t BEFORE INSERT ON dbdyno.dbdyno_x \
             FOR EACH ROW SET @x = 1",
            "trigger",
        ),
        (
            "CREATE EVENT dbdyno.e ON SCHEDULE EVERY 1 DAY DISABLE DO SET @x = 1",
            "event",
        ),
        ("CREATE VIEW dbdyno.v AS SELECT 1 AS x", "\"v\""),
    ] {
        theirs
            .batch(&format!("CREATE DATABASE dbdyno; {made}"))
            .unwrap();
        let error = refused(&url_of(&server, "root", "dbdyno"));
        assert_eq!(error.kind, ErrorKind::Foreign, "{made}: {error}");
        assert!(error.message.contains(what), "{made}: {error}");
        theirs.batch("DROP DATABASE dbdyno").unwrap();
    }
}

/// Where names of databases and tables are folded, another spelling is the same database.
fn names_that_the_server_folds_are_told_apart_as_it_does(kind: &Kind) {
    for folds in [0, 1] {
        let server = kind.server_with(&format!(
            "&performance_schema=OFF&lower_case_table_names={folds}"
        ));
        let mut theirs = stage(&server);
        theirs
            .batch("CREATE DATABASE Shop; CREATE TABLE Shop.Customer (x INT)")
            .unwrap();
        let target = opened(&url_of(&server, "root", "DbDyno")).unwrap();
        let mut session = target.open_session().unwrap();
        session.create_table("customer", MAKE).unwrap();
        assert!(session.drop_table("customer").unwrap());
        session.create_table("customer", MAKE).unwrap();
        drop((session, target));
        // Ours is known again.
        drop(opened(&url_of(&server, "root", "DbDyno")).unwrap());
        match folds {
            1 => {
                drop(opened(&url_of(&server, "root", "dbdyno")).unwrap());
                let error = refused(&url_of(&server, "root", "shop"));
                assert_eq!(error.kind, ErrorKind::Foreign, "{error}");
            }
            _ => {
                // Another database.
                let other = opened(&url_of(&server, "root", "shop")).unwrap();
                let mut session = other.open_session().unwrap();
                session.create_table("customer", MAKE).unwrap();
            }
        }
        assert_eq!(
            number(theirs.as_mut(), "SELECT count(*) FROM Shop.Customer"),
            0
        );
    }
}

/// A proxy that answers for the server is known by the session's number.
fn a_proxy_that_changes_sessions_is_refused_by_name(kind: &Kind) {
    let server = kind.server();
    let mut theirs = stage(&server);
    let way = server.data_directory().join("proxy.sock");
    begin_renumbering(&way, server.socket_path());
    let url = format!("mysql://root@localhost/dbdyno?socket={}", way.display());
    let error = refused(&url);
    assert_eq!(error.kind, ErrorKind::Unreachable, "{error}");
    assert!(error.message.contains("proxy"), "{error}");
    let made = "SELECT count(*) FROM information_schema.schemata WHERE schema_name = 'dbdyno'";
    assert_eq!(number(theirs.as_mut(), made), 0);
}

/// A way to the server on which every session bears another number.
fn begin_renumbering(at: &Path, server: PathBuf) {
    let listener = UnixListener::bind(at).unwrap();
    thread::spawn(move || {
        for near in listener.incoming().map_while(Result::ok) {
            let far = UnixStream::connect(&server).unwrap();
            let (near_too, far_too) = (near.try_clone().unwrap(), far.try_clone().unwrap());
            thread::spawn(move || carry(near_too, far_too, false));
            thread::spawn(move || carry(far, near, true));
        }
    });
}

/// Carries everything; where it begins with the server's greeting, the number in that is changed.
fn carry(mut from: UnixStream, mut to: UnixStream, greets: bool) {
    let mut bytes = vec![0; 1 << 16];
    if greets {
        let some = from.read(&mut bytes).unwrap();
        // Four bytes of length, the protocol, the version up to a zero, the number.
        let end = bytes[5..some].iter().position(|b| *b == 0).unwrap();
        bytes[5 + end + 1] ^= 0x55;
        to.write_all(&bytes[..some]).unwrap();
    }
    while let Ok(some @ 1..) = from.read(&mut bytes) {
        if to.write_all(&bytes[..some]).is_err() {
            break;
        }
    }
    // Either may be closed already.
    let _ = to.shutdown(Shutdown::Both);
    let _ = from.shutdown(Shutdown::Both);
}

/// A server runs `init_connect` for an ordinary user before the session sends anything.
fn an_order_of_the_server_leads_to_no_table_of_another_database(kind: &Kind) {
    let server = kind.server();
    let mut theirs = stage(&server);
    theirs
        .batch(
            "CREATE DATABASE shop; CREATE TABLE shop.customer (x INT); INSERT INTO shop.customer VALUES (1); \
             CREATE DATABASE dbdyno; CREATE USER plain@localhost; GRANT ALL ON dbdyno.* TO plain@localhost; \
             GRANT SELECT ON shop.* TO plain@localhost; SET GLOBAL init_connect = 'USE shop'",
        )
        .unwrap();
    let error = refused(&url_of(&server, "plain", "dbdyno"));
    assert_eq!(error.kind, ErrorKind::Foreign, "{error}");
    assert!(error.message.contains("\"shop\""), "{error}");
    assert_eq!(
        number(theirs.as_mut(), "SELECT count(*) FROM shop.customer"),
        1
    );
}
