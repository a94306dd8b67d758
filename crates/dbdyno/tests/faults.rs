//! Ctrl-C, full disks and a clock that steps: one sentence, and every finished point stored.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;
#[path = "common/disk.rs"]
mod disk;

use std::fs::File;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::common::words;
use common::{Ended, TINY, Workspace, need_duckdb, points};
use disk::Disk;
use testing::Says;

/// Exceeds every step here, even on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Starts a command whose standard error can be read while it runs.
fn start(workspace: &Workspace, arguments: &[&str]) -> Child {
    workspace
        .command(arguments)
        .stdout(Stdio::null())
        .stderr(File::create(workspace.path("stderr")).unwrap())
        .spawn()
        .unwrap()
}

fn said(workspace: &Workspace) -> String {
    workspace.text("stderr")
}

fn await_a_point(workspace: &Workspace) {
    let begun = Instant::now();
    while common::lines_of_points(&said(workspace)) == 0 {
        assert!(begun.elapsed() < PATIENCE, "{}", said(workspace));
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn interrupt(child: &Child) {
    let pid = libc::pid_t::try_from(child.id()).unwrap();
    // SAFETY: the child has not been waited for, so its number is still its own.
    assert_eq!(unsafe { libc::kill(pid, libc::SIGINT) }, 0);
}

fn end(workspace: &Workspace, mut child: Child, longest: Duration) -> Ended {
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if begun.elapsed() > longest {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("still there after {longest:?}: {}", said(workspace));
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    Ended {
        status: status.code().unwrap_or(-1),
        stdout: String::new(),
        stderr: said(workspace),
    }
}

#[test]
fn ctrl_c_keeps_what_is_finished_and_the_run_goes_on_later() {
    let workspace = Workspace::new();
    let plan = workspace.file("plan.toml", &TINY.replace("0.05", "0.3"));
    let url = workspace.url("sqlite", "bench.db");
    let run = [
        "run", &plan, "--target", &url, "--repeat", "6", "--name", "stopped",
    ];
    let child = start(&workspace, &run);
    await_a_point(&workspace);
    interrupt(&child);
    let ended = end(&workspace, child, PATIENCE);
    assert_eq!(ended.status, 130, "{}", ended.stderr);
    let sentence = ended.sentence();
    sentence.says_all(&["interrupted", "--resume stopped"]);
    let before = workspace.export("stopped");
    let stored = points(&before).len();
    assert!((1..6).contains(&stored), "{stored} points");
    assert_eq!(before["run"]["state"], "interrupted");
    sentence.says(&format!("{stored} of 6 points"));

    workspace.fine("run --resume stopped");
    let after = workspace.export("stopped");
    assert_eq!(points(&after).len(), 6);
    assert_eq!(after["run"]["valid"], true);
    assert!(points(&after)[..stored] == *points(&before));
}

#[test]
fn a_run_is_resumed_on_its_own_targets_with_its_own_tests() {
    let workspace = Workspace::new();
    let plan = workspace.file("plan.toml", &TINY.replace("0.05", "0.3"));
    let (library, set) = (workspace.library(), "library=library");
    let relative = words(
        "run {} --target sqlite:bench.db --repeat 4 --set {}",
        &[&plan, set],
    );
    let child = start(&workspace, &relative);
    await_a_point(&workspace);
    interrupt(&child);
    assert_eq!(end(&workspace, child, PATIENCE).status, 130);

    let sql = library.join("T132.sqlite.sql");
    let changed = std::fs::read_to_string(&sql).unwrap() + "-- changed\n";
    std::fs::write(&sql, &changed).unwrap();
    let refused = workspace.ends(2, "run --resume last");
    let sentence = refused.sentence();
    sentence.says_all(&["another", "T132"]);
    std::fs::write(&sql, changed.replace("-- changed\n", "")).unwrap();

    // The same database, seen from another directory.
    let elsewhere = workspace.path("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let mut command = workspace.command("run --resume last");
    let resumed = Ended::of(command.current_dir(&elsewhere).output().unwrap());
    assert_eq!(resumed.status, 0, "{}", resumed.stderr);
    assert_eq!(points(&workspace.export("last")).len(), 4);
    assert_eq!(
        std::fs::read_dir(elsewhere).unwrap().count(),
        0,
        "another database was made"
    );
}

#[test]
fn a_second_ctrl_c_ends_even_a_long_statement_at_once() {
    ends_at_once(&["run"], "dbdyno run --resume run-1");
}

#[test]
fn a_second_ctrl_c_names_the_verb_that_goes_on_with_a_study() {
    let study = ["ab", "--aa", "--repeat", "2", "--name", "halves", "--yes"];
    ends_at_once(&study, "dbdyno ab --resume halves");
}

/// Interrupts a statement that would take hours; the message says how to resume.
fn ends_at_once(verb: &[&str], advice: &str) {
    let workspace = Workspace::new();
    let library = workspace.library();
    let test = std::fs::read_to_string(library.join("T132.toml")).unwrap();
    let endless = test.replace("100_000\n", "100_000_000_000\n");
    assert_ne!(endless, test);
    std::fs::write(library.join("T132.toml"), endless).unwrap();
    let plan = TINY.replace("[\"T132\"]", "[\"T133\", \"T132\"]");
    let plan = workspace.file("plan.toml", &plan);
    let library = format!("library={}", library.display());
    let more = words(
        "{} --target sqlite:bench.db --set {}",
        &[plan.as_str(), &library],
    );
    let mut child = start(&workspace, &[verb, &more].concat());
    await_a_point(&workspace);
    std::thread::sleep(Duration::from_millis(300));
    interrupt(&child);
    std::thread::sleep(Duration::from_millis(300));
    assert!(
        child.try_wait().unwrap().is_none(),
        "the statement was too short"
    );
    interrupt(&child);
    let ended = end(&workspace, child, PATIENCE);
    assert_eq!(ended.status, 130, "{}", ended.stderr);
    let sentence = ended.sentence();
    assert!(sentence.contains("kept in the archive"), "{sentence}");
    assert!(sentence.ends_with(advice), "{sentence}");
    let runs = workspace.fine("runs list").stdout;
    assert_eq!(runs.matches(" 1/").count(), 1, "{runs}");
}

type MakeDisk = fn(&Workspace, u64) -> Disk;

#[test]
fn an_archive_on_a_full_disk_keeps_its_points_and_goes_on_when_there_is_room() {
    a_full_archive_ends_the_run(Disk::small);
}

#[test]
fn an_archive_at_the_limit_keeps_its_points_and_goes_on_when_there_is_room() {
    a_full_archive_ends_the_run(Disk::limited);
}

fn a_full_archive_ends_the_run(disk: MakeDisk) {
    let workspace = Workspace::new();
    let disk = disk(&workspace, 1 << 20);
    let archive = disk.path("archive.dbdyno");
    let archive = ["--archive", archive.to_str().unwrap()];
    let plan = workspace.file("plan.toml", TINY);
    let run = ["run", &plan, "--target", "sqlite:", "--repeat", "60"];
    let full = disk.ends(1, &workspace, &[&run[..], &archive].concat());
    let sentence = full.sentence();
    sentence.says_all(&["the disk is full", "--resume"]);

    // Every reported point is readable while the disk is still full.
    let reported = common::lines_of_points(&full.stderr);
    assert!(reported > 0, "{}", full.stderr);
    let csv = [&["report", "last", "--format", "csv"][..], &archive].concat();
    assert_eq!(
        disk.dbdyno(&workspace, &csv).stdout.lines().count(),
        1 + reported
    );

    disk.grow(64 << 20);
    workspace.fine(&[&["run", "--resume", "last"][..], &archive].concat());
    assert_eq!(workspace.fine(&csv).stdout.lines().count(), 1 + 60);
}

fn a_full_target_ends_the_run(engine: &str, disk: MakeDisk) {
    let workspace = Workspace::new();
    let disk = disk(&workspace, 4 << 20);
    let plan = TINY.replace("[\"T132\"]", "[\"T132\", \"T331\"]");
    // T331 loads tens of megabytes in one transaction.
    let plan = plan.replace("mode = \"time\"\nseconds = 0.05\n", "");
    let plan = workspace.file("plan.toml", &plan);
    let url = format!("{engine}:{}", disk.path("bench.db").display());
    // Its estimated size would require consent.
    let full = disk.ends(1, &workspace, &["run", &plan, "--target", &url, "--yes"]);
    let sentence = full.sentence().to_lowercase();
    let says = [
        "disk is full",
        "no space left",
        "file too large",
        "disk full",
    ];
    assert!(
        says.iter().any(|words| sentence.contains(words)),
        "{sentence}"
    );
    assert!(sentence.contains("1 of 2 points"), "{sentence}");
    assert!(sentence.contains("--resume run-1"), "{sentence}");
    let before = workspace.export("last");
    assert_eq!(points(&before).len(), 1);
    assert_eq!(before["run"]["state"], "interrupted");

    disk.grow(512 << 20);
    workspace.fine("run --resume last");
    let after = workspace.export("last");
    assert_eq!(points(&after).len(), 2);
    assert_eq!(after["run"]["valid"], true);
}

#[test]
fn a_row_store_on_a_full_disk_ends_the_run_in_order() {
    a_full_target_ends_the_run("sqlite", Disk::small);
}

#[test]
fn a_row_store_at_the_limit_ends_the_run_in_order() {
    a_full_target_ends_the_run("sqlite", Disk::limited);
}

#[test]
fn a_column_store_on_a_full_disk_ends_the_run_in_order() {
    need_duckdb();
    a_full_target_ends_the_run("duckdb", Disk::small);
}

#[test]
fn a_column_store_at_the_limit_ends_the_run_in_order() {
    need_duckdb();
    a_full_target_ends_the_run("duckdb", Disk::limited);
}
