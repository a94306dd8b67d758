//! The archive names everything that a resumed run opens and executes, so that dbdyno asks for consent if it may be another user's.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::os::unix::fs::{PermissionsExt, chown};

use common::{Ended, TINY, Workspace};
use rusqlite::Connection;
use testing::Says;

/// A run that lacks a point, with a changed target.
fn broken_off(url: Option<&str>) -> Workspace {
    let workspace = Workspace::new();
    workspace.measure(TINY, "--name cut");
    change(&workspace, url);
    workspace
}

fn change(workspace: &Workspace, url: Option<&str>) {
    let archive = Connection::open(workspace.archive()).unwrap();
    let sql = "SELECT 'DELETE FROM ' || m.name FROM sqlite_schema m, pragma_table_info(m.name) c \
               WHERE m.type = 'table' AND c.name = 'point_id'";
    let mut parts = archive.prepare(sql).unwrap();
    let parts = parts.query_map([], |row| row.get(0)).unwrap();
    let mut steps: Vec<String> = parts.map(Result::unwrap).collect();
    assert!(!steps.is_empty());
    steps.push("DELETE FROM point".into());
    steps.push("UPDATE run SET state = 'interrupted'".into());
    archive.execute_batch(&steps.join(";")).unwrap();
    if let Some(url) = url {
        let name = url.split(':').next().unwrap();
        let sql = "UPDATE run SET targets = json_set(targets, '$[0].name', ?1, '$[0].url', ?2)";
        assert!(archive.execute(sql, [name, url]).unwrap() > 0);
    }
}

fn refused(workspace: &Workspace, arguments: &[&str], words: &[&str]) {
    let ended = workspace.ends(2, arguments);
    let sentence = ended.sentence();
    for word in [words, &["add --yes", "start a new run"]].concat() {
        assert!(sentence.contains(word), "{word}: {sentence}");
    }
}

#[test]
fn a_server_that_would_execute_something_needs_consent() {
    let workspace = Workspace::new();
    let made = workspace.path("executed").display().to_string();
    drop(workspace);
    let url = format!("postgres+local:?version=15&archive_mode=on&archive_command=touch '{made}'");
    let workspace = broken_off(Some(&url));
    let resume = ["run", "--resume", "cut"];
    refused(
        &workspace,
        &resume,
        &["(archive_command)", "execute programs"],
    );
    assert!(!std::path::Path::new(&made).exists());
    // With consent it continues, here with a server of another URL.
    let confirmed = workspace.dbdyno("run --resume cut --yes");
    confirmed.stderr.omits("add --yes");
    // A server whose settings only size it needs no consent.
    let workspace = broken_off(Some("postgres+local:?version=15&shared_buffers=32MB"));
    let ended = workspace.dbdyno(&resume);
    assert!(!ended.stderr.contains("add --yes"), "{}", ended.stderr);
}

#[test]
fn both_sides_of_a_study_are_looked_at() {
    let workspace = Workspace::new();
    let plan = workspace.file("plan.toml", TINY);
    let url = workspace.url("sqlite", "bench.db");
    let study = [
        "ab", &plan, "--target", &url, "--aa", "--repeat", "1", "--yes", "--name", "two",
    ];
    workspace.fine(&study);
    let archive = Connection::open(workspace.archive()).unwrap();
    let hostile = "mariadb+local:?plugin_load_add=evil.so";
    let sql = "UPDATE run SET state = 'interrupted', targets = \
               json_set(targets, '$[0].name', 'mariadb+local', '$[0].url', ?1) WHERE label = 'two-b'";
    assert_eq!(archive.execute(sql, [hostile]).unwrap(), 1);
    drop(archive);
    refused(
        &workspace,
        &["ab", "--resume", "two"],
        &["(plugin_load_add)"],
    );
}

#[test]
fn an_archive_that_others_can_write_needs_consent() {
    let workspace = broken_off(None);
    let resume = ["run", "--resume", "cut"];
    let mode = |mode| std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(workspace.archive(), mode(0o666)).unwrap();
    refused(
        &workspace,
        &resume,
        &["can be written by every user", "bench.db"],
    );
    std::fs::set_permissions(workspace.archive(), mode(0o644)).unwrap();
    // SAFETY: takes nothing and touches no memory.
    if unsafe { libc::geteuid() } != 0 {
        testing::skip!("only root can give a file away");
    }
    chown(workspace.archive(), Some(12345), None).unwrap();
    refused(
        &workspace,
        &resume,
        &["belongs to another user (number 12345)", "bench.db"],
    );
    let mut command = workspace.command("run --resume cut --yes");
    let confirmed = Ended::of(command.output().unwrap());
    // The measured run is reported as altered.
    let changed = |ended: &Ended| {
        assert_eq!(ended.status, 3, "{}", ended.stderr);
        let sentence = "run cut is invalid; the page gives the reasons";
        assert!(ended.stderr.contains(sentence), "{}", ended.stderr);
    };
    changed(&confirmed);
    chown(workspace.archive(), Some(0), None).unwrap();
    change(&workspace, None);
    let own = workspace.dbdyno(&resume);
    changed(&own);
}
