//! What `dbdyno check` says of databases of every engine, and that it changes nothing there.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "common/mysql.rs"]
mod mysql;
#[path = "../../engines/tests/servers/pgbouncer.rs"]
mod pgbouncer;
#[path = "common/postgres.rs"]
mod postgres;
#[path = "common/sshd.rs"]
mod sshd;

mod common;

use common::{Ended, Workspace, need_duckdb};
use pgbouncer::Pooler;
use rusqlite::Connection;
use serde_json::Value;
use sshd::Sshd;

fn check(place: &Workspace, url: &str, more: &[&str]) -> Ended {
    place.dbdyno(&[&["check", "--target", url], more].concat())
}

fn json(place: &Workspace, url: &str) -> Value {
    let ended = check(place, url, &["--json"]);
    serde_json::from_str(&ended.stdout).unwrap_or_else(|e| panic!("{e}: {}", ended.stderr))
}

/// Whether each of these is in the text.
fn says(text: &str, all: &[&str]) {
    for one in all {
        assert!(text.contains(one), "{one:?} is not in:\n{text}");
    }
}

#[test]
fn a_file_that_is_not_there_stays_so() {
    need_duckdb();
    let place = Workspace::new();
    for engine in ["sqlite", "duckdb"] {
        let ended = check(&place, &place.url(engine, "new.db"), &[]);
        assert_eq!(ended.status, 0, "{}", ended.stderr);
        says(
            &ended.stdout,
            &["does not exist; a run creates it", "A run can start"],
        );
        let left: Vec<_> = std::fs::read_dir(place.path("")).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
        let ended = check(&place, &place.url(engine, "nowhere/new.db"), &[]);
        assert_eq!(ended.status, 3, "{}", ended.stderr);
        says(&ended.stdout, &["its directory does not exist"]);
    }
}

#[test]
fn somebodys_file_is_recognised_and_left_as_it_is() {
    let place = Workspace::new();
    let path = place.path("theirs#1%.db");
    let theirs = Connection::open(&path).unwrap();
    theirs
        .execute_batch("PRAGMA journal_mode=WAL; CREATE TABLE customer (name)")
        .unwrap();
    drop(theirs);
    let before = std::fs::read(&path).unwrap();
    let ended = check(&place, &format!("sqlite:{}", path.display()), &[]);
    assert_eq!(ended.status, 3, "{}", ended.stderr);
    says(
        &ended.stdout,
        &[
            "cannot be used",
            "contains the table \"customer\"",
            "A run would be refused",
        ],
    );
    assert_eq!(std::fs::read(&path).unwrap(), before);
    let left = std::fs::read_dir(place.path("")).unwrap().count();
    assert_eq!(left, 1, "nothing was put beside the file");
}

#[test]
fn what_is_no_database_says_so() {
    let place = Workspace::new();
    let ended = check(&place, "mock:", &[]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    says(
        &ended.stdout,
        &["no database (mock)", "mock only spends time"],
    );
    let ended = check(&place, "duckdb+none:", &[]);
    assert_eq!(ended.status, 2, "{}", ended.stderr);
    says(ended.sentence(), &["check the target that it copies"]);
}

/// Without a right, what it is for, what happens, and how to get it; nothing is made meanwhile.
#[test]
fn each_right_that_a_user_of_postgres_lacks_is_named_with_its_grant() {
    let (server, place) = (postgres::server(""), Workspace::new());
    postgres::psql(&server, "CREATE ROLE plain LOGIN");
    let url = postgres::url(&server, "plain");
    let ended = check(&place, &url, &[]);
    assert_eq!(ended.status, 3, "{}", ended.stderr);
    says(
        &ended.stdout,
        &[
            "PostgreSQL 15",
            "User           plain",
            "Connection     Unix socket",
            "Pooler         none",
            "200 statements",
            "schema \"dbdyno\": does not exist; a run creates it",
            "to grant it: GRANT pg_checkpoint TO plain",
            "to grant it: GRANT CREATE ON DATABASE postgres TO plain",
            "to grant it: GRANT pg_monitor TO plain",
            "other active sessions are not detected",
            "CREATE EXTENSION pg_wait_sampling",
            "Settings of the server",
            "A run would be refused. Nothing was changed.",
            "pg_checkpoint is missing: GRANT pg_checkpoint TO plain",
        ],
    );
    assert!(!ended.stdout.contains("superuser"), "{}", ended.stdout);
    let ours = "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'dbdyno%'";
    assert_eq!(postgres::psql(&server, ours), "0");
    // What it says is enough is enough.
    postgres::psql(
        &server,
        "GRANT pg_checkpoint, pg_monitor TO plain; GRANT CREATE ON DATABASE postgres TO plain",
    );
    let found = json(&place, &url);
    assert_eq!(found["can_start"], true, "{found}");
    let rights = found["rights"].as_array().unwrap();
    assert!(
        rights.len() == 4 && rights.iter().all(|right| right["held"] == true),
        "{found}"
    );
    assert_eq!(found["data"], server.data_directory().display().to_string());
    assert_eq!(postgres::psql(&server, ours), "0");
}

#[test]
fn a_superuser_is_told_that_less_is_enough() {
    let (server, place) = (postgres::server(""), Workspace::new());
    let found = json(&place, &postgres::url(&server, server.superuser()));
    let notes = found["notes"].to_string();
    says(
        &notes,
        &[
            "is a superuser, which dbdyno does not need",
            "GRANT pg_checkpoint, pg_monitor TO bench",
        ],
    );
    assert_eq!(found["connection"], "Unix socket");
    assert_eq!(found["round_trip"]["count"], 200);
    assert!(found["round_trip"]["median_us"].as_f64().unwrap() > 0.0);
    // The server's clock is this machine's.
    let (ahead, uncertainty) = (
        &found["clock"]["ahead_us"],
        &found["clock"]["uncertainty_us"],
    );
    let (ahead, uncertainty) = (ahead.as_i64().unwrap(), uncertainty.as_i64().unwrap());
    assert!(ahead.abs() <= uncertainty + 1, "{found}");
}

#[test]
fn what_would_be_refused_is_told_together() {
    let (server, place) = (postgres::server(""), Workspace::new());
    let busy = std::process::Command::new(server.program().with_file_name("psql"))
        .args(["-X", "-q", "-U", server.superuser(), "-d", "postgres", "-h"])
        .arg(server.socket_directory())
        .args(["-c", "SELECT pg_sleep(600)"])
        .spawn();
    let mut busy = busy.unwrap();
    let asleep = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%' AND state = 'active'";
    while postgres::psql(&server, asleep) != "1" {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    postgres::psql(&server, "CREATE SCHEMA dbdyno");
    let url = postgres::url(&server, server.superuser());
    let ended = check(&place, &format!("{url}?shared_buffers=1GB"), &[]);
    let alone = check(&place, &url, &["--shared"]);
    let _ = busy.kill();
    let _ = busy.wait();
    assert_eq!(ended.status, 3, "{}", ended.stderr);
    says(
        &ended.stdout,
        &[
            "other sessions are active on this server",
            "already exists and was not created by dbdyno",
            "shared_buffers cannot be set for a session",
            "schema \"dbdyno\": cannot be used",
        ],
    );
    assert_eq!(alone.status, 3, "{}", alone.stderr);
    assert!(
        !alone.stdout.contains("other sessions are active"),
        "{}",
        alone.stdout
    );
}

#[test]
fn a_pooler_in_between_is_recognised() {
    let (server, place) = (postgres::server(""), Workspace::new());
    let pooler = Pooler::before(&server, "pool_mode = session");
    let found = json(&place, &pooler.url(""));
    says(&found["pooler"].to_string(), &["session mode"]);
    assert_eq!(found["sessions_left"], Value::Null);
    let pooler = Pooler::before(&server, "pool_mode = transaction");
    let ended = check(&place, &pooler.url(""), &[]);
    assert_eq!(ended.status, 1, "{}", ended.stderr);
    says(ended.sentence(), &["pool_mode = session"]);
}

#[test]
fn each_right_that_a_user_of_mariadb_lacks_is_named_with_its_grant() {
    let (server, place) = (mysql::server("&performance_schema=ON"), Workspace::new());
    mysql::ask(&server, "CREATE USER plain@localhost");
    let url = mysql::url(&server, "plain");
    let ended = check(&place, &url, &[]);
    assert_eq!(ended.status, 3, "{}", ended.stderr);
    says(
        &ended.stdout,
        &[
            "MariaDB 10.",
            "'plain'@'localhost'",
            "database \"dbdyno\": does not exist; a run creates it",
            "GRANT ALL ON `dbdyno`.* TO 'plain'@'localhost'",
            "GRANT SUPER ON *.* TO 'plain'@'localhost'",
            "GRANT PROCESS ON *.* TO 'plain'@'localhost'",
            "GRANT SELECT ON performance_schema.* TO 'plain'@'localhost'",
            "A run would be refused",
        ],
    );
    mysql::ask(
        &server,
        "GRANT ALL ON dbdyno.* TO plain@localhost; GRANT SUPER, PROCESS ON *.* TO plain@localhost; \
         GRANT SELECT ON performance_schema.* TO plain@localhost",
    );
    let found = json(&place, &url);
    assert_eq!(found["can_start"], true, "{found}");
    let rights = found["rights"].as_array().unwrap();
    assert!(
        rights.len() == 4 && rights.iter().all(|right| right["held"] == true),
        "{found}"
    );
    let databases = mysql::ask(&server, "SHOW DATABASES LIKE 'dbdyno%'");
    assert_eq!(databases, "");
    let found = json(&place, &mysql::url(&server, server.superuser()));
    says(&found["notes"].to_string(), &["has all privileges"]);
    // Somebody's database is theirs, and a server without LOCAL takes no bulk loads.
    mysql::ask(
        &server,
        "CREATE DATABASE dbdyno; CREATE TABLE dbdyno.shop (x INT); SET GLOBAL local_infile = OFF",
    );
    let ended = check(&place, &url, &[]);
    assert_eq!(ended.status, 3, "{}", ended.stderr);
    says(
        &ended.stdout,
        &["contains the table \"shop\"", "local_infile is OFF"],
    );
}

#[test]
fn a_server_that_dbdyno_would_start_is_tried() {
    let place = Workspace::new();
    let directory = place.path("data");
    for (engine, version, title) in [
        ("postgres+local", "15", "PostgreSQL 15."),
        ("postgres+local", "18", "PostgreSQL 18."),
        ("mysql+local", "10.11", "MariaDB 10.11."),
    ] {
        let url = format!("{engine}:{}?version={version}", directory.display());
        let ended = check(&place, &url, &[]);
        assert_eq!(ended.status, 0, "{}", ended.stderr);
        says(
            &ended.stdout,
            &[
                title,
                "dbdyno starts this server for a run",
                "A run can start",
            ],
        );
        assert!(!ended.stdout.contains("cold starts"), "{}", ended.stdout);
        assert!(!directory.exists(), "the directory was created");
    }
}

/// The suffix decides what is written; the machine behind ssh is this one.
#[test]
fn the_machine_is_named_and_the_result_written() {
    let (place, sshd, server) = (Workspace::new(), Sshd::start(), postgres::server(""));
    let (url, host) = (postgres::url(&server, "dbdyno"), sshd.url());
    let file = place.path("found.json").display().to_string();
    let mut command = place.command(&["check", "--target", &url, "--host", &host, "-o", &file]);
    command.env("DBDYNO_SSH", sshd.client());
    let ended = Ended::of(command.output().unwrap());
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    assert_eq!(ended.stdout, "");
    let found: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(found["format"], 1);
    assert!(found["machine"]["memory_bytes"].as_u64().unwrap() > 1 << 28);
    let lint = found["lint"].as_array().unwrap();
    assert!(lint.iter().any(|one| one["id"] == "fsync"), "{found}");
    let text = place.path("found.txt").display().to_string();
    let ended = check(&place, &url, &["-o", &text]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    says(
        &std::fs::read_to_string(&text).unwrap(),
        &["A run can start"],
    );
}

#[test]
fn a_server_that_is_not_there_is_said_to_be_so() {
    let place = Workspace::new();
    let ended = check(&place, "postgres://u:s3cret@127.0.0.1:1/d", &[]);
    assert_eq!(ended.status, 1, "{}", ended.stderr);
    says(
        ended.sentence(),
        &["cannot reach PostgreSQL at 127.0.0.1:1"],
    );
    assert!(!ended.stderr.contains("s3cret"));
}

const NOT_LEFT: &str = "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'dbdyno%'";

/// The suite, with what it says as JSON.
fn suite(place: &Workspace, url: &str) -> (Ended, Value) {
    let ended = check(place, url, &["--engine", "--yes", "--json"]);
    let found: Value =
        serde_json::from_str(&ended.stdout).unwrap_or_else(|e| panic!("{e}: {}", ended.stderr));
    let suite = found["engine_suite"].clone();
    (ended, suite)
}

/// By a user with the rights that `check` names, in a schema of the suite's own.
#[test]
fn the_suite_passes_on_a_running_postgres_and_leaves_nothing() {
    let (server, place) = (postgres::server(""), Workspace::new());
    postgres::psql(
        &server,
        "CREATE ROLE plain LOGIN; GRANT pg_checkpoint, pg_monitor TO plain; \
         GRANT CREATE ON DATABASE postgres TO plain",
    );
    let url = postgres::url(&server, "plain");
    let (ended, suite) = suite(&place, &url);
    assert_eq!(ended.status, 0, "{suite}");
    assert_eq!(suite["place"], "the schema \"dbdyno_check\"");
    assert_eq!(suite["failed"], 0, "{suite}");
    // dbdyno neither restarts this server nor copies its files.
    assert_eq!(suite["not_offered"], 1, "{suite}");
    assert_eq!(postgres::psql(&server, NOT_LEFT), "0");
    let text = check(&place, &url, &["--engine", "--yes"]).stdout;
    says(
        &text,
        &[
            "30 passed, 0 failed, 1 not offered",
            "What the suite created was removed",
        ],
    );
}

#[test]
fn the_suite_is_not_begun_without_consent_or_in_somebodys_schema() {
    let (server, place) = (postgres::server(""), Workspace::new());
    let url = postgres::url(&server, "dbdyno");
    let ended = check(&place, &url, &["--engine"]);
    assert_eq!(ended.status, 2, "{}", ended.stderr);
    says(
        ended.sentence(),
        &["creates tables in the schema \"dbdyno_check\"", "add --yes"],
    );
    assert_eq!(postgres::psql(&server, NOT_LEFT), "0");
    postgres::psql(
        &server,
        "CREATE SCHEMA dbdyno_check; CREATE TABLE dbdyno_check.dbdyno_check_rows (x INT); \
         INSERT INTO dbdyno_check.dbdyno_check_rows VALUES (7)",
    );
    let ended = check(&place, &url, &["--engine", "--yes"]);
    assert_eq!(ended.status, 1, "{}", ended.stderr);
    says(
        ended.sentence(),
        &["already exists and was not created by dbdyno"],
    );
    let theirs = "SELECT x FROM dbdyno_check.dbdyno_check_rows";
    assert_eq!(postgres::psql(&server, theirs), "7");
    // A user who may not even start a run is told so, and nothing else is tried.
    postgres::psql(&server, "CREATE ROLE plain LOGIN");
    let ended = check(
        &place,
        &postgres::url(&server, "plain"),
        &["--engine", "--yes"],
    );
    assert_eq!(ended.status, 3, "{}", ended.stderr);
    says(
        &ended.stdout,
        &["A run would be refused. Nothing was changed."],
    );
}

#[test]
fn the_suite_passes_on_a_running_mariadb_and_leaves_what_was_there() {
    let (server, place) = (mysql::server("&performance_schema=ON"), Workspace::new());
    mysql::ask(
        &server,
        "CREATE USER plain@localhost; GRANT ALL ON `dbdyno`.* TO plain@localhost; \
         GRANT ALL ON `dbdyno\\_check%`.* TO plain@localhost; \
         GRANT SUPER, PROCESS ON *.* TO plain@localhost; \
         GRANT SELECT ON performance_schema.* TO plain@localhost",
    );
    let url = mysql::url(&server, "plain");
    let (ended, found) = suite(&place, &url);
    assert_eq!(ended.status, 0, "{found}");
    assert_eq!(
        (&found["failed"], &found["not_offered"]),
        (&0.into(), &2.into()),
        "{found}"
    );
    let databases = "SHOW DATABASES LIKE 'dbdyno%'";
    assert_eq!(mysql::ask(&server, databases), "");
    // A database that was made for the suite stays.
    mysql::ask(&server, "CREATE DATABASE dbdyno_check");
    let (ended, found) = suite(&place, &url);
    assert_eq!(ended.status, 0, "{found}");
    assert_eq!(mysql::ask(&server, databases), "dbdyno_check");
    let tables = mysql::ask(&server, "SHOW TABLES IN dbdyno_check");
    assert_eq!(tables, "dbdyno_tables");
}

/// Killed in the middle, it leaves what the next one removes.
#[test]
fn what_a_killed_suite_has_left_is_removed_by_the_next() {
    let (server, place) = (postgres::server(""), Workspace::new());
    let url = postgres::url(&server, "dbdyno");
    let mut killed = place.command(&["check", "--target", &url, "--engine", "--yes"]);
    let mut killed = killed.stdout(std::process::Stdio::null()).spawn().unwrap();
    let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'dbdyno_check' AND tablename LIKE 'dbdyno_check%'";
    while postgres::psql(&server, tables) != "1" {
        assert!(killed.try_wait().unwrap().is_none(), "it ended by itself");
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert_ne!(postgres::psql(&server, NOT_LEFT), "0");
    // The server notices a moment later that nobody is there any more.
    let ours = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'dbdyno'";
    while postgres::psql(&server, ours) != "0" {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let (ended, found) = suite(&place, &url);
    assert_eq!(ended.status, 0, "{found}");
    assert_eq!(postgres::psql(&server, NOT_LEFT), "0");
}

#[test]
fn a_failed_check_is_a_status_of_its_own() {
    let place = Workspace::new();
    let url = "postgres+local:?version=15&shared_buffers=16MB&track_counts=off";
    let ended = check(&place, url, &["--engine", "--yes"]);
    assert_eq!(ended.status, 3, "{}", ended.stderr);
    says(
        &ended.stdout,
        &[
            "FAILED  expected page accesses rise with 2000 updates; seen: 0",
            "30 passed, 1 failed, 0 not offered",
        ],
    );
}

#[test]
fn a_password_is_in_no_output() {
    const CANARY: &str = "c4n4ry";
    let (server, place) = (postgres::server(""), Workspace::new());
    postgres::psql(
        &server,
        &format!("CREATE ROLE plain LOGIN PASSWORD '{CANARY}'"),
    );
    let url = postgres::url(&server, "plain").replace("plain@", &format!("plain:{CANARY}@"));
    let file = place.path("found.json").display().to_string();
    for more in [&[][..], &["--json"], &["-o", &file], &["--engine", "--yes"]] {
        let ended = check(&place, &url, more);
        assert_eq!(ended.status, 3, "{}", ended.stderr);
        let said = format!("{}{}", ended.stdout, ended.stderr);
        assert!(!said.contains(CANARY), "{said}");
    }
    let written = std::fs::read_to_string(&file).unwrap();
    assert!(
        written.contains("plain@") && !written.contains(CANARY),
        "{written}"
    );
    for wrong in ["postgres//u:c4n4ry@h/d", "mysql://u:c4n4ry@h:x/d"] {
        let ended = check(&place, wrong, &[]);
        assert_eq!(ended.status, 2, "{}", ended.stderr);
        assert!(!ended.stderr.contains(CANARY), "{}", ended.stderr);
    }
}
