//! Other people's databases.

use std::thread;
use std::time::Duration;

use archive::Unseen;
use engine::ErrorKind;

use crate::common::*;
use testing::Says;

on_both! {
    somebody_elses_database_is_refused_and_an_own_one_made,
    others_at_work_are_left_alone,
    missing_rights_are_told,
}

fn somebody_elses_database_is_refused_and_an_own_one_made(kind: &Kind) {
    let server = kind.server();
    let mut root = stage(&server);
    root.batch(
        "CREATE DATABASE shop; CREATE TABLE shop.payroll (x INT); CREATE DATABASE given; \
         CREATE DATABASE lookalike; CREATE TABLE lookalike.dbdyno_small (x INT)",
    )
    .unwrap();
    for (database, table) in [("shop", "payroll"), ("lookalike", "dbdyno_small")] {
        let error = refused(&url_of(&server, "root", database));
        assert_eq!(error.kind, ErrorKind::Foreign);
        assert!(error.message.contains(table), "{error}");
    }
    assert_eq!(
        number(
            root.as_mut(),
            "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'shop'"
        ),
        1
    );
    // An empty one may have been made for dbdyno; our own is taken again.
    for database in ["given", "fresh", "fresh"] {
        let target = opened(&url_of(&server, "root", database)).unwrap();
        let mut session = target.open_session().unwrap();
        session
            .batch("CREATE TABLE IF NOT EXISTS dbdyno_t (x VARCHAR(9))")
            .unwrap();
        let collation = "SELECT count(*) FROM information_schema.columns WHERE table_schema = 'fresh' \
             AND collation_name <> 'utf8mb4_bin'";
        assert_eq!(number(session.as_mut(), collation), 0);
    }
    // Tables of other names are dbdyno's when it has made them.
    let target = opened(&url_of(&server, "root", "fresh")).unwrap();
    let mut session = target.open_session().unwrap();
    session
        .create_table("warehouse", "CREATE TABLE {schema}.warehouse (x INT)")
        .unwrap();
    drop((session, target));
    assert!(opened(&url_of(&server, "root", "fresh")).is_ok());
    root.batch("CREATE TABLE fresh.intruder (x INT)").unwrap();
    let error = refused(&url_of(&server, "root", "fresh"));
    assert!(error.message.contains("intruder"), "{error}");
    for database in ["mysql", "information_schema"] {
        let error = refused(&url_of(&server, "root", database));
        assert!(error.message.contains("server's own database"), "{error}");
    }
    for database in ["my-shop", "sh.op", "l%C3%A4den", "a%20b", "a%60b%27%5Cc"] {
        let target = opened(&url_of(&server, "root", database)).unwrap();
        let mut session = target.open_session().unwrap();
        session
            .create_table("t", "CREATE TABLE {schema}.t (x INT)")
            .unwrap();
        assert!(session.is_entered("t").unwrap(), "{database}");
        assert!(!target.storage_of("t").unwrap().is_empty(), "{database}");
        assert!(session.drop_table("t").unwrap(), "{database}");
    }
}

fn others_at_work_are_left_alone(kind: &Kind) {
    let server = kind.server();
    let mut worker = stage(&server);
    let idle = stage(&server);
    let target = opened(&url_of(&server, "root", "dbdyno")).unwrap();
    let error = refused(&url_of(&server, "root", "dbdyno"));
    assert_eq!(error.kind, ErrorKind::Foreign);
    assert!(error.message.contains("another dbdyno"), "{error}");
    drop((target, idle));
    let works = thread::spawn(move || worker.batch("SELECT sleep(4)"));
    thread::sleep(Duration::from_millis(500));
    let error = refused(&url_of(&server, "root", "dbdyno"));
    assert_eq!(error.kind, ErrorKind::Foreign);
    error.message.says_all(&["\"root\"", "others=allow"]);
    assert!(
        opened(&format!(
            "{}&others=allow",
            url_of(&server, "root", "dbdyno")
        ))
        .is_ok()
    );
    works.join().unwrap().unwrap();
    assert!(opened(&url_of(&server, "root", "dbdyno")).is_ok());
}

fn missing_rights_are_told(kind: &Kind) {
    let server = kind.server();
    let mut root = stage(&server);
    root.batch(&kind.words(
        "CREATE USER bench@localhost; GRANT ALL ON dbdyno.* TO bench@localhost; \
         CREATE USER poor@localhost; CREATE USER strong@localhost; \
         GRANT ALL ON dbdyno.* TO strong@localhost; GRANT SUPER ON *.* TO strong@localhost",
    ))
    .unwrap();
    let error = refused(&url_of(&server, "poor", "dbdyno"));
    assert_eq!(error.kind, ErrorKind::Unreachable);
    error.message.says("grant the user all privileges");
    let error = refused(&url_of(&server, "bench", "dbdyno"));
    assert_eq!(error.kind, ErrorKind::Unreachable);
    error
        .message
        .says_all(&["bench@localhost", &kind.words("SUPER")]);
    let target = opened(&url_of(&server, "strong", "dbdyno")).unwrap();
    let missing = target.record().rights_missing.unwrap();
    assert_eq!(missing.unseen, [Unseen::OthersAtWork, Unseen::Compression]);
    assert_eq!(
        missing.grant,
        "GRANT PROCESS ON *.* TO 'strong'@'localhost'"
    );
    assert!(target.counters().redo_bytes.is_some());
    drop(target);
    root.batch(&missing.grant).unwrap();
    for (user, database) in [("strong", "dbdyno"), ("root", "dbdyno_other")] {
        let target = opened(&url_of(&server, user, database)).unwrap();
        assert_eq!(target.record().rights_missing, None, "{user}");
    }
}
