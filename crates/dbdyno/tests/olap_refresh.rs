//! The analytical workload with refresh functions.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

mod common;

use std::time::Duration;

use crate::common::words;
use common::{Workspace, faults, point_of, points};
use serde_json::Value;
use testing::Says;

fn tests_of(exported: &Value) -> Vec<&str> {
    let codes = points(exported).iter().map(|p| p["test"].as_str().unwrap());
    codes.collect()
}

fn figure(exported: &Value, test: &str, name: &str) -> f64 {
    let point = point_of(exported, test);
    point[name]
        .as_f64()
        .unwrap_or_else(|| panic!("{name} of {point}"))
}

#[test]
fn refreshes_are_points_and_leave_the_rows_as_they_were() {
    common::need_duckdb();
    let workspace = Workspace::new();
    for engine in ["duckdb", "sqlite"] {
        let url = workspace.load_olap(engine, engine);
        let arguments = ["run", "olap", "--target", &url, "--queries", "6,1,3"];
        workspace.fine(&[&arguments[..], &["--set", "refresh=true", "--clients", "2"]].concat());
        let exported = workspace.export("last");
        let expected = [
            "RF1",
            "Q6",
            "Q3",
            "Q1",
            "RF2",
            "OLAP-POWER",
            "OLAP-THROUGHPUT",
            "OLAP-COMPOSITE",
        ];
        assert_eq!(tests_of(&exported), expected);
        for point in points(&exported) {
            assert_eq!(faults(point), [""; 0], "{engine} {point}");
        }
        let get = |test: &str, name: &str| figure(&exported, test, name);
        // Fifteen orders and their line items.
        assert!((30.0..150.0).contains(&get("RF1", "rows")));
        assert!((30.0..150.0).contains(&get("RF2", "rows")));
        let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-6;
        let times_s = expected[..5].iter().map(|test| get(test, "elapsed_s"));
        // Times count as at least a thousandth of the slowest.
        let least = times_s.clone().fold(0.0, f64::max) / 1000.0;
        let product: f64 = times_s.map(|s| s.max(least)).product();
        let power = get("OLAP-POWER", "scaled_queries_per_h");
        assert!(near(power, 36.0 / product.powf(0.2)), "{power}");
        let throughput = get("OLAP-THROUGHPUT", "scaled_queries_per_h");
        let elapsed_s = get("OLAP-THROUGHPUT", "elapsed_s");
        assert!(near(throughput, 6.0 * 36.0 / elapsed_s), "{throughput}");
        let composite = get("OLAP-COMPOSITE", "scaled_queries_per_h");
        assert!(near(composite, (power * throughput).sqrt()), "{composite}");
        let checked = workspace.fine(&words("data check olap --target {} --queries 1,6", &[&url]));
        assert!(!checked.stdout.contains("WRONG"), "{}", checked.stdout);
    }
}

#[test]
fn an_earlier_wrong_answer_makes_all_later_points_invalid() {
    let workspace = Workspace::new();
    let url = workspace.load_olap("sqlite", "sqlite");
    common::spoil_answer_12(&url);
    let arguments = ["run", "olap", "--target", &url, "--queries", "6,12"];
    workspace.dbdyno(&[&arguments[..], &["--set", "refresh=true", "--clients", "1"]].concat());
    let exported = workspace.export("last");
    let of = |test: &str| point_of(&exported, test);
    let twelve = of("Q12")["reasons"].to_string();
    twelve.says_all(&["Q12 before the refresh", "wrong answer"]);
    assert_eq!(faults(of("Q6")), [""; 0]);
    for test in ["OLAP-POWER", "OLAP-THROUGHPUT", "OLAP-COMPOSITE"] {
        assert_eq!(of(test)["scaled_queries_per_h"], Value::Null, "{test}");
        assert_ne!(of(test)["reasons"], Value::Array(Vec::new()), "{test}");
    }
}

#[test]
fn a_killed_run_leaves_changed_rows_that_are_reported_and_restored() {
    let workspace = Workspace::new();
    let url = workspace.load_olap("sqlite", "sqlite");
    let arguments = words(
        "run olap --target {} --queries 6,1 --set refresh=true",
        &[&url],
    );
    let named = ["--set", "iterations=20", "--name", "killed"];
    let mut child = workspace.begin(&[&arguments[..], &named].concat());
    let is_in = || {
        let exported = workspace.dbdyno("report killed --format json");
        exported.status == 0 && exported.stdout.contains("\"RF1\"")
    };
    let is_changed = (0..600).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        is_in()
    });
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(is_changed && tests_of(&workspace.export("killed")).len() < 5);

    let check = workspace.ends(2, &["data", "check", "olap", "--target", &url]);
    check
        .sentence()
        .says("dbdyno data load olap TARGET --scale 0.01");
    let plain = workspace.ends(2, &["run", "olap", "--target", &url, "--queries", "6"]);
    let sentence = plain.sentence();
    assert!(sentence.contains("a refresh was interrupted"), "{sentence}");
    assert_eq!(
        tests_of(&workspace.export("last")),
        [""; 0],
        "nothing is archived as measured"
    );

    workspace.fine("run --resume killed");
    let exported = workspace.export("killed");
    assert_eq!(tests_of(&exported).len(), 5);
    let again = exported["points"].to_string();
    assert!(again.contains("new orders were inserted again"), "{again}");
    for point in points(&exported) {
        assert_eq!(faults(point), [""; 0], "{point}");
    }
    let present = workspace.dbdyno(&["data", "load", "olap", "--target", &url, "--scale", "0.01"]);
    present.sentence().says("is already loaded here");
}
