//! Runs of the archive are named, noted, filtered and deleted.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::process::Stdio;
use std::time::Duration;

use common::{TINY, Workspace};

/// Three runs: "before", "after" and one without a label.
fn measured() -> Workspace {
    let place = Workspace::new();
    for label in [&["--name", "before"][..], &["--name", "after"], &[]] {
        let ended = place.run(TINY, label);
        assert_eq!(ended.status, 0, "{}", ended.stderr);
    }
    place
}

fn listed(place: &Workspace, more: &[&str]) -> Vec<String> {
    let text = place.fine(&[&["list", "runs"], more].concat()).stdout;
    text.lines().skip(1).map(str::to_owned).collect()
}

#[test]
fn a_name_and_a_note_are_shown_everywhere_and_the_label_stays() {
    let place = measured();
    place.fine(&["runs", "rename", "before", "old disk"]);
    place.fine(&["runs", "note", "old disk", "RAID 5, <cache> off"]);
    let line = &listed(&place, &[])[0];
    assert!(
        line.contains("old disk") && line.ends_with("measured as before; RAID 5, <cache> off"),
        "{line}"
    );
    let exported = place.export("before");
    assert_eq!(exported, place.export("old disk"));
    let run = &exported["run"];
    assert_eq!(
        (&run["label"], &run["valid"]),
        (&"old disk".into(), &true.into())
    );
    assert_eq!(
        (&run["renamed_from"], &run["note"]),
        (&"before".into(), &"RAID 5, <cache> off".into())
    );
    place.fine(&["report", "before", "-o", "page.html"]);
    let page = std::fs::read_to_string(place.path("page.html")).unwrap();
    assert!(page.contains("Measured as") && page.contains("RAID 5, "));
    assert!(!page.contains("<cache>"), "a note is text");
    let markdown = place
        .fine(&["export", "before", "--format", "markdown"])
        .stdout;
    assert!(
        markdown.contains("measured as before") && markdown.contains("RAID 5"),
        "{markdown}"
    );
    // Its own label takes the name away, an empty note the note.
    place.fine(&["runs", "rename", "old disk", "before"]);
    place.fine(&["runs", "note", "before", ""]);
    let run = &place.export("before")["run"];
    assert!(run["renamed_from"].is_null() && run["note"].is_null());
    for (arguments, says) in [
        (["runs", "rename", "before", "after"], "taken"),
        (
            ["runs", "rename", "before", "7"],
            "a number means a run's id",
        ),
        (["runs", "note", "nowhere", "x"], "list runs"),
    ] {
        let ended = place.dbdyno(&arguments);
        assert_eq!(ended.status, 2, "{arguments:?}: {}", ended.stderr);
        assert!(ended.sentence().contains(says), "{}", ended.stderr);
    }
}

#[test]
fn runs_are_deleted_when_that_is_said() {
    let place = measured();
    let ended = place.dbdyno(&["runs", "delete", "before", "3"]);
    assert_eq!(ended.status, 2, "{}", ended.stderr);
    assert!(
        ended.stderr.contains("“before”") && ended.stderr.contains("--yes"),
        "{}",
        ended.stderr
    );
    assert_eq!(listed(&place, &[]).len(), 3);
    let deleted = place
        .fine(&["runs", "delete", "before", "3", "last", "--yes"])
        .stdout;
    assert_eq!(deleted.lines().count(), 2, "each once: {deleted}");
    let left = listed(&place, &[]);
    assert_eq!(left.len(), 1, "{left:?}");
    assert!(left[0].contains("after"), "{left:?}");
    // The next one has a number of its own.
    assert_eq!(place.run(TINY, &[]).status, 0);
    assert_eq!(place.export("last")["run"]["id"], 4);
    assert_eq!(
        place.dbdyno(&["runs", "delete", "before", "--yes"]).status,
        2
    );
}

/// A run of another process, which goes on measuring; when that is killed its run may go.
#[test]
fn a_run_under_way_is_neither_resumed_nor_deleted_and_a_killed_one_is() {
    let place = Workspace::new();
    let plan = place.file(
        "long.toml",
        &TINY.replace("seconds = 0.05", "seconds = 600"),
    );
    let url = place.url("sqlite", "bench.db");
    let mut run = place
        .command(&["run", &plan, "--target", &url, "--name", "long"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while place.dbdyno(&["export", "long"]).status != 0 {
        assert!(run.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(Duration::from_millis(20));
    }
    // The archive is the same one under another name.
    std::os::unix::fs::symlink(place.archive(), place.path("link.dbdyno")).unwrap();
    for archive in ["archive.dbdyno", "link.dbdyno"] {
        for what in [
            &["run", "--resume", "long"][..],
            &["runs", "delete", "long", "--yes"],
        ] {
            let ended = place.dbdyno(&[what, &["--archive", archive]].concat());
            assert_eq!(ended.status, 2, "{}", ended.stderr);
            let says = "run \"long\" is in use by another dbdyno process";
            assert!(ended.sentence().contains(says), "{}", ended.stderr);
        }
    }
    // Nor does another process measure the same database, whatever its archive and the name of the file.
    let link = place.path("link.db");
    std::os::unix::fs::symlink(place.path("bench.db"), &link).unwrap();
    let link = format!("sqlite:{}", link.display());
    let tiny = place.file("tiny.toml", TINY);
    for url in [&url, &link] {
        let ended = place.dbdyno(&["run", &tiny, "--target", url, "--archive", "other.dbdyno"]);
        assert_eq!(ended.status, 1, "{}", ended.stderr);
        let says = "another dbdyno process is using";
        assert!(ended.sentence().contains(says), "{}", ended.stderr);
    }
    // Other runs are deleted meanwhile.
    place.fine(&[
        "run",
        &place.file("tiny.toml", TINY),
        "--target",
        "mock:",
        "--name",
        "short",
    ]);
    place.fine(&["runs", "delete", "short", "--yes"]);
    assert_eq!(listed(&place, &[]).len(), 1);
    run.kill().unwrap();
    run.wait().unwrap();
    let lock = place.path("archive.dbdyno-run-1.lock");
    assert!(lock.exists(), "a killed run leaves the file, and no lock");
    place.fine(&["runs", "delete", "long", "--yes"]);
    assert_eq!(listed(&place, &[]).len(), 0);
    assert!(!lock.exists());
    let lock = place.path("bench.db.dbdyno-lock");
    assert!(lock.exists());
    assert_eq!(place.run(TINY, &[]).status, 0);
    assert!(!lock.exists());
}

/// What lies where the lock of the next run would is a file of somebody else.
#[test]
fn a_foreign_file_in_the_place_of_a_lock_stays() {
    let place = Workspace::new();
    let foreign = place.file("archive.dbdyno-run-1.lock", "mine");
    let ended = place.run(TINY, &[]);
    assert_eq!(ended.status, 1, "{}", ended.stderr);
    assert!(
        ended.sentence().contains("not a lock file"),
        "{}",
        ended.stderr
    );
    assert_eq!(std::fs::read_to_string(&foreign).unwrap(), "mine");
    std::fs::remove_file(foreign).unwrap();
    assert_eq!(place.run(TINY, &[]).status, 0);
}

#[test]
fn the_list_is_filtered_by_plan_target_and_time() {
    let place = measured();
    let other = place.file(
        "other.toml",
        &TINY.replace("name = \"tiny\"", "name = \"other\""),
    );
    place.fine(&["run", &other, "--target", "mock:"]);
    let numbers = |more: &[&str]| -> Vec<String> {
        let lines = listed(&place, more);
        let first = |line: &String| line.split_whitespace().next().unwrap().to_owned();
        lines.iter().map(first).collect()
    };
    let sqlite = place.url("sqlite", "bench");
    for (filter, expected) in [
        (&["--plan", "other"][..], &["4"][..]),
        (&["--plan", "tiny", "--target", "mock"], &[]),
        (&["--target", "sqlite"], &["1", "2", "3"]),
        (&["--target", &sqlite], &["1", "2", "3"]),
        (&["--target", "mock", "--since", "2020-01-01"], &["4"]),
        (&["--since", "2020-01-31T12:00:00Z"], &["1", "2", "3", "4"]),
        (&["--since", "2999-01-01"], &[]),
    ] {
        assert_eq!(numbers(filter), expected, "{filter:?}");
    }
    for arguments in [
        &["list", "plans", "--since", "2020-01-01"][..],
        &["list", "runs", "--since", "yesterday"],
    ] {
        assert_eq!(place.dbdyno(arguments).status, 2, "{arguments:?}");
    }
}
