//! Text from elsewhere (a foreign archive, a server, ssh) appears only as text: no escape sequence, markup or formula of it takes effect.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "common/postgres.rs"]
mod postgres;

mod common;

use std::os::unix::fs::PermissionsExt;

use common::{Ended, TINY, Workspace};
use rusqlite::Connection;

/// Sets the title of a terminal, makes it red, clears it, and overwrites the line.
const STEERING: &str = "\u{1b}]0;title\u{7}\u{1b}[31m\u{9b}2J\rover\u{7f}";

fn is_clean(what: &str, ended: &Ended) {
    for text in [&ended.stdout, &ended.stderr] {
        let text = text.replace("\r\n", "\n");
        let is_odd = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
        assert!(!text.contains(is_odd), "{what}: {text:?}");
    }
}

/// Measures, and then writes a hostile text to every text column of the archive.
fn foreign(text: &str) -> Workspace {
    let workspace = Workspace::new();
    workspace.measure(TINY, "--name mine");
    workspace.fine(&["runs", "note", "mine", "a note"]);
    let archive = Connection::open(workspace.archive()).unwrap();
    for sql in [
        "UPDATE run SET label = ?1, plan_name = ?1, tool_version = ?1",
        "UPDATE run SET targets = json_set(targets, '$[0].name', ?1, '$[0].engine_version', ?1)",
        "UPDATE annotation SET note = ?1",
        "UPDATE point SET title = ?1, bottleneck_sentence = ?1",
        "INSERT INTO missing (run_id, seq, target, test, title, reason, code, fields)
         VALUES (1, 0, 0, ?1, ?1, ?1, 'text', json_object('text', ?1))",
    ] {
        assert!(archive.execute(sql, [text]).unwrap() > 0, "{sql}");
    }
    workspace
}

#[test]
fn a_foreign_archive_steers_no_terminal() {
    let workspace = foreign(&format!("a{STEERING}"));
    let limits = workspace.file(
        "limits.toml",
        "[[limit]]\nmetric = \"T132.operations_per_s\"\nat_least = 1\n",
    );
    let verbs: [(i32, &[&str]); 9] = [
        (0, &["runs", "list"]),
        (0, &["report", "1", "--format", "json"]),
        (0, &["report", "1", "--format", "csv"]),
        (0, &["report", "1", "--format", "md"]),
        (0, &["report", "1", "-o", "page.html"]),
        (2, &["compare", "1", "1"]),
        (3, &["report", "1", "--limits", &limits]),
        (3, &["report", "1", "--limits", &limits, "--format", "json"]),
        (2, &["runs", "delete", "1", "--yes"]),
    ];
    for (status, arguments) in verbs {
        let ended = workspace.dbdyno(arguments);
        // The altered archive fails checks, but is still readable.
        assert_eq!(ended.status, status, "{arguments:?}: {}", ended.stderr);
        is_clean(&format!("{arguments:?}"), &ended);
        let shown = ended.stdout.contains("over") || ended.stderr.contains("over");
        assert!(
            shown || arguments[0] == "report",
            "{arguments:?}: {}",
            ended.stderr
        );
    }
}

#[test]
fn json_keeps_the_text_and_shows_none_of_it() {
    let text = format!("a{STEERING}");
    let workspace = foreign(&text);
    let exported = workspace.json("report 1 --format json");
    assert_eq!(exported["run"]["label"], text.as_str());
}

#[test]
fn a_foreign_archive_is_no_markup_and_no_formula() {
    let workspace = foreign("=cmd|' /C calc'!A0<img src=http://h>[l](http://h)");
    let markdown = workspace.fine("report 1 --format md").stdout;
    for raw in ["<img", "[l](", " cmd|"] {
        assert!(!markdown.contains(raw), "{markdown}");
    }
    assert!(markdown.contains("&lt;img"), "{markdown}");
    let csv = workspace.fine("report 1 --format csv").stdout;
    for line in csv.lines() {
        for cell in line.split(',').map(|cell| cell.trim_start_matches('"')) {
            assert!(!cell.starts_with('='), "{csv}");
        }
    }
    assert!(csv.contains("'=cmd|"), "{csv}");
}

#[test]
fn a_server_and_ssh_steer_no_terminal() {
    let (workspace, server) = (Workspace::new(), postgres::server(""));
    // The server repeats the name in its message.
    let url = postgres::url(&server, "a%1B%5B31m%C2%9B2J");
    let plan = workspace.file("plan.toml", TINY);
    let ended = workspace.dbdyno(&["run", &plan, "--target", &url, "-vv", "--log-file", "log"]);
    assert!(ended.stderr.contains("does not exist"), "{}", ended.stderr);
    is_clean("run", &ended);
    let log = workspace.text("log");
    assert!(!log.contains(['\u{1b}', '\u{9b}']), "{log}");
    let ssh = workspace.file(
        "ssh",
        &format!("#!/bin/sh\nprintf '%s\\n' 'no entry{STEERING}' >&2\nexit 255\n"),
    );
    std::fs::set_permissions(&ssh, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = workspace.command("check --inventory --ssh ssh://u@h");
    command.env("DBDYNO_SSH", &ssh);
    let ended = Ended::of(command.output().unwrap());
    assert!(ended.stderr.contains("no entry"), "{}", ended.stderr);
    is_clean("host", &ended);
}

#[test]
fn without_a_home_the_archive_must_be_named() {
    let workspace = Workspace::new();
    let plan = workspace.file("plan.toml", TINY);
    let url = workspace.url("sqlite", "bench.db");
    let mut command = workspace.command(&["run", &plan, "--target", &url]);
    for variable in ["DBDYNO_ARCHIVE", "XDG_DATA_HOME"] {
        command.env_remove(variable);
    }
    let ended = Ended::of(command.env("HOME", "relative").output().unwrap());
    assert_eq!(ended.status, 1, "{}", ended.stderr);
    assert!(ended.stderr.contains("--archive FILE"), "{}", ended.stderr);
    assert!(!workspace.path("relative").exists());
}
