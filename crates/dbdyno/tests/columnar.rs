//! The column-store verbs from the user's point of view.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

mod common;

use crate::common::words;
use common::{Workspace, faults, point_of, points, repository};
use serde_json::Value;
use testing::Says;

fn populate(workspace: &Workspace, url: &str, level: &str) -> Value {
    let lift = "data load columnar --target {} --levels {} --format json";
    workspace.json(&words(lift, &[url, level]))
}

/// A workspace with the analytical database in the file `olap`, and its URL.
fn loaded() -> (Workspace, String) {
    common::need_duckdb();
    let workspace = Workspace::new();
    let url = workspace.load_olap("sqlite", "olap");
    (workspace, url)
}

#[test]
fn tables_are_populated_at_every_level_and_each_is_smaller_than_the_one_before() {
    let (workspace, url) = loaded();
    let mut bytes = Vec::new();
    let mut checksums = Vec::new();
    for level in [
        "none",
        "query-low",
        "query-high",
        "capacity-low",
        "capacity-high",
    ] {
        let lifted = populate(&workspace, &url, level);
        assert_eq!(lifted["valid"], true);
        assert_eq!(lifted["level"], level);
        let tables = lifted["tables"].as_array().unwrap();
        let table = tables.iter().find(|t| t["table"] == "lineitem").unwrap();
        assert_eq!(table["rows"], 60_175);
        // So few of the engine's memory pages show no compression; a file's pages do.
        let is_file = level.starts_with("capacity");
        assert_eq!(
            table["compress_factor"].as_f64().is_some_and(|f| f > 2.0),
            is_file,
            "{table}"
        );
        table["notes"].to_string().says("kept as dates");
        bytes.push(table["memory_bytes"].as_u64().unwrap());
        checksums.push(table["checksum"].clone());
    }
    assert!(
        bytes[0] > bytes[1] && bytes[1] > bytes[2] && bytes[3] < bytes[1],
        "{bytes:?}"
    );
    checksums.dedup();
    assert_eq!(
        checksums.len(),
        1,
        "the same rows have other checksums at another level"
    );
}

#[test]
fn lines_list_populated_tables_and_bad_options_are_refused() {
    let (workspace, url) = loaded();
    let said = workspace.fine(&words(
        "data load columnar --target {} --tables \
        orders:o_orderkey,customer,-customer:c_comment --levels query-high",
        &[&url],
    ));
    let stdout = &said.stdout;
    stdout.says_all(&["orders", "15000", "customer", "1500"]);
    stdout.says_all(&["in memory", "all", "It is a copy"]);
    assert!(!said.stdout.contains("lineitem"), "{}", said.stdout);
    workspace.refuses(
        2,
        r#"
        data load columnar --target sqlite:olap --levels zstd => unknown level
        data load columnar --target sqlite:olap --levels none --memory 30MB => 30MB is too small: the engine needs at least 64.0 MB
        data load columnar --target sqlite:olap --levels none --memory much => is not a size
        data load columnar --target sqlite:olap --levels none --tables lineitems => did you mean "lineitem"
        data load columnar --target sqlserver:x --levels none => unknown engine
        "#,
    );
    let no_file = "data load columnar --target duckdb: --levels none => name a file";
    workspace.refuses(1, no_file);
}

#[test]
fn the_study_compares_levels_with_disk() {
    common::need_duckdb();
    let workspace = Workspace::new();
    let url = workspace.url("sqlite", "olap");
    let ended = workspace.fine(&words(
        "run columnar --target {} --scale 0.01 --levels query-high,capacity-low --dop 2 --clients 2 \
        --queries 1,6 --memory 300MB --set oltp_users=2 --set oltp_seconds=0.5 --yes",
        &[&url],
    ));
    let exported = workspace.export("last");
    let all = points(&exported);
    // The load, eight tables and their sum at two levels, five points on three targets, and before and after them three changes on disk,
    // followed by both levels; order entry alone, and three points with each target.
    let changes = 2 * (3 + 2 * 6);
    let mixed = 1 + 3 * 3;
    let count = 1 + 2 * 9 + 3 * 5 + changes + mixed;
    assert_eq!(all.len(), count, "{}", ended.stderr);
    for point in all {
        assert_eq!(faults(point), [""; 0], "{}", point["test"]);
    }
    let of = |test: &str, target: &str| {
        let mut found = all
            .iter()
            .filter(|p| p["test"] == test && p["target"] == target);
        found
            .next()
            .unwrap_or_else(|| panic!("no {test} of {target}"))
    };
    let lineitem = of("LIFT-LINEITEM", "duckdb+capacity-low");
    assert_eq!(lineitem["rows"], 60_175.0);
    assert!(
        lineitem["compress_factor"].as_f64().unwrap() > 2.0,
        "{lineitem}"
    );
    lineitem["notes"].to_string().says("codecs read back");
    let total = of("LIFT-ALL", "duckdb+query-high");
    assert_eq!(total["rows"], 86_805.0);
    for target in ["sqlite", "duckdb+query-high", "duckdb+capacity-low"] {
        assert!(of("OLAP-POWER", target)["elapsed_s"].as_f64().unwrap() > 0.0);
        assert_eq!(of("OLAP-THROUGHPUT", target)["jobs"], 2);
    }
    let seconds = |test: &str, target: &str| of(test, target)["elapsed_s"].as_f64().unwrap();
    for level in ["duckdb+query-high", "duckdb+capacity-low"] {
        for change in ["COLUMNAR-INSERT", "COLUMNAR-UPDATE", "COLUMNAR-DELETE"] {
            let lag_s = seconds(&format!("{change}-LAG"), level);
            assert!(0.0 < lag_s && lag_s < seconds(change, level), "{change}");
            assert!(seconds(change, "sqlite") > 0.0);
        }
    }
    let alone = of("MIXED-OLTP-ALONE", "sqlite");
    for target in ["sqlite", "duckdb+query-high", "duckdb+capacity-low"] {
        let during = of("MIXED-OLTP", target);
        assert_eq!(during["seed"], alone["seed"], "other inputs than alone");
        assert!(during["new_orders_per_min"].as_f64().unwrap() > 0.0);
        // One user runs whole passes of two queries.
        let operations = of("MIXED-OLAP", target)["operations"].as_f64().unwrap();
        assert!(operations >= 2.0 && operations % 2.0 == 0.0, "{operations}");
    }
    let page = workspace.page("last");
    page.says_all(&[
        "In-memory column store",
        "Changes: time relative to disk",
        "Changes: lag of the copy",
        "order entry alone",
        "with queries on the copy, capacity-low",
        "Table 1: Oracle table and in-memory sizes",
        "speed relative to disk",
        "2 users",
    ]);
}

/// Order entry and queries in two schemas of one server. A busy machine makes the figures meaningless, so that the test checks only that
/// both loads ran, with the inputs of order entry alone, and without errors.
#[test]
fn order_entry_and_queries_go_on_in_one_server() {
    let workspace = Workspace::new();
    let plan = "name = 'mixed'\nsample_ms = 100\n[[step]]\nuse = 'olap'\n[step.olap]\ndo = 'load'\nscale = 0.01\n\
        [[step]]\nuse = 'mixed'\nseconds = 0.5\nramp_up_seconds = 0.1\n[step.oltp]\ndo = 'run'\nwarehouses = 1\nwarehouse_rows = 'tenth'\n\
        users = 2\n[step.olap]\ndo = 'run'\nqueries = '1,6,14'\nstreams = 2\n";
    let plan = workspace.file("plan.toml", plan);
    workspace.fine(&words(
        "run {} --target postgres+local:?version=15&fsync=off&shared_buffers=64MB --yes",
        &[&plan],
    ));
    let exported = workspace.export("last");
    assert_eq!(points(&exported).len(), 1 + 4);
    let of = |test: &str| {
        let point = point_of(&exported, test);
        assert_eq!(faults(point), [""; 0], "{test}");
        point
    };
    of("MIXED-OLAP-ALONE");
    let alone = of("MIXED-OLTP-ALONE");
    let (users, queries) = (of("MIXED-OLTP"), of("MIXED-OLAP"));
    for point in [alone, users] {
        assert!(point["new_orders_per_min"].as_f64().unwrap() > 0.0);
        assert_eq!(point["jobs"], 2);
        assert_eq!(point["seed"], alone["seed"]);
    }
    // Each of two users runs whole passes of three queries within the window of order entry.
    let operations = queries["operations"].as_f64().unwrap();
    assert!(operations >= 6.0 && operations % 3.0 == 0.0, "{operations}");
    let [window_s, queries_s] = [users, queries].map(|p| p["elapsed_s"].as_f64().unwrap());
    assert!(
        queries_s >= 0.5 && window_s >= queries_s,
        "{window_s} {queries_s}"
    );
    let page = workspace.page("last");
    assert!(page.contains("with queries on the rows, postgres"));
    assert!(!page.contains("Sizes on disk and in memory"));
}

#[test]
fn order_entry_and_queries_go_on_on_the_same_tables() {
    common::need_duckdb();
    let workspace = Workspace::new();
    let plan = "name = 'htap'\nsample_ms = 100\n[[step]]\nuse = 'mixed'\nseconds = 0.3\n[step.oltp]\ndo = 'run'\n\
        warehouses = 1\nwarehouse_rows = 'tenth'\nusers = 2\n[step.olap]\ndo = 'run'\ntables = 'order-entry'\nfollow_seconds = 0\n";
    let plan = workspace.file("plan.toml", plan);
    let source = workspace.url("sqlite", "a");
    let copies = ["duckdb+query-high:", "duckdb+capacity-low:"];
    let targets = [
        "--target", &source, "--target", copies[0], "--target", copies[1],
    ];
    workspace.fine(&[&["run", &plan, "--yes"], &targets[..]].concat());
    let exported = workspace.export("last");
    assert_eq!(points(&exported).len(), 4 + 3);
    let missing = exported["missing"].to_string();
    assert!(missing.contains("copy_cannot_follow"), "{missing}");
    for point in points(&exported) {
        let test = point["test"].as_str().unwrap();
        assert_eq!(faults(point), [""; 0], "{test}");
        if test.starts_with("HTAP-OLTP") {
            // The rate depends on the machine.
            assert!(point["new_orders_per_min"].as_f64().is_some(), "{point}");
            continue;
        }
        let operations = point["operations"].as_f64().unwrap();
        assert!(operations >= 8.0 && operations % 8.0 == 0.0, "{operations}");
        assert!(point["queries_per_min"].as_f64().unwrap() > 0.0);
        let notes = point["notes"].to_string();
        assert!(notes.contains("queries_in_snapshots"), "{notes}");
        let follows = point["target"] == "duckdb+query-high" && test == "HTAP-OLAP";
        assert_eq!(notes.contains("copy_equal_at_end"), follows, "{notes}");
        let ages_ms =
            ["p50", "p95", "max"].map(|part| point[format!("copy_age_ms_{part}")].as_f64());
        assert_eq!(
            ages_ms.is_sorted() && ages_ms[0] > Some(0.0),
            follows,
            "{ages_ms:?}"
        );
    }
    let page = workspace.page("last");
    assert!(page.contains("Order entry and queries on the same tables"));
    assert!(page.contains("Freshness of the copies that followed order entry"));
}

#[test]
fn sizes_are_predicted_and_bad_options_are_refused() {
    let (workspace, url) = loaded();
    let size = |more: &str| {
        let size = "data estimate --target {} --levels query-high ".to_owned() + more;
        workspace.dbdyno(&words(&size, &[&url]))
    };
    let said = size("--format json --memory 3MB --clients 5 --dop 4").json();
    let lifted = populate(&workspace, &url, "query-high");
    let (whole, truth) = (
        &said["levels"][0]["memory_bytes"],
        lifted["memory_bytes"].as_f64(),
    );
    assert!(
        whole["low"].as_f64() <= truth && truth <= whole["high"].as_f64(),
        "{whole}"
    );
    let tables = said["tables"].as_array().unwrap();
    let table = tables.iter().find(|t| t["table"] == "lineitem").unwrap();
    assert_eq!(table["sample"]["rows"], 60_175);
    assert_eq!(table["sample"]["whole"], true);
    assert_eq!(table["sample"]["unit"], "row numbers");
    assert!(!table["sample"]["pieces"].as_array().unwrap().is_empty());
    let fit = &said["fit"]["levels"][0];
    assert!(fit["memory_bytes_high"].as_f64().unwrap() <= 3e6, "{fit}");
    assert!(!fit["tables"].as_array().unwrap().is_empty(), "{fit}");
    assert!(!fit["left_out"].as_array().unwrap().is_empty(), "{fit}");
    assert_eq!(said["cores"]["ample"], 20);
    assert_eq!(said["cores"]["fewest"], 10);
    // By hand: 72 cores less 10 for 20 threads; 3 MB × 358.22 ÷ 178.47.
    let sized = size("--format json --memory 3MB --data 3TB --clients 5 --dop 4 --cores 72").json();
    let sizing = &sized["sizing"];
    assert_eq!(sizing["cores_left"], 62);
    assert_eq!(sizing["saved"], Value::Null);
    let level = &sizing["levels"][0];
    let published = level["published"][0]["held_bytes"].as_f64().unwrap();
    assert!((published - 3e6 * 358.22 / 178.47).abs() < 1.0, "{level}");
    let (low, high) = (
        &level["needed_bytes"]["low"],
        &level["needed_bytes"]["high"],
    );
    assert!(low.as_f64().unwrap() < high.as_f64().unwrap(), "{level}");
    let prices = repository("docs/examples/prices-oracle.toml");
    std::fs::copy(prices, workspace.path("prices.toml")).unwrap();
    let lines = size("--tables orders,part --memory 1GB").stdout;
    lines.says_all(&["95 % between", "read completely, 15000 rows"]);
    lines.says_all(&["in the order of --tables", "orders, part"]);
    for (more, says) in testing::rows(
        r#"
        --size much      => is not a budget
        --memory much      => is not a size
        --clients 5          => --dop
        --tables lineitems => did you mean "lineitem"
        --clients 5 --dop 4 --cores 72 --prices prices.toml => add processor to [platform]
        "#,
    ) {
        let ended = size(more);
        assert_eq!(ended.status, 2, "{more}: {}", ended.stderr);
        assert!(ended.stderr.contains(says), "{more}: {}", ended.stderr);
    }
}
