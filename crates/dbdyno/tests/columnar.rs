//! The column-store verbs from the user's point of view.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

mod common;

use common::{Workspace, faults, point_of, points, repository};
use serde_json::Value;

fn populate(workspace: &Workspace, url: &str, level: &str) -> Value {
    let ended = workspace.fine(&[
        "columnar", "lift", "--from", url, "--level", level, "--json",
    ]);
    serde_json::from_str(&ended.stdout).unwrap()
}

#[test]
fn tables_are_populated_at_every_level_and_each_is_smaller_than_the_one_before() {
    common::need_duckdb();
    let workspace = Workspace::new();
    let url = workspace.url("sqlite", "olap");
    workspace.fine(&["olap", "load", "--target", &url, "--scale", "0.01"]);
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
        assert_eq!(
            (&lifted["valid"], &lifted["level"]),
            (&true.into(), &level.into())
        );
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
        assert!(
            table["notes"].to_string().contains("kept as dates"),
            "{table}"
        );
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
    common::need_duckdb();
    let workspace = Workspace::new();
    let url = workspace.url("sqlite", "olap");
    workspace.fine(&["olap", "load", "--target", &url, "--scale", "0.01"]);
    let said = workspace.fine(&[
        "columnar",
        "lift",
        "--from",
        &url,
        "--tables",
        "orders,customer",
        "--columns",
        "orders.o_orderkey,-customer.c_comment",
        "--level",
        "query-high",
    ]);
    for part in [
        "orders",
        "15000",
        "customer",
        "1500",
        "in memory",
        "all",
        "It is a copy",
    ] {
        assert!(said.stdout.contains(part), "{part}: {}", said.stdout);
    }
    assert!(!said.stdout.contains("lineitem"), "{}", said.stdout);
    for (arguments, status, says) in [
        (&["--from", &url, "--level", "zstd"][..], 2, "unknown level"),
        (
            &["--from", &url, "--level", "none", "--memory", "30MB"],
            2,
            "30MB is too small: the engine needs at least 64.0 MB",
        ),
        (
            &["--from", &url, "--level", "none", "--memory", "much"],
            2,
            "is not a size",
        ),
        (
            &["--from", &url, "--level", "none", "--tables", "lineitems"],
            2,
            "did you mean \"lineitem\"",
        ),
        (&["--from", "duckdb:", "--level", "none"], 1, "name a file"),
        (
            &["--from", "oracle:x", "--level", "none"],
            2,
            "unknown engine",
        ),
    ] {
        let ended = workspace.dbdyno(&[&["columnar", "lift"], arguments].concat());
        assert_eq!(ended.status, status, "{}", ended.stderr);
        assert!(ended.stderr.contains(says), "{}", ended.stderr);
    }
}

#[test]
fn the_study_compares_levels_with_disk() {
    common::need_duckdb();
    let workspace = Workspace::new();
    let url = workspace.url("sqlite", "olap");
    let ended = workspace.dbdyno(&[
        "columnar",
        "run",
        "--from",
        &url,
        "--scale",
        "0.01",
        "--levels",
        "query-high,capacity-low",
        "--dop",
        "2",
        "--users",
        "2",
        "--queries",
        "1,6",
        "--memory",
        "300MB",
        "--oltp-users",
        "2",
        "--oltp-seconds",
        "0.5",
        "--yes",
    ]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
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
    assert!(
        lineitem["notes"].to_string().contains("codecs read back"),
        "{lineitem}"
    );
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
    let page = workspace.path("page.html");
    workspace.fine(&["report", "last", "-o", page.to_str().unwrap()]);
    let page = std::fs::read_to_string(page).unwrap();
    for part in [
        "In-memory column store",
        "Changes: time relative to disk",
        "Changes: lag of the copy",
        "order entry alone",
        "with queries on the copy, capacity-low",
        "Table 1: Oracle table and in-memory sizes",
        "speed relative to disk",
        "2 users",
    ] {
        assert!(page.contains(part), "{part}");
    }
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
    let ended = workspace.dbdyno(&[
        "run",
        &plan,
        "--target",
        "postgres+local:?version=15&fsync=off&shared_buffers=64MB",
        "--yes",
    ]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
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
        assert_eq!(
            (&point["jobs"], &point["seed"]),
            (&2.into(), &alone["seed"])
        );
    }
    // Each of two users runs whole passes of three queries within the window of order entry.
    let operations = queries["operations"].as_f64().unwrap();
    assert!(operations >= 6.0 && operations % 3.0 == 0.0, "{operations}");
    let [window_s, queries_s] = [users, queries].map(|p| p["elapsed_s"].as_f64().unwrap());
    assert!(
        queries_s >= 0.5 && window_s >= queries_s,
        "{window_s} {queries_s}"
    );
    let page = workspace.path("page.html");
    workspace.fine(&["report", "last", "-o", page.to_str().unwrap()]);
    let page = std::fs::read_to_string(page).unwrap();
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
    let ended = workspace.dbdyno(&[&["run", &plan, "--yes"], &targets[..]].concat());
    assert_eq!(ended.status, 0, "{}", ended.stderr);
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
        assert!(notes.contains("asked_in_snapshots"), "{notes}");
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
    let page = workspace.path("page.html");
    workspace.fine(&["report", "last", "-o", page.to_str().unwrap()]);
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("Order entry and queries on the same tables"));
    assert!(page.contains("Freshness of the copies that followed order entry"));
}

#[test]
fn sizes_are_predicted_and_bad_options_are_refused() {
    common::need_duckdb();
    let workspace = Workspace::new();
    let url = workspace.url("sqlite", "olap");
    workspace.fine(&["olap", "load", "--target", &url, "--scale", "0.01"]);
    let size = |more: &[&str]| {
        workspace.dbdyno(
            &[
                &["columnar", "size", "--from", &url, "--level", "query-high"],
                more,
            ]
            .concat(),
        )
    };
    let ended = size(&[
        "--json",
        "--memory",
        "3MB",
        "--users",
        "5",
        "--threads",
        "4",
    ]);
    let said: Value = serde_json::from_str(&ended.stdout).unwrap();
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
    assert_eq!(
        (&said["cores"]["ample"], &said["cores"]["fewest"]),
        (&20.into(), &10.into())
    );
    // By hand: 72 cores less 10 for 20 threads; 3 MB × 358.22 ÷ 178.47.
    let prices = format!(
        "{}/docs/examples/prices-oracle.toml",
        repository("").display()
    );
    let sized = size(&[
        "--json",
        "--memory",
        "3MB",
        "--data",
        "3TB",
        "--users",
        "5",
        "--threads",
        "4",
        "--cores",
        "72",
    ]);
    let sizing = &serde_json::from_str::<Value>(&sized.stdout).unwrap()["sizing"];
    assert_eq!(
        (&sizing["cores_left"], &sizing["saved"]),
        (&62.into(), &Value::Null)
    );
    let level = &sizing["levels"][0];
    let published = level["published"][0]["held_bytes"].as_f64().unwrap();
    assert!((published - 3e6 * 358.22 / 178.47).abs() < 1.0, "{level}");
    let (low, high) = (
        &level["needed_bytes"]["low"],
        &level["needed_bytes"]["high"],
    );
    assert!(low.as_f64().unwrap() < high.as_f64().unwrap(), "{level}");
    let unknown = size(&[
        "--users",
        "5",
        "--threads",
        "4",
        "--cores",
        "72",
        "--prices",
        &prices,
    ]);
    assert_eq!(unknown.status, 2, "{}", unknown.stdout);
    assert!(
        unknown.stderr.contains("add processor to [platform]"),
        "{}",
        unknown.stderr
    );
    let lines = size(&["--tables", "orders,part", "--memory", "1GB"]).stdout;
    for part in [
        "95 % between",
        "read completely, 15000 rows",
        "in the order of --tables",
        "orders, part",
    ] {
        assert!(lines.contains(part), "{part}: {lines}");
    }
    for (more, status, says) in [
        (&["--budget", "much"][..], 2, "is not a budget"),
        (&["--memory", "much"], 2, "is not a size"),
        (&["--users", "5"], 2, "--threads"),
        (&["--tables", "lineitems"], 2, "did you mean \"lineitem\""),
    ] {
        let ended = size(more);
        assert_eq!(ended.status, status, "{}", ended.stderr);
        assert!(ended.stderr.contains(says), "{}", ended.stderr);
    }
}
