//! Scripts from end to end: the example of the documentation, and refused ones.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use crate::common::words;
use common::{Workspace, points, repository};
use testing::Says;

const STEP: &str = "name = \"p\"\nsample_ms = 50\n[[step]]\nuse = \"script\"\njobs = [1, 3]\ncontention = true\n\
    mode = \"work\"\n";

/// The example with enough transactions per job to include each of its three kinds.
fn example() -> String {
    let text = std::fs::read_to_string(repository("docs/examples/shop.toml")).unwrap();
    text.replacen("retries = 10", "operations = 200\nretries = 10", 1)
}

fn plan(workspace: &Workspace, text: &str) -> String {
    let script = workspace.file("shop.toml", text);
    workspace.file("plan.toml", &format!("{STEP}script = {script:?}\n"))
}

#[test]
fn the_example_is_measured_on_an_embedded_engine_and_on_a_server() {
    let workspace = Workspace::new();
    let plan = plan(&workspace, &example());
    let sqlite = workspace.url("sqlite", "bench.db");
    let arguments = words(
        "run {} --target {} --target postgres+local:?fsync=off --full",
        &[&plan, &sqlite],
    );
    let ended = workspace.fine(&arguments);
    let run = workspace.export("last");
    let points = points(&run);
    assert_eq!(points.len(), 4);
    for point in points {
        assert_eq!(point["test"], "S-shop");
        assert_eq!(point["valid"], true);
        let jobs = point["jobs"].as_f64().unwrap();
        assert_eq!(point["operations"], 200.0 * jobs);
        let notes = point["notes"].to_string();
        for transaction in ["look", "buy", "count"] {
            notes.says(&format!("transaction \\\"{transaction}\\\""));
        }
        // A row found; a price, a changed and a new row; a sum.
        let kinds = point["transactions"].as_array().unwrap();
        let rows = kinds.iter().map(|kind| {
            assert!(kind["completed"].as_u64().unwrap() > 0, "{kind}");
            let rows = kind["rows_per_transaction"].as_f64().unwrap();
            (kind["name"].as_str().unwrap(), rows)
        });
        let expected = [("look", 1.0), ("buy", 3.0), ("count", 1.0)];
        assert_eq!(rows.collect::<Vec<_>>(), expected);
    }
    let expected = "rows per transaction with 3 sessions: look 1.00 · buy 3.00 · count 1.00";
    assert!(ended.stdout.contains(expected), "{}", ended.stdout);
    let page = workspace.page("last");
    assert!(
        page.contains("rows per transaction"),
        "the page has the table"
    );
    // The tables are dropped after the last point, so that the file can be reused.
    workspace.fine(&arguments[..4]);
}

#[test]
fn a_wrong_number_of_rows_makes_the_point_invalid() {
    let workspace = Workspace::new();
    let text = example().replacen("rows = 1", "rows = 2", 1);
    let plan = plan(&workspace, &text);
    let url = workspace.url("sqlite", "bench.db");
    let ended = workspace.ends(3, &["run", &plan, "--target", &url, "--full"]);
    ended.stdout.says("returned or changed 1 rows instead of 2");
}

#[test]
fn a_script_that_is_not_right_is_refused_before_anything_is_touched() {
    let workspace = Workspace::new();
    let url = workspace.url("sqlite", "bench.db");
    let cases = [
        ("weight = 7", "weight = 0", "weight = 0"),
        ("zipf = [1", "zpif = [1", "did you mean \"zipf\"?"),
        (":item\"", ":itme\"", "did you mean \"item\"?"),
    ];
    for (from, to, expected) in cases {
        let text = example().replacen(from, to, 1);
        let plan = plan(&workspace, &text);
        let ended = workspace.ends(2, &["run", &plan, "--target", &url]);
        assert!(ended.stderr.contains(expected), "{to}: {}", ended.stderr);
        assert!(ended.stderr.contains("shop.toml"), "{}", ended.stderr);
    }
    for (step, expected) in testing::rows(
        r#"
        use = "script" => needs script
        use = "script"; script = "absent.toml" => absent.toml cannot be read
        use = "script"; script = "x"; tests = ["T611"] => a script is one test
        use = "library"; script = "x" => needs use = "script"
        use = "script"; script = "x"; driver_threads = 0 => driver_threads
        "#,
    ) {
        let plan = format!(
            "name = \"p\"
[[step]]
{}
",
            step.replace(
                "; ", "
"
            )
        );
        let plan = workspace.file("plan.toml", &plan);
        let ended = workspace.ends(2, &["run", &plan, "--target", &url]);
        assert!(ended.stderr.contains(expected), "{step}: {}", ended.stderr);
    }
    assert!(!workspace.path("bench.db").exists() && !workspace.archive().exists());
}

/// A plan means the same in every working directory, also when it is resumed.
#[test]
fn a_script_is_found_next_to_its_plan() {
    let workspace = Workspace::new();
    std::fs::create_dir(workspace.path("plans")).unwrap();
    workspace.file("plans/shop.toml", &example());
    let text = format!("{STEP}script = 'shop.toml'\n");
    workspace.file("plans/plan.toml", &text);
    let url = workspace.url("sqlite", "bench.db");
    workspace.fine(&["run", "plans/plan.toml", "--target", &url]);
    let plan_toml = workspace.export("last")["run"]["plan_toml"].to_string();
    let script = workspace.path("plans/shop.toml");
    assert!(plan_toml.contains(script.to_str().unwrap()), "{plan_toml}");
    // Paths on the command line are relative to the working directory.
    let set = ["--set", "step.script=plans/shop.toml"];
    workspace.fine(&[&["run", "plans/plan.toml", "--target", &url], &set[..]].concat());
}

#[test]
fn another_text_of_the_script_is_another_test() {
    let workspace = Workspace::new();
    let plan = plan(&workspace, &example());
    let url = workspace.url("sqlite", "bench.db");
    workspace.fine(&["run", &plan, "--target", &url, "--name", "one"]);
    let first = workspace.export("one");
    workspace.file(
        "shop.toml",
        &example().replacen("weight = 7", "weight = 6", 1),
    );
    workspace.fine(&["run", &plan, "--target", &url, "--name", "two"]);
    let second = workspace.export("two");
    let definition = |run: &serde_json::Value| points(run)[0]["definition"].clone();
    assert_ne!(
        definition(&first),
        definition(&second),
        "the fingerprint covers the file"
    );
}
