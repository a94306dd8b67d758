//! `dbdyno check` on databases of every engine: its result, and no change to the database.

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

use common::{Arguments, Ended, Workspace, need_duckdb};
use pgbouncer::Pooler;
use rusqlite::Connection;
use serde_json::Value;
use sshd::Sshd;
use testing::Says;

fn check(workspace: &Workspace, url: &str, more: &[&str]) -> Ended {
    workspace.dbdyno(&[&["check", url], more].concat())
}

#[track_caller]
fn checked(workspace: &Workspace, status: i32, url: &str, more: impl Arguments) -> Ended {
    workspace.ends(status, &[&["check", url], &more.list()[..]].concat())
}

fn json(workspace: &Workspace, url: &str) -> Value {
    check(workspace, url, &["--format", "json"]).json()
}

/// The check of a user who has all four rights.
fn has_all_rights(workspace: &Workspace, url: &str) -> Value {
    let found = json(workspace, url);
    assert_eq!(found["can_start"], true, "{found}");
    let held = found["rights"].as_array().unwrap().iter();
    let held: Vec<&Value> = held.map(|right| &right["held"]).collect();
    assert_eq!(held, [true; 4], "{found}");
    found
}

#[test]
fn a_file_that_is_not_there_stays_so() {
    need_duckdb();
    let workspace = Workspace::new();
    for engine in ["sqlite", "duckdb"] {
        let ended = checked(&workspace, 0, &workspace.url(engine, "new.db"), "");
        ended
            .stdout
            .says_all(&["does not exist; a run creates it", "A run can start"]);
        let left: Vec<_> = std::fs::read_dir(workspace.path("")).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
        let ended = checked(&workspace, 3, &workspace.url(engine, "nowhere/new.db"), "");
        ended.stdout.says("its directory does not exist");
    }
}

#[test]
fn somebodys_file_is_recognised_and_left_as_it_is() {
    let workspace = Workspace::new();
    let path = workspace.path("theirs#1%.db");
    let theirs = Connection::open(&path).unwrap();
    theirs
        .execute_batch("PRAGMA journal_mode=WAL; CREATE TABLE customer (name)")
        .unwrap();
    drop(theirs);
    let before = std::fs::read(&path).unwrap();
    let ended = checked(&workspace, 3, &format!("sqlite:{}", path.display()), "");
    ended.stdout.says_all(&[
        "cannot be used",
        "contains the table \"customer\"",
        "A run would be refused",
    ]);
    assert_eq!(std::fs::read(&path).unwrap(), before);
    let left = std::fs::read_dir(workspace.path("")).unwrap().count();
    assert_eq!(left, 1, "nothing was put beside the file");
}

#[test]
fn a_target_without_a_database_is_reported() {
    let workspace = Workspace::new();
    let ended = checked(&workspace, 0, "mock:", "");
    ended
        .stdout
        .says_all(&["no database (mock)", "mock only spends time"]);
    let ended = checked(&workspace, 2, "duckdb+none:", "");
    ended.sentence().says("check the target that it copies");
}

/// A missing right is reported with its purpose, its consequence and its GRANT; nothing is created.
#[test]
fn each_right_that_a_user_of_postgres_lacks_is_named_with_its_grant() {
    let (server, workspace) = (postgres::server(""), Workspace::new());
    postgres::psql(&server, "CREATE ROLE plain LOGIN");
    let url = postgres::url(&server, "plain");
    let ended = checked(&workspace, 3, &url, "");
    ended.stdout.says_all(&[
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
    ]);
    assert!(!ended.stdout.contains("superuser"), "{}", ended.stdout);
    let ours = "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'dbdyno%'";
    assert_eq!(postgres::psql(&server, ours), "0");
    // The rights that it lists are sufficient.
    postgres::psql(
        &server,
        "GRANT pg_checkpoint, pg_monitor TO plain; GRANT CREATE ON DATABASE postgres TO plain",
    );
    let found = has_all_rights(&workspace, &url);
    assert_eq!(found["data"], server.data_directory().display().to_string());
    assert_eq!(postgres::psql(&server, ours), "0");
}

#[test]
fn a_superuser_learns_that_fewer_rights_suffice() {
    let (server, workspace) = (postgres::server(""), Workspace::new());
    let found = json(&workspace, &postgres::url(&server, server.superuser()));
    let notes = found["notes"].to_string();
    notes.says_all(&[
        "is a superuser, which dbdyno does not need",
        "GRANT pg_checkpoint, pg_monitor TO bench",
    ]);
    assert_eq!(found["connection"], "Unix socket");
    assert_eq!(found["round_trip"]["count"], 200);
    assert!(found["round_trip"]["median_us"].as_f64().unwrap() > 0.0);
    // The server runs on this machine and shares its clock.
    let (ahead, uncertainty) = (
        &found["clock"]["ahead_us"],
        &found["clock"]["uncertainty_us"],
    );
    let (ahead, uncertainty) = (ahead.as_i64().unwrap(), uncertainty.as_i64().unwrap());
    assert!(ahead.abs() <= uncertainty + 1, "{found}");
}

#[test]
fn all_reasons_for_refusal_are_reported_together() {
    let (server, workspace) = (postgres::server(""), Workspace::new());
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
    let ended = check(&workspace, &format!("{url}?shared_buffers=1GB"), &[]);
    let alone = check(&workspace, &url, &["--allow-busy"]);
    let _ = busy.kill();
    let _ = busy.wait();
    assert_eq!(ended.status, 3, "{}", ended.stderr);
    ended.stdout.says_all(&[
        "other sessions are active on this server",
        "already exists and was not created by dbdyno",
        "shared_buffers cannot be set for a session",
        "schema \"dbdyno\": cannot be used",
    ]);
    assert_eq!(alone.status, 3, "{}", alone.stderr);
    alone.stdout.omits("other sessions are active");
}

#[test]
fn a_pooler_in_between_is_recognised() {
    let (server, workspace) = (postgres::server(""), Workspace::new());
    let pooler = Pooler::before(&server, "pool_mode = session");
    let found = json(&workspace, &pooler.url(""));
    found["pooler"].to_string().says("session mode");
    assert_eq!(found["sessions_left"], Value::Null);
    let pooler = Pooler::before(&server, "pool_mode = transaction");
    let ended = checked(&workspace, 1, &pooler.url(""), "");
    ended.sentence().says("pool_mode = session");
}

#[test]
fn each_right_that_a_user_of_mariadb_lacks_is_named_with_its_grant() {
    let (server, workspace) = (mysql::server("&performance_schema=ON"), Workspace::new());
    mysql::ask(&server, "CREATE USER plain@localhost");
    let url = mysql::url(&server, "plain");
    let ended = checked(&workspace, 3, &url, "");
    ended.stdout.says_all(&[
        "MariaDB 10.",
        "'plain'@'localhost'",
        "database \"dbdyno\": does not exist; a run creates it",
        "GRANT ALL ON `dbdyno`.* TO 'plain'@'localhost'",
        "GRANT SUPER ON *.* TO 'plain'@'localhost'",
        "GRANT PROCESS ON *.* TO 'plain'@'localhost'",
        "GRANT SELECT ON performance_schema.* TO 'plain'@'localhost'",
        "A run would be refused",
    ]);
    mysql::ask(
        &server,
        "GRANT ALL ON dbdyno.* TO plain@localhost; GRANT SUPER, PROCESS ON *.* TO plain@localhost; \
         GRANT SELECT ON performance_schema.* TO plain@localhost",
    );
    has_all_rights(&workspace, &url);
    let databases = mysql::ask(&server, "SHOW DATABASES LIKE 'dbdyno%'");
    assert_eq!(databases, "");
    let found = json(&workspace, &mysql::url(&server, server.superuser()));
    found["notes"].to_string().says("has all privileges");
    // Another user's database is refused, and a server without LOCAL takes no bulk loads.
    mysql::ask(
        &server,
        "CREATE DATABASE dbdyno; CREATE TABLE dbdyno.shop (x INT); SET GLOBAL local_infile = OFF",
    );
    let ended = checked(&workspace, 3, &url, "");
    ended
        .stdout
        .says_all(&["contains the table \"shop\"", "local_infile is OFF"]);
}

#[test]
fn a_server_that_dbdyno_would_start_is_tried() {
    let workspace = Workspace::new();
    let directory = workspace.path("data");
    for (engine, version, title) in [
        ("postgres+local", "15", "PostgreSQL 15."),
        ("postgres+local", "18", "PostgreSQL 18."),
        ("mariadb+local", "10.11", "MariaDB 10.11."),
    ] {
        let url = format!("{engine}:{}?version={version}", directory.display());
        let ended = checked(&workspace, 0, &url, "");
        ended.stdout.says_all(&[
            title,
            "dbdyno starts this server for a run",
            "A run can start",
        ]);
        assert!(!ended.stdout.contains("cold starts"), "{}", ended.stdout);
        assert!(!directory.exists(), "the directory was created");
    }
}

/// The suffix selects the format; the machine behind ssh is this one.
#[test]
fn the_machine_is_named_and_the_result_written() {
    let (workspace, sshd, server) = (Workspace::new(), Sshd::start(), postgres::server(""));
    let (url, host) = (postgres::url(&server, "dbdyno"), sshd.url());
    let file = workspace.path("found.json").display().to_string();
    let mut command = workspace.command(&["check", &url, "--ssh", &host, "-o", &file]);
    command.env("DBDYNO_SSH", sshd.client());
    let ended = Ended::of(command.output().unwrap());
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    assert_eq!(ended.stdout, "");
    let found: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(found["format"], 1);
    assert!(found["machine"]["memory_bytes"].as_u64().unwrap() > 1 << 28);
    let lint = found["lint"].as_array().unwrap();
    assert!(lint.iter().any(|one| one["id"] == "fsync"), "{found}");
    let text = workspace.path("found.txt").display().to_string();
    checked(&workspace, 0, &url, &["-o", &text]);
    std::fs::read_to_string(&text)
        .unwrap()
        .says("A run can start");
}

#[test]
fn a_server_that_is_not_there_is_said_to_be_so() {
    let workspace = Workspace::new();
    let ended = checked(&workspace, 1, "postgres://u:s3cret@127.0.0.1:1/d", "");
    ended
        .sentence()
        .says("cannot reach PostgreSQL at 127.0.0.1:1");
    assert!(!ended.stderr.contains("s3cret"));
}

const NOT_LEFT: &str = "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'dbdyno%'";

fn suite(workspace: &Workspace, url: &str) -> (Ended, Value) {
    let ended = check(
        workspace,
        url,
        &["--compatibility", "--yes", "--format", "json"],
    );
    let found = ended.json();
    let suite = found["engine_suite"].clone();
    (ended, suite)
}

/// A user with exactly the rights that `check` lists, in the suite's own schema.
#[test]
fn the_suite_passes_on_a_running_postgres_and_leaves_nothing() {
    let (server, workspace) = (postgres::server(""), Workspace::new());
    postgres::psql(
        &server,
        "CREATE ROLE plain LOGIN; GRANT pg_checkpoint, pg_monitor TO plain; \
         GRANT CREATE ON DATABASE postgres TO plain",
    );
    let url = postgres::url(&server, "plain");
    let (ended, suite) = suite(&workspace, &url);
    assert_eq!(ended.status, 0, "{suite}");
    assert_eq!(suite["place"], "the schema \"dbdyno_check\"");
    assert_eq!(suite["failed"], 0, "{suite}");
    // dbdyno cannot restart this server or copy its files.
    assert_eq!(suite["not_offered"], 1, "{suite}");
    assert_eq!(postgres::psql(&server, NOT_LEFT), "0");
    let text = check(&workspace, &url, &["--compatibility", "--yes"]).stdout;
    text.says_all(&[
        "30 passed, 0 failed, 1 not offered",
        "What the suite created was removed",
    ]);
}

#[test]
fn the_suite_is_not_begun_without_consent_or_in_somebodys_schema() {
    let (server, workspace) = (postgres::server(""), Workspace::new());
    let url = postgres::url(&server, "dbdyno");
    let ended = checked(&workspace, 2, &url, "--compatibility");
    ended
        .sentence()
        .says_all(&["creates tables in the schema \"dbdyno_check\"", "add --yes"]);
    assert_eq!(postgres::psql(&server, NOT_LEFT), "0");
    postgres::psql(
        &server,
        "CREATE SCHEMA dbdyno_check; CREATE TABLE dbdyno_check.dbdyno_check_rows (x INT); \
         INSERT INTO dbdyno_check.dbdyno_check_rows VALUES (7)",
    );
    let ended = checked(&workspace, 1, &url, "--compatibility --yes");
    ended
        .sentence()
        .says("already exists and was not created by dbdyno");
    let theirs = "SELECT x FROM dbdyno_check.dbdyno_check_rows";
    assert_eq!(postgres::psql(&server, theirs), "7");
    // A user without the right to start a run gets a message, and nothing else is tried.
    postgres::psql(&server, "CREATE ROLE plain LOGIN");
    let ended = checked(
        &workspace,
        3,
        &postgres::url(&server, "plain"),
        "--compatibility --yes",
    );
    ended
        .stdout
        .says("A run would be refused. Nothing was changed.");
}

#[test]
fn the_suite_passes_on_a_running_mariadb_and_leaves_its_data() {
    let (server, workspace) = (mysql::server("&performance_schema=ON"), Workspace::new());
    mysql::ask(
        &server,
        "CREATE USER plain@localhost; GRANT ALL ON `dbdyno`.* TO plain@localhost; \
         GRANT ALL ON `dbdyno\\_check%`.* TO plain@localhost; \
         GRANT SUPER, PROCESS ON *.* TO plain@localhost; \
         GRANT SELECT ON performance_schema.* TO plain@localhost",
    );
    let url = mysql::url(&server, "plain");
    let (ended, found) = suite(&workspace, &url);
    assert_eq!(ended.status, 0, "{found}");
    assert_eq!(found["failed"], 0, "{found}");
    assert_eq!(found["not_offered"], 2, "{found}");
    let databases = "SHOW DATABASES LIKE 'dbdyno%'";
    assert_eq!(mysql::ask(&server, databases), "");
    // A database created for the suite stays.
    mysql::ask(&server, "CREATE DATABASE dbdyno_check");
    let (ended, found) = suite(&workspace, &url);
    assert_eq!(ended.status, 0, "{found}");
    assert_eq!(mysql::ask(&server, databases), "dbdyno_check");
    let tables = mysql::ask(&server, "SHOW TABLES IN dbdyno_check");
    assert_eq!(tables, "dbdyno_tables");
}

#[test]
fn the_remains_of_a_killed_suite_are_removed_by_the_next() {
    let (server, workspace) = (postgres::server(""), Workspace::new());
    let url = postgres::url(&server, "dbdyno");
    let mut killed = workspace.command(&["check", &url, "--compatibility", "--yes"]);
    let mut killed = killed.stdout(std::process::Stdio::null()).spawn().unwrap();
    let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'dbdyno_check' AND tablename LIKE 'dbdyno_check%'";
    while postgres::psql(&server, tables) != "1" {
        assert!(killed.try_wait().unwrap().is_none(), "it ended by itself");
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert_ne!(postgres::psql(&server, NOT_LEFT), "0");
    // The server notices the lost connection a moment later.
    let ours = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'dbdyno'";
    while postgres::psql(&server, ours) != "0" {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let (ended, found) = suite(&workspace, &url);
    assert_eq!(ended.status, 0, "{found}");
    assert_eq!(postgres::psql(&server, NOT_LEFT), "0");
}

#[test]
fn a_failed_check_is_a_status_of_its_own() {
    let workspace = Workspace::new();
    let url = "postgres+local:?version=15&shared_buffers=16MB&track_counts=off";
    let ended = checked(&workspace, 3, url, "--compatibility --yes");
    ended.stdout.says_all(&[
        "FAILED  expected page accesses rise with 2000 updates; seen: 0",
        "30 passed, 1 failed, 0 not offered",
    ]);
}

#[test]
fn a_password_is_in_no_output() {
    const CANARY: &str = "c4n4ry";
    let (server, workspace) = (postgres::server(""), Workspace::new());
    postgres::psql(
        &server,
        &format!("CREATE ROLE plain LOGIN PASSWORD '{CANARY}'"),
    );
    let url = postgres::url(&server, "plain").replace("plain@", &format!("plain:{CANARY}@"));
    let file = workspace.path("found.json").display().to_string();
    for more in [
        &[][..],
        &["--format", "json"],
        &["-o", &file],
        &["--compatibility", "--yes"],
    ] {
        let ended = checked(&workspace, 3, &url, more);
        let said = format!("{}{}", ended.stdout, ended.stderr);
        assert!(!said.contains(CANARY), "{said}");
    }
    let written = std::fs::read_to_string(&file).unwrap();
    assert!(
        written.contains("plain@") && !written.contains(CANARY),
        "{written}"
    );
    for wrong in ["postgres//u:c4n4ry@h/d", "mysql://u:c4n4ry@h:x/d"] {
        let ended = checked(&workspace, 2, wrong, "");
        assert!(!ended.stderr.contains(CANARY), "{}", ended.stderr);
    }
}
