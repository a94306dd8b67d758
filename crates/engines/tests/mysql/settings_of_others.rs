//! Settings of servers and accounts that others chose: kept, replaced and named, or a reason to refuse.

use std::thread::sleep;
use std::time::Duration;

use engine::{Feature, Session, Wanted};
use engines::{inspect, open_observed};

use crate::common::*;
use testing::Says;

on_both! {
    limits_of_the_server_neither_cut_nor_end_what_is_measured,
    scripts_keep_what_ends_no_session,
    a_server_whose_transactions_only_read_is_not_written_to,
    what_only_an_administrator_lifts_is_said_with_the_statement,
    a_log_of_statements_takes_changes_at_read_committed,
    a_prepared_database_of_another_character_set_gets_dbdynos,
}

fn shown(session: &mut dyn Session, name: &str) -> String {
    let rows = session.texts(&format!("SELECT @@SESSION.{name}")).unwrap();
    rows.into_iter()
        .flatten()
        .flatten()
        .next()
        .unwrap_or_default()
}

fn inspected(url: &str) -> engine::Inspection {
    inspect(&engines::parse(url).unwrap()).unwrap()
}

fn limits_of_the_server_neither_cut_nor_end_what_is_measured(kind: &Kind) {
    let server = kind.server();
    let mut admin = stage(&server);
    admin
        .batch(&kind.words(
            "SET GLOBAL sql_select_limit = 0, GLOBAL sql_safe_updates = 1, GLOBAL max_join_size = 10, \
             GLOBAL sql_big_selects = 0, GLOBAL max_statement_time = 0.00001, GLOBAL wait_timeout = 4, GLOBAL autocommit = 0, \
             GLOBAL idle_transaction_timeout = 4, GLOBAL completion_type = 2, GLOBAL foreign_key_checks = 0, \
             GLOBAL sql_mode = 'ANSI,NO_BACKSLASH_ESCAPES'",
        ))
        .unwrap();
    let url = url_of(&server, "root", "dbdyno");
    let target = opened(&url).unwrap();
    let mut session = target.open_session().unwrap();
    session
        .create_table("t", "CREATE TABLE {schema}.t (id BIGINT, pad VARCHAR(40))")
        .unwrap();
    assert_eq!(session.bulk_load("t", &mut Rows(0..300)).unwrap(), 300);
    let observed = open_observed(&engines::parse(&url).unwrap()).unwrap();
    let wanted = Wanted {
        texts: true,
        lines: 9,
    };
    let mut activity = observed.activity(wanted).unwrap();
    // A session that is being opened has so long on a busy machine.
    sleep(Duration::from_millis(4500));
    assert_eq!(session.texts("SELECT id FROM t").unwrap().len(), 300);
    let pairs = "SELECT count(*) FROM t AS a, t AS b";
    assert_eq!(number(session.as_mut(), pairs), 90_000);
    session.batch("UPDATE t SET pad = 'x'").unwrap();
    activity.look().unwrap();
    // A second time: the tables are still dbdyno's.
    let found = inspected(&format!("{url}&others=allow"));
    let replaced = target.record().settings["dbdyno.replaced_settings"].clone();
    for said in [
        "sql_select_limit = 18446744073709551615 instead of 0",
        "sql_safe_updates = 0 instead of 1",
        "wait_timeout = 31536000 instead of 4",
        "completion_type = NO_CHAIN instead of RELEASE",
    ] {
        assert!(replaced.contains(said), "{replaced}");
        let mut checked = found.replaced.iter().map(ToString::to_string);
        assert!(
            checked.any(|of| of.starts_with(said)),
            "{:?}",
            found.replaced
        );
    }
    drop((session, target));
    drop(opened(&url).unwrap());
}

fn scripts_keep_what_ends_no_session(kind: &Kind) {
    let server = kind.server();
    let mut admin = stage(&server);
    admin
        .batch(&kind.words(
            "SET GLOBAL sql_mode = 'ANSI_QUOTES', GLOBAL max_statement_time = 7, GLOBAL time_zone = '+09:00', \
             GLOBAL tx_isolation = 'READ-COMMITTED', GLOBAL wait_timeout = 60, GLOBAL autocommit = 0",
        ))
        .unwrap();
    let target = opened(&url_of(&server, "root", "dbdyno")).unwrap();
    let mut script = target.open_script_session().unwrap();
    let mut other = target.open_session().unwrap();
    let limit = kind.words("max_statement_time");
    let limits = [&mut script, &mut other].map(|session| shown(session.as_mut(), &limit));
    let limits = limits.map(|limit| limit.parse::<f64>().unwrap());
    assert_eq!(limits, [7.0, 0.0]);
    let collation = shown(script.as_mut(), "collation_connection");
    assert!(
        collation.starts_with("utf8mb4") && collation.ends_with("_ci"),
        "{collation}"
    );
    assert_eq!(shown(other.as_mut(), "collation_connection"), "utf8mb4_bin");
    for (name, of_server, own) in [
        (
            "sql_mode",
            "ANSI_QUOTES",
            "STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION",
        ),
        ("time_zone", "+09:00", "+00:00"),
        ("tx_isolation", "READ-COMMITTED", "REPEATABLE-READ"),
        ("wait_timeout", "31536000", "31536000"),
        ("autocommit", "1", "1"),
        ("character_set_client", "utf8mb4", "utf8mb4"),
    ] {
        let name = &kind.words(name);
        assert_eq!(shown(script.as_mut(), name), of_server, "{name}");
        assert_eq!(shown(other.as_mut(), name), own, "{name}");
    }
}

fn a_server_whose_transactions_only_read_is_not_written_to(kind: &Kind) {
    let server = kind.server();
    let mut admin = stage(&server);
    admin
        .batch(&kind.words("SET GLOBAL tx_read_only = 1"))
        .unwrap();
    let url = url_of(&server, "root", "dbdyno");
    let why = opened(&url).unwrap().read_only().unwrap();
    why.says(&kind.words("SET GLOBAL tx_read_only = OFF"));
    assert_eq!(inspected(&url).read_only, Some(why));
    let there = "SELECT count(*) FROM information_schema.schemata WHERE schema_name = 'dbdyno'";
    assert_eq!(number(admin.as_mut(), there), 0);
    let target = opened(&format!("{url}&tx_read_only=off")).unwrap();
    assert_eq!(target.read_only(), None);
    let mut session = target.open_session().unwrap();
    session
        .create_table("t", "CREATE TABLE {schema}.t (i INT)")
        .unwrap();
    let error = refused(&format!("{url}&tx_read_only=on"));
    assert!(error.message.contains("is not off"), "{error}");
}

fn what_only_an_administrator_lifts_is_said_with_the_statement(kind: &Kind) {
    let server = kind.server();
    let mut admin = stage(&server);
    admin
        .batch(&kind.words(
            "CREATE USER few@localhost WITH MAX_QUERIES_PER_HOUR 900; GRANT ALL ON *.* TO few@localhost; \
             SET GLOBAL innodb_force_primary_key = ON",
        ))
        .unwrap();
    let lift = "ALTER USER 'few'@'localhost' WITH MAX_QUERIES_PER_HOUR 0";
    let url = url_of(&server, "few", "dbdyno");
    let error = refused(&url);
    assert!(error.message.contains(lift), "{error}");
    let there = "SELECT count(*) FROM information_schema.schemata WHERE schema_name = 'dbdyno'";
    assert_eq!(number(admin.as_mut(), there), 0);
    let found = inspected(&url);
    assert!(found.obstacles[0].contains(lift), "{:?}", found.obstacles);
    let target = opened(&url_of(&server, "root", "dbdyno")).unwrap();
    let off = kind.words("SET GLOBAL innodb_force_primary_key = OFF");
    match target.lacks(Feature::KeylessTables) {
        Some(why) => why.says(&off),
        // MySQL lets a session lift it.
        None => {
            let replaced = &target.record().settings["dbdyno.replaced_settings"];
            replaced.says("sql_require_primary_key = 0 instead of 1");
            let mut session = target.open_session().unwrap();
            let sql = "CREATE TABLE {schema}.t (i INT)";
            session.create_table("t", sql).unwrap();
        }
    }
    admin.batch(&off).unwrap();
    drop(target);
    let target = opened(&url_of(&server, "root", "dbdyno")).unwrap();
    assert_eq!(target.lacks(Feature::KeylessTables), None);
}

/// Without another format every change at READ COMMITTED is refused (error 1665).
fn a_log_of_statements_takes_changes_at_read_committed(kind: &Kind) {
    let server = kind.server_with(
        "&performance_schema=OFF&innodb_flush_method=nosync&log_bin=binlog&binlog_format=STATEMENT",
    );
    let target = opened(&url_of(&server, "root", "dbdyno")).unwrap();
    let mut session = target.open_session().unwrap();
    session
        .create_table("t", "CREATE TABLE {schema}.t (i INT)")
        .unwrap();
    session
        .batch("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED; INSERT INTO t VALUES (1)")
        .unwrap();
    let replaced = target.record().settings["dbdyno.replaced_settings"].clone();
    replaced.says("binlog_format = MIXED instead of STATEMENT");
    let mut script = target.open_script_session().unwrap();
    assert_eq!(shown(script.as_mut(), "binlog_format"), "STATEMENT");
}

fn a_prepared_database_of_another_character_set_gets_dbdynos(kind: &Kind) {
    let server = kind.server();
    let mut admin = stage(&server);
    for set in ["latin1", "utf16", "ucs2"] {
        admin
            .batch(&format!("CREATE DATABASE db_{set} CHARACTER SET {set}"))
            .unwrap();
        let target = opened(&url_of(&server, "root", &format!("db_{set}"))).unwrap();
        let mut session = target.open_session().unwrap();
        session
            .create_table("t", "CREATE TABLE {schema}.t (id BIGINT, pad VARCHAR(40))")
            .unwrap();
        session.bulk_load("t", &mut Rows(0..10)).unwrap();
        let odd = "SELECT count(*) FROM t WHERE pad = 'ROW\t3\\N\n''Ä\"\0'";
        assert_eq!(number(session.as_mut(), odd), 0, "{set}");
        let lengths = "SELECT sum(length(pad)) FROM t";
        let bytes: usize = (0..10).map(|id| text(id).len()).sum();
        assert_eq!(number(session.as_mut(), lengths), bytes as i64, "{set}");
    }
}
