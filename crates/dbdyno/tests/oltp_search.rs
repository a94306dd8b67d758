//! The search of `slo` in order entry restores the database when its measurements have enlarged it.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "common/mysql.rs"]
mod mysql;
#[path = "common/postgres.rs"]
mod postgres;

mod common;

use common::{Workspace, note, point_of, points};
use serde_json::Value;
use testing::Says;

/// Enters orders of one line in each district so that every consistency condition holds.
fn grow(url: &str, orders_of_a_district: u32) {
    let target = engines::open(&engines::parse(url).unwrap()).unwrap();
    let mut session = target.open_session().unwrap();
    let numbers = format!(
        "WITH RECURSIVE more (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM more WHERE n < {orders_of_a_district})"
    );
    for (table, columns) in testing::rows(
        "
            orders     => 3000 + n, d_id, d_w_id, n, '2026-01-02 00:00:00', NULL, 1, 1
            new_order  => 3000 + n, d_id, d_w_id
            order_line => 3000 + n, d_id, d_w_id, 1, 1, d_w_id, NULL, 5, 1.00, 'abcdefghijklmnopqrstuvwx'
        ",
    ) {
        let sql = format!("INSERT INTO {table} {numbers} SELECT {columns} FROM district, more");
        session.batch(&sql).unwrap();
    }
    let sql = format!("UPDATE district SET d_next_o_id = d_next_o_id + {orders_of_a_district}");
    session.batch(&sql).unwrap();
    // A level does this before its users start.
    session
        .batch("UPDATE dbdyno_oltp SET value = '1' WHERE name = 'transactions_since_load'")
        .unwrap();
}

/// A search of a few short measurements on a warehouse with additional orders; every point is valid, including the later consistency
/// conditions. `login` is the searching user. Returns the point of its level.
fn search(url: &str, login: &str, orders_of_a_district: u32) -> Value {
    let workspace = Workspace::new();
    workspace.fine(&["data", "load", "oltp", "--warehouses", "1", "--target", url]);
    grow(url, orders_of_a_district);
    let plan = workspace.file(
        "plan.toml",
        "name = \"p\"\nsample_ms = 100\n[[step]]\nuse = \"oltp\"\nseconds = 0.5\nrate_per_s = 120.0\n\
         [step.oltp]\ndo = \"run\"\nusers = \"2\"\nslo = \"p95=20s\"\n",
    );
    workspace.fine(&["run", &plan, "--target", login, "--name", "s", "--yes"]);
    let run = workspace.export("s");
    for point in points(&run) {
        assert_eq!(
            point["valid"], true,
            "{}: {}",
            point["test"], point["reasons"]
        );
    }
    point_of(&run, "OLTP").clone()
}

/// Ten orders less than a quarter: the first measurement exceeds it, so that the second begins with a restored load.
const ALMOST: u32 = 749;

fn is_brought_back(url: &str) {
    let level = search(url, url, ALMOST);
    let restored = note(&level, "search_restored").unwrap_or_else(|| panic!("{level}"));
    assert!(restored["times"].as_u64().unwrap() >= 1, "{restored}");
    assert_eq!(note(&level, "search_not_restored"), None);
}

#[test]
fn a_file_of_sqlite_is_brought_back() {
    let workspace = Workspace::new();
    is_brought_back(&workspace.url("sqlite", "o.db"));
}

#[test]
fn a_running_postgres_is_brought_back() {
    let server = postgres::server("");
    is_brought_back(&postgres::url(&server, "dbdyno"));
}

#[test]
fn a_running_mariadb_is_restored_by_a_user_with_the_rights() {
    let server = mysql::server("");
    is_brought_back(&mysql::url(&server, "root"));
}

/// The intermediate results of the search are not stored.
#[test]
fn a_database_that_had_grown_before_is_left_and_says_so() {
    let workspace = Workspace::new();
    let url = workspace.url("sqlite", "o.db");
    let level = search(&url, &url, 800);
    let why = note(&level, "search_not_restored").unwrap_or_else(|| panic!("{level}"));
    assert!(why["orders"].as_u64().unwrap() >= 38_000, "{why}");
    assert_eq!(why["orders_loaded"], 30_000);
    why["why"].as_str().unwrap().says("when the search began");
    assert_eq!(note(&level, "search_restored"), None);
}

#[test]
fn a_user_without_rights_to_create_tables_gets_a_note_and_the_search_continues() {
    let server = mysql::server("");
    mysql::ask(
        &server,
        "CREATE USER bench@localhost; GRANT SELECT, INSERT, UPDATE, DELETE ON dbdyno.* TO bench@localhost; \
         GRANT SUPER, PROCESS ON *.* TO bench@localhost; GRANT SELECT ON performance_schema.* TO bench@localhost",
    );
    let (root, bench) = (mysql::url(&server, "root"), mysql::url(&server, "bench"));
    let level = search(&root, &bench, ALMOST);
    let why = note(&level, "search_not_restored").unwrap_or_else(|| panic!("{level}"));
    assert!(why["why"].as_str().unwrap().contains("denied"), "{why}");
    assert_eq!(note(&level, "search_restored"), None);
}
