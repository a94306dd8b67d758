//! Two configurations, measured in alternation and compared.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::time::Duration;

use crate::common::words;
use common::{TINY, Workspace, points, repository};
use serde_json::Value;
use testing::Says;

/// One repetition of a plan that takes a quarter of a second.
fn ab(workspace: &Workspace, more: &[&str]) -> common::Ended {
    let plan = workspace.file("plan.toml", TINY);
    let url = workspace.url("sqlite", "bench.db");
    let fixed = ["ab", plan.as_str(), "--target", url.as_str()];
    workspace.dbdyno(&[&fixed, more].concat())
}

#[test]
fn a_study_is_measured_in_the_drawn_order_and_ends_in_a_verdict() {
    let workspace = Workspace::new();
    // Twice the jobs on a machine of two cores or more: an effect that exceeds any noise.
    let plan = workspace.file("plan.toml", TINY);
    let url = workspace.url("sqlite", "bench.db");
    // A target may follow the settings of a side.
    let ended = workspace.dbdyno(&words(
        "ab --repeat 6 --name jobs --format json --b step.jobs=[2] {} {}",
        &[&url, &plan],
    ));
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    ended.stderr.says("pairs find differences of");
    let compared = ended.json();
    assert_eq!(compared["design"], "pairs");
    let differences = compared["differences"].as_array().unwrap();
    assert!(
        differences
            .iter()
            .any(|d| d["subject"].as_str().unwrap().contains("jobs")),
        "{differences:?}"
    );
    let primary = &compared["metrics"][0];
    assert_eq!(primary["values_b"].as_array().unwrap().len(), 6);

    // The points follow the drawn order, and both sides of a pair have the same keys.
    let (a, b) = (workspace.export("jobs-a"), workspace.export("jobs-b"));
    let order = a["run"]["study"]["order"].as_str().unwrap();
    assert_eq!(order.len(), 12);
    assert_eq!(b["run"]["study"]["order"], Value::from(order));
    assert_eq!(b["run"]["study"]["settings"][0], "step.jobs=[2]");
    let mut measured: Vec<(String, char)> = Vec::new();
    for (run, side) in [(&a, 'a'), (&b, 'b')] {
        let times = points(run)
            .iter()
            .map(|p| p["started_at"].as_str().unwrap().to_owned());
        measured.extend(times.map(|t| (t, side)));
    }
    measured.sort();
    let found: String = measured.iter().map(|(_, side)| side).collect();
    assert_eq!(found, order);
    let seeds = |run: &Value| {
        points(run)
            .iter()
            .map(|p| p["repetition"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(seeds(&a), seeds(&b));

    // The archive alone gives the same comparison.
    let later = workspace.fine("compare jobs-a jobs-b --format json");
    assert_eq!(later.json(), compared);
    what_the_change_costs(&workspace);
    let text = workspace.fine("compare jobs-a jobs-b --full").stdout;
    assert!(text.contains("6 pairs, measured alternately"), "{text}");
}

/// Prices of both sides in JSON, text and page.
fn what_the_change_costs(workspace: &Workspace) {
    let prices = |name: &str, list: u32| {
        let text = format!(
            "currency = \"USD\"\n[[item]]\npart = \"server\"\nquantity = 1\nlist = {list}\nsource = \"s\"\ndate = \"2026\"\n"
        );
        workspace.file(name, &text)
    };
    let (one, other) = (prices("a.toml", 1000), prices("b.toml", 1500));
    let (a, b) = (format!("A={one}"), format!("jobs-b={other}"));
    let command = [
        "compare", "jobs-a", "jobs-b", "--prices", &a, "--prices", &b,
    ];
    let found = workspace.json(&[&command[..], &["--format", "json"]].concat());
    let change = &found["prices"]["change"];
    assert_eq!(change["extra_net"], 500.0);
    assert_eq!(change["no_ratios_because"], Value::Null);
    let (metric, cost) = (&found["metrics"][0], &change["metrics"][0]);
    let number = |value: &Value| value.as_f64().unwrap();
    let expected = 1.5 / number(&metric["ratio_high"]);
    assert!(
        (number(&cost["price_of_performance"]["low"]) - expected).abs() < 1e-9,
        "{cost}"
    );
    let text = workspace.fine(&command).stdout;
    text.says("B costs 500 USD more than A: 1,500 instead of 1,000 USD net");
    let page = workspace.path("priced.html");
    let page = page.to_str().unwrap();
    workspace.fine(&words(
        "report jobs-b --against jobs-a --prices {} -o {}",
        &[&one, page],
    ));
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("A and B cost the same: 1,000 USD net."));
    let exported = workspace.json(&["report", "jobs-a", "--format", "json", "--prices", &one]);
    assert_eq!(exported["prices"]["total_net"], 1000.0);
    let twice = workspace.dbdyno(&[
        "compare", "jobs-a", "jobs-b", "--prices", &one, "--prices", &other,
    ]);
    assert_eq!(twice.status, 2, "{}", twice.stderr);
}

#[test]
fn a_metric_that_got_worse_fails_the_command_on_request() {
    let workspace = Workspace::new();
    let plan = repository("bench/aa/mock.toml");
    let library = repository("bench/aa/library");
    // B sleeps for eleven times as long, which needs no CPU, and the pairs are so many that two or three disturbed ones do not decide.
    workspace.fine(&words(
        "ab {} --set {} --target mock:?service_us=2000&wait=sleep --set step.seconds=0.2 --b \
        target.slow_down_pct=1000 --repeat 12 --name slow",
        &[
            plan.to_str().unwrap(),
            &format!("library={}", library.display()),
        ],
    ));
    let judged = workspace.ends(4, "compare slow-a slow-b --fail-on worse");
    assert!(judged.stdout.contains("slow_down_pct"), "{}", judged.stdout);
    workspace.fine("compare slow-b slow-a --fail-on worse");
}

#[test]
fn single_runs_carry_no_verdict_and_different_ones_are_refused() {
    let workspace = Workspace::new();
    for name in ["one", "two"] {
        workspace.measure(TINY, &["--name", name]);
    }
    let compared = workspace.fine("compare one two").stdout;
    compared.says("No verdict: with one repetition per side");
    assert!(compared.contains("not interleaved"), "{compared}");
    let longer = workspace.run(TINY, "--name longer --set step.seconds=0.1");
    assert_eq!(longer.status, 0);
    let refused = workspace.ends(2, "compare one longer");
    refused.sentence().says("measured differently");
    let anyway = workspace.fine("compare one longer --allow-mismatch").stdout;
    anyway.says("measured differently: the length of a point");
    let page = workspace.path("both.html");
    workspace.fine(&words("compare one two -o {}", &[page.to_str().unwrap()]));
    let page = std::fs::read_to_string(page).unwrap();
    page.says_all(&["<h1>dbdyno · two", "no verdict is possible"]);
    // The reader of a page may compare different measurements, which are labelled as such.
    let page = workspace.page("longer --against one");
    assert!(page.contains("measured differently: the length of a point"));
    assert!(!page.contains("Not compared") && !page.contains("--allow-mismatch"));
}

/// A side that cannot begin leaves no study that would seem to be in progress.
#[test]
fn a_study_of_which_one_side_cannot_begin_is_not_entered() {
    let workspace = Workspace::new();
    let plan = workspace.file("plan.toml", TINY);
    let url = workspace.url("sqlite", "bench.db");
    let other = format!(
        "target={}",
        workspace.url("sqlite", "no such folder/bench.db")
    );
    let command = ["ab", &plan, "--target", &url, "--b", &other];
    workspace.ends(1, &command);
    let runs = workspace.fine("runs list").stdout;
    assert!(!runs.contains("ab-"), "{runs}");
}

#[test]
fn a_study_that_can_end_in_no_verdict_needs_consent() {
    let workspace = Workspace::new();
    let refused = ab(&workspace, &["--aa", "--repeat", "5", "--name", "few"]);
    assert_eq!(refused.status, 2, "{}", refused.stderr);
    let sentence = refused.sentence();
    sentence.says_all(&[
        "no verdict is possible with --repeat 5",
        "needs 6; if that is intended, add --yes",
    ]);
    assert!(!workspace.archive().exists(), "nothing was begun");
    let meant = ab(
        &workspace,
        &["--aa", "--repeat", "2", "--name", "few", "--yes"],
    );
    assert_eq!(meant.status, 0, "{}", meant.stderr);
    assert!(meant.stdout.contains("no verdict"), "{}", meant.stdout);
}

#[test]
fn invalid_input_measures_nothing() {
    let workspace = Workspace::new();
    let cases: [(&[&str], &str); 7] = [
        (&["--b", "step.sise=quick"], "sise"),
        (&["--b", "target.cash_mb=8"], "cash_mb"),
        (&["--a", "speed"], "KEY=VALUE"),
        (&["--aa", "--repeat", "0"], "--repeat"),
        (&["--aa", "--band", "learned"], "0 pairs"),
        (&["--b", "repeat=3"], "number of pairs"),
        (&["--aa", "--primary", "T132.speed"], "speed"),
    ];
    for (arguments, expected) in cases {
        let ended = ab(&workspace, arguments);
        assert_eq!(ended.status, 2, "{arguments:?}: {}", ended.stderr);
        assert!(
            ended.stderr.contains(expected),
            "{arguments:?}: {}",
            ended.stderr
        );
    }
    let unknown = workspace.dbdyno("compare nobody last");
    assert_ne!(unknown.status, 0);
    assert_eq!(workspace.dbdyno("ab --resume nothing").status, 2);
}

#[test]
fn a_killed_study_is_resumed_to_its_end() {
    let workspace = Workspace::new();
    let plan = workspace.file("plan.toml", TINY);
    let url = workspace.url("sqlite", "bench.db");
    let mut child = workspace.begin(&[
        "ab", &plan, "--target", &url, "--aa", "--repeat", "20", "--name", "cut",
    ]);
    // The kill comes after the first committed point.
    for _ in 0..400 {
        std::thread::sleep(Duration::from_millis(25));
        let exported = workspace.dbdyno("report cut-a --format json");
        if exported.status == 0 && points(&exported.json()).len() >= 2 {
            break;
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let before = points(&workspace.export("cut-a")).len();
    assert!((1..20).contains(&before), "{before}");
    let resumed = workspace.fine("ab --resume cut --format json");
    assert_eq!(resumed.json()["repetitions_a"], 20);
    for run in ["cut-a", "cut-b"] {
        let exported = workspace.export(run);
        assert_eq!(points(&exported).len(), 20);
        assert_eq!(exported["run"]["valid"], true);
    }
    let again = workspace.ends(2, "ab --resume cut");
    assert!(again.sentence().contains("complete"), "{}", again.stderr);
}
