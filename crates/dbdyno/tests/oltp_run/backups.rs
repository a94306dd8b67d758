//! Backups of local servers: restored and proven, with concurrent users, and to a point in time; a killed backup does not count.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::words;
use crate::common::{Workspace, faults, need_duckdb, note, only_point, points};

/// A directory for backups that a server of another user can reach if this user is root.
fn repository(workspace: &Workspace) -> PathBuf {
    let repository = workspace.path("backups");
    fs::create_dir(&repository).unwrap();
    for directory in [repository.as_path(), repository.parent().unwrap()] {
        fs::set_permissions(directory, PermissionsExt::from_mode(0o711)).unwrap();
    }
    repository
}

/// Measures the methods on a server, each with this proof; returns the points.
fn proven_backups(target: &str, methods: &str, more: &[&str], proof: &str) -> Vec<Value> {
    let workspace = Workspace::new();
    let repository = repository(&workspace);
    let repository_text = repository.to_str().unwrap();
    let backup = ["run", "backup", "--target", target, "--methods", methods];
    let usual = words(
        "--set warehouse_rows=tenth --set work_seconds=0.3 --work-dir {}",
        &[repository_text],
    );
    workspace.fine(&[&backup[..], &usual[..], more].concat());
    let exported = workspace.export("last");
    for point in points(&exported) {
        assert_eq!(faults(point), [""; 0]);
        let proven = note(point, proof).unwrap();
        let acknowledged = proven.get("acknowledged").or(proven.get("before"));
        assert!(acknowledged.unwrap().as_u64().unwrap() > 0, "{proven}");
    }
    assert_eq!(fs::read_dir(&repository).unwrap().count(), 0);
    points(&exported).to_vec()
}

#[test]
fn backups_of_files_and_of_rows_are_restored_and_proven() {
    let methods = "basebackup-tar,basebackup-incremental,dump-gzip";
    let points = proven_backups("postgres+local:?version=18", methods, &[], "restore_proven");
    assert_eq!(points.len(), 3);
    let bytes = |test: &str, figure: &str| {
        let point = points.iter().find(|point| point["test"] == test).unwrap();
        point[figure].as_f64().unwrap()
    };
    // The full backup lies next to the changes, and a dump holds one database of the server's.
    let (tar, both) = ("BACKUP-BASEBACKUP-TAR", "BACKUP-BASEBACKUP-INCREMENTAL");
    assert!(bytes(both, "backup_repository_mb") > bytes(tar, "backup_repository_mb"));
    assert!(bytes("BACKUP-DUMP-GZIP", "backup_logical_mb") < bytes(tar, "backup_logical_mb"));
}

/// An intermediate version that the system's pgBackRest does not support, whose package lacks lz4 and zstd.
#[test]
fn backups_of_postgresql_16_are_restored_and_proven() {
    let methods = "basebackup-plain,basebackup-tar-gzip-2,dump-none";
    let points = proven_backups("postgres+local:?version=16", methods, &[], "restore_proven");
    let tests: Vec<&Value> = points.iter().map(|point| &point["test"]).collect();
    assert_eq!(
        tests,
        [
            "BACKUP-BASEBACKUP-PLAIN",
            "BACKUP-BASEBACKUP-TAR-GZIP-2",
            "BACKUP-DUMP-NONE"
        ]
    );
}

#[test]
fn backups_of_columns_are_restored_and_proven() {
    need_duckdb();
    let options = ["--dop", "2", "--set", "processors=1"];
    let methods = "copy,export-parquet-zstd";
    let points = proven_backups("duckdb:bench.duckdb", methods, &options, "restore_proven");
    assert_eq!(points.len(), 2);
    for point in points {
        let state = point["work"]["state"].as_str().unwrap();
        assert!(state.contains("on the first 1 of"), "{state}");
        assert!(point["backup_repository_mb"].as_f64().unwrap() > 1.0);
    }
}

#[test]
fn a_backup_is_restored_to_a_point_in_time() {
    let target = "postgres+local:?version=15";
    let options = ["--set", "point_in_time=true", "--dop", "2"];
    let points = proven_backups(target, "pgbackrest-lz4-64k", &options, "restored_to_point");
    let [point] = points.as_slice() else {
        panic!("one point")
    };
    let restored = note(point, "restored_to_point").unwrap();
    assert!(restored["after"].as_u64().unwrap() > 0);
    // The tool's own time is shorter than dbdyno's.
    let seconds = |name: &str| point[name].as_f64().unwrap();
    assert!(seconds("backup_tool_s") > 0.0 && seconds("backup_tool_s") <= seconds("elapsed_s"));
}

/// The tool's files become a server after log replay, statements are loaded into one, with the requested channels and concurrent users.
#[test]
fn backups_of_mariadb_are_restored_and_proven() {
    let options = ["--dop", "2", "--rate", "50", "--clients", "2"];
    let points = proven_backups(
        "mariadb+local:",
        "mariadb-backup,mydumper-128k",
        &options,
        "restore_proven_under_load",
    );
    let channels: Vec<&Value> = points.iter().map(|point| &point["threads"]).collect();
    assert_eq!(channels, [2, 2]);
    for point in &points {
        for figure in [
            "alone_per_s",
            "during_per_s",
            "alone_us_p95",
            "during_us_p95",
        ] {
            assert!(point[format!("foreground_{figure}")].as_f64().unwrap() > 0.0);
        }
    }
}

/// A copy of the files that the server made recovers, and statements are loaded into a new one.
#[test]
fn backups_of_mysql_are_restored_and_proven() {
    crate::mysql::needs_mysql();
    let options = ["--rate", "50", "--clients", "2"];
    let points = proven_backups(
        "mysql+local:",
        "clone,mysqldump",
        &options,
        "restore_proven_under_load",
    );
    assert_eq!(points.len(), 2);
}

#[test]
fn a_backup_that_is_killed_is_never_taken_for_whole() {
    let workspace = Workspace::new();
    let repository = repository(&workspace);
    // Its data stay, and the next server recovers them.
    let target = format!("{}?version=15", workspace.url("postgres+local", "server"));
    let options = words(
        "run backup --target {} --methods pgbackrest-none",
        &[&target],
    );
    let more = words(
        "--set warehouse_rows=tenth --dop 2 --set work_seconds=0.3 --work-dir",
        &[],
    );
    let arguments = [&options[..], &more, &[repository.to_str().unwrap()]].concat();
    let mut run = workspace.begin(&arguments);
    let tool = awaited(|| children(run.id()).into_iter().find(|pid| is_backup(*pid)));
    // A stopped tool cannot finish before the run is killed.
    signal(tool, "STOP");
    awaited(|| stat(tool).starts_with('T').then_some(()));
    run.kill().unwrap();
    run.wait().unwrap();
    awaited(|| processes_of(&repository).is_empty().then_some(()));

    assert_eq!(points(&workspace.export("last")), [Value::Null; 0]);
    let left: Vec<PathBuf> = entries(&repository);
    let [left] = left.as_slice() else {
        panic!("{left:?}")
    };
    assert!(entries(&left.join("backup")).len() > 1, "it had begun");
    assert!(!left.join("manifest.toml").exists());

    workspace.fine("run --resume last");
    let exported = workspace.export("last");
    let point = only_point(&exported);
    assert_eq!(faults(point), [""; 0]);
    let note = |code: &str| note(point, code).unwrap();
    assert!(note("restore_proven")["acknowledged"].as_u64().unwrap() > 0);
    let removed = &note("backup_left_removed")["directories"];
    assert_eq!(removed, &serde_json::json!([left.to_str().unwrap()]));
    assert!(entries(&repository).is_empty());
    is_held_to_a_rate(&workspace, &target);
}

/// A backup takes the time of its rate limit on any machine. It uses another test's data, whose load would take longer.
fn is_held_to_a_rate(workspace: &Workspace, target: &str) {
    const MB_PER_S: f64 = 20.0;
    let backup = words(
        "run backup --target {} --methods basebackup-null",
        &[target],
    );
    let more = ["--set", "work_seconds=0.1", "--set", "max_mb_per_s=20"];
    workspace.fine(&[&backup[..], &more].concat());
    let exported = workspace.export("last");
    let point = only_point(&exported);
    assert_eq!(faults(point), [""; 0]);
    let figure = |name: &str| point[name].as_f64().unwrap();
    // The server sends an eighth of a second's bytes before it first waits.
    let least_s = figure("backup_logical_mb") / MB_PER_S - 0.125;
    assert!(least_s > 1.0 && figure("elapsed_s") >= least_s, "{point}");
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

fn awaited<T>(sample: impl Fn() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = sample() {
            return found;
        }
        assert!(begun.elapsed() < Duration::from_secs(120), "never");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn processes() -> Vec<u32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let names = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    names.collect()
}

/// State, parent and further fields of a process; empty if it has ended.
fn stat(pid: u32) -> String {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().unwrap_or_default().to_owned()
}

fn children(parent: u32) -> Vec<u32> {
    let parent = parent.to_string();
    let mut found = processes();
    found.retain(|pid| stat(*pid).split(' ').nth(1) == Some(&parent));
    found
}

fn command_line(pid: u32) -> String {
    let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&words).replace('\0', " ")
}

fn is_backup(pid: u32) -> bool {
    let line = command_line(pid);
    line.contains("pgbackrest") && line.ends_with(" backup ")
}

/// Command lines of the processes that use a directory.
fn processes_of(directory: &Path) -> Vec<String> {
    let lines = processes().into_iter().map(command_line);
    let directory = directory.to_str().unwrap();
    lines.filter(|line| line.contains(directory)).collect()
}

fn signal(pid: u32, name: &str) {
    let mut kill = std::process::Command::new("kill");
    let status = kill.args([&format!("-{name}"), &pid.to_string()]).status();
    assert!(status.unwrap().success());
}
