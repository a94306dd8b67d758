//! `dbdyno ab --interleave`: both sides of a pair alternate in slices, on one database or on two at once.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "common/mysql.rs"]
mod mysql;
#[path = "common/postgres.rs"]
mod postgres;

mod common;

use std::time::Duration;

use crate::common::words;
use common::{Ended, Workspace, points};
use serde_json::Value;
use testing::Says;

/// A script with a slow transaction, and a plan that repeats it for a second.
fn plan(workspace: &Workspace, statement: &str) -> String {
    for (name, times) in [("one", 1), ("five", 5)] {
        let statement = format!("[[transaction.statement]]\nsql = \"{statement}\"\n").repeat(times);
        let script = format!("name = \"work\"\n[[transaction]]\nname = \"work\"\n{statement}");
        workspace.file(&format!("{name}.toml"), &script);
    }
    workspace.file(
        "plan.toml",
        "name = \"p\"\nsample_ms = 50\nprimary = [\"S-work.operations_per_s\"]\n[[step]]\nuse = \"script\"\nscript = \"one.toml\"\njobs = [2]\nmode = \"time\"\nseconds = 1\n",
    )
}

/// A study of six pairs whose side B does five times the work.
fn study(workspace: &Workspace, plan: &str, targets: &[&str]) -> Ended {
    let five = format!("step.script={}", workspace.path("five.toml").display());
    let how = words(
        "--interleave 100ms --repeat 6 --name s --b {} --format json --yes",
        &[&five],
    );
    let targets: Vec<&str> = targets.iter().flat_map(|url| ["--target", url]).collect();
    workspace.dbdyno(&[&["ab", plan], &how[..], &targets].concat())
}

/// B is far worse, and every point is valid and records how it was measured.
fn b_is_slower(workspace: &Workspace, ended: &Ended) {
    assert_eq!(ended.status, 0, "{}{}", ended.stdout, ended.stderr);
    let compared = ended.json();
    assert_eq!(compared["slice_ms"], 100);
    assert_eq!(compared["design"], "pairs");
    let first = &compared["metrics"][0];
    assert_eq!(first["verdict"], "worse", "{first:#}");
    let ratio = first["ratio"].as_f64().unwrap();
    assert!((0.05..0.7).contains(&ratio), "{ratio}");
    let runs = ["s-a", "s-b"].map(|side| workspace.export(side));
    is_explained_by_slices(&compared, &runs);
    for run in &runs {
        assert_eq!(points(run).len(), 6);
        for point in points(run) {
            assert_eq!(point["valid"], true, "{}", point["reasons"]);
            // 1 s is ten slices; a slow side finishes due operations later.
            let ends = point["samples"].as_array().unwrap().iter();
            let ends: Vec<f64> = ends.map(|s| s["at_s"].as_f64().unwrap() * 10.0).collect();
            let is_whole = |end: &f64| (end - end.round()).abs() < 1e-6;
            let are_whole = ends.len() >= 10 && ends[..10].iter().all(is_whole);
            assert!(are_whole, "{ends:?}");
            point["notes"].to_string().says("slices of 100 ms");
            // Activity of others in the meantime belongs to neither side.
            assert_eq!(point["cpu_pct"], Value::Null);
            assert_eq!(point["timed_events"], Value::Array(vec![]));
        }
    }
}

/// The archive's slices give the parts of the scatter and both orders of each pair.
fn is_explained_by_slices(compared: &Value, runs: &[Value; 2]) {
    let (first, arranged) = (&compared["metrics"][0], &compared["arranged"]);
    assert!(["in_place", "one_server"].contains(&arranged["how"].as_str().unwrap()));
    let scatter = &first["scatter"];
    assert_eq!(scatter["within"], "slices");
    assert_eq!(scatter["between"], "sessions");
    let of = |part: &str| scatter[part].as_f64().unwrap();
    let parts = of("within_pct").hypot(of("between_pct"));
    assert!((parts / of("total_pct") - 1.0).abs() < 1e-9, "{scatter}");
    let pairs = first["pairs"].as_array().unwrap();
    assert_eq!(pairs.len(), 6);
    for (at, pair) in pairs.iter().enumerate() {
        let slices = runs.each_ref().map(|run| whole_slices(&points(run)[at]));
        // Half of the slices of a second: disturbances move these ratios without bound, so that the test only checks that they are the
        // ratios of these slices. A side may have had no CPU in any of one half; then there is neither.
        let own = [true, false].map(|is_a_first| ratio_of(&slices, is_a_first));
        let stored = ["ratio_a_first", "ratio_b_first"].map(|order| pair[order].as_f64());
        if own.iter().all(|own| own.is_normal()) {
            for (own, stored) in own.iter().zip(stored) {
                let is_own = stored.is_some_and(|ratio| (ratio - own).abs() <= 1e-9 * own);
                assert!(is_own, "{own}: {pair}");
            }
        } else {
            assert_eq!(stored, [None, None], "{own:?}: {pair}");
        }
        assert!(["a", "b"].contains(&pair["first"].as_str().unwrap()));
        assert!(pair["started_at_b"].as_str().unwrap().ends_with('Z'));
    }
}

/// The ten whole slices of a point, numbered among those of both sides: 1 and 2 are neighbours, then 3 and 4 …
fn whole_slices(point: &Value) -> Vec<(u64, f64)> {
    let samples = point["samples"].as_array().unwrap()[..10].iter();
    let slices = samples.map(|sample| {
        let workspace = (sample["at_s"].as_f64().unwrap() * 10.0).round() as u64;
        (workspace, sample["operations_per_s"].as_f64().unwrap())
    });
    slices.collect()
}

/// Mean rate of B divided by that of A over neighbouring slices, of which A's (or B's) was the first.
fn ratio_of([a, b]: &[Vec<(u64, f64)>; 2], is_a_first: bool) -> f64 {
    let (mut sum_a, mut sum_b) = (0.0, 0.0);
    for (workspace, rate) in a {
        let neighbour = if is_a_first {
            workspace + 1
        } else {
            workspace - 1
        };
        let other = b.iter().find(|(of_b, _)| *of_b == neighbour);
        if let Some((_, of_b)) = other.filter(|_| (workspace % 2 == 1) == is_a_first) {
            sum_a += rate;
            sum_b += of_b;
        }
    }
    sum_b / sum_a
}

#[test]
fn two_scripts_take_turns_on_one_postgres() {
    let (server, workspace) = (postgres::server(""), Workspace::new());
    let plan = plan(&workspace, "SELECT 1");
    let ended = study(&workspace, &plan, &[&postgres::url(&server, "dbdyno")]);
    b_is_slower(&workspace, &ended);
}

#[test]
fn two_scripts_take_turns_on_one_mariadb() {
    let (server, workspace) = (mysql::server(""), Workspace::new());
    let plan = plan(&workspace, "SELECT 1");
    let ended = study(&workspace, &plan, &[&mysql::url(&server, "root")]);
    b_is_slower(&workspace, &ended);
}

#[test]
fn two_scripts_take_turns_in_one_file_of_sqlite() {
    let workspace = Workspace::new();
    let sql = "SELECT length(hex(zeroblob(2000)))";
    let plan = plan(&workspace, sql);
    let ended = study(&workspace, &plan, &[&workspace.url("sqlite", "one.db")]);
    b_is_slower(&workspace, &ended);
}

#[test]
fn two_scripts_take_turns_in_one_file_of_duckdb() {
    let workspace = Workspace::new();
    let plan = plan(&workspace, "SELECT 1");
    let ended = study(&workspace, &plan, &[&workspace.url("duckdb", "one.duckdb")]);
    b_is_slower(&workspace, &ended);
}

/// A pair of points on two simultaneous servers; all are valid, which includes the proof of each side's writes.
fn two_servers_take_turns(steps: &str, (url, setting): (&str, &str), tests: &[&str]) {
    let workspace = Workspace::new();
    let plan = workspace.file(
        "plan.toml",
        &format!("name = \"p\"\nsample_ms = 50\n{steps}"),
    );
    let how = words("--interleave 300ms --repeat 1 --name s --yes", &[]);
    let ended =
        workspace.dbdyno(&[&["ab", &plan, "--target", url, "--b", setting], &how[..]].concat());
    assert_eq!(ended.status, 0, "{}{}", ended.stdout, ended.stderr);
    for side in ["s-a", "s-b"] {
        let run = workspace.export(side);
        let all = points(&run);
        let there = all.iter().map(|p| p["test"].as_str().unwrap());
        assert_eq!(there.collect::<Vec<_>>(), tests, "{side}");
        for point in all {
            assert_eq!(point["valid"], true, "{side}: {}", point["reasons"]);
        }
    }
}

#[test]
fn updates_take_turns_on_two_mysql_servers() {
    mysql::needs_mysql();
    updates_take_turns_on_two_servers("mysql+local:");
}

#[test]
fn updates_take_turns_on_two_mariadb_servers() {
    updates_take_turns_on_two_servers("mariadb+local:");
}

fn updates_take_turns_on_two_servers(url: &str) {
    two_servers_take_turns(
        "[[step]]\nuse = \"library\"\ntests = [\"T716\"]\njobs = [2]\nmode = \"time\"\nseconds = 3\n",
        (url, "target.sort_buffer_size=1M"),
        &["T716"],
    );
}

#[test]
fn order_entry_takes_turns_on_two_postgres_servers() {
    two_servers_take_turns(
        "[[step]]\nuse = \"oltp\"\n[step.oltp]\ndo = \"load\"\nwarehouses = 1\nwarehouse_rows = \"tenth\"\n\
         [[step]]\nuse = \"oltp\"\nseconds = 3\nramp_up_seconds = 0.1\n[step.oltp]\ndo = \"run\"\nusers = \"2\"\npauses = false\n",
        ("postgres+local:", "target.work_mem=8MB"),
        &words(
            "OLTP-LOAD OLTP-BEFORE OLTP NEW-ORDER PAYMENT ORDER-STATUS DELIVERY STOCK-LEVEL OLTP-AFTER",
            &[],
        ),
    );
}

/// Two running servers are different instances, whose difference is unknown.
#[test]
fn a_pair_of_running_servers_carries_no_verdict() {
    let (one, other, workspace) = (postgres::server(""), postgres::server(""), Workspace::new());
    let plan = plan(&workspace, "SELECT 1");
    let other = format!("target={}", postgres::url(&other, "dbdyno"));
    let how = words(
        "--interleave 100ms --repeat 6 --b {} --yes --full",
        &[&other],
    );
    let url = postgres::url(&one, "dbdyno");
    let said = workspace
        .fine(&[&["ab", &plan, "--target", &url], &how[..]].concat())
        .stdout;
    said.says_all(&[
        "of this pair of servers",
        "inconclusive",
        "makes new ones for each pair",
    ]);
}

#[test]
fn sides_that_cannot_alternate_are_refused_with_advice() {
    let workspace = Workspace::new();
    plan(&workspace, "SELECT 1");
    let fixed = "name = \"p\"\n[[step]]\nuse = \"library\"\ntests = [\"T611\"]\njobs = [1]\n";
    workspace.file("fixed.toml", fixed);
    // The last is the same file under another name.
    let table = "
        ab PLAN --aa --interleave 5ms                       => use 20ms to 10s
        ab PLAN --aa --interleave 200ms                     => set seconds to 2 or more
        ab PLAN --aa --interleave fast                      => such as 100ms
        ab --target sqlite:x.db --yes fixed.toml --aa --interleave 100ms => fixed amount of work
        ab PLAN --interleave 100ms --b step.jobs=[1,2]      => the same tests in the same order
        ab PLAN --interleave 100ms --b target.cache_mb=8    => open twice
        ab PLAN --interleave 100ms --b target=sqlite:./x.db?cache_mb=8 => open twice
    ";
    workspace.refuses(
        2,
        &table.replace("PLAN", "--target sqlite:x.db --yes plan.toml"),
    );
}

#[test]
fn blocks_report_the_gain_of_slices_or_why_there_are_none() {
    let workspace = Workspace::new();
    let script = plan(&workspace, "SELECT 1");
    let amount = workspace.file(
        "amount.toml",
        "name = \"p\"\n[[step]]\nuse = \"library\"\ntests = [\"T716\"]\njobs = [1]\nsize = \"quick\"\n",
    );
    let five = format!("step.script={}", workspace.path("five.toml").display());
    let file = workspace.url("sqlite", "x.db");
    for (plan, own, expected) in [
        (&script, &five[..], "Slices in place are possible"),
        (
            &amount,
            "sample_ms=60",
            "No slices in turn: step 1 (library) cannot be measured in slices: it does a fixed amount of work",
        ),
    ] {
        let ended = workspace.fine(&[
            "ab", plan, "--target", &file, "--b", own, "--repeat", "1", "--yes", "--full",
        ]);
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        for text in [one_line(&ended.stderr), one_line(&ended.stdout)] {
            text.says(&format!("In blocks: B differs in {own}"));
            assert!(text.contains(expected), "{text}");
        }
        let before = ended.stderr.split("ops/s").next().unwrap();
        before.says("In blocks");
    }
}

#[test]
fn a_killed_study_in_slices_is_resumed_to_its_end() {
    let workspace = Workspace::new();
    let plan = plan(&workspace, "SELECT 1");
    let url = workspace.url("sqlite", "bench.db");
    let arguments = words(
        "ab {} --target {} --aa --repeat 4 --interleave 100ms --name cut --yes",
        &[&plan, &url],
    );
    let mut child = workspace.begin(&arguments);
    for _ in 0..400 {
        std::thread::sleep(Duration::from_millis(25));
        let is_there = |run: &str| {
            let exported = workspace.dbdyno(&["report", run, "--format", "json"]);
            let count = |text: &str| points(&serde_json::from_str(text).unwrap()).len();
            exported.status == 0 && count(&exported.stdout) >= 1
        };
        // Either side may be archived first.
        if is_there("cut-a") && is_there("cut-b") {
            break;
        }
    }
    assert_eq!(child.try_wait().unwrap(), None, "it ended by itself");
    child.kill().unwrap();
    child.wait().unwrap();
    let before = points(&workspace.export("cut-a")).len();
    assert!((1..4).contains(&before), "{before}");
    workspace.fine("ab --resume cut");
    for run in ["cut-a", "cut-b"] {
        let exported = workspace.export(run);
        // A pair cut between its sides lacks one half, and is left out.
        let torn = exported["missing"].as_array().unwrap();
        let are_torn = torn.iter().all(|m| m["reason"]["code"] == "pair_torn");
        assert!(are_torn, "{torn:?}");
        assert_eq!(points(&exported).len() + torn.len(), 4);
        assert_eq!(exported["run"]["valid"], true);
    }
}
