//! Statements whose counters were reset, whose extension is old, or whose texts have no characters.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

use archive::{About, Cell, Observed};
use engine::{Activity, SessionSeen};

use crate::activity::{WANTED, client, psql, server, url};

const PRELOADED: &str = "&shared_preload_libraries=pg_stat_statements";

fn statements(activity: &mut dyn Activity) -> Observed {
    let mut tables = activity.tables().into_iter();
    tables.find(|t| t.about == About::Statements).unwrap()
}

/// The row of the statement with this in its text.
fn row<'t>(table: &'t Observed, part: &str) -> &'t [Cell] {
    let of = |row: &&Vec<Cell>| matches!(&row[0], Cell::Text(text) if text.contains(part));
    table
        .rows
        .iter()
        .find(of)
        .unwrap_or_else(|| panic!("{table:#?}"))
}

fn remark(table: &Observed) -> &str {
    table.remark.as_deref().unwrap_or("")
}

/// Half of the time is over when all counts are reset.
#[test]
fn counts_that_were_reset_are_divided_by_the_time_that_they_cover() {
    let server = server(PRELOADED);
    psql(&server, &["CREATE EXTENSION pg_stat_statements"]);
    let target = engines::open_observed(&url(&server)).unwrap();
    let mut activity = target.activity(WANTED).unwrap();
    activity.begin().unwrap();
    psql(&server, &["SELECT pg_sleep(2)"]);
    let before = Instant::now();
    psql(
        &server,
        &[
            "SELECT pg_stat_statements_reset()",
            "SELECT pg_sleep(0.5)",
            "SELECT pg_sleep(0.5)",
        ],
    );
    let table = statements(activity.as_mut());
    let since_s = before.elapsed().as_secs_f64();
    let sleep = row(&table, "pg_sleep");
    let number = |column: &str| table.number(sleep, column).unwrap();
    assert_eq!(number("calls"), 2.0, "{table:#?}");
    let covered_s = number("time") / number("active sessions");
    assert!(
        (1.0..=since_s).contains(&covered_s),
        "{covered_s} of {since_s}: {table:#?}"
    );
    assert!(
        remark(&table).contains("all counts were reset"),
        "{table:#?}"
    );

    // Those of a single one: nobody knows when.
    activity.begin().unwrap();
    let one = "SELECT pg_stat_statements_reset(0, 0, queryid) FROM pg_stat_statements WHERE query LIKE '%pg_sleep%'";
    psql(&server, &[one, "SELECT pg_sleep(0.1)", "SELECT 1 AS other"]);
    let table = statements(activity.as_mut());
    let sleep = row(&table, "pg_sleep");
    assert_eq!(table.number(sleep, "calls"), Some(1.0), "{table:#?}");
    assert_eq!(table.number(sleep, "active sessions"), None, "{table:#?}");
    assert!(
        table
            .number(row(&table, "other"), "active sessions")
            .is_some()
    );
    assert!(remark(&table).contains("1 of the statements"), "{table:#?}");
}

#[test]
fn an_extension_older_than_the_server_is_read_by_its_own_columns() {
    let server = server(PRELOADED);
    psql(
        &server,
        &["CREATE EXTENSION pg_stat_statements VERSION '1.7'"],
    );
    let target = engines::open_observed(&url(&server)).unwrap();
    let mut activity = target.activity(WANTED).unwrap();
    activity.begin().unwrap();
    psql(&server, &["SELECT pg_sleep(0.1)", "SELECT pg_sleep(0.1)"]);
    let table = statements(activity.as_mut());
    let sleep = row(&table, "pg_sleep");
    assert_eq!(table.number(sleep, "calls"), Some(2.0), "{table:#?}");
    assert!(table.number(sleep, "active sessions") > Some(0.0));
    assert_eq!(table.number(sleep, "log"), None, "unknown, and not 0");
    assert!(
        remark(&table).contains("ALTER EXTENSION pg_stat_statements UPDATE"),
        "{table:#?}"
    );

    activity.begin().unwrap();
    psql(
        &server,
        &["SELECT pg_stat_statements_reset()", "SELECT pg_sleep(0.1)"],
    );
    let table = statements(activity.as_mut());
    let sleep = row(&table, "pg_sleep");
    assert_eq!(table.number(sleep, "calls"), Some(1.0), "{table:#?}");
    assert_eq!(table.number(sleep, "active sessions"), None, "{table:#?}");
}

/// Unreadable views are one remark in a few words, and everything else is there.
#[test]
fn a_view_that_is_refused_hides_nothing_else() {
    let server = server("");
    let role = "CREATE ROLE looker LOGIN IN ROLE pg_monitor";
    let revoke = "REVOKE SELECT ON pg_stat_user_tables, pg_stat_user_indexes FROM PUBLIC";
    psql(&server, &[role, revoke]);
    let superuser = format!("//{}@", server.superuser());
    let url = url(&server).to_string().replace(&superuser, "//looker@");
    let target = engines::open_observed(&engines::parse(&url).unwrap()).unwrap();
    let mut activity = target.activity(WANTED).unwrap();
    activity.begin().unwrap();
    activity.look().unwrap();
    assert!(activity.load().unwrap().transactions.is_some());
    for table in activity.tables() {
        match table.about {
            About::Tables | About::Indexes => {
                let why = remark(&table);
                assert!(why.contains("permission denied"), "{why}");
                assert!(!why.contains("SELECT"), "{why}");
            }
            About::Statements => {}
            _ => assert_eq!(table.remark, None, "{table:#?}"),
        }
    }
}

/// A session of a database whose texts are bytes does what is no text in any other one.
#[test]
fn a_text_without_characters_hides_nothing_else() {
    let server = server(PRELOADED);
    let bytes =
        "CREATE DATABASE bytes ENCODING 'SQL_ASCII' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'";
    psql(&server, &["CREATE EXTENSION pg_stat_statements", bytes]);
    let create = "CREATE EXTENSION pg_stat_statements";
    let mut in_bytes = client(&server, &[create]);
    assert!(in_bytes.args(["-d", "bytes"]).status().unwrap().success());
    let odd = |seconds: &str| {
        let sql = [
            format!("SELECT pg_sleep({seconds}) AS \"caf").as_bytes(),
            b"\xe9\"",
        ]
        .concat();
        let mut client = client(&server, &[]);
        client
            .args(["-d", "bytes", "-c"])
            .arg(OsStr::from_bytes(&sql));
        client.env("PGCLIENTENCODING", "SQL_ASCII");
        client.stdout(Stdio::null()).stderr(Stdio::null());
        client.spawn().unwrap()
    };
    let in_bytes = url(&server).to_string().replace("/postgres", "/bytes");
    for url in [url(&server), engines::parse(&in_bytes).unwrap()] {
        let target = engines::open_observed(&url).unwrap();
        let mut activity = target.activity(WANTED).unwrap();
        activity.begin().unwrap();
        assert!(odd("0.1").wait().unwrap().success());
        let mut sleeper = odd("600.5");
        let mut plain = client(&server, &["SELECT length(pg_sleep(600.5)::text) AS plain"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let begin = Instant::now();
        let text = |session: &SessionSeen| session.statement.clone().unwrap_or_default();
        let seen = loop {
            let sessions = activity.look().unwrap().sessions;
            let seen: Vec<String> = sessions.iter().map(text).collect();
            let all = ["\"caf\u{fffd}\"", "plain"];
            if all
                .iter()
                .all(|part| seen.iter().any(|text| text.contains(part)))
            {
                break seen;
            }
            assert!(begin.elapsed() < Duration::from_secs(60), "{seen:?}");
        };
        assert!(seen.iter().all(|text| !text.contains("600")), "{seen:?}");
        psql(
            &server,
            &[
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600.5)%' AND pid <> pg_backend_pid()",
            ],
        );
        drop((sleeper.wait(), plain.wait()));
        psql(&server, &["SELECT 1 AS other"]);
        let table = statements(activity.as_mut());
        let calls: Vec<_> = table
            .rows
            .iter()
            .map(|row| table.number(row, "calls"))
            .collect();
        assert!(calls.len() >= 3, "{table:#?}");
        let remark = remark(&table);
        assert!(
            !remark.contains("SELECT") && !remark.contains(" FROM "),
            "{remark}"
        );
        // Known texts stay, and other tables as well.
        assert!(
            format!("{:?}", table.rows).contains("caf\u{fffd}"),
            "{table:#?}"
        );
        let tables = activity.tables();
        assert!(
            tables
                .iter()
                .all(|t| t.about == About::Statements || t.remark.is_none()),
            "{tables:#?}"
        );
    }
}
