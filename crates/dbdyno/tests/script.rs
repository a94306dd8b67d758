//! Scripts from one end to the other: the example of the documentation, and what is refused.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{Workspace, points, repository};

const STEP: &str = "name = \"p\"\nsample_ms = 50\n[[step]]\nuse = \"script\"\njobs = [1, 3]\ncontention = true\n\
    mode = \"work\"\n";

/// The example, with so many transactions of a job, however long they take: each of its three is among them.
fn example() -> String {
    let text = std::fs::read_to_string(repository("docs/examples/shop.toml")).unwrap();
    text.replacen("retries = 10", "operations = 200\nretries = 10", 1)
}

/// A plan with the script `text`, in a place of its own.
fn plan(place: &Workspace, text: &str) -> String {
    let script = place.file("shop.toml", text);
    place.file("plan.toml", &format!("{STEP}script = {script:?}\n"))
}

#[test]
fn the_example_is_measured_on_an_embedded_engine_and_on_a_server() {
    let place = Workspace::new();
    let plan = plan(&place, &example());
    let sqlite = place.url("sqlite", "bench.db");
    let arguments = [
        "run",
        &plan,
        "--target",
        &sqlite,
        "--target",
        "postgres+local:?fsync=off",
    ];
    let ended = place.fine(&arguments);
    let run = place.export("last");
    let points = points(&run);
    assert_eq!(points.len(), 4);
    for point in points {
        assert_eq!(
            (&point["test"], &point["valid"]),
            (&"S-shop".into(), &true.into())
        );
        let jobs = point["jobs"].as_f64().unwrap();
        assert_eq!(point["operations"], 200.0 * jobs);
        let notes = point["notes"].to_string();
        for transaction in ["look", "buy", "count"] {
            assert!(
                notes.contains(&format!("transaction \\\"{transaction}\\\"")),
                "{notes}"
            );
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
    let told = "rows per transaction with 3 jobs: look 1.00 · buy 3.00 · count 1.00";
    assert!(ended.stdout.contains(told), "{}", ended.stdout);
    place.fine(&["report", "last", "-o", "page.html"]);
    let page = std::fs::read_to_string(place.path("page.html")).unwrap();
    assert!(
        page.contains("rows per transaction"),
        "the page has the table"
    );
    // The tables went with the last point, so that the file can be opened again.
    place.fine(&arguments[..4]);
}

#[test]
fn a_wrong_number_of_rows_makes_the_point_invalid() {
    let place = Workspace::new();
    let text = example().replacen("rows = 1", "rows = 2", 1);
    let plan = plan(&place, &text);
    let url = place.url("sqlite", "bench.db");
    let ended = place.dbdyno(&["run", &plan, "--target", &url]);
    assert_eq!(ended.status, 3, "{}", ended.stderr);
    assert!(
        ended
            .stdout
            .contains("returned or changed 1 rows instead of 2"),
        "{}",
        ended.stdout
    );
}

#[test]
fn a_script_that_is_not_right_is_refused_before_anything_is_touched() {
    let place = Workspace::new();
    let url = place.url("sqlite", "bench.db");
    let cases = [
        ("weight = 7", "weight = 0", "weight = 0"),
        ("zipf = [1", "zpif = [1", "did you mean \"zipf\"?"),
        (":item\"", ":itme\"", "did you mean \"item\"?"),
    ];
    for (from, to, expected) in cases {
        let text = example().replacen(from, to, 1);
        let plan = plan(&place, &text);
        let ended = place.dbdyno(&["run", &plan, "--target", &url]);
        assert_eq!(ended.status, 2, "{}", ended.stderr);
        assert!(ended.stderr.contains(expected), "{to}: {}", ended.stderr);
        assert!(ended.stderr.contains("shop.toml"), "{}", ended.stderr);
    }
    let plans = [
        ("use = \"script\"\n", "needs script"),
        (
            "use = \"script\"\nscript = \"absent.toml\"\n",
            "absent.toml cannot be read",
        ),
        (
            "use = \"script\"\nscript = \"x\"\ntests = [\"T611\"]\n",
            "a script is one test",
        ),
        (
            "use = \"library\"\nscript = \"x\"\n",
            "needs use = \"script\"",
        ),
        (
            "use = \"script\"\nscript = \"x\"\ndriver_threads = 0\n",
            "driver_threads",
        ),
    ];
    for (step, expected) in plans {
        let plan = place.file("plan.toml", &format!("name = \"p\"\n[[step]]\n{step}"));
        let ended = place.dbdyno(&["run", &plan, "--target", &url]);
        assert_eq!(ended.status, 2, "{}", ended.stderr);
        assert!(ended.stderr.contains(expected), "{step}: {}", ended.stderr);
    }
    assert!(!place.path("bench.db").exists() && !place.archive().exists());
}

/// A plan means the same from wherever it is carried out, also when it is resumed.
#[test]
fn a_script_lies_beside_its_plan() {
    let place = Workspace::new();
    std::fs::create_dir(place.path("plans")).unwrap();
    place.file("plans/shop.toml", &example());
    let text = format!("{STEP}script = 'shop.toml'\n");
    place.file("plans/plan.toml", &text);
    let url = place.url("sqlite", "bench.db");
    place.fine(&["run", "plans/plan.toml", "--target", &url]);
    let kept = place.export("last")["run"]["plan_toml"].to_string();
    let script = place.path("plans/shop.toml");
    assert!(kept.contains(script.to_str().unwrap()), "{kept}");
    // What is said on the command line is meant from there.
    let set = ["--set", "step.script=plans/shop.toml"];
    place.fine(&[&["run", "plans/plan.toml", "--target", &url], &set[..]].concat());
}

#[test]
fn another_text_of_the_script_is_another_test() {
    let place = Workspace::new();
    let plan = plan(&place, &example());
    let url = place.url("sqlite", "bench.db");
    place.fine(&["run", &plan, "--target", &url, "--name", "one"]);
    let first = place.export("one");
    place.file(
        "shop.toml",
        &example().replacen("weight = 7", "weight = 6", 1),
    );
    place.fine(&["run", &plan, "--target", &url, "--name", "two"]);
    let second = place.export("two");
    let definition = |run: &serde_json::Value| points(run)[0]["definition"].clone();
    assert_ne!(
        definition(&first),
        definition(&second),
        "the fingerprint covers the file"
    );
}
