//! The verbs of the order-entry workload: their output and exit statuses.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

mod common;
#[path = "common/disk.rs"]
mod disk;

use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{Workspace, words};
use disk::Disk;
use serde_json::Value;
use testing::Says;

fn json(workspace: &Workspace, url: &str, status: i32) -> Value {
    let ended = workspace.dbdyno(&["data", "check", "oltp", "--target", url, "--format", "json"]);
    assert_eq!(ended.status, status, "{}", ended.stderr);
    ended.json()
}

fn change(workspace: &Workspace, sql: &str) {
    let connection = rusqlite::Connection::open(workspace.path("oltp.db")).unwrap();
    assert_eq!(connection.execute(sql, []).unwrap(), 1, "{sql}");
}

/// The load is killed and resumed; then a customer's balance is changed by a cent.
#[test]
fn load_killed_resumed_checked_broken_and_dropped() {
    let workspace = Workspace::new();
    let url = workspace.url("sqlite", "oltp.db");
    let load = words("data load oltp --target {} --warehouses 2", &[&url]);
    kill_after_the_first_warehouse(workspace.command(&load), &workspace);
    let refused = workspace.ends(2, &["data", "check", "oltp", "--target", &url]);
    let sentence = refused.sentence();
    sentence.says("is incomplete: 1 of 2 warehouses");

    let loaded = workspace.fine(&[&load[..], &["--clients", "3"]].concat());
    assert!(
        loaded
            .stdout
            .starts_with("2 warehouses are loaded, 1 of them now"),
        "{}",
        loaded.stdout
    );
    loaded.stderr.says("resuming a load: 1 of 2");
    loaded
        .stderr
        .says("a single session: SQLite has one writer");
    let again = workspace.ends(2, &load);
    assert!(again.sentence().contains("--replace"), "{}", again.stderr);

    let fine = json(&workspace, &url, 0);
    assert_eq!(fine["sound"], Value::from(true));
    assert_eq!(fine["warehouses"], Value::from(2));
    let findings = fine["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 13);
    assert!(findings.iter().all(|f| f["verdict"] == "holds"), "{fine}");

    change(
        &workspace,
        "UPDATE customer SET c_balance = -9.99 WHERE c_w_id = 2 AND c_d_id = 3 AND c_id = 4",
    );
    let checked = workspace.ends(3, &["data", "check", "oltp", "--target", &url]);
    checked.stdout.says_all(&[
        "  10  BROKEN   ",
        "customer 2/3/4: c_balance -9.99, delivered ol_amount 0.00, h_amount 10.00",
        "  12  BROKEN   ",
        "customer 2/3/4: c_balance + c_ytd_payment 0.01, delivered ol_amount 0.00",
        "  11  holds    ",
    ]);
    let light = workspace.fine(&words(
        "data check oltp --target {} --set check=light",
        &[&url],
    ));
    assert_eq!(
        light.stdout.matches("  skipped  ").count(),
        3,
        "{}",
        light.stdout
    );
    let broken = json(&workspace, &url, 3);
    let ten = &broken["findings"][10];
    assert_eq!(ten["condition"], Value::from(10));
    assert_eq!(ten["places"], Value::from(1));

    workspace.fine(&["data", "drop", "oltp", "--target", &url]);
    let absent = workspace.ends(2, &["data", "check", "oltp", "--target", &url]);
    absent.sentence().says("dbdyno data load oltp");
}

fn kill_after_the_first_warehouse(mut command: Command, workspace: &Workspace) {
    let file = std::fs::File::create(workspace.path("stderr")).unwrap();
    let mut child = command.stdout(Stdio::null()).stderr(file).spawn().unwrap();
    let until = Instant::now() + Duration::from_secs(100);
    loop {
        let said = workspace.text("stderr");
        if said.contains("1 of 2 warehouses") {
            break;
        }
        assert!(Instant::now() < until, "no warehouse was loaded: {said}");
        assert!(
            child.try_wait().unwrap().is_none(),
            "it ended by itself: {said}"
        );
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

/// A workspace that a server of another user can reach.
fn reachable_workspace() -> Workspace {
    let workspace = Workspace::new();
    let passable = PermissionsExt::from_mode(0o711);
    std::fs::set_permissions(workspace.path(""), passable).unwrap();
    workspace
}

#[test]
fn a_load_into_a_local_server_that_was_killed_goes_on() {
    let workspace = reachable_workspace();
    let url = workspace.url("mariadb+local", "server")
        + "?innodb_log_file_size=64M&innodb_flush_method=nosync&performance_schema=OFF";
    let load = words("data load oltp --target {} --warehouses 2", &[&url]);
    let with_one_job = [&load[..], &["--clients", "1"]].concat();
    kill_after_the_first_warehouse(workspace.command(&with_one_job), &workspace);
    let loaded = workspace.fine(&load);
    let says = "2 warehouses are loaded, 1 of them now";
    assert!(loaded.stdout.starts_with(says), "{}", loaded.stdout);
    assert_eq!(json(&workspace, &url, 0)["sound"], Value::from(true));
    workspace.fine(&["data", "drop", "oltp", "--target", &url]);
    workspace.ends(2, &["data", "check", "oltp", "--target", &url]);
}

#[test]
fn a_load_that_fills_the_disk_goes_on_when_there_is_room() {
    // With small logs, the rows fill the disk.
    for (engine, name, bytes) in [
        ("sqlite", "oltp.db", 60 << 20),
        (
            "postgres+local",
            "pg?version=15&max_wal_size=64MB&min_wal_size=32MB",
            130 << 20,
        ),
        (
            "mariadb+local",
            "my?innodb_log_file_size=64M&performance_schema=OFF",
            150 << 20,
        ),
    ] {
        let workspace = reachable_workspace();
        let disk = Disk::small(&workspace, bytes);
        let url = format!("{engine}:{}", disk.path(name).display());
        let load = words("data load oltp --target {} --warehouses 1", &[&url]);
        let full = disk.dbdyno(&workspace, &load);
        assert_eq!(full.status, 1, "{engine}: {}", full.stderr);
        let sentence = full.sentence().to_lowercase();
        let says_why = sentence.contains("full") || sentence.contains("space");
        // InnoDB may stop the server if one of its pages finds no room; then its log gives the reason.
        let server_ended = engine == "mariadb+local" && sentence.contains("see its error log");
        let says_what_to_do = says_why && sentence.contains("free");
        assert!(says_what_to_do || server_ended, "{sentence}");
        disk.grow(1 << 30);
        workspace.fine(&load);
        assert_eq!(
            json(&workspace, &url, 0)["sound"],
            Value::from(true),
            "{engine}"
        );
    }
}

/// Marks the database as changed, like a run.
fn use_up(url: &str) {
    let target = engines::open(&engines::parse(url).unwrap()).unwrap();
    let mut session = target.open_session().unwrap();
    oltp::metadata::note_transactions(session.as_mut()).unwrap();
    let sql = "UPDATE warehouse SET w_ytd = 0; DELETE FROM stock WHERE s_i_id > 100";
    session.batch(sql).unwrap();
}

#[test]
fn a_restore_that_was_killed_is_done_again_by_the_next_command() {
    for (engine, name, mark) in [
        ("sqlite", "oltp.db", "oltp.db.restoring"),
        (
            "postgres+local",
            "pg?version=15&fsync=off",
            "pg/data.restoring",
        ),
        (
            "mariadb+local",
            "my?innodb_log_file_size=64M&innodb_flush_method=nosync&performance_schema=OFF",
            "my/data.restoring",
        ),
    ] {
        let workspace = reachable_workspace();
        let url = workspace.url(engine, name);
        workspace.fine(&words("data load oltp --target {} --warehouses 1", &[&url]));
        let restore = ["data", "restore", "oltp", "--target", &url];
        let first = workspace.fine(&restore).stdout;
        assert!(first.contains("a copy is kept now"), "{first}");
        use_up(&url);
        kill_at_the_mark(workspace.command(&restore), &workspace.path(mark));
        let checked = json(&workspace, &url, 0);
        assert_eq!(checked["transactions_since_load"], Value::from(false));
        assert_eq!(checked["sound"], Value::from(true), "{engine}: {checked}");
        assert!(!workspace.path(mark).exists());
        use_up(&url);
        let again = workspace.fine(&restore).stdout;
        assert!(again.contains("restored from its copy"), "{again}");
        assert_eq!(json(&workspace, &url, 0)["sound"], Value::from(true));
        workspace.fine(&["data", "drop", "oltp", "--target", &url]);
        let kept = workspace.path(&mark.replace(".restoring", ".kept"));
        assert!(!kept.exists(), "the copy goes with the database");
    }
}

fn kill_at_the_mark(mut command: Command, mark: &std::path::Path) {
    let mut child = command.stdout(Stdio::null()).spawn().unwrap();
    while !mark.exists() {
        let ended = child.try_wait().unwrap();
        assert!(ended.is_none(), "it ended before it began: {ended:?}");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(mark.exists(), "it was done before it was killed");
}

#[test]
fn without_room_for_a_copy_it_is_loaded_again() {
    let workspace = Workspace::new();
    let disk = Disk::small(&workspace, 160 << 20);
    let url = format!("sqlite:{}", disk.path("oltp.db").display());
    let load = words("data load oltp --target {} --warehouses 1", &[&url]);
    disk.ends(0, &workspace, &load);
    use_up(&url);
    let restored = disk.ends(
        0,
        &workspace,
        &["data", "restore", "oltp", "--target", &url],
    );
    let said = restored.stdout;
    said.says("loaded again; no copy is kept: not enough disk space");
    assert!(!disk.path("oltp.db.kept").exists(), "half a copy is none");
    assert_eq!(json(&workspace, &url, 0)["sound"], Value::from(true));
}

#[test]
fn invalid_input_is_reported_before_any_change() {
    let workspace = Workspace::new();
    workspace.refuses(
        2,
        "
        data load oltp --target sqlite: --warehouses 1 => would be lost when this command ends
        data load oltp --target postgres+local: --warehouses 1 => would be lost when this command ends
        data load oltp --target mariadb+local: --warehouses 1 => would be lost when this command ends
        data load oltp --target sqlit:x --warehouses 1 => did you mean
        data load oltp --target sqlite:oltp.db --warehouses 0 => warehouses
        ",
    );
    assert!(!workspace.path("oltp.db").exists());
}

#[test]
fn backups_are_restored_and_proven() {
    let workspace = Workspace::new();
    let url = workspace.url("sqlite", "oltp.db");
    let backup = words("run backup --target {} --set work_seconds=0.3", &[&url]);
    workspace.fine(&backup);
    let exported = workspace.export("last");
    let all = common::points(&exported);
    let codes: Vec<&Value> = all.iter().map(|point| &point["test"]).collect();
    assert_eq!(codes, ["BACKUP-ONLINE", "BACKUP-VACUUM-INTO"]);
    for point in all {
        assert_eq!(common::faults(point), [""; 0]);
        let figure = |name: &str| point[name].as_f64().unwrap();
        let (logical_mb, elapsed_s) = (figure("backup_logical_mb"), figure("elapsed_s"));
        let tb_per_h = logical_mb / 1e6 * 3600.0 / elapsed_s;
        assert!((figure("backup_tb_per_h") / tb_per_h - 1.0).abs() < 1e-9);
        let parts = ["copy", "replay", "first_commit"].map(|p| figure(&format!("restore_{p}_s")));
        let restore_s: f64 = parts.iter().sum();
        assert!((figure("restore_per_backup") / (restore_s / elapsed_s) - 1.0).abs() < 1e-9);
        assert!(figure("backup_repository_mb") > 50.0 && figure("backup_cpu_s_per_gb") > 0.0);
        let proven = common::note(point, "restore_proven").unwrap();
        assert!(proven["acknowledged"].as_u64().unwrap() > 0, "{proven}");
    }
    // The directories of the backups are removed after their points.
    let archive = workspace.archive();
    let directory = std::fs::read_dir(archive.parent().unwrap()).unwrap();
    let left = directory.filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        name.to_string_lossy().starts_with("dbdyno-backup-")
    });
    assert_eq!(left.count(), 0);

    let page = workspace.page("last");
    page.says_all(&[
        "Backup and restore",
        "vacuum-into",
        "restored and proven",
        "3.16 TB/hr",
    ]);

    let more = [&backup[..], &["--methods", "online,onlin"]].concat();
    let unknown = workspace.dbdyno(&more);
    let says = "there is no backup method \"onlin\" (did you mean \"online\"?); the methods here are online, vacuum-into";
    assert!(unknown.stderr.contains(says), "{}", unknown.stderr);
    assert_eq!(unknown.status, 2, "{}", unknown.stdout);
}
