//! `dbdyno check --inventory`: inventory, comparison and exit statuses.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{TINY, Workspace};
use serde_json::Value;
use testing::Says;

/// A machine of a few files; returns the argument with its root.
fn machine(workspace: &Workspace) -> String {
    for (path, text) in [
        ("root/proc/sys/kernel/hostname", "bench\n"),
        ("root/proc/sys/fs/aio-max-nr", "65536\n"),
        (
            "root/sys/kernel/mm/transparent_hugepage/enabled",
            "[always] never\n",
        ),
    ] {
        let path = workspace.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    format!("--inventory={}", workspace.path("root").display())
}

#[test]
fn found_stated_and_advised_facts_are_separate() {
    let workspace = Workspace::new();
    let root = machine(&workspace);
    let platform = workspace.file("p.toml", "[storage]\nraid_level = \"RAID-5\"\n");
    let page = workspace
        .fine(&["check", &root, "--platform", &platform])
        .stdout;
    page.says("Machine (found)\n  host name                 bench\n");
    page.says("Storage (stated)\n  raid_level                RAID-5\n");
    page.says("transparent-huge-pages [important]");
    let json = workspace.json(&["check", "--format", "json", &root]);
    assert_eq!(json["format"], "dbdyno-host");
    assert_eq!(json["found"]["sysctl"]["fs.aio-max-nr"], "65536");
    assert_eq!(json["found"]["processor"]["turbo"], Value::Null);
    assert!(json.get("changed").is_none());
}

#[test]
fn two_inventories_differ_in_rows() {
    let workspace = Workspace::new();
    let root = machine(&workspace);
    let before = workspace.fine(&["check", "--format", "json", &root]).stdout;
    let before = workspace.file("before.json", &before);
    let same = workspace
        .fine(&["check", &root, "--against", &before])
        .stdout;
    assert!(same.contains("No differences from"), "{same}");
    workspace.file("root/proc/sys/fs/aio-max-nr", "1048576\n");
    let json = workspace.json(&["check", "--format", "json", &root, "--against", &before]);
    let row = serde_json::json!({
        "fact": "found.sysctl.fs.aio-max-nr", "before": "65536", "after": "1048576"
    });
    assert_eq!(json["changed"], Value::Array(vec![row]));
}

#[test]
fn a_run_is_compared_by_the_facts_that_it_holds() {
    let workspace = Workspace::new();
    workspace.run(
        TINY,
        &[
            "--name",
            "here",
            "--target",
            &workspace.url("sqlite", "a.db"),
        ],
    );
    let root = machine(&workspace);
    let there = workspace
        .fine(&["check", &root, "--against", "here"])
        .stdout;
    let changed = there.split("Changed").nth(1).unwrap();
    assert!(changed.contains("host_name"), "{changed}");
    assert!(changed.contains("bench"), "{changed}");
}

#[test]
fn errors_are_one_sentence_with_the_right_status() {
    let workspace = Workspace::new();
    let root = machine(&workspace);
    let unknown = workspace.file("p.toml", "[storage]\nraid_lvl = \"5\"\n");
    let other = workspace.file("other.json", "{\"format\": \"x\", \"version\": 1}");
    let cases: &[(&[&str], i32, &str)] = &[
        (
            &["--inventory=/nowhere"],
            1,
            "the root /nowhere cannot be read",
        ),
        (
            &["--inventory", "--platform", &unknown],
            2,
            "did you mean \"raid_level\"?",
        ),
        (
            &["--inventory", "--platform", "/nowhere.toml"],
            2,
            "/nowhere.toml cannot be read",
        ),
        (&[&root, "--against", &other], 2, "is not an inventory"),
        (
            &[&root, "--against", "gone.json"],
            2,
            "there is no file gone.json",
        ),
    ];
    for (arguments, status, part) in cases {
        let ended = workspace.dbdyno(&[&["check"], *arguments].concat());
        assert_eq!(ended.status, *status, "{}", ended.stderr);
        assert!(ended.sentence().contains(part), "{}", ended.stderr);
        assert_eq!(ended.stdout, "");
    }
}
