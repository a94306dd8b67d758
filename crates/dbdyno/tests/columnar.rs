//! Lifted tables as their users meet them.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

mod common;

use common::Place;
use serde_json::Value;

fn lift(place: &Place, url: &str, level: &str) -> Value {
    let ended = place.fine(&[
        "columnar", "lift", "--from", url, "--level", level, "--json",
    ]);
    serde_json::from_str(&ended.stdout).unwrap()
}

#[test]
fn tables_are_lifted_at_every_level_and_are_smaller_than_on_disk() {
    common::need_duckdb();
    let place = Place::new();
    let url = place.url("sqlite", "olap");
    place.fine(&["olap", "load", "--target", &url, "--scale", "0.01"]);
    let mut bytes = Vec::new();
    let mut checksums = Vec::new();
    for level in [
        "none",
        "query-low",
        "query-high",
        "capacity-low",
        "capacity-high",
    ] {
        let lifted = lift(&place, &url, level);
        assert_eq!(
            (&lifted["valid"], &lifted["level"]),
            (&true.into(), &level.into())
        );
        let tables = lifted["tables"].as_array().unwrap();
        let table = tables.iter().find(|t| t["table"] == "lineitem").unwrap();
        assert_eq!(table["rows"], 60_175);
        assert!(table["compress_factor"].as_f64().unwrap() > 1.0, "{table}");
        assert!(
            table["notes"].to_string().contains("kept as days"),
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
fn lines_say_what_was_lifted_and_bad_words_are_refused() {
    common::need_duckdb();
    let place = Place::new();
    let url = place.url("sqlite", "olap");
    place.fine(&["olap", "load", "--target", &url, "--scale", "0.01"]);
    let said = place.fine(&[
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
        (
            &["--from", &url, "--level", "zstd"][..],
            2,
            "there is no level",
        ),
        (
            &["--from", &url, "--level", "none", "--memory", "1MB"],
            1,
            "more than the 1.0 MB of memory",
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
        (&["--from", "oracle:x", "--level", "none"], 2, "no engine"),
    ] {
        let ended = place.dbdyno(&[&["columnar", "lift"], arguments].concat());
        assert_eq!(ended.status, status, "{}", ended.stderr);
        assert!(ended.stderr.contains(says), "{}", ended.stderr);
    }
}
