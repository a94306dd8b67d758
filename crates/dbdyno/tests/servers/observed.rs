//! Observations of databases in prepared situations, whose blockers and figures are known.

use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use local_server::LocalServer;
use serde_json::Value;

use crate::common::{Workspace, points};
use crate::{mysql, observed_again, postgres};
use testing::Says;

/// Longest time until a session reaches its state.
const PATIENCE: Duration = Duration::from_secs(60);

/// Another user's session, which executes the statements written to it; closed when dropped.
pub struct Somebody(Child);

impl Somebody {
    fn of(mut client: Command) -> Self {
        let client = client.stdin(Stdio::piped()).stdout(Stdio::null());
        Self(client.stderr(Stdio::null()).spawn().unwrap())
    }

    pub fn postgres(server: &LocalServer) -> Self {
        let mut client = Command::new(server.program().with_file_name("psql"));
        client
            .args(["-X", "-q", "-h"])
            .arg(server.socket_directory());
        client.args(["-U", server.superuser(), "-d", "postgres"]);
        Self::of(client)
    }

    pub fn mariadb(server: &LocalServer) -> Self {
        let tree = server.program().ancestors().nth(2).unwrap();
        let mut client = Command::new(tree.join(mysql::client_of(server)));
        client.args(["--no-defaults", "-n", "-u", server.superuser(), "-S"]);
        client.arg(server.socket_path());
        Self::of(client)
    }

    pub fn does(&mut self, sql: &str) {
        let input = self.0.stdin.as_mut().unwrap();
        input.write_all(format!("{sql}\n").as_bytes()).unwrap();
        input.flush().unwrap();
    }
}

impl Drop for Somebody {
    fn drop(&mut self) {
        // A client may be waiting for its statement.
        let ended = self.0.kill().and_then(|()| self.0.wait());
        assert!(ended.is_ok() || std::thread::panicking());
    }
}

pub fn until(mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(
            begin.elapsed() < PATIENCE,
            "the situation did not come about"
        );
        // InnoDB refreshes its view of transactions only after a tenth of a second without a query.
        std::thread::sleep(Duration::from_millis(150));
    }
}

fn observe(workspace: &Workspace, url: &str, more: &[&str]) -> Value {
    let options = ["observe", url, "--time", "1s", "--name", "seen"];
    workspace.fine(&[&options[..], more].concat());
    points(&workspace.export("seen"))[0].clone()
}

fn rows<'p>(point: &'p Value, about: &str) -> &'p Vec<Value> {
    let tables = point["observed"].as_array().unwrap();
    let table = tables.iter().find(|table| table["about"] == about);
    table.unwrap()["rows"].as_array().unwrap()
}

/// Every sample shows the same: three sessions in statements, one of which waits for the lock of a fourth, which is idle.
fn assert_situation(point: &Value) {
    let figure = |name: &str| point[name].as_f64().unwrap();
    for (name, sessions) in [
        ("active_sessions_sampled_mean", 3.0),
        ("active_sessions_max", 3.0),
        ("blocked_sessions_mean", 1.0),
    ] {
        assert!((figure(name) - sessions).abs() < 1e-6, "{name}: {point:#}");
    }
    // The kernel's account also includes other work of the sessions.
    let mean = figure("active_sessions_mean");
    assert!((2.999..4.0).contains(&mean), "{point:#}");
    assert!(figure("transaction_s_max") > 1.0, "{point:#}");
    let blockers = rows(point, "blockers");
    assert_eq!(blockers.len(), 1, "{blockers:#?}");
    // Values of other users are not stored.
    let statement = blockers[0][1].as_str().unwrap();
    assert!(
        statement.contains("stock") && statement.contains('?'),
        "{statement}"
    );
    point["observed"].to_string().omits("47110815");
    // No transaction is older than the blocker's; InnoDB has whole seconds of start, so that another can be as old.
    let transactions = rows(point, "transactions");
    let of_blocker = transactions.iter().find(|row| row[0] == blockers[0][3]);
    let age_s = |row: &Value| row[1].as_f64().unwrap();
    assert!(
        age_s(of_blocker.unwrap()) >= age_s(&transactions[0]),
        "the blocker is the oldest: {transactions:#?}"
    );
    let waits = &rows(point, "activity")[0];
    assert!(
        (waits[6].as_f64().unwrap() - 1.0).abs() < 1e-6,
        "one in a lock: {waits}"
    );
}

const TABLE: &str =
    "CREATE TABLE stock (id int PRIMARY KEY, n int); INSERT INTO stock VALUES (47110815, 1)";
/// A value whose digits occur in no figure by chance.
const CHANGE: &str = "UPDATE stock SET n = n + 1 WHERE id = 47110815;";

#[test]
fn postgresql_reports_waits_with_their_blockers() {
    let (server, workspace) = (postgres::server("&autovacuum=off"), Workspace::new());
    postgres::psql(&server, TABLE);
    let [mut holder, mut waiter, mut one, mut other] =
        [(); 4].map(|()| Somebody::postgres(&server));
    holder.does(&format!("BEGIN; {CHANGE}"));
    let asks = |sql: &str| postgres::psql(&server, sql);
    until(|| {
        asks("SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction'") == "1"
    });
    waiter.does(CHANGE);
    one.does("SELECT pg_sleep(600);");
    other.does("SELECT pg_sleep(600);");
    until(|| {
        asks(
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event IN ('transactionid', 'PgSleep')",
        ) == "3"
    });
    let url = postgres::url(&server, server.superuser());
    let point = observe(&workspace, &url, &[]);
    assert_situation(&point);
    assert_eq!(point["bottleneck_resource"], "other wait", "{point:#}");
    let server_facts = rows(&point, "server");
    assert!(
        server_facts.contains(&serde_json::json!(["role", "primary"])),
        "{server_facts:?}"
    );
    // Without the extension, statements come from samples of the sessions.
    let statements = rows(&point, "statements");
    statements[0][0].as_str().unwrap().says("pg_sleep(?)");
    let page = workspace.path("page.html");
    workspace.fine(&["report", "seen", "-o", page.to_str().unwrap()]);
    let page = std::fs::read_to_string(page).unwrap();
    page.says_all(&[
        "Database activity",
        "Blocked sessions",
        "CREATE EXTENSION pg_stat_statements",
    ]);
    // One of them ends, and the server is observed again.
    asks(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep' LIMIT 1",
    );
    until(|| asks("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") == "1");
    observed_again::assert_one_less(&workspace, &url);
    // The observation created nothing.
    assert_eq!(
        asks("SELECT count(*) FROM pg_namespace WHERE nspname = 'dbdyno'"),
        "0"
    );
}

#[test]
fn mariadb_reports_waits_with_their_blockers() {
    waits_are_reported_with_their_blockers(&mysql::server("&innodb_lock_wait_timeout=600"));
}

#[test]
fn mysql_reports_waits_with_their_blockers() {
    waits_are_reported_with_their_blockers(&mysql::mysql_server("&innodb_lock_wait_timeout=600"));
}

fn waits_are_reported_with_their_blockers(server: &LocalServer) {
    let workspace = Workspace::new();
    let asks = |sql: &str| mysql::ask(server, sql);
    asks(&format!("CREATE DATABASE shop; USE shop; {TABLE}"));
    let [mut holder, mut waiter, mut one, mut other] = [(); 4].map(|()| Somebody::mariadb(server));
    holder.does(&format!("USE shop; BEGIN; {CHANGE}"));
    until(|| {
        asks("SELECT count(*) FROM information_schema.innodb_trx WHERE trx_rows_modified = 1")
            == "1"
    });
    waiter.does(&format!("USE shop; {CHANGE}"));
    one.does("SELECT SLEEP(600);");
    other.does("SELECT SLEEP(600);");
    until(|| {
        asks(
            "SELECT (SELECT count(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT') \
              + (SELECT count(*) FROM information_schema.processlist WHERE state = 'User sleep')",
        ) == "3"
    });
    let point = observe(&workspace, &mysql::url(server, server.superuser()), &[]);
    assert_situation(&point);
    assert!(rows(&point, "server").contains(&serde_json::json!(["role", "primary"])));
    assert_eq!(
        asks("SELECT count(*) FROM information_schema.schemata WHERE schema_name = 'dbdyno'"),
        "0"
    );
}

#[test]
fn texts_stay_on_the_server_and_missing_rights_are_reported() {
    let (server, workspace) = (postgres::server("&autovacuum=off"), Workspace::new());
    postgres::psql(&server, "CREATE ROLE looker LOGIN");
    let mut somebody = Somebody::postgres(&server);
    somebody.does("SELECT pg_sleep(600) AS secret_column;");
    let is_sleeping = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
    until(|| postgres::psql(&server, is_sleeping) == "1");
    let point = observe(
        &workspace,
        &postgres::url(&server, server.superuser()),
        &["--set", "sql=false"],
    );
    assert_eq!(point["active_sessions_mean"], 1.0);
    assert!(!point.to_string().contains("secret_column"), "{point:#}");

    let workspace = Workspace::new();
    let point = observe(&workspace, &postgres::url(&server, "looker"), &[]);
    // Hidden activity is unknown instead of zero.
    for figure in [
        "active_sessions_mean",
        "blocked_sessions_mean",
        "transaction_s_max",
    ] {
        assert_eq!(point[figure], Value::Null, "{figure}");
    }
    assert!(point["operations_per_s"].is_number());
    let notes = point["notes"].to_string();
    assert!(notes.contains("observed_own_user_only"), "{notes}");
    let unseen = rows(&point, "unseen");
    unseen[0][1]
        .as_str()
        .unwrap()
        .says("GRANT pg_monitor TO looker");
}

#[test]
fn targets_without_other_sessions_are_refused_before_any_change() {
    let workspace = Workspace::new();
    for (target, length, status, sentence) in [
        ("sqlite:t.db", "1s", 2, "cannot be observed"),
        ("postgres+local:", "1s", 2, "cannot be observed"),
        (
            "postgres://u@127.0.0.1:1/d",
            "10ms",
            2,
            "not between 1 s and 24 h",
        ),
        (
            "postgres://u@127.0.0.1:1/d",
            "25h",
            2,
            "not between 1 s and 24 h",
        ),
    ] {
        let ended = workspace.dbdyno(&["observe", target, "--time", length]);
        assert_eq!(ended.status, status, "{target}: {}", ended.stderr);
        assert!(ended.stderr.contains(sentence), "{}", ended.stderr);
    }
    assert!(!workspace.path("t.db").exists());
}
