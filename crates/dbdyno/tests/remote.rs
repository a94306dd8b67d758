//! A server on another machine, simulated by a real ssh server: sampling through it, and errors if it is unreachable.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "common/postgres.rs"]
mod postgres;
#[path = "common/sshd.rs"]
mod sshd;

mod common;

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use common::{Ended, Workspace, points};
use postgres::{psql, server, url};
use serde_json::Value;
use sshd::Sshd;
use testing::Says;

/// Reads and writes long enough to be sampled.
const PLAN: &str = "name = \"remote\"\nsample_ms = 300\n\
    [[step]]\nuse = \"library\"\ntests = [\"T611\", \"T311\"]\njobs = [2]\nmode = \"time\"\nseconds = 1.5\n";
/// Long enough to be interrupted.
const LONG: &str = "name = \"long\"\nsample_ms = 100\n\
    [[step]]\nuse = \"library\"\ntests = [\"T132\"]\njobs = [1]\nmode = \"time\"\nseconds = 0.2\n\
    [[step]]\nuse = \"library\"\ntests = [\"T611\", \"T621\"]\njobs = [1]\nmode = \"time\"\nseconds = 3\n";

fn dbdyno(workspace: &Workspace, sshd: &Sshd, arguments: &[&str]) -> Ended {
    let mut command = workspace.command(arguments);
    command.env("DBDYNO_SSH", sshd.client());
    Ended::of(command.output().unwrap())
}

fn notes(point: &Value) -> String {
    point["notes"].to_string()
}

#[test]
fn a_server_elsewhere_is_sampled_and_described_through_ssh() {
    let (workspace, sshd, server) = (Workspace::new(), Sshd::start(), server(""));
    let plan = workspace.file("plan.toml", PLAN);
    let (url, host) = (url(&server, "dbdyno"), sshd.url());
    let arguments = ["run", &plan, "--target", &url, "--ssh", &host];
    let ended = dbdyno(&workspace, &sshd, &arguments);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let run = workspace.export("last");
    let platform = &run["platform"];
    // The other machine is this one, so that its facts are known.
    assert_eq!(
        platform["threads"],
        std::thread::available_parallelism().unwrap().get() as u64
    );
    assert!(platform["memory_bytes"].as_u64().unwrap() > 1 << 28);
    let target = &run["targets"][0];
    assert_eq!(target["settings"]["dbdyno.host"], host);
    assert_eq!(points(&run).len(), 2);
    for point in points(&run) {
        let figures = point;
        let cpu = figures["cpu_pct_avg"].as_f64().unwrap();
        assert!(cpu > 1.0 && cpu <= 100.0, "{figures}");
        assert!(figures["process_cpu_pct"].as_f64().unwrap() > 0.0);
        assert!(figures["driver_cpu_pct"].as_f64().unwrap() > 0.0);
        assert!(figures["memory_used_mb_peak"].as_f64().unwrap() > 100.0);
        let samples = point["samples"].as_array().unwrap();
        // A busy machine may delay some of the five samples, but not all.
        assert!(
            samples.len() >= 3,
            "{} samples in 1.5 s at 300 ms",
            samples.len()
        );
        assert!(samples.iter().all(|s| s["cpu_pct"].is_number()));
        let notes = notes(point);
        assert!(notes.contains("sampled through ssh, which uses"), "{notes}");
        println!("{}", notes);
        // A device, or the reason for its absence.
        let known = target["device"].is_string();
        assert_eq!(figures["write_iops"].is_number(), known, "{figures}");
        assert!(known || notes.contains("device"), "{notes}");
    }
    // The resumed run uses the same host.
    let shown = dbdyno(
        &workspace,
        &sshd,
        &["check", "--inventory", "--ssh", &host, "--format", "json"],
    );
    assert_eq!(shown.status, 0, "{}", shown.stderr);
    let there = shown.json();
    let here = workspace.json("check --inventory --format json");
    for part in [
        "machine",
        "processor",
        "memory",
        "block_devices",
        "network_interfaces",
        "sysctl",
    ] {
        let (mut there, mut here) = (there["found"][part].clone(), here["found"][part].clone());
        for side in [&mut there, &mut here] {
            // Only the CPU itself reports this, not a file.
            if let Some(machine) = side.as_object_mut() {
                machine.remove("virtualisation");
            }
            // Other tests attach and detach loop devices in the meantime.
            if let Some(devices) = side.as_array_mut() {
                let is_loop = |device: &Value| device["name"].as_str().unwrap().starts_with("loop");
                devices.retain(|device| part != "block_devices" || !is_loop(device));
            }
        }
        assert_eq!(there, here, "{part}");
    }
}

#[test]
fn the_device_of_a_server_elsewhere_can_be_named() {
    let (workspace, sshd, server) = (Workspace::new(), Sshd::start(), server(""));
    psql(
        &server,
        "CREATE ROLE plain LOGIN; GRANT pg_checkpoint TO plain; \
         GRANT CREATE ON DATABASE postgres TO plain",
    );
    let plan = workspace.file("plan.toml", &PLAN.replace(", \"T311\"", ""));
    let (url, host) = (url(&server, "plain"), sshd.url());
    let arguments = ["run", &plan, "--target", &url, "--ssh", &host];
    assert_eq!(dbdyno(&workspace, &sshd, &arguments).status, 0);
    // This user has no right to see the data directory.
    let run = workspace.export("last");
    let missing = &run["targets"][0]["rights_missing"];
    assert_eq!(missing["unseen"][2], "data_directory", "{missing}");
    assert!(run["targets"][0]["device"].is_null());
    let disks = std::fs::read_to_string("/proc/diskstats").unwrap();
    let disk = disks
        .lines()
        .filter_map(|line| line.split_whitespace().nth(2))
        .next();
    let disk = disk.expect("the tests run where some block device is shown");
    let with_device = format!("{host}?device={disk}");
    let named = ["run", &plan, "--target", &url, "--ssh", &with_device];
    assert_eq!(dbdyno(&workspace, &sshd, &named).status, 0);
    let run = workspace.export("last");
    assert_eq!(run["targets"][0]["device"], disk);
    assert!(points(&run)[0]["read_iops"].is_number());
    let with_odd = format!("{host}?device=sda;x");
    let odd = ["run", &plan, "--target", &url, "--ssh", &with_odd];
    let ended = dbdyno(&workspace, &sshd, &odd);
    assert_eq!(ended.status, 1);
    ended.sentence().says("not the name of a block device");
}

#[test]
fn a_connection_that_dies_costs_figures_and_no_point() {
    let (workspace, sshd, server) = (Workspace::new(), Sshd::start(), server(""));
    let plan = workspace.file("plan.toml", LONG);
    let (url, host) = (url(&server, "dbdyno"), sshd.url());
    let mut command = workspace.command(&[
        "run", &plan, "--target", &url, "--ssh", &host, "--name", "cut",
    ]);
    command.env("DBDYNO_SSH", sshd.client());
    let log = workspace.path("log");
    let mut child = command
        .stdout(std::process::Stdio::null())
        .stderr(std::fs::File::create(&log).unwrap())
        .spawn()
        .unwrap();
    wait_for_points(&workspace, 1);
    std::thread::sleep(Duration::from_millis(1500));
    assert!(sshd.cut() > 0);
    let status = child.wait().unwrap();
    assert!(
        status.success(),
        "{}",
        std::fs::read_to_string(&log).unwrap()
    );
    let run = workspace.export("cut");
    assert_eq!(points(&run).len(), 3);
    let (cut, after) = (&points(&run)[1], &points(&run)[2]);
    assert!(cut["cpu_pct_avg"].is_null(), "{}", cut);
    assert!(cut["rows_per_s"].as_f64().unwrap() > 0.0);
    notes(cut).says("are unknown: the connection");
    assert_eq!(cut["valid"], true, "{}", cut["reasons"]);
    // The next point opens a new connection.
    assert!(after["cpu_pct_avg"].is_number(), "{}", notes(after));
}

#[test]
fn a_host_that_cannot_be_reached_ends_the_run_before_it_begins() {
    let (workspace, mut sshd, server) = (Workspace::new(), Sshd::start(), server(""));
    let plan = workspace.file("plan.toml", PLAN);
    let (url, host) = (url(&server, "dbdyno"), sshd.url());
    sshd.stop();
    for (host, expected) in [
        (host.as_str(), "refused"),
        ("ssh://nobody@no-such-host.invalid", "no-such-host.invalid"),
    ] {
        let ended = dbdyno(
            &workspace,
            &sshd,
            &["run", &plan, "--target", &url, "--ssh", host],
        );
        assert_eq!(ended.status, 1, "{}", ended.stderr);
        let sentence = ended.sentence();
        sentence.says_all(&["cannot be reached", expected]);
        assert!(!workspace.archive().exists());
        let ended = dbdyno(&workspace, &sshd, &["check", "--inventory", "--ssh", host]);
        assert_eq!(ended.status, 1, "{}", ended.stderr);
    }
    let mut command = workspace.command(&["check", "--inventory", "--ssh", &host]);
    command.env("DBDYNO_SSH", "/no/such/ssh");
    let ended = Ended::of(command.output().unwrap());
    assert!(
        ended.status == 1 && ended.sentence().contains("install it"),
        "{}",
        ended.stderr
    );
    let table = "
        --target sqlite: --ssh ssh://u@h   => without the host
        --target URL --ssh u@h             => ssh://USER@HOST
        --target URL --ssh ssh://h?disk=sda => its only parameter is ?device=NAME
    ";
    for (arguments, expected) in testing::rows(&table.replace("URL", &url)) {
        let row = format!("run plan.toml {arguments} => {expected}");
        workspace.refuses(2, &row);
    }
}

/// A user's configuration may forward keys to every host, but measurements do not need them there.
#[test]
fn the_other_machine_gets_no_use_of_the_keys() {
    let (workspace, sshd) = (Workspace::new(), Sshd::start());
    let there = sshd.client().with_file_name("environment");
    std::fs::write(&there, "").unwrap();
    std::fs::set_permissions(&there, Permissions::from_mode(0o666)).unwrap();
    let authorized = sshd.client().with_file_name("authorized");
    let key = std::fs::read_to_string(&authorized).unwrap();
    let command = format!("env >{}; eval $SSH_ORIGINAL_COMMAND", there.display());
    std::fs::write(&authorized, format!("command=\"{command}\" {key}")).unwrap();
    let config = sshd.client().with_file_name("ssh_config");
    let settings = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, format!("{settings}ForwardAgent yes\n")).unwrap();
    let socket = workspace.path("agent");
    let mut agent = std::process::Command::new("ssh-agent")
        .args(["-D", "-a"])
        .arg(&socket)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    while !socket.exists() {
        assert!(agent.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(20));
    }
    let mut command = workspace.command(&["check", "--inventory", "--ssh", &sshd.url()]);
    command
        .env("DBDYNO_SSH", sshd.client())
        .env("SSH_AUTH_SOCK", &socket);
    let ended = Ended::of(command.output().unwrap());
    agent.kill().unwrap();
    agent.wait().unwrap();
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let environment = std::fs::read_to_string(&there).unwrap();
    assert!(environment.contains("SSH_CONNECTION="), "{environment}");
    assert!(!environment.contains("SSH_AUTH_SOCK="), "{environment}");
}

/// A writable directory in `$PATH` could make dbdyno execute anything.
#[test]
fn a_client_that_others_can_replace_is_not_started() {
    let workspace = Workspace::new();
    let folder = workspace.path("bin");
    std::fs::create_dir(&folder).unwrap();
    let started = workspace.path("started");
    let client = workspace.file(
        "bin/ssh",
        &format!("#!/bin/sh\n: >'{}'\n", started.display()),
    );
    for (path, mode) in [(client.as_ref(), 0o755), (folder.as_path(), 0o777)] {
        std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }
    let start = || {
        let mut command = workspace.command("check --inventory --ssh ssh://u@h");
        command.env_remove("DBDYNO_SSH").env("PATH", &folder);
        Ended::of(command.output().unwrap())
    };
    let ended = start();
    assert_eq!(ended.status, 1, "{}", ended.stderr);
    let sentence = ended.sentence();
    sentence.says_all(&["is not started: other users can write", "chmod go-w"]);
    assert!(!started.exists());
    std::fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
    start();
    assert!(started.exists());
}

/// A configuration may send variables to every host.
#[test]
fn the_client_is_given_no_password_of_a_database() {
    let workspace = Workspace::new();
    let environment_file = workspace.path("environment");
    let client = workspace.file(
        "ssh",
        &format!(
            "#!/bin/sh\nenv >'{}'\nexit 255\n",
            environment_file.display()
        ),
    );
    std::fs::set_permissions(&client, Permissions::from_mode(0o755)).unwrap();
    let mut command = workspace.command("check --inventory --ssh ssh://u@h");
    command
        .env("DBDYNO_SSH", &client)
        .env("SSH_AUTH_SOCK", "kept");
    command
        .env("PGPASSWORD", "c4n4ry")
        .env("MYSQL_PWD", "c4n4ry");
    assert_eq!(Ended::of(command.output().unwrap()).status, 1);
    let environment = std::fs::read_to_string(environment_file).unwrap();
    assert!(environment.contains("SSH_AUTH_SOCK=kept"), "{environment}");
    assert!(!environment.contains("c4n4ry"), "{environment}");
}

/// A login without a key fails at once: no prompt waits for an answer.
#[test]
fn a_host_that_does_not_let_us_in_asks_nothing() {
    let (workspace, sshd) = (Workspace::new(), Sshd::start());
    std::fs::write(sshd.client().with_file_name("authorized"), "").unwrap();
    let began = Instant::now();
    let ended = dbdyno(
        &workspace,
        &sshd,
        &["check", "--inventory", "--ssh", &sshd.url()],
    );
    assert_eq!(ended.status, 1, "{}", ended.stderr);
    ended.sentence().says("Permission denied");
    assert!(began.elapsed() < Duration::from_secs(120));
}

fn wait_for_points(workspace: &Workspace, count: usize) {
    let until = Instant::now() + Duration::from_secs(60);
    while Instant::now() < until {
        let exported = workspace.dbdyno("report last --format json");
        if exported.status == 0 {
            let run = exported.json();
            if points(&run).len() >= count {
                return;
            }
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("no point was finished in a minute");
}
