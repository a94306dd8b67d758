//! Values in other users' statements stay private: neither the archive, its JSON nor its page contains one, from any view of the engine.

use crate::common::Workspace;
use crate::common::words;
use crate::observed::{Somebody, until};
use crate::observed_again::snapshots;
use crate::{mysql, postgres};

/// Marks values in a statement; no output may contain it.
const CANARY: &str = "CANARY";

/// Observes sessions in statements; the output contains no values, and the permitted part of one text.
fn assert_no_canary(url: &str, length: &str, shown: &str, meanwhile: impl FnOnce()) {
    let workspace = Workspace::new();
    let [log, events] = ["log", "events"].map(|name| workspace.path(name));
    // Every statement is stored, and not only the first lines.
    let options = words(
        "observe {} --time {} --set lines=40 --name seen -vv --log-file {} --events {}",
        &[url, length, log.to_str().unwrap(), events.to_str().unwrap()],
    );
    let mut observer = workspace.command(&options);
    let [out, said] = ["out", "said"].map(|name| workspace.path(name));
    observer.stdout(std::fs::File::create(&out).unwrap());
    observer.stderr(std::fs::File::create(&said).unwrap());
    let mut observer = observer.spawn().unwrap();
    // Sampling and counting have begun.
    until(|| snapshots(&events).iter().any(|s| !s.waits.is_empty()));
    meanwhile();
    assert_eq!(observer.wait().unwrap().code(), Some(0));
    let page = workspace.path("page.html");
    workspace.fine(&["report", "seen", "-o", page.to_str().unwrap()]);
    let json = workspace.export("seen").to_string();
    assert!(json.contains(shown), "{shown}: {json}");
    let files = [workspace.archive(), page, log, events, out, said];
    let texts =
        files.map(|file| String::from_utf8_lossy(&std::fs::read(file).unwrap()).into_owned());
    for text in texts.iter().chain([&json]) {
        let found = text.split(CANARY).nth(1);
        assert_eq!(
            found.map(|rest| rest.chars().take(60).collect::<String>()),
            None
        );
    }
}

/// Slow statements, each with a canary where one of the engine's views has a value.
const OF_POSTGRES: &[&str] = &[
    r"SELECT pg_sleep(600), 'C:\', 'CANARY1', 'b';",
    r"SELECT pg_sleep(600) WHERE 'a' LIKE '%' ESCAPE '\' OR 'x' <> 'CANARY2';",
    "SELECT pg_sleep(600) /* a /* b */ CANARY3 */;",
    r#"SELECT pg_sleep(600) AS "a\", 'CANARY4';"#,
    "DO $ä$ BEGIN PERFORM pg_sleep(600), 'CANARY5'; END $ä$;",
    "SET standard_conforming_strings = off;\nSELECT pg_sleep(600), 'it\\'s', 'CANARY6';",
    "CALL waits('CANARY7');",
];

#[test]
fn no_value_of_a_statement_of_postgresql_is_stored() {
    let server = postgres::server("&autovacuum=off&shared_preload_libraries=pg_stat_statements");
    postgres::psql(&server, "CREATE ROLE victim; CREATE DATABASE without");
    let procedure = "CREATE PROCEDURE waits(t text) LANGUAGE sql AS 'SELECT pg_sleep(600)'";
    postgres::psql(&server, procedure);
    let sleepers: Vec<Somebody> = (OF_POSTGRES.iter())
        .map(|sql| {
            let mut somebody = Somebody::postgres(&server);
            somebody.does(sql);
            somebody
        })
        .collect();
    let asleep = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
    until(|| postgres::psql(&server, asleep) == OF_POSTGRES.len().to_string());
    let user = server.superuser();
    // Statements come from samples first, and then from counters.
    let url = postgres::url_of(&server, user, "without");
    assert_no_canary(&url, "3s", "pg_sleep(?)", || {});
    postgres::psql(&server, "CREATE EXTENSION pg_stat_statements");
    let utilities = "ALTER ROLE victim PASSWORD 'CANARY1'; SET app.token = 'CANARY2'; SELECT pg_stat_statements_reset(); \
                     COPY (SELECT 'CANARY3') TO PROGRAM 'true'; CREATE TABLE t (n text DEFAULT 'CANARY4')";
    let url = postgres::url(&server, user);
    assert_no_canary(&url, "12s", "ALTER ROLE …", || {
        // A statement whose entry is evicted during its run is entered with its values.
        let [mut holder, mut during] = [(); 2].map(|()| Somebody::postgres(&server));
        let waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted =";
        holder.does("SELECT pg_advisory_lock(1);");
        until(|| postgres::psql(&server, &format!("{waiting} true")) == "1");
        during.does("SELECT pg_advisory_lock(1), 'CANARY5';");
        until(|| postgres::psql(&server, &format!("{waiting} false")) == "1");
        postgres::psql(&server, "SELECT pg_stat_statements_reset()");
        holder.does("SELECT pg_advisory_unlock(1);");
        until(|| postgres::psql(&server, &format!("{waiting} false")) == "0");
        postgres::psql(&server, utilities);
        postgres::psql(
            &server,
            "ALTER ROLE victim PASSWORD 'CANARY6'; DO $$ <<CANARY7>> BEGIN END $$",
        );
    });
    drop(sleepers);
}

const OF_MARIADB: &[&str] = &[
    r"SET sql_mode = 'NO_BACKSLASH_ESCAPES'; SELECT SLEEP(600), 'C:\', 'CANARY1';",
    r"SELECT SLEEP(600), 'it\'s', 'CANARY2';",
    "SET sql_mode = 'ANSI_QUOTES'; SELECT SLEEP(600) AS \"a\\\", 'CANARY3';",
    "SELECT SLEEP(600), \"CANARY4\", _utf8'CANARY5', N'CANARY6' # CANARY7\n;",
    "SELECT SLEEP(600) /*! , '*/', 'CANARY8' */;",
    "DO SLEEP(600), 'CANARY9';",
];

#[test]
fn no_value_of_a_statement_of_mariadb_is_stored() {
    for settings in ["&performance_schema=OFF", ""] {
        let server = mysql::server(settings);
        let sleepers: Vec<Somebody> = (OF_MARIADB.iter())
            .map(|sql| {
                let mut somebody = Somebody::mariadb(&server);
                somebody.does(sql);
                somebody
            })
            .collect();
        let asleep =
            "SELECT count(*) FROM information_schema.processlist WHERE state = 'User sleep'";
        until(|| mysql::ask(&server, asleep) == OF_MARIADB.len().to_string());
        let url = mysql::url(&server, server.superuser());
        let user = "CREATE USER v IDENTIFIED BY 'CANARYA'; SET PASSWORD FOR v = PASSWORD('CANARYB'); SELECT 'CANARYC'";
        let shown = if settings.is_empty() {
            "CREATE …"
        } else {
            "DO …"
        };
        assert_no_canary(&url, "5s", shown, || {
            mysql::ask(&server, user);
        });
        drop(sleepers);
    }
}
