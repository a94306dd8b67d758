//! The analytical workload as its users meet it: load, run, check, drop.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

mod common;

use common::{Place, faults, points};
use serde_json::Value;

fn load(place: &Place, url: &str) {
    let loaded = place.fine(&["olap", "load", "--target", url, "--scale", "0.01"]);
    assert!(
        loaded.stdout.contains("scale 0.01 is loaded: 86805 rows"),
        "{}",
        loaded.stdout
    );
}

fn of<'e>(exported: &'e Value, test: &str) -> &'e Value {
    let found = points(exported).iter().find(|p| p["test"] == test);
    found.unwrap_or_else(|| panic!("no point {test}"))
}

fn run(place: &Place, arguments: &[&str]) -> Value {
    let ended = place.dbdyno(&[&["olap", "run"], arguments].concat());
    assert!([0, 3].contains(&ended.status), "{}", ended.stderr);
    place.export("last")
}

#[test]
fn each_query_is_a_point_and_all_of_them_a_power() {
    common::need_duckdb();
    let place = Place::new();
    for engine in ["duckdb", "sqlite"] {
        let url = place.url(engine, engine);
        load(&place, &url);
        let exported = run(
            &place,
            &[
                "--target",
                &url,
                "--scale",
                "0.01",
                "--iterations",
                "2",
                "--streams",
                "2",
            ],
        );
        assert_eq!(points(&exported).len(), 24);
        let mut product = 1.0_f64;
        for number in 1..=22 {
            let point = of(&exported, &format!("Q{number}"));
            assert_eq!(faults(point), [""; 0], "{engine} Q{number}");
            assert_eq!(point["operations"], 2.0);
            assert_eq!(point["work"]["cache"], "warm");
            assert_eq!(point["work"]["size"], "scale 0.01");
            let notes = point["notes"].to_string();
            assert!(notes.contains("every answer was compared"), "{notes}");
            product *= point["elapsed_s"].as_f64().unwrap() / 2.0;
        }
        let power = of(&exported, "OLAP-POWER");
        let per_min = power["queries_per_min"].as_f64().unwrap();
        assert!((per_min * product.powf(1.0 / 22.0) / 60.0 - 1.0).abs() < 1e-6);
        let throughput = of(&exported, "OLAP-THROUGHPUT");
        assert_eq!(
            (&throughput["jobs"], &throughput["operations"]),
            (&2.into(), &44.0.into())
        );
        assert_eq!(faults(throughput), [""; 0]);
        if engine == "sqlite" {
            wrong_answers_are_invalid(&place, &url);
        }
    }
}

fn wrong_answers_are_invalid(place: &Place, url: &str) {
    let path = url.strip_prefix("sqlite:").unwrap();
    let database = rusqlite::Connection::open(path).unwrap();
    database
        .execute_batch("UPDATE lineitem SET l_shipmode = 'MAIL' WHERE l_shipmode = 'SHIP'")
        .unwrap();
    drop(database);
    let exported = run(place, &["--target", url, "--queries", "12,6"]);
    let wrong = of(&exported, "Q12")["reasons"].to_string();
    assert!(
        wrong.contains("wrong answer: row 1, column high_line_count"),
        "{wrong}"
    );
    assert_eq!(faults(of(&exported, "Q6")), [""; 0]);
    let power = of(&exported, "OLAP-POWER");
    assert_eq!(power["queries_per_min"], Value::Null);
    assert!(power["reasons"].to_string().contains("Q12"), "{power}");
    let checked = place.dbdyno(&["olap", "check", "--target", url, "--json"]);
    assert_eq!(checked.status, 3);
    let found: Value = serde_json::from_str(&checked.stdout).unwrap();
    let verdicts = found["findings"].as_array().unwrap().iter();
    let wrong: Vec<_> = verdicts.filter(|f| f["verdict"] == "wrong").collect();
    assert_eq!(wrong.len(), 1, "{found}");
    assert_eq!(wrong[0]["query"], 12);
}

/// What the engine says of one query is told, and the others are asked all the same.
#[test]
fn a_query_that_takes_too_long_is_invalid_and_the_run_goes_on() {
    let place = Place::new();
    let url = place.url("sqlite", "q");
    load(&place, &url);
    let limited = [
        "--target",
        &url,
        "--queries",
        "1,2",
        "--query-limit",
        "0.001",
    ];
    let exported = run(&place, &[&limited[..], &["--cache", "cold"]].concat());
    assert_eq!(points(&exported).len(), 3);
    let first = of(&exported, "Q1");
    assert!(
        first["reasons"]
            .to_string()
            .contains("took longer than its limit"),
        "{first}"
    );
    assert_eq!(first["work"]["cache"], "cold");
    assert!(!faults(of(&exported, "OLAP-POWER")).is_empty());
}

/// With drawn parameters nobody knows the answers: those of one engine are held against another's.
#[test]
fn engines_are_held_against_each_other() {
    common::need_duckdb();
    let place = Place::new();
    let urls = [place.url("duckdb", "d"), place.url("sqlite", "s")];
    urls.iter().for_each(|url| load(&place, url));
    let both = ["--target", urls[0].as_str(), "--target", urls[1].as_str()];
    let drawn = ["--parameters", "seeded", "--seed", "3"];
    let exported = run(&place, &[&both[..], &drawn[..]].concat());
    assert_eq!(points(&exported).len(), 2 * 23);
    for point in points(&exported) {
        assert_eq!(faults(point), [""; 0], "{}", point["test"]);
    }
    let notes = exported["points"].to_string();
    assert!(
        notes.contains("the first answer of this run, by duckdb"),
        "{notes}"
    );
}

#[test]
fn what_is_wrong_in_itself_is_refused() {
    let place = Place::new();
    let url = place.url("sqlite", "w");
    let refused = |arguments: &[&str], status: i32, says: &str| {
        let ended = place.dbdyno(arguments);
        assert_eq!(ended.status, status, "{arguments:?} {}", ended.stderr);
        let stderr = ended.stderr.replace('\n', " ");
        assert!(stderr.contains(says), "{arguments:?} {stderr}");
    };
    let to = ["--target", url.as_str()];
    let verb = |verb: &'static str, more: &[&'static str]| -> Vec<String> {
        let all = [&["olap", verb][..], &to, more].concat();
        all.into_iter().map(str::to_owned).collect()
    };
    let cases = [
        (
            verb("load", &["--scale", "0.012"]),
            2,
            "same supplier twice",
        ),
        (verb("load", &["--scale", "x"]), 2, "is not a number"),
        (verb("run", &["--queries", "23"]), 2, "no query"),
        (
            verb("run", &["--cache", "cold", "--iterations", "2"]),
            2,
            "asks each query once",
        ),
        (
            verb("check", &[]),
            1,
            "there is no analytical database here",
        ),
    ];
    for (arguments, status, says) in cases {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        refused(&arguments, status, says);
    }
    let dropped = place.fine(&["olap", "drop", "--target", &url]);
    assert_eq!(dropped.stdout, "there was no analytical database\n");
    refused(
        &["olap", "load", "--target", "sqlite:", "--scale", "0.01"],
        2,
        "would end with this command",
    );
}
