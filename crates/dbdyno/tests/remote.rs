//! A server on another machine, which a real ssh server plays: what is sampled through it, and what is
//! said when it is not there.

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

/// Reads and writes for a while, so that there is something to sample.
const PLAN: &str = "name = \"remote\"\nsample_ms = 300\n\
    [[step]]\nuse = \"library\"\ntests = [\"T611\", \"T311\"]\njobs = [2]\nmode = \"time\"\nseconds = 1.5\n";
/// Long enough to be interrupted.
const LONG: &str = "name = \"long\"\nsample_ms = 100\n\
    [[step]]\nuse = \"library\"\ntests = [\"T132\"]\njobs = [1]\nmode = \"time\"\nseconds = 0.2\n\
    [[step]]\nuse = \"library\"\ntests = [\"T611\", \"T621\"]\njobs = [1]\nmode = \"time\"\nseconds = 3\n";

fn dbdyno(place: &Workspace, sshd: &Sshd, arguments: &[&str]) -> Ended {
    let mut command = place.command(arguments);
    command.env("DBDYNO_SSH", sshd.client());
    Ended::of(command.output().unwrap())
}

fn notes(point: &Value) -> String {
    point["notes"].to_string()
}

#[test]
fn a_server_elsewhere_is_sampled_and_described_through_ssh() {
    let (place, sshd, server) = (Workspace::new(), Sshd::start(), server(""));
    let plan = place.file("plan.toml", PLAN);
    let (url, host) = (url(&server, "dbdyno"), sshd.url());
    let arguments = ["run", &plan, "--target", &url, "--host", &host];
    let ended = dbdyno(&place, &sshd, &arguments);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let run = place.export("last");
    let platform = &run["platform"];
    // The other machine is this one, so what it says of itself is known.
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
        // A busy machine may be late with some of the five, but not with all.
        assert!(
            samples.len() >= 3,
            "{} samples in 1.5 s at 300 ms",
            samples.len()
        );
        assert!(samples.iter().all(|s| s["cpu_pct"].is_number()));
        let notes = notes(point);
        assert!(notes.contains("sampled through ssh, which uses"), "{notes}");
        println!("{}", notes);
        // A device, or the reason why there is none.
        let known = target["device"].is_string();
        assert_eq!(figures["write_iops"].is_number(), known, "{figures}");
        assert!(known || notes.contains("device"), "{notes}");
    }
    // The same run goes on with the same host.
    let shown = dbdyno(&place, &sshd, &["host", "--host", &host, "--json"]);
    assert_eq!(shown.status, 0, "{}", shown.stderr);
    let there: Value = serde_json::from_str(&shown.stdout).unwrap();
    let here: Value = serde_json::from_str(&place.fine(&["host", "--json"]).stdout).unwrap();
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
            // Only the processor itself tells this, not a file.
            if let Some(machine) = side.as_object_mut() {
                machine.remove("virtualisation");
            }
            // Other tests attach and detach loop devices meanwhile.
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
    let (place, sshd, server) = (Workspace::new(), Sshd::start(), server(""));
    psql(
        &server,
        "CREATE ROLE plain LOGIN; GRANT pg_checkpoint TO plain; \
         GRANT CREATE ON DATABASE postgres TO plain",
    );
    let plan = place.file("plan.toml", &PLAN.replace(", \"T311\"", ""));
    let (url, host) = (url(&server, "plain"), sshd.url());
    let arguments = ["run", &plan, "--target", &url, "--host", &host];
    assert_eq!(dbdyno(&place, &sshd, &arguments).status, 0);
    // This user may not see where the data lie.
    let run = place.export("last");
    let missing = &run["targets"][0]["rights_missing"];
    assert_eq!(missing["unseen"][2], "data_directory", "{missing}");
    assert!(run["targets"][0]["device"].is_null());
    let disks = std::fs::read_to_string("/proc/diskstats").unwrap();
    let disk = disks
        .lines()
        .filter_map(|line| line.split_whitespace().nth(2))
        .next();
    let disk = disk.expect("the tests run where some block device is shown");
    let named = [&arguments[..], &["--host-device", disk]].concat();
    assert_eq!(dbdyno(&place, &sshd, &named).status, 0);
    let run = place.export("last");
    assert_eq!(run["targets"][0]["device"], disk);
    assert!(points(&run)[0]["read_iops"].is_number());
    let odd = [&arguments[..], &["--host-device", "sda;x"]].concat();
    let ended = dbdyno(&place, &sshd, &odd);
    assert_eq!(ended.status, 1);
    assert!(
        ended.sentence().contains("not the name of a block device"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_connection_that_dies_costs_figures_and_no_point() {
    let (place, sshd, server) = (Workspace::new(), Sshd::start(), server(""));
    let plan = place.file("plan.toml", LONG);
    let (url, host) = (url(&server, "dbdyno"), sshd.url());
    let mut command = place.command(&[
        "run", &plan, "--target", &url, "--host", &host, "--name", "cut",
    ]);
    command.env("DBDYNO_SSH", sshd.client());
    let log = place.path("log");
    let mut child = command
        .stdout(std::process::Stdio::null())
        .stderr(std::fs::File::create(&log).unwrap())
        .spawn()
        .unwrap();
    wait_for_points(&place, 1);
    std::thread::sleep(Duration::from_millis(1500));
    assert!(sshd.cut() > 0);
    let status = child.wait().unwrap();
    assert!(
        status.success(),
        "{}",
        std::fs::read_to_string(&log).unwrap()
    );
    let run = place.export("cut");
    assert_eq!(points(&run).len(), 3);
    let (cut, after) = (&points(&run)[1], &points(&run)[2]);
    assert!(cut["cpu_pct_avg"].is_null(), "{}", cut);
    assert!(cut["rows_per_s"].as_f64().unwrap() > 0.0);
    assert!(
        notes(cut).contains("are unknown: the connection"),
        "{}",
        notes(cut)
    );
    assert_eq!(cut["valid"], true, "{}", cut["reasons"]);
    // The next point has a new connection.
    assert!(after["cpu_pct_avg"].is_number(), "{}", notes(after));
}

#[test]
fn a_host_that_cannot_be_reached_ends_the_run_before_it_begins() {
    let (place, mut sshd, server) = (Workspace::new(), Sshd::start(), server(""));
    let plan = place.file("plan.toml", PLAN);
    let (url, host) = (url(&server, "dbdyno"), sshd.url());
    sshd.stop();
    for (host, expected) in [
        (host.as_str(), "refused"),
        ("ssh://nobody@no-such-host.invalid", "no-such-host.invalid"),
    ] {
        let ended = dbdyno(
            &place,
            &sshd,
            &["run", &plan, "--target", &url, "--host", host],
        );
        assert_eq!(ended.status, 1, "{}", ended.stderr);
        let sentence = ended.sentence();
        assert!(
            sentence.contains("cannot be reached") && sentence.contains(expected),
            "{sentence}"
        );
        assert!(!place.archive().exists());
        let ended = dbdyno(&place, &sshd, &["host", "--host", host]);
        assert_eq!(ended.status, 1, "{}", ended.stderr);
    }
    let mut command = place.command(&["host", "--host", &host]);
    command.env("DBDYNO_SSH", "/no/such/ssh");
    let ended = Ended::of(command.output().unwrap());
    assert!(
        ended.status == 1 && ended.sentence().contains("install it"),
        "{}",
        ended.stderr
    );
    for (arguments, expected) in [
        (
            ["--target", "sqlite:", "--host", "ssh://u@h"],
            "without the host",
        ),
        (
            ["--target", url.as_str(), "--host", "u@h"],
            "ssh://USER@HOST",
        ),
        (
            ["--target", url.as_str(), "--host-device", "sda"],
            "give the host as well",
        ),
    ] {
        let ended = dbdyno(
            &place,
            &sshd,
            &[&["run", plan.as_str()], &arguments[..]].concat(),
        );
        assert_eq!(ended.status, 2, "{}", ended.stderr);
        assert!(ended.sentence().contains(expected), "{}", ended.stderr);
    }
}

/// A user's configuration may pass his keys on to every host; no measurement needs them there.
#[test]
fn the_other_machine_gets_no_use_of_the_keys() {
    let (place, sshd) = (Workspace::new(), Sshd::start());
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
    let socket = place.path("agent");
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
    let mut command = place.command(&["host", "--host", &sshd.url()]);
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

/// Who may write a folder of `$PATH` could have dbdyno execute anything.
#[test]
fn a_client_that_others_can_replace_is_not_started() {
    let place = Workspace::new();
    let folder = place.path("bin");
    std::fs::create_dir(&folder).unwrap();
    let started = place.path("started");
    let client = place.file(
        "bin/ssh",
        &format!("#!/bin/sh\n: >'{}'\n", started.display()),
    );
    for (path, mode) in [(client.as_ref(), 0o755), (folder.as_path(), 0o777)] {
        std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }
    let start = || {
        let mut command = place.command(&["host", "--host", "ssh://u@h"]);
        command.env_remove("DBDYNO_SSH").env("PATH", &folder);
        Ended::of(command.output().unwrap())
    };
    let ended = start();
    assert_eq!(ended.status, 1, "{}", ended.stderr);
    let sentence = ended.sentence();
    assert!(
        sentence.contains("is not started: other users can write")
            && sentence.contains("chmod go-w"),
        "{sentence}"
    );
    assert!(!started.exists());
    std::fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
    start();
    assert!(started.exists());
}

/// A configuration may send variables on to every host.
#[test]
fn the_client_is_given_no_password_of_a_database() {
    let place = Workspace::new();
    let seen = place.path("environment");
    let client = place.file(
        "ssh",
        &format!("#!/bin/sh\nenv >'{}'\nexit 255\n", seen.display()),
    );
    std::fs::set_permissions(&client, Permissions::from_mode(0o755)).unwrap();
    let mut command = place.command(&["host", "--host", "ssh://u@h"]);
    command
        .env("DBDYNO_SSH", &client)
        .env("SSH_AUTH_SOCK", "kept");
    command
        .env("PGPASSWORD", "c4n4ry")
        .env("MYSQL_PWD", "c4n4ry");
    assert_eq!(Ended::of(command.output().unwrap()).status, 1);
    let environment = std::fs::read_to_string(seen).unwrap();
    assert!(environment.contains("SSH_AUTH_SOCK=kept"), "{environment}");
    assert!(!environment.contains("c4n4ry"), "{environment}");
}

/// Nobody logs on without a key: there is no question that could wait for an answer.
#[test]
fn a_host_that_does_not_let_us_in_asks_nothing() {
    let (place, sshd) = (Workspace::new(), Sshd::start());
    std::fs::write(sshd.client().with_file_name("authorized"), "").unwrap();
    let began = Instant::now();
    let ended = dbdyno(&place, &sshd, &["host", "--host", &sshd.url()]);
    assert_eq!(ended.status, 1, "{}", ended.stderr);
    assert!(
        ended.sentence().contains("Permission denied"),
        "{}",
        ended.stderr
    );
    assert!(began.elapsed() < Duration::from_secs(120));
}

fn wait_for_points(place: &Workspace, count: usize) {
    let until = Instant::now() + Duration::from_secs(60);
    while Instant::now() < until {
        let exported = place.dbdyno(&["export", "last", "--format", "json"]);
        if exported.status == 0 {
            let run: Value = serde_json::from_str(&exported.stdout).unwrap();
            if points(&run).len() >= count {
                return;
            }
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("no point was finished in a minute");
}
