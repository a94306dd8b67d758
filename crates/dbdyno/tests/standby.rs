//! Read-only scripts on servers that refuse writes: a real standby of PostgreSQL, and a read-only MariaDB.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;
#[path = "common/mysql.rs"]
mod mysql;
#[path = "common/postgres.rs"]
mod postgres;

use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::words;
use common::{Workspace, points};
use local_server::LocalServer;
use testing::Says;

const SCRIPT: &str = "name = \"reader\"\n[[transaction]]\nname = \"look\"\n\
    [transaction.draw]\nid = { uniform = [1, 100] }\n[[transaction.statement]]\n\
    sql_for = { postgres = \"SELECT v FROM public.shop WHERE id = :id\", mysql = \"SELECT v FROM shop.shop WHERE id = :id\" }\n\
    rows = 1\n";
const STEP: &str = "name = \"p\"\nsample_ms = 50\n[[step]]\nuse = \"script\"\njobs = [1, 3]\nmode = \"time\"\nseconds = 0.3\n";
/// A test that creates a table.
const WRITES: &str = "name = \"w\"\n[[step]]\nuse = \"library\"\ntests = [\"T611\"]\njobs = [1]\n";

/// A standby copied from a server; stopped when dropped.
struct Standby {
    process: Child,
    directory: tempfile::TempDir,
    client: PathBuf,
}

impl Standby {
    fn of(primary: &LocalServer) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let data = directory.path().join("data");
        let copied = Command::new(primary.program().with_file_name("pg_basebackup"))
            .args(words(
                "--write-recovery-conf --checkpoint=fast --no-sync -h",
                &[],
            ))
            .arg(primary.socket_directory())
            .args(["-U", primary.superuser(), "-D"])
            .arg(&data)
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&copied.stderr);
        assert!(copied.status.success(), "{errors}");
        // A server does not run as root, so that it runs as its primary does.
        let owner = fs::metadata(primary.socket_directory()).unwrap();
        let is_other = owner.uid() != fs::metadata("/proc/self").unwrap().uid();
        let mut command = Command::new(primary.program());
        command
            .arg("-D")
            .arg(&data)
            // A standby needs at least as many as its primary.
            .args(words(
                "-c max_connections=1000 -c max_worker_processes=1000",
                &[],
            ))
            .args(["-c", "listen_addresses=", "-c"])
            .arg(format!(
                "unix_socket_directories={}",
                directory.path().display()
            ))
            .stdout(Stdio::null())
            .stderr(fs::File::create(directory.path().join("log")).unwrap());
        if is_other {
            let given = Command::new("chown")
                .arg("-R")
                .arg(format!("{}:{}", owner.uid(), owner.gid()))
                .arg(&data)
                .status();
            assert!(given.unwrap().success());
            chown(directory.path(), Some(owner.uid()), Some(owner.gid())).unwrap();
            command.uid(owner.uid()).gid(owner.gid());
        }
        let process = command.spawn().unwrap();
        let mut standby = Self {
            process,
            directory,
            client: primary.program().with_file_name("psql"),
        };
        let until = Instant::now() + Duration::from_secs(60);
        while standby.ask("SELECT pg_is_in_recovery()").as_deref() != Some("t") {
            let ended = standby.process.try_wait().unwrap();
            let log = fs::read_to_string(standby.directory.path().join("log")).unwrap();
            assert!(ended.is_none() && Instant::now() < until, "{log}");
            std::thread::sleep(Duration::from_millis(50));
        }
        standby
    }

    fn ask(&self, sql: &str) -> Option<String> {
        let done = Command::new(&self.client)
            .args(["-X", "-q", "-A", "-t", "-h"])
            .arg(self.directory.path())
            .args(["-U", "dbdyno", "-d", "postgres", "-c", sql])
            .output()
            .unwrap();
        let text = String::from_utf8(done.stdout).unwrap();
        done.status.success().then(|| text.trim().to_owned())
    }

    fn url(&self) -> String {
        let directory = self.directory.path().display().to_string();
        format!(
            "postgres://dbdyno@{}/postgres",
            directory.replace('/', "%2F")
        )
    }
}

impl Drop for Standby {
    fn drop(&mut self) {
        let pid = libc::pid_t::try_from(self.process.id()).unwrap();
        // SAFETY: the child has not been waited for, so its number is still its own.
        let _ = unsafe { libc::kill(pid, libc::SIGINT) };
        let _ = self.process.wait();
    }
}

/// Runs the script, which must be valid, and a plan that writes, which must be refused with a sentence.
fn assert_reads_alone(workspace: &Workspace, url: &str, why: &str) {
    let script = workspace.file("reader.toml", SCRIPT);
    let plan = workspace.file("plan.toml", &format!("{STEP}script = {script:?}\n"));
    workspace.fine(&["run", &plan, "--target", url, "--name", "reads"]);
    let run = workspace.export("reads");
    assert_eq!(points(&run).len(), 2);
    for point in points(&run) {
        assert_eq!(point["valid"], true, "{point}");
        assert!(point["operations"].as_f64() > Some(0.0), "{point}");
    }
    let writes = workspace.file("writes.toml", WRITES);
    for command in [
        &["run", &writes, "--target", url][..],
        &["run", "oltp", "--target", url, "--clients", "1"],
        &common::order_entry_load(url, common::TENTH),
    ] {
        let refused = workspace.dbdyno(command);
        assert_eq!(refused.status, 1, "{command:?}: {}", refused.stderr);
        let sentence = refused.sentence();
        assert!(
            sentence.contains(why) && sentence.contains("name its primary"),
            "{command:?}: {sentence}"
        );
    }
    let checked = workspace.fine(&["check", url]).stdout;
    checked.says_all(&[why, "only tests and scripts that read can run"]);
    assert!(!checked.contains("to grant it: GRANT SUPER"), "{checked}");
    let suite = workspace.ends(1, &["check", "--compatibility", "--yes", url]);
    assert!(suite.sentence().contains(why), "{}", suite.stderr);
    // A script that creates its data is left out as well.
    let makes =
        format!("{SCRIPT}[setup]\nwhen = \"run\"\nsql = \"CREATE TABLE dbdyno_t (x INT)\"\n");
    let makes = workspace.file("makes.toml", &makes);
    let plan = workspace.file("makes-plan.toml", &format!("{STEP}script = {makes:?}\n"));
    let refused = workspace.ends(1, &["run", &plan, "--target", url]);
    assert!(refused.sentence().contains(why), "{}", refused.stderr);
}

/// A standby that has replayed everything has no lag, and its primary names it.
fn assert_both_are_observed(primary: &LocalServer, standby: &Standby, workspace: &Workspace) {
    let until = Instant::now() + Duration::from_secs(60);
    let has_all = "SELECT pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn()";
    while standby.ask(has_all).as_deref() != Some("t") {
        assert!(Instant::now() < until, "it does not follow");
        std::thread::sleep(Duration::from_millis(50));
    }
    let url = postgres::url(primary, primary.superuser());
    for (name, url, role) in [
        ("of-standby", standby.url(), "standby"),
        ("of-primary", url, "primary"),
    ] {
        workspace.fine(&["observe", &url, "--time", "1s", "--name", name]);
        let point = points(&workspace.export(name))[0].clone();
        let tables = point["observed"].as_array().unwrap();
        let rows = |about: &str| {
            let table = tables.iter().find(|table| table["about"] == about);
            table.unwrap()["rows"].as_array().unwrap().clone()
        };
        assert!(
            rows("server").contains(&serde_json::json!(["role", role])),
            "{tables:#?}"
        );
        let replication = rows("replication");
        assert_eq!(replication.len(), 1, "{replication:?}");
        if role == "standby" {
            assert_eq!(replication[0][0], "this server");
            assert_eq!(point["replication_lag_s_max"], 0.0, "{point:#}");
        } else {
            let state = replication[0][1].as_str().unwrap();
            assert!(state.starts_with("streaming"), "{replication:?}");
        }
    }
}

#[test]
fn scripts_that_read_run_on_a_standby_of_postgres() {
    let (server, workspace) = (postgres::server("&wal_level=replica"), Workspace::new());
    postgres::psql(
        &server,
        "CREATE TABLE public.shop AS SELECT id, 'v' || id AS v FROM generate_series(1, 100) id",
    );
    let standby = Standby::of(&server);
    assert_reads_alone(
        &workspace,
        &standby.url(),
        "the server is a read-only standby",
    );
    let schemas = "SELECT count(*) FROM pg_namespace WHERE nspname = 'dbdyno'";
    assert_eq!(standby.ask(schemas).as_deref(), Some("0"));
    assert_both_are_observed(&server, &standby, &workspace);
    let log = fs::read_to_string(standby.directory.path().join("log")).unwrap();
    // Unsupported statements are not tried.
    assert!(!log.contains("ERROR:"), "{log}");
}

#[test]
fn scripts_that_read_run_on_a_read_only_mariadb() {
    let (server, workspace) = (mysql::server(""), Workspace::new());
    mysql::ask(
        &server,
        "CREATE DATABASE shop; CREATE TABLE shop.shop (id INT PRIMARY KEY, v TEXT); \
         INSERT INTO shop.shop SELECT seq, seq FROM shop.seq_1_to_100; \
         CREATE USER reader@localhost; GRANT SELECT ON shop.* TO reader@localhost; \
         SET GLOBAL read_only = ON",
    );
    // The superuser could write, but a written replica would no longer be one.
    for user in ["reader", "root"] {
        let workspace = match user {
            "reader" => &workspace,
            _ => &Workspace::new(),
        };
        assert_reads_alone(
            workspace,
            &mysql::url(&server, user),
            "the server is read-only",
        );
    }
    let databases =
        "SELECT count(*) FROM information_schema.schemata WHERE schema_name LIKE 'dbdyno%'";
    assert_eq!(mysql::ask(&server, databases), "0");
}
