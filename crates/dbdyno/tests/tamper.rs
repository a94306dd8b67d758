//! A change outside the tool changes the figure or makes it invalid: the tested SQL, an archived row, a bucket of a histogram.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::path::Path;

use common::{TINY, Workspace, points};
use rusqlite::Connection;
use serde_json::Value;
use testing::Says;

/// The point of the last run of a plan with one point.
fn only_point(workspace: &Workspace) -> Value {
    let exported = workspace.export("last");
    assert_eq!(points(&exported).len(), 1);
    points(&exported)[0].clone()
}

/// Measures with a library in which `change` was applied to one file; returns status and point.
fn with_library(
    workspace: &Workspace,
    plan: &str,
    file: &str,
    change: (&str, &str),
) -> (i32, Value) {
    let library = workspace.library();
    let file = library.join(file);
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains(change.0), "{text}");
    std::fs::write(&file, text.replace(change.0, change.1)).unwrap();
    let ended = workspace.run(plan, &["--set", &format!("library={}", library.display())]);
    (ended.status, only_point(workspace))
}

fn lookups() -> String {
    TINY.replace("T132", "T611")
}

#[test]
fn a_lookup_of_another_column_is_invalid() {
    let workspace = Workspace::new();
    let change = ("amount, day", "version, day");
    let (status, point) = with_library(&workspace, &lookups(), "T611.sql", change);
    assert_eq!(status, 3);
    assert_eq!(point["valid"], false);
    point["reasons"][0]["text"]
        .as_str()
        .unwrap()
        .says("wrong answer");
}

#[test]
fn a_lookup_that_returns_nothing_is_invalid() {
    let workspace = Workspace::new();
    let (status, point) = with_library(&workspace, &lookups(), "T611.sql", ("id = ?", "id = -?"));
    assert_eq!((status, &point["valid"]), (3, &false.into()));
}

#[test]
fn another_expression_is_invalid() {
    let workspace = Workspace::new();
    let (status, point) = with_library(&workspace, TINY, "T132.sqlite.sql", ("7919", "7907"));
    assert_eq!((status, &point["valid"]), (3, &false.into()));
    point["reasons"][0]["text"]
        .as_str()
        .unwrap()
        .says("expected 151203459");
}

#[test]
fn a_loop_that_is_cut_short_is_invalid() {
    let workspace = Workspace::new();
    let (status, point) = with_library(&workspace, TINY, "T132.sqlite.sql", ("i < ?", "i < ? / 2"));
    assert_eq!((status, &point["valid"]), (3, &false.into()));
}

#[test]
fn a_comment_keeps_the_point_valid_but_changes_the_definition() {
    let workspace = Workspace::new();
    workspace.measure(TINY, &[]);
    let before = only_point(&workspace);
    let change = ("FROM loop\n", "FROM loop -- the same\n");
    let (status, after) = with_library(&workspace, TINY, "T132.sqlite.sql", change);
    assert_eq!((status, &after["valid"]), (0, &true.into()));
    assert_ne!(before["definition"], after["definition"]);
    assert_ne!(before["configuration"], after["configuration"]);
}

/// Measures, changes the archive by plain SQL, and returns the point and the report.
fn after_sql(sql: &str) -> (Value, String) {
    let workspace = Workspace::new();
    workspace.measure(TINY, &[]);
    assert_eq!(only_point(&workspace)["valid"], true);
    change_archive(&workspace.archive(), sql);
    let exported = workspace.export("last");
    assert_eq!(exported["run"]["valid"], false, "{sql}");
    let runs = workspace.fine("runs list").stdout;
    let line: Vec<&str> = runs.lines().last().unwrap().split_whitespace().collect();
    assert_eq!(line[5], "no", "{runs}");
    let page = workspace.page("last");
    (points(&exported)[0].clone(), page)
}

fn change_archive(path: &Path, sql: &str) {
    let connection = Connection::open(path).unwrap();
    assert_eq!(connection.execute(sql, []).unwrap(), 1, "{sql}");
}

#[test]
fn a_changed_row_is_invalid_in_export_and_report() {
    let (point, page) = after_sql("UPDATE point SET operations_per_s = operations_per_s * 2");
    assert_eq!(point["valid"], false);
    point["reasons"][0]["text"]
        .as_str()
        .unwrap()
        .says("changed after it was measured");
    // The visible page must show it too, not only the embedded data.
    let shown = page.split("<script").next().unwrap();
    assert!(shown.contains("changed after it was measured"));
}

#[test]
fn a_changed_histogram_is_invalid_in_export_and_report() {
    let (point, page) = after_sql(
        "UPDATE histogram SET v2_deflate = \
         CAST(substr(v2_deflate, 1, length(v2_deflate) - 1) \
         || CASE substr(v2_deflate, -1) WHEN x'00' THEN x'01' ELSE x'00' END AS BLOB) \
         WHERE kind = 'service'",
    );
    assert_eq!(point["valid"], false);
    let shown = page.split("<script").next().unwrap();
    assert!(shown.contains("changed after it was measured"));
}
