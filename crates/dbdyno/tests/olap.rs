//! The analytical workload from the user's point of view: load, run, check, drop.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

mod common;

use crate::common::words;
use common::{Workspace, faults, point_of as of, points};
use serde_json::Value;
use testing::Says;

fn run(workspace: &Workspace, arguments: &[&str]) -> Value {
    run_to(0, workspace, arguments)
}

/// Runs with this exit status; returns the export.
fn run_to(status: i32, workspace: &Workspace, arguments: &[&str]) -> Value {
    let ended = workspace.dbdyno(&[&["run", "olap"], arguments].concat());
    assert_eq!(ended.status, status, "{}", ended.stderr);
    workspace.export("last")
}

#[test]
fn each_query_is_a_point_and_all_of_them_a_power() {
    common::need_duckdb();
    let workspace = Workspace::new();
    for engine in ["duckdb", "sqlite"] {
        let url = workspace.load_olap(engine, engine);
        let exported = run(
            &workspace,
            &words(
                "--target {} --scale 0.01 --set iterations=2 --clients 2",
                &[&url],
            ),
        );
        assert_eq!(points(&exported).len(), 25);
        let mut times_s = Vec::new();
        for number in 1..=22 {
            let point = of(&exported, &format!("Q{number}"));
            assert_eq!(faults(point), [""; 0], "{engine} Q{number}");
            assert_eq!(point["operations"], 2.0);
            assert_eq!(point["work"]["cache"], "warm");
            assert_eq!(point["work"]["size"], "scale 0.01");
            let notes = point["notes"].to_string();
            assert!(notes.contains("every answer was compared"), "{notes}");
            times_s.push(point["elapsed_s"].as_f64().unwrap() / 2.0);
        }
        let power = of(&exported, "OLAP-POWER");
        assert_eq!(faults(power), [""; 0]);
        let per_min = power["queries_per_min"].as_f64().unwrap();
        // Times count as at least a thousandth of the slowest.
        let least = times_s.iter().copied().fold(0.0, f64::max) / 1000.0;
        let product: f64 = times_s.iter().map(|s| s.max(least)).product();
        let off = (per_min * product.powf(1.0 / 22.0) / 60.0 - 1.0).abs();
        assert!(off < 1e-6, "{power}");
        let throughput = of(&exported, "OLAP-THROUGHPUT");
        assert_eq!(throughput["jobs"], 2);
        assert_eq!(throughput["operations"], 44.0);
        assert_eq!(faults(throughput), [""; 0]);
        if engine == "sqlite" {
            wrong_answers_are_invalid(&workspace, &url);
        }
    }
}

fn wrong_answers_are_invalid(workspace: &Workspace, url: &str) {
    common::spoil_answer_12(url);
    let exported = run_to(3, workspace, &["--target", url, "--queries", "12,6"]);
    let wrong = of(&exported, "Q12")["reasons"].to_string();
    wrong.says("wrong answer: row 1, column high_line_count");
    assert_eq!(faults(of(&exported, "Q6")), [""; 0]);
    let power = of(&exported, "OLAP-POWER");
    assert_eq!(power["queries_per_min"], Value::Null);
    assert!(power["reasons"].to_string().contains("Q12"), "{power}");
    let checked = workspace.ends(
        3,
        &["data", "check", "olap", "--target", url, "--format", "json"],
    );
    let found = checked.json();
    let verdicts = found["findings"].as_array().unwrap().iter();
    let wrong: Vec<_> = verdicts.filter(|f| f["verdict"] == "wrong").collect();
    assert_eq!(wrong.len(), 1, "{found}");
    assert_eq!(wrong[0]["query"], 12);
}

#[test]
fn rounds_keep_each_execution_and_only_the_first_is_cold() {
    let workspace = Workspace::new();
    let url = workspace.load_olap("sqlite", "rounds");
    let options = ["--target", &url, "--queries", "1,6,14", "--set", "rounds=3"];
    let exported = run(
        &workspace,
        &[&options[..], &["--set", "cache=cold"]].concat(),
    );
    assert_eq!(points(&exported).len(), 1);
    let point = of(&exported, "OLAP-ROUNDS");
    assert_eq!(faults(point), [""; 0]);
    assert_eq!(point["operations"], 9.0);
    let executions = point["executions"].as_array().unwrap();
    let order: Vec<(u64, &str)> = (executions.iter())
        .map(|each| {
            let round = each["round"].as_u64().unwrap();
            (round, each["statement"].as_str().unwrap())
        })
        .collect();
    let each_round = |round| ["Q14", "Q6", "Q1"].map(|query| (round, query));
    assert_eq!(
        order,
        [each_round(1), each_round(2), each_round(3)].concat()
    );
    let number = |index: usize, key: &str| executions[index][key].as_u64().unwrap();
    for index in 0..9 {
        assert!(number(index, "elapsed_us") > 0);
        assert!(number(index, "buffer_gets") > number(index, "pages_read"));
        assert_eq!(executions[index]["plan"], executions[index % 3]["plan"]);
    }
    assert_ne!(executions[0]["plan"], executions[1]["plan"]);
    // The first read of a file misses the connection's cache, which then holds the tables of this scale.
    assert!(number(0, "pages_read") > 0);
    assert_eq!(number(6, "pages_read"), 0);
    let elapsed_us: u64 = (0..9)
        .map(|workspace| number(workspace, "elapsed_us"))
        .sum();
    let per_min = point["queries_per_min"].as_f64().unwrap();
    assert!((per_min * elapsed_us as f64 / 9.0 / 60e6 - 1.0).abs() < 1e-9);
    let page = workspace.page("last");
    assert!(page.contains("Time of each query by round"));
    // The page has the times of this export.
    let of_round = |round: usize| -> u64 {
        let places = 3 * (round - 1)..3 * round;
        places
            .map(|workspace| number(workspace, "elapsed_us"))
            .sum()
    };
    let ratio = of_round(3) as f64 / of_round(1) as f64;
    let said = format!("round 3 takes {ratio:.2} of the time of round 1");
    assert!(page.contains(&said), "{said}");
}

/// The first failed query ends its rounds, because later rounds would fail in the same way.
#[test]
fn rounds_end_with_the_first_wrong_answer() {
    let workspace = Workspace::new();
    let url = workspace.load_olap("sqlite", "rounds");
    common::spoil_answer_12(&url);
    let options = ["--target", &url, "--queries", "12,6", "--set", "rounds=3"];
    let exported = run_to(3, &workspace, &options);
    let point = of(&exported, "OLAP-ROUNDS");
    assert!(faults(point)[0].contains("high_line_count"), "{point}");
    assert!(point["executions"].as_array().unwrap().is_empty());
    // With cold caches, the first round has the wrong answer.
    let exported = run_to(
        3,
        &workspace,
        &[&options[..], &["--set", "cache=cold"]].concat(),
    );
    let point = of(&exported, "OLAP-ROUNDS");
    assert!(faults(point).concat().contains("Q12"), "{point}");
    let executions = point["executions"].as_array().unwrap();
    let failed: Vec<_> = (executions.iter())
        .filter(|each| each["elapsed_us"].is_null())
        .collect();
    assert_eq!((failed.len(), executions.len()), (1, 2), "{executions:?}");
    assert!(point["queries_per_min"].is_null());
}

#[test]
fn degrees_are_swept_as_far_as_the_engine_takes_them() {
    common::need_duckdb();
    let workspace = Workspace::new();
    let urls = ["duckdb", "sqlite"].map(|engine| workspace.load_olap(engine, engine));
    let arguments = [
        "--target",
        &urls[0],
        "--target",
        &urls[1],
        "--queries",
        "6,1",
    ];
    let exported = run(&workspace, &[&arguments[..], &["--dop", "1,2,32"]].concat());
    let degrees = |target: &str, test: &str| -> Vec<u64> {
        let of_both = points(&exported).iter();
        let of_it = of_both.filter(|p| p["target"] == target && p["test"] == test);
        of_it.map(|p| p["threads"].as_u64().unwrap()).collect()
    };
    for test in ["Q6", "Q1", "OLAP-POWER"] {
        assert_eq!(degrees("duckdb", test), [1, 2, 32], "{test}");
        assert_eq!(degrees("sqlite", test), [1], "{test}");
    }
    for point in points(&exported) {
        assert_eq!(faults(point), [""; 0], "{point}");
        let (work, notes) = (&point["work"], point["notes"].to_string());
        let is_query = point["test"] != "OLAP-POWER";
        assert_eq!(is_query, work["plan"].is_string(), "{point}");
        if point["target"] == "sqlite" {
            assert_eq!(work["threads_requested"], 1);
            notes.says("threads requested: 1, 2, 32; SQLite runs");
            assert_eq!(
                is_query,
                notes.contains("serial: it got no parallel worker"),
                "{notes}"
            );
        } else {
            assert_eq!(work["threads_requested"], point["threads"]);
            assert_eq!(point["workers"], Value::Null, "it is not reported");
        }
    }
}

#[test]
fn a_server_reports_its_workers() {
    let workspace = Workspace::new();
    let plan = workspace.file(
        "plan.toml",
        "name = 'workers'\n[[step]]\nuse = 'olap'\n[step.olap]\ndo = 'load'\nscale = 0.01\n\
         [[step]]\nuse = 'olap'\n[step.olap]\ndo = 'run'\nqueries = '6,1'\ndop = [1, 3, 32, 64]\n",
    );
    // At this size workers would cost more than they save.
    let url = "postgres+local:?version=15&fsync=off&max_parallel_workers=4&max_worker_processes=8\
               &parallel_setup_cost=0&parallel_tuple_cost=0";
    workspace.fine(&["run", &plan, "--target", url]);
    let exported = workspace.export("last");
    let of_six: Vec<&Value> = points(&exported)
        .iter()
        .filter(|p| p["test"] == "Q6")
        .collect();
    let threads: Vec<u64> = of_six
        .iter()
        .map(|p| p["threads"].as_u64().unwrap())
        .collect();
    assert_eq!(threads, [1, 3, 5]);
    let workers = |index: usize| of_six[index]["workers"].as_f64().unwrap();
    assert_eq!(workers(0), 0.0);
    // Concurrent statements may have taken some workers, but hardly all.
    assert!(workers(1) > 0.0 && workers(2) <= 4.0, "{of_six:?}");
    assert!(of_six[0]["notes"].to_string().contains("serial"));
    assert_eq!(of_six[2]["work"]["threads_requested"], 32);
    let notes = of_six[2]["notes"].to_string();
    notes.says("threads requested: 32, 64; the engine uses at most 5");
    assert_ne!(of_six[0]["work"]["plan"], of_six[1]["work"]["plan"]);
    assert_eq!(of_six[1]["work"]["plan"], of_six[2]["work"]["plan"]);
}

/// An engine's error for one query is reported, and the other queries still run.
#[test]
fn a_query_that_takes_too_long_is_invalid_and_the_run_goes_on() {
    let workspace = Workspace::new();
    let url = workspace.load_olap("sqlite", "q");
    let limited = words("--target {} --queries 1,2 --timeout 0.001", &[&url]);
    let exported = run_to(
        3,
        &workspace,
        &[&limited[..], &["--set", "cache=cold"]].concat(),
    );
    assert_eq!(points(&exported).len(), 3);
    let first = of(&exported, "Q1");
    first["reasons"].to_string().says("exceeded its limit");
    assert_eq!(first["work"]["cache"], "cold");
    assert_ne!(
        of(&exported, "OLAP-POWER")["reasons"],
        Value::Array(Vec::new())
    );
}

#[test]
fn engines_are_held_against_each_other() {
    common::need_duckdb();
    let workspace = Workspace::new();
    let urls = [("duckdb", "d"), ("sqlite", "s")];
    let urls = urls.map(|(engine, name)| workspace.load_olap(engine, name));
    let both = ["--target", urls[0].as_str(), "--target", urls[1].as_str()];
    let drawn = ["--set", "parameters=seeded", "--seed", "3"];
    let exported = run(&workspace, &[&both[..], &drawn[..]].concat());
    assert_eq!(points(&exported).len(), 2 * 23);
    for point in points(&exported) {
        assert_eq!(faults(point), [""; 0], "{}", point["test"]);
    }
    let notes = exported["points"].to_string();
    notes.says("the first answer of this run, by duckdb");
}

#[test]
fn invalid_input_is_refused() {
    let workspace = Workspace::new();
    let url = workspace.url("sqlite", "w");
    workspace.refuses(
        2,
        "
        data load olap --target sqlite:w --scale 0.012 => same supplier twice
        data load olap --target sqlite:w --scale x => is not a number
        run olap --target sqlite:w --queries 23 => is not a query
        run olap --target sqlite:w --set cache=cold --set iterations=2 => runs each query once
        data check olap --target sqlite:w => there is no analytical database here
        ",
    );
    let dropped = workspace.fine(&["data", "drop", "olap", "--target", &url]);
    assert_eq!(dropped.stdout, "there was no analytical database\n");
    let lost =
        "data load olap --target sqlite: --scale 0.01 => would be lost when this command ends";
    workspace.refuses(2, lost);
}
