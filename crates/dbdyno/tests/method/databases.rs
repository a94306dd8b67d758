//! `dbdyno check --self-test` on databases of every engine: the invariants hold, a target that loses acknowledged rows is found, and nothing
//! is left behind.

use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Duration;

use local_server::LocalServer;
use serde_json::Value;

use crate::common::{Ended, Workspace, need_duckdb};
use crate::{mysql, postgres};
use testing::Says;

/// Points short enough for a check of one minute. Statistical invariants may then be undecided, but are not violated: that is less likely
/// than one in 1,000,000 on any machine.
const SHORT: [&str; 6] = ["--self-test", "--yes", "--format", "json", "--time", "0.1"];
const NOT_LEFT: &str = "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'dbdyno%'";

/// Result of the check on a database, without a time limit because a busy machine is no fault.
fn method(workspace: &Workspace, url: &str) -> (Ended, Value) {
    let mut command = workspace.command(&[&["check", url], &SHORT[..]].concat());
    let ended = Ended::of(command.output().unwrap());
    let found = ended.json();
    let method = found["method"].clone();
    (ended, method)
}

fn invariant<'v>(method: &'v Value, id: &str) -> &'v Value {
    let mut invariants = method["invariants"].as_array().unwrap().iter();
    invariants.find(|invariant| invariant["id"] == id).unwrap()
}

/// No invariant is violated, those without chance hold, and exactly the named ones are unsupported.
fn is_right(url: &str, not_offered: &[&str]) {
    let workspace = Workspace::new();
    is_right_in(&workspace, url, not_offered);
}

fn is_right_in(workspace: &Workspace, url: &str, not_offered: &[&str]) {
    let (ended, method) = method(workspace, url);
    assert_eq!(ended.status, 0, "{method:#}");
    assert_eq!(method["broken"], 0, "{method:#}");
    for id in ["committed", "counts", "times"] {
        assert_eq!(invariant(&method, id)["outcome"], "holds", "{method:#}");
    }
    let invariants = method["invariants"].as_array().unwrap().iter();
    let missing = invariants.filter(|invariant| invariant["outcome"] == "not_offered");
    let missing: Vec<&str> = missing
        .map(|invariant| invariant["id"].as_str().unwrap())
        .collect();
    assert_eq!(missing, not_offered, "{method:#}");
    assert!(invariant(&method, "committed")["seen"].as_f64().unwrap() > 0.0);
    assert!(method["own_us"].as_f64().unwrap() > 0.0);
    let verdict = method["verdict"].as_str().unwrap();
    assert!(
        verdict.starts_with("dbdyno measures this target rightly: "),
        "{verdict}"
    );
}

/// A file that did not exist leaves nothing behind.
fn a_file_is_measured_rightly(engine: &str) {
    let workspace = Workspace::new();
    is_right_in(
        &workspace,
        &workspace.url(engine, "bench.db"),
        &["delay", "waits", "clock"],
    );
    let files = std::fs::read_dir(workspace.path("")).unwrap();
    let left: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn sqlite_is_measured_rightly() {
    a_file_is_measured_rightly("sqlite");
}

#[test]
fn duckdb_is_measured_rightly() {
    need_duckdb();
    a_file_is_measured_rightly("duckdb");
}

#[test]
fn a_database_in_memory_is_measured_rightly() {
    is_right("sqlite:", &["delay", "waits", "clock"]);
}

#[test]
fn a_running_postgres_is_measured_rightly() {
    let server = postgres::server("");
    postgres::psql(
        &server,
        "CREATE TABLE public.mine AS SELECT generate_series(1, 1000) AS id",
    );
    is_right(&postgres::url(&server, "dbdyno"), &[]);
    assert_eq!(postgres::psql(&server, NOT_LEFT), "0");
    let mine = "SELECT count(*) || ' ' || sum(id) FROM public.mine";
    assert_eq!(postgres::psql(&server, mine), "1000 500500");
}

#[test]
fn a_running_mariadb_is_measured_rightly() {
    let server = mysql::server("");
    is_right(&mysql::url(&server, server.superuser()), &[]);
    assert_eq!(mysql::ask(&server, "SHOW DATABASES LIKE 'dbdyno%'"), "");
}

#[test]
fn a_server_that_dbdyno_starts_is_measured_rightly() {
    is_right("postgres+local:?version=18", &[]);
}

const LEDGER: &str = "SELECT count(*) FROM pg_tables WHERE tablename = 'dbdyno_check_ledger'";
/// Every row of a transaction that adds twice to one counter vanishes silently within it.
const FORGETFUL: &str = "CREATE RULE forgets AS ON INSERT TO dbdyno_check.dbdyno_check_ledger WHERE NEW.a = NEW.b \
     DO ALSO DELETE FROM dbdyno_check.dbdyno_check_ledger WHERE a = b";

/// A check in the background whose tables exist.
fn begun(workspace: &Workspace, server: &LocalServer) -> Child {
    let url = postgres::url(server, "dbdyno");
    let mut command = workspace.command(&[&["check", &url], &SHORT[..]].concat());
    let command = command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    while postgres::psql(server, LEDGER) != "1" {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        sleep(Duration::from_millis(20));
    }
    child
}

#[test]
fn a_server_that_loses_acknowledged_rows_is_found() {
    let (server, workspace) = (postgres::server(""), Workspace::new());
    let child = begun(&workspace, &server);
    postgres::psql(&server, FORGETFUL);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let method = &found["method"];
    assert_eq!(
        invariant(method, "committed")["outcome"],
        "broken",
        "{method:#}"
    );
    assert_eq!(method["is_right"], false);
    assert_eq!(method["broken"], 1);
    let verdict = method["verdict"].as_str().unwrap();
    assert!(
        verdict.starts_with("dbdyno does NOT measure this target rightly: 1 of "),
        "{verdict}"
    );
    assert_eq!(postgres::psql(&server, NOT_LEFT), "0");
}

#[test]
fn nothing_begins_without_consent_or_in_somebodys_schema() {
    let (server, workspace) = (postgres::server(""), Workspace::new());
    let url = postgres::url(&server, "dbdyno");
    let ended = workspace.ends(2, &["check", &url, "--self-test"]);
    ended
        .sentence()
        .says("creates tables in the schema \"dbdyno_check\"");
    assert_eq!(postgres::psql(&server, NOT_LEFT), "0");
    postgres::psql(&server, "CREATE SCHEMA dbdyno_check");
    let ended = workspace.ends(1, &["check", &url, "--self-test", "--yes"]);
    ended
        .sentence()
        .says("already exists and was not created by dbdyno");
    workspace.ends(2, &["check", &url, "--time", "1"]);
    let ended = workspace.ends(2, "check mock: --self-test --yes");
    ended
        .sentence()
        .says("nothing to measure there: mock is not a database");
}

#[test]
fn a_check_leaves_nothing_after_any_end() {
    let (server, workspace) = (postgres::server(""), Workspace::new());
    let ended_by = |signal: i32| {
        let mut child = begun(&workspace, &server);
        let pid = libc::pid_t::try_from(child.id()).unwrap();
        // SAFETY: the child has not been waited for, so its number is still its own.
        assert_eq!(unsafe { libc::kill(pid, signal) }, 0);
        child.wait().unwrap().code()
    };
    assert_eq!(ended_by(libc::SIGINT), Some(130));
    assert_eq!(postgres::psql(&server, NOT_LEFT), "0");
    assert_eq!(ended_by(libc::SIGKILL), None);
    assert_ne!(postgres::psql(&server, NOT_LEFT), "0");
    // The server notices the lost connection a moment later.
    let ours = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'dbdyno'";
    while postgres::psql(&server, ours) != "0" {
        sleep(Duration::from_millis(20));
    }
    let url = postgres::url(&server, "dbdyno");
    workspace.fine(&["check", &url, "--compatibility", "--yes"]);
    assert_eq!(postgres::psql(&server, NOT_LEFT), "0");
}
