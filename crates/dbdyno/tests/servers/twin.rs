//! Twins of other users' loads: a load is observed on one server, its twin runs on a fresh one, and is observed there. Figures per
//! transaction do not depend on the machine's speed, and must be within the fit that the plan states.

use std::collections::HashMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use local_server::LocalServer;

use crate::common::words;
use crate::common::{Workspace, points};
use crate::{mysql, postgres};
use testing::Says;

/// Longest time until a load has begun.
const PATIENCE: Duration = Duration::from_secs(120);

/// Observed value, plan, deviation and margin by figure.
type Fit = HashMap<String, [Option<f64>; 4]>;

/// A load that runs until it is dropped.
struct Load(Child);

impl Load {
    fn of(mut command: Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::null());
        Self(command.stderr(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        let ended = self.0.kill().and_then(|()| self.0.wait());
        assert!(ended.is_ok() || std::thread::panicking());
    }
}

/// Waits until a load, which must not end before, is active.
fn until_at_work(load: &mut Load, is_at_work: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_at_work() {
        assert!(begin.elapsed() < PATIENCE, "no load");
        assert_eq!(load.0.try_wait().unwrap(), None, "the load ended");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn program(name: &str) -> Command {
    let found = std::env::split_paths(&std::env::var_os("PATH").unwrap())
        .map(|folder| folder.join(name))
        .find(|path| path.is_file());
    Command::new(found.unwrap_or_else(|| testing::lacking(&format!("{name} is not installed"))))
}

fn done(command: &mut Command) {
    let done = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{command:?}: {stderr}");
}

/// The fit that a plan states: observed value, plan, deviation and margin by figure.
fn fit(plan: &Path) -> Fit {
    let text = std::fs::read_to_string(plan).unwrap();
    let lines = text.lines().filter_map(|line| line.strip_prefix("# "));
    let figures = lines.filter_map(|line| {
        let numbers = line.replace(" %", "");
        let mut words: Vec<&str> = numbers.split_whitespace().collect();
        let cells = words.split_off(words.len().checked_sub(4)?);
        let is_cell = |cell: &&str| *cell == "–" || cell.parse::<f64>().is_ok();
        let numbers = || cells.iter().map(|cell| cell.parse().ok());
        let cells_are_numbers = cells.iter().all(is_cell) && !words.is_empty();
        cells_are_numbers.then(|| {
            let mut numbers = numbers();
            let cells = std::array::from_fn(|_| numbers.next().flatten());
            (words.join(" "), cells)
        })
    });
    figures.collect()
}

/// Observes a busy server; returns the fit of the written plan.
fn observe(workspace: &Workspace, url: &str, name: &str) -> Fit {
    let file = format!("{name}.toml");
    workspace.fine(&["observe", url, "--time", "3s", "--name", name]);
    let ended = workspace.fine(&["report", name, "--format", "plan", "-o", &file]);
    assert!(ended.stdout.contains("holds within"), "{}", ended.stdout);
    let fit = fit(&workspace.path(&file));
    assert!(fit.contains_key("rows updated"), "{fit:?}");
    fit
}

/// The plan's figures per transaction of the load hold for the twin. A run's own transactions on its server are many compared with those of
/// a load on a slow machine, so that the load's are counted by its inserted rows.
fn assert_within(load: &Fit, twin: &Fit, known: &[&str]) {
    let [Some(inserted), ..] = twin["rows inserted"] else {
        panic!("{twin:#?}");
    };
    // Other activity per second is a larger part of a transaction if the twin has fewer transactions.
    let per_s = |fit: &Fit| fit["transactions per second"][0].unwrap();
    let slower = (per_s(load) / (per_s(twin) * inserted)).max(1.0);
    let mut compared = Vec::new();
    for (name, [observed, _, deviation, within]) in load {
        let Some((observed, within)) = observed.zip(*within) else {
            continue;
        };
        let scale = match name.as_str() {
            // It includes statements besides the load's.
            "rows read and changed per statement" => continue,
            "rows read per row changed" | "working set (MB)" => 1.0,
            _ => inserted,
        };
        let reached = twin[name][0].unwrap_or(f64::NAN) / scale;
        // A deviation from zero has no percentage.
        let off_pct = match observed {
            0.0 => 100.0 * reached.abs(),
            observed => (reached / observed - 1.0).abs() * 100.0,
        };
        let most_pct = deviation.unwrap_or(0.0).abs() + within * slower;
        compared.push((name.as_str(), observed, reached, off_pct, most_pct));
    }
    let wrong: Vec<_> = (compared.iter())
        .filter(|(.., off, most)| off.is_nan() || off > most)
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?} of {compared:#?}");
    for name in known {
        assert!(
            compared.iter().any(|(known, ..)| known == name),
            "{name}: {load:#?}"
        );
    }
}

/// The plan's run on a fresh server until it is observed there; then a short one from beginning to end.
fn assert_twin(
    workspace: &Workspace,
    load: &Fit,
    url: &str,
    is_at_work: impl Fn() -> bool,
    known: &[&str],
) {
    let run = ["run", "load.toml", "--target", url, "--yes"];
    let long = workspace.command(&[&run[..], &["--set", "step.seconds=1000"]].concat());
    let mut running = Load::of(long);
    until_at_work(&mut running, is_at_work);
    let twin = observe(workspace, url, "twin");
    drop(running);
    assert_within(load, &twin, known);
    let settings = words(
        "--name short --set step.seconds=0.5 --set step.ramp_up_seconds=0.1",
        &[],
    );
    workspace.fine(&[&run[..], &["--allow-busy"], &settings].concat());
    let run = workspace.export("short");
    let point = &points(&run)[0];
    assert_eq!(point["test"], "S-twin", "{point:#}");
    assert_eq!(point["valid"], true, "{point:#}");
}

/// Figures that both plans must have.
const KNOWN: [&str; 7] = [
    "rows read",
    "rows inserted",
    "rows updated",
    "rows deleted",
    "rows read per row changed",
    "log (bytes)",
    "working set (MB)",
];

fn postgres_server() -> LocalServer {
    let server = postgres::server(
        "&autovacuum=off&full_page_writes=off&shared_preload_libraries=pg_stat_statements",
    );
    postgres::psql(&server, "CREATE EXTENSION pg_stat_statements");
    server
}

#[test]
fn a_twin_of_pgbench_does_the_same_in_a_transaction() {
    let (server, workspace) = (postgres_server(), Workspace::new());
    let pgbench = |arguments: &[&str]| {
        let mut command = program("pgbench");
        command.args(["-h", server.socket_directory().to_str().unwrap()]);
        command
            .args(["-U", server.superuser()])
            .args(arguments)
            .arg("postgres");
        command
    };
    done(&mut pgbench(&["-i", "-s", "1", "-q"]));
    let mut clients = Load::of(pgbench(&["-c", "2", "-T", "1000", "-n"]));
    let at_work = |server: &LocalServer, statement: &str| {
        let sql = format!(
            "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '{statement}%' AND pid <> pg_backend_pid()"
        );
        postgres::psql(server, &sql) != "0"
    };
    until_at_work(&mut clients, || at_work(&server, "UPDATE pgbench_accounts"));
    let load = observe(
        &workspace,
        &postgres::url(&server, server.superuser()),
        "load",
    );
    drop(clients);
    // The same plan goes to standard output, and replaces its file; another user's file stays.
    let text = workspace.text("load.toml");
    assert_eq!(workspace.fine("report load --format plan").stdout, text);
    workspace.fine("report load --format plan -o load.toml");
    assert_eq!(workspace.text("load.toml"), text);
    assert!(!text.contains("pgbench"), "{text}");
    workspace.file("own.toml", "precious = true\n");
    let ended = workspace.ends(1, "report load --format plan -o own.toml");
    ended.sentence().says("was not written by dbdyno");
    assert_eq!(workspace.text("own.toml"), "precious = true\n");
    drop(server);

    let fresh = postgres_server();
    let url = postgres::url(&fresh, fresh.superuser());
    let is_at_work = || {
        let is_so = at_work(&fresh, "UPDATE dbdyno_twin");
        // Sizes are those of the last ANALYZE.
        if is_so {
            postgres::psql(&fresh, "ANALYZE");
        }
        is_so
    };
    let statements = "statements without BEGIN and COMMIT";
    let known = [
        &KNOWN[..],
        &[statements, "transactions that write", "rows returned"],
    ]
    .concat();
    assert_twin(&workspace, &load, &url, is_at_work, &known);
}

#[test]
fn a_twin_of_sysbench_does_the_same_in_a_transaction() {
    let (server, workspace) = (mysql::server("&performance_schema=ON"), Workspace::new());
    mysql::ask(&server, "CREATE DATABASE sbtest");
    let sysbench = |arguments: &[&str]| {
        let mut command = program("sysbench");
        command.arg(format!("--mysql-socket={}", server.socket_path().display()));
        command.arg(format!("--mysql-user={}", server.superuser()));
        command
            .args(["--tables=1", "--table-size=20000", "oltp_read_write"])
            .args(arguments);
        command
    };
    done(&mut sysbench(&["prepare"]));
    let mut clients = Load::of(sysbench(&["--threads=2", "--time=1000", "run"]));
    let commits = |server: &LocalServer| -> u64 {
        let status = mysql::ask(server, "SHOW GLOBAL STATUS LIKE 'Com_commit'");
        status.split_whitespace().last().unwrap().parse().unwrap()
    };
    until_at_work(&mut clients, || commits(&server) > 100);
    let load = observe(&workspace, &mysql::url(&server, server.superuser()), "load");
    drop(clients);
    drop(server);

    let fresh = mysql::server("&performance_schema=ON");
    let url = mysql::url(&fresh, fresh.superuser());
    let is_at_work = || commits(&fresh) > 100;
    let known = [&KNOWN[..], &["statements", "rows returned"]].concat();
    assert_twin(&workspace, &load, &url, is_at_work, &known);
}

/// An idle server has no profile; its observation stays valid.
#[test]
fn of_a_database_at_rest_there_is_no_twin() {
    let (server, workspace) = (mysql::server(""), Workspace::new());
    let url = mysql::url(&server, server.superuser());
    workspace.fine(&["observe", &url, "--time", "1s", "--name", "rest"]);
    let ended = workspace.ends(2, "report rest --format plan -o rest.toml");
    ended.sentence().says("observe it under load");
    assert!(!workspace.path("rest.toml").exists());
    assert_eq!(points(&workspace.export("rest")).len(), 1);
}
