//! Other people's databases.

use std::thread;

use archive::Unseen;
use engine::{ErrorKind, Feature};

use crate::common::*;
use testing::Says;

#[test]
fn a_schema_that_is_not_ours_is_refused() {
    let server = server();
    let url = url_of(&server, "dbdyno", "");
    let target = opened(&url).unwrap();
    let mut session = target.open_session().unwrap();
    session.batch("CREATE TABLE payroll (x INT)").unwrap();
    drop(session);
    // Another dbdyno in the same database would use the same tables.
    let error = refused(&url);
    assert_eq!(error.kind, ErrorKind::Foreign);
    assert!(error.message.contains("another dbdyno"), "{error}");
    drop(target);
    let error = refused(&url);
    assert!(error.message.contains("payroll"), "{error}");

    psql(&server, "DROP SCHEMA dbdyno CASCADE; CREATE SCHEMA dbdyno");
    let error = refused(&url);
    assert_eq!(error.kind, ErrorKind::Foreign);
    assert!(error.message.contains("not created by dbdyno"), "{error}");

    psql(
        &server,
        "DROP SCHEMA dbdyno; CREATE TABLE public.dbdyno_small (id INT)",
    );
    let target = opened(&url).unwrap();
    // Tables of the same name elsewhere are neither seen nor touched.
    let mut session = target.open_session().unwrap();
    session.batch("DROP TABLE IF EXISTS dbdyno_small").unwrap();
    assert_eq!(
        number(session.as_mut(), "SELECT count(*) FROM public.dbdyno_small"),
        0
    );
}

/// Two tables of one name stand in one database; the second place is found again by a URL, and guarded as the first.
#[test]
fn a_secondary_schema_has_tables_of_the_same_names() {
    let server = server();
    let target = opened(&url_of(&server, "dbdyno", "")).unwrap();
    let secondary = target.secondary_schema("more").unwrap();
    let mut sessions = [&target, &secondary].map(|place| place.open_session().unwrap());
    for (session, rows) in sessions.iter_mut().zip([2, 3]) {
        session.batch("CREATE TABLE dbdyno_same (id INT)").unwrap();
        let fill = format!("INSERT INTO dbdyno_same SELECT generate_series(1, {rows})");
        session.batch(&fill).unwrap();
    }
    let counts = sessions
        .each_mut()
        .map(|session| number(session.as_mut(), "SELECT count(*) FROM dbdyno_same"));
    assert_eq!(counts, [2, 3]);
    // Only a target's own tables are copied.
    let tables = target.source().unwrap().tables().unwrap();
    let places: Vec<&str> = tables.iter().map(|table| table.schema.as_str()).collect();
    assert_eq!(places, ["dbdyno"]);
    secondary.snapshot().err().unwrap().says("did not start");
    drop((sessions, secondary, target));
    let again = opened(&url_of(&server, "dbdyno", "?schema=dbdyno_more")).unwrap();
    let mut session = again.open_session().unwrap();
    let count = number(session.as_mut(), "SELECT count(*) FROM dbdyno_same");
    assert_eq!(count, 3);
    session.batch("CREATE TABLE payroll (x INT)").unwrap();
    drop((session, again));
    let target = opened(&url_of(&server, "dbdyno", "")).unwrap();
    let error = target.secondary_schema("more").err().unwrap();
    assert!(error.message.contains("payroll"), "{error}");
    for odd in ["a-b", "Big", "1st", "pg_own", ""] {
        let error = refused(&url_of(&server, "dbdyno", &format!("?schema={odd}")));
        assert!(
            error.message.contains("lower-case letters"),
            "{odd}: {error}"
        );
    }
}

#[test]
fn a_server_on_which_others_work_is_refused_unless_told() {
    let server = server();
    thread::scope(|scope| {
        let work = scope.spawn(|| psql(&server, "SELECT pg_sleep(6)"));
        // Until its session has begun.
        let error = (0..50).find_map(|_| {
            thread::sleep(std::time::Duration::from_millis(100));
            opened(&url_of(&server, "dbdyno", "")).err()
        });
        let error = error.unwrap();
        assert_eq!(error.kind, ErrorKind::Foreign);
        assert!(error.message.contains("others=allow"), "{error}");
        assert!(error.message.contains("dbdyno in postgres"), "{error}");
        opened(&url_of(&server, "dbdyno", "?others=allow")).unwrap();
        assert!(
            !work.is_finished(),
            "the other's work ended too early to tell"
        );
        work.join().unwrap();
    });
}

#[test]
fn a_user_without_rights_is_told_which() {
    let server = server();
    psql(&server, "CREATE ROLE plain LOGIN");
    let error = refused(&url_of(&server, "plain", ""));
    assert!(error.message.contains("GRANT pg_checkpoint"), "{error}");
    psql(&server, "GRANT pg_checkpoint TO plain");
    let error = refused(&url_of(&server, "plain", ""));
    assert!(error.message.contains("42501"), "{error}");
    psql(&server, "GRANT CREATE ON DATABASE postgres TO plain");
    // Nobody else is there at this moment; whether somebody comes cannot be seen, which is told.
    let missing = |url: &str| opened(url).unwrap().record().rights_missing;
    let all = missing(&url_of(&server, "plain", "")).unwrap();
    assert_eq!(
        all.unseen,
        [
            Unseen::OthersAtWork,
            Unseen::ServerProcesses,
            Unseen::DataDirectory
        ]
    );
    assert_eq!(all.grant, "GRANT pg_monitor TO plain");
    let allowed = missing(&url_of(&server, "plain", "?others=allow")).unwrap();
    assert!(!allowed.hides_others(), "{allowed}");
    // One right for all that is missing: it is enough.
    psql(&server, "GRANT pg_read_all_settings TO plain");
    let stats = missing(&url_of(&server, "plain", "")).unwrap();
    assert!(stats.hides_others() && stats.unseen.len() == 2, "{stats}");
    assert_eq!(stats.grant, "GRANT pg_read_all_stats TO plain");
    psql(&server, "REVOKE pg_read_all_settings FROM plain");
    psql(&server, &all.grant);
    assert_eq!(missing(&url_of(&server, "plain", "")), None);
    // In a database of its own: the schema in this one is the other user's by now.
    psql(&server, "CREATE DATABASE other");
    let url = url_of(&server, "dbdyno", "").replace("/postgres", "/other");
    assert_eq!(missing(&url), None);
    psql(&server, "REVOKE pg_monitor FROM plain");

    let target = opened(&url_of(&server, "plain", "")).unwrap();
    target.checkpoint().unwrap();
    let mut session = target.open_session().unwrap();
    session
        .batch("CREATE TABLE dbdyno_t (id BIGINT, pad TEXT)")
        .unwrap();
    session.bulk_load("dbdyno_t", &mut Rows(0..100)).unwrap();
    session.analyse("dbdyno_t").unwrap();
    session.counters();
    assert!(target.counters().buffer_gets.is_some() && target.counters().redo_bytes.is_some());
    assert!(target.lacks(Feature::Storage).is_none());
}
