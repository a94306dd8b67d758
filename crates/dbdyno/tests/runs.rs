//! Naming, notes, filters and deletion of archived runs.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::time::Duration;

use common::{TINY, Workspace};
use testing::Says;

/// Three runs: "before", "after" and one without a label.
fn measured() -> Workspace {
    let workspace = Workspace::new();
    for label in [&["--name", "before"][..], &["--name", "after"], &[]] {
        workspace.measure(TINY, label);
    }
    workspace
}

fn listed(workspace: &Workspace, more: &[&str]) -> Vec<String> {
    let text = workspace.fine(&[&["runs", "list"], more].concat()).stdout;
    text.lines().skip(1).map(str::to_owned).collect()
}

#[test]
fn a_name_and_a_note_are_shown_everywhere_and_the_label_stays() {
    let workspace = measured();
    workspace.fine(&["runs", "rename", "before", "old disk"]);
    workspace.fine(&["runs", "note", "old disk", "RAID 5, <cache> off"]);
    let line = &listed(&workspace, &[])[0];
    assert!(
        line.contains("old disk") && line.ends_with("measured as before; RAID 5, <cache> off"),
        "{line}"
    );
    let exported = workspace.export("before");
    assert_eq!(exported, workspace.export("old disk"));
    let run = &exported["run"];
    assert_eq!(run["label"], "old disk");
    assert_eq!(run["valid"], true);
    assert_eq!(run["renamed_from"], "before");
    assert_eq!(run["note"], "RAID 5, <cache> off");
    let page = workspace.page("before");
    assert!(page.contains("Measured as") && page.contains("RAID 5, "));
    assert!(!page.contains("<cache>"), "a note is text");
    let markdown = workspace.fine("report before --format md").stdout;
    markdown.says_all(&["measured as before", "RAID 5"]);
    // The original label undoes a renaming, an empty note removes the note.
    workspace.fine(&["runs", "rename", "old disk", "before"]);
    workspace.fine(&["runs", "note", "before", ""]);
    let run = &workspace.export("before")["run"];
    assert!(run["renamed_from"].is_null() && run["note"].is_null());
    workspace.refuses(
        2,
        "
        runs rename before after => taken
        runs rename before 7     => a number means a run's id
        runs note nowhere x      => runs list
        ",
    );
}

#[test]
fn runs_are_deleted_when_that_is_said() {
    let workspace = measured();
    let ended = workspace.ends(2, "runs delete before 3");
    ended.stderr.says_all(&["“before”", "--yes"]);
    assert_eq!(listed(&workspace, &[]).len(), 3);
    let deleted = workspace.fine("runs delete before 3 last --yes").stdout;
    assert_eq!(deleted.lines().count(), 2, "each once: {deleted}");
    let left = listed(&workspace, &[]);
    assert_eq!(left.len(), 1, "{left:?}");
    assert!(left[0].contains("after"), "{left:?}");
    // The next run has a new number.
    workspace.measure(TINY, &[]);
    assert_eq!(workspace.export("last")["run"]["id"], 4);
    assert_eq!(workspace.dbdyno("runs delete before --yes").status, 2);
}

#[test]
fn a_run_under_way_is_neither_resumed_nor_deleted_and_a_killed_one_is() {
    let workspace = Workspace::new();
    let plan = workspace.file(
        "long.toml",
        &TINY.replace("seconds = 0.05", "seconds = 600"),
    );
    let url = workspace.url("sqlite", "bench.db");
    let mut run = workspace.begin(&["run", &plan, "--target", &url, "--name", "long"]);
    while workspace.dbdyno("report long --format json").status != 0 {
        assert!(run.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(Duration::from_millis(20));
    }
    // The same archive under another name.
    std::os::unix::fs::symlink(workspace.archive(), workspace.path("link.dbdyno")).unwrap();
    for archive in ["archive.dbdyno", "link.dbdyno"] {
        for what in [
            &["run", "--resume", "long"][..],
            &["runs", "delete", "long", "--yes"],
        ] {
            let ended = workspace.ends(2, &[what, &["--archive", archive]].concat());
            let says = "run \"long\" is in use by another dbdyno process";
            assert!(ended.sentence().contains(says), "{}", ended.stderr);
        }
    }
    // Another process cannot measure the same database either, with any archive and file name.
    let link = workspace.path("link.db");
    std::os::unix::fs::symlink(workspace.path("bench.db"), &link).unwrap();
    let link = format!("sqlite:{}", link.display());
    let tiny = workspace.file("tiny.toml", TINY);
    for url in [&url, &link] {
        let ended = workspace.dbdyno(&["run", &tiny, "--target", url, "--archive", "other.dbdyno"]);
        assert_eq!(ended.status, 1, "{}", ended.stderr);
        let says = "another dbdyno process is using";
        assert!(ended.sentence().contains(says), "{}", ended.stderr);
    }
    // Other runs can be deleted in the meantime.
    workspace.fine(&[
        "run",
        &workspace.file("tiny.toml", TINY),
        "--target",
        "mock:",
        "--name",
        "short",
    ]);
    workspace.fine("runs delete short --yes");
    assert_eq!(listed(&workspace, &[]).len(), 1);
    run.kill().unwrap();
    run.wait().unwrap();
    let lock = workspace.path("archive.dbdyno-run-1.lock");
    assert!(lock.exists(), "a killed run leaves the file, and no lock");
    workspace.fine("runs delete long --yes");
    assert_eq!(listed(&workspace, &[]).len(), 0);
    assert!(!lock.exists());
    let lock = workspace.path("bench.db.dbdyno-lock");
    assert!(lock.exists());
    workspace.measure(TINY, &[]);
    assert!(!lock.exists());
}

#[test]
fn a_foreign_file_at_the_path_of_a_lock_stays() {
    let workspace = Workspace::new();
    let foreign = workspace.file("archive.dbdyno-run-1.lock", "mine");
    let ended = workspace.run(TINY, &[]);
    assert_eq!(ended.status, 1, "{}", ended.stderr);
    ended.sentence().says("not a lock file");
    assert_eq!(std::fs::read_to_string(&foreign).unwrap(), "mine");
    std::fs::remove_file(foreign).unwrap();
    workspace.measure(TINY, &[]);
}

#[test]
fn the_list_is_filtered_by_texts() {
    let workspace = measured();
    let other = workspace.file(
        "other.toml",
        &TINY.replace("name = \"tiny\"", "name = \"other\""),
    );
    workspace.fine(&["run", &other, "--target", "mock:"]);
    let numbers = |more: &[&str]| -> Vec<String> {
        let lines = listed(&workspace, more);
        let first = |line: &String| line.split_whitespace().next().unwrap().to_owned();
        lines.iter().map(first).collect()
    };
    let sqlite = workspace.url("sqlite", "bench");
    for (filter, expected) in [
        (&["other"][..], &["4"][..]),
        (&["nosuch"], &[]),
        (&["before"], &["1"]),
        (&["sqlite"], &["1", "2", "3"]),
        (&[&sqlite], &["1", "2", "3"]),
        (&["20", "mock"], &["4"]),
        (&["tiny", "after"], &["2"]),
        (&["before", "after"], &[]),
        (&["2999-01"], &[]),
    ] {
        assert_eq!(numbers(filter), expected, "{filter:?}");
    }
}
