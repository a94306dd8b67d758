//! Servers that hang, networks that lose everything, and endless statements: the run ends by itself or at the first Ctrl-C, other targets
//! continue, and finished points are stored.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "common/mysql.rs"]
mod mysql;
#[path = "common/postgres.rs"]
mod postgres;
#[path = "common/stopped.rs"]
mod stopped;

mod common;

use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use common::{Workspace, points};
use stopped::{Stopped, signal};
use testing::Says;

/// One target hangs in the third step, which the other one measures as well.
const PLAN: &str = "name = \"hang\"\nsample_ms = 100\nstall_limit_s = 2\n\
    [[step]]\nuse = \"library\"\ntests = [\"T132\"]\njobs = [1]\nmode = \"time\"\nseconds = 0.2\n\
    [[step]]\nuse = \"library\"\ntests = [\"T611\"]\njobs = [2]\nmode = \"time\"\nseconds = 4\n";
/// Longest wait for an expected event.
const PATIENCE: Duration = Duration::from_secs(240);
/// CPU time that a client spends only on operations: far more than its start takes.
const DRIVING_TICKS: u64 = 10;

struct Running {
    child: Child,
    log: PathBuf,
}

impl Running {
    fn begin(workspace: &Workspace, arguments: &[&str]) -> Self {
        let log = workspace.path("log");
        let file = std::fs::File::create(&log).unwrap();
        let mut command = workspace.command(arguments);
        command.stdout(file.try_clone().unwrap()).stderr(file);
        let child = command.spawn().unwrap();
        Self { child, log }
    }

    fn said(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }

    fn interrupt(&self) {
        signal(self.child.id(), libc::SIGINT);
    }

    /// Its end, within a time that only a hang exceeds.
    fn ended(mut self) -> (ExitStatus, String) {
        wait_until("the command ends", || {
            self.child.try_wait().unwrap().is_some()
        });
        (self.child.wait().unwrap(), self.said())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let _ = self.child.kill();
        }
    }
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < until, "in vain: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A network between a run and a server: it forwards everything, a byte per second, or nothing.
struct Network {
    port: u16,
    /// Bytes per second; 0 holds everything.
    rate: Arc<AtomicU64>,
}

const FAST: u64 = u64::MAX;
const DELAYED: u64 = u64::MAX - 1;
const DELAY: Duration = Duration::from_millis(1);

impl Network {
    fn to(socket: &Path) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let rate = Arc::new(AtomicU64::new(FAST));
        let (socket, shared) = (socket.to_owned(), Arc::clone(&rate));
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = UnixStream::connect(&socket) else {
                    continue;
                };
                let (back, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                let rate = Arc::clone(&shared);
                std::thread::spawn(move || forward(client, to, &rate));
                let rate = Arc::clone(&shared);
                std::thread::spawn(move || forward(server, back, &rate));
            }
        });
        Self { port, rate }
    }

    fn is_now(&self, bytes_per_s: u64) {
        self.rate.store(bytes_per_s, Ordering::Relaxed);
    }
}

fn forward(mut from: impl Read, mut to: impl Write, rate: &AtomicU64) {
    let mut buffer = [0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        for byte in 0..count {
            match rate.load(Ordering::Relaxed) {
                FAST => {
                    if to.write_all(&buffer[byte..count]).is_err() {
                        return;
                    }
                    break;
                }
                DELAYED => {
                    std::thread::sleep(DELAY);
                    if to.write_all(&buffer[byte..count]).is_err() {
                        return;
                    }
                    break;
                }
                // Lost bytes never arrive.
                0 => loop {
                    std::thread::sleep(PATIENCE);
                },
                bytes_per_s => {
                    std::thread::sleep(Duration::from_secs(1) / bytes_per_s as u32);
                    if to.write_all(&buffer[byte..=byte]).is_err() {
                        return;
                    }
                }
            }
        }
    }
}

/// Sessions of dbdyno that read rows of the test T611.
const READING: &str = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'dbdyno' \
                       AND query LIKE '%dbdyno_small%' AND query LIKE '%id = $1%'";

/// A run over two targets whose first one is in the middle of its long point.
fn begun(workspace: &Workspace, url: &str, is_reading: impl FnMut() -> bool) -> Running {
    let plan = workspace.file("plan.toml", PLAN);
    let sqlite = workspace.url("sqlite", "bench.db");
    let targets = ["--target", url, "--target", &sqlite];
    let arguments = [&["run", &plan, "--name", "hang"], &targets[..]].concat();
    let running = Running::begin(workspace, &arguments);
    wait_until("jobs of the long point work", is_reading);
    running
}

/// The target that hangs has failed; the other one has all of its points, and none is invalid.
fn gave_out(workspace: &Workspace, running: Running, engine: &str) {
    let (status, said) = running.ended();
    assert_eq!(status.code(), Some(1), "{said}");
    let sentence = said.lines().last().unwrap();
    assert!(
        sentence.contains(&format!("{engine} does not answer")),
        "{said}"
    );
    assert!(sentence.contains("3 of 4 points are kept"), "{said}");
    said.says(&format!("going on without {engine}"));
    let run = workspace.export("hang");
    assert_eq!(points(&run).len(), 3);
    assert!(points(&run).iter().all(|point| point["valid"] == true));
}

#[test]
fn a_server_that_hangs_gives_out_and_the_others_go_on() {
    let server = postgres::server("");
    let workspace = Workspace::new();
    let reading = || postgres::psql(&server, READING) == "2";
    let running = begun(&workspace, &postgres::url(&server, "dbdyno"), reading);
    let stopped = Stopped::all_of(&server);
    gave_out(&workspace, running, "postgres");
    drop(stopped);
    workspace.fine("run --resume hang");
    assert_eq!(points(&workspace.export("hang")).len(), 4);
}

#[test]
fn so_does_a_mariadb_server() {
    let server = mysql::server("");
    let workspace = Workspace::new();
    // A sample of a session's state is random; a count of all executions is not. Loading executes three.
    let executed = "SELECT variable_value FROM information_schema.global_status \
                    WHERE variable_name = 'COM_STMT_EXECUTE'";
    let is_reading = || mysql::ask(&server, executed).parse::<u64>().unwrap() > 100;
    let running = begun(&workspace, &mysql::url(&server, "root"), is_reading);
    let _stopped = Stopped::all_of(&server);
    gave_out(&workspace, running, "mysql");
}

#[test]
fn a_network_that_loses_everything_or_nearly_is_noticed() {
    let server = postgres::server("");
    for bytes_per_s in [0, 1] {
        let network = Network::to(&server.socket_path());
        let workspace = Workspace::new();
        let url = format!("postgres://dbdyno@127.0.0.1:{}/postgres", network.port);
        let running = begun(&workspace, &url, || postgres::psql(&server, READING) == "2");
        network.is_now(bytes_per_s);
        gave_out(&workspace, running, "postgres");
        // The server's earlier sessions must end before the next ones begin.
        let terminate = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                         WHERE application_name = 'dbdyno' AND pid <> pg_backend_pid()";
        postgres::psql(&server, terminate);
        let all = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'dbdyno'";
        wait_until("the sessions end", || postgres::psql(&server, all) == "0");
    }
}

#[test]
fn the_first_ctrl_c_ends_a_run_on_a_server_that_hangs() {
    let server = postgres::server("");
    let workspace = Workspace::new();
    let reading = || postgres::psql(&server, READING) == "2";
    let running = begun(&workspace, &postgres::url(&server, "dbdyno"), reading);
    // The default detection would take this long.
    let _stopped = Stopped::all_of(&server);
    running.interrupt();
    let (status, said) = running.ended();
    assert_eq!(status.code(), Some(130), "{said}");
    let sentence = said.lines().last().unwrap();
    assert!(sentence.contains("dbdyno run --resume hang"), "{said}");
}

fn for_ever(workspace: &Workspace, sql: &str) -> String {
    let script = format!(
        "name = \"long\"\n[[transaction]]\nname = \"wait\"\nweight = 1\n[[transaction.statement]]\nsql = \"{sql}\"\n"
    );
    let script = workspace.file("long.toml", &script);
    let step = "[[step]]\nuse = \"script\"\njobs = [1]\nmode = \"time\"\nseconds = 1\n";
    workspace.file(
        "plan.toml",
        &format!("name = \"long\"\n{step}script = {script:?}\n"),
    )
}

#[test]
fn the_first_ctrl_c_ends_a_long_statement_here_and_there() {
    let (pg, maria) = (postgres::server(""), mysql::server(""));
    let counted =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    let pg_runs = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' \
                   AND query LIKE 'SELECT pg_sleep%'";
    let maria_runs =
        "SELECT count(*) FROM information_schema.processlist WHERE state = 'User sleep'";
    let on_pg = || postgres::psql(&pg, pg_runs) == "1";
    let on_maria = || mysql::ask(&maria, maria_runs) == "1";
    type Runs<'r> = &'r dyn Fn() -> bool;
    let servers: [(&str, String, Runs); 2] = [
        (
            "SELECT pg_sleep(3600)",
            postgres::url(&pg, "dbdyno"),
            &on_pg,
        ),
        ("SELECT sleep(3600)", mysql::url(&maria, "root"), &on_maria),
    ];
    for (sql, url, runs) in servers {
        let workspace = Workspace::new();
        let plan = for_ever(&workspace, sql);
        let running = Running::begin(&workspace, &["run", &plan, "--target", &url]);
        wait_until(sql, runs);
        running.interrupt();
        let (status, said) = running.ended();
        assert_eq!(status.code(), Some(130), "{said}");
        wait_until("the statement has ended on the server", || !runs());
    }
    for engine in ["sqlite", "duckdb"] {
        let workspace = Workspace::new();
        let plan = for_ever(&workspace, counted);
        let url = workspace.url(engine, "bench.db");
        let running = Running::begin(&workspace, &["run", &plan, "--target", &url]);
        wait_until("the run has begun", || {
            running.said().contains("points to measure")
        });
        running.interrupt();
        let (status, said) = running.ended();
        assert_eq!(status.code(), Some(130), "{engine}: {said}");
    }
}

/// A millisecond in each direction is part of every response time, and bounds the rate of a closed loop.
#[test]
fn a_network_that_delays_is_in_every_figure() {
    let server = postgres::server("");
    let network = Network::to(&server.socket_path());
    network.is_now(DELAYED);
    let url = format!("postgres://dbdyno@127.0.0.1:{}/postgres", network.port);
    let workspace = Workspace::new();
    let step = "[[step]]\nuse = \"library\"\ntests = [\"T611\"]\njobs = [1, 2]\nmode = \"time\"\nseconds = 1\n";
    let plan = workspace.file("plan.toml", &format!("name = \"late\"\n{step}"));
    workspace.fine(&["run", &plan, "--target", &url]);
    let run = workspace.export("last");
    assert_eq!(points(&run).len(), 2);
    let both_ways_us = 2.0 * DELAY.as_micros() as f64;
    for point in points(&run) {
        let figure = |name: &str| point[name].as_f64().unwrap();
        assert_eq!(point["valid"], true, "{point}");
        // Histograms are exact to less than a percent.
        assert!(figure("response_us_p50") >= 0.99 * both_ways_us, "{point}");
        let rate_max = figure("jobs") * 1e6 / both_ways_us;
        assert!(figure("operations_per_s") <= rate_max, "{point}");
    }
}

/// CPU time of the process's client threads, in clock ticks: user and system, fields 14 and 15 of proc(5).
fn client_cpu_ticks(process: u32) -> u64 {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).unwrap();
    let stats = threads
        .flatten()
        .filter_map(|thread| std::fs::read_to_string(thread.path().join("stat")).ok());
    let of_clients = stats.filter(|stat| stat.contains("(client-"));
    let ticks = of_clients.map(|stat| {
        let after_name = stat.rsplit(')').next().unwrap();
        let times = after_name.split_whitespace().skip(11).take(2);
        times.map(|time| time.parse::<u64>().unwrap()).sum::<u64>()
    });
    ticks.sum()
}

#[test]
fn a_driver_that_was_stopped_makes_its_point_invalid() {
    let workspace = Workspace::new();
    let step = "[[step]]\nuse = \"library\"\ntests = [\"T132\"]\njobs = [1]\nmode = \"time\"\nseconds = 8\n";
    let plan = workspace.file(
        "plan.toml",
        &format!("name = \"stopped\"\nsample_ms = 100\n{step}"),
    );
    let url = workspace.url("sqlite", "bench.db");
    let mut command = workspace.command_as_typed(&["run", &plan, "--target", &url, "--yes"]);
    let child = command.stdout(std::process::Stdio::null()).spawn().unwrap();
    let process = child.id();
    // A client that still waits for the common start would lose nothing.
    wait_until("the job works", || {
        client_cpu_ticks(process) >= DRIVING_TICKS
    });
    signal(process, libc::SIGSTOP);
    // The pause is as long as the window, so that it covers nearly half of the point or more wherever it begins. The window is long
    // compared with the tenth of a second that the client needs, which even a shared CPU provides.
    std::thread::sleep(Duration::from_secs(8));
    signal(process, libc::SIGCONT);
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(3));
    let run = workspace.export("last");
    assert_eq!(points(&run)[0]["valid"], false);
    let reasons = points(&run)[0]["reasons"].to_string();
    reasons.says("the driver was stopped for at least");
}
