//! `kill -9` of runs and studies on databases that end with their process: what finished steps had loaded is gone, and
//! whoever goes on loads it again.

use std::collections::HashSet;

use super::common::{Place, faults, need_duckdb, points};
use super::{Moment, POINT, SEED, killed, moment, reported};
use serde_json::Value;
use stats::random::Random;

/// Order entry behind tests of the library and a script; the last level needs what the second step loads.
const ORDER_ENTRY: &str = r#"name = "k"
sample_ms = 50
[[step]]
use = "library"
tests = ["T611"]
jobs = [1]
mode = "time"
seconds = 0.2
[[step]]
use = "oltp"
[step.oltp]
do = "load"
warehouses = 1
warehouse_rows = "tenth"
[[step]]
use = "script"
jobs = [1]
mode = "time"
seconds = 0.2
[step.script]
name = "k"
[step.script.setup]
sql = ["CREATE TABLE dbdyno_k (id BIGINT)", "INSERT INTO dbdyno_k VALUES (1)"]
when = "run"
[step.script.teardown]
sql = "DROP TABLE IF EXISTS dbdyno_k"
[[step.script.transaction]]
name = "read"
[[step.script.transaction.statement]]
sql = "SELECT id FROM dbdyno_k"
rows = 1
[[step]]
use = "oltp"
seconds = 0.2
[step.oltp]
do = "run"
users = "1,2"
"#;

/// How a run or study is begun; its runs, and what they must have in the end.
struct Case {
    begin: &'static [&'static str],
    /// By which verb it is gone on with.
    verb: &'static str,
    runs: &'static [&'static str],
    /// Points of all runs together.
    points: usize,
    /// Points of one side that an interruption can leave without those of the other.
    torn: usize,
}

const CASES: [Case; 5] = [
    Case {
        begin: &["run", "k.toml", "--target", "sqlite:", "--name", "k"],
        verb: "run",
        runs: &["k"],
        points: 17,
        torn: 0,
    },
    Case {
        begin: &[
            "ab", "k.toml", "--target", "sqlite:", "--pairs", "1", "--name", "k", "--yes",
        ],
        verb: "ab",
        runs: &["k-a", "k-b"],
        points: 2 * 17,
        torn: 0,
    },
    Case {
        begin: &[
            "ab",
            "k.toml",
            "--target",
            "sqlite:",
            "--pairs",
            "1",
            "--name",
            "k",
            "--yes",
            "--interleave",
            "20ms",
            "--b",
            "target.cache_mb=9",
        ],
        verb: "ab",
        runs: &["k-a", "k-b"],
        points: 2 * 17,
        torn: 6,
    },
    Case {
        begin: &[
            "study",
            "memory",
            "--size",
            "quick",
            "--target",
            "postgres+local:",
            "--pairs",
            "1",
            "--name",
            "k",
            "--yes",
            "--set",
            "step.oltp.users=1",
            "--set",
            "step.2.seconds=0.2",
            "--set",
            "step.2.ramp_up_seconds=0.1",
            "--set",
            "step.oltp.warehouse_rows=tenth",
        ],
        verb: "study",
        runs: &["k-a", "k-b"],
        points: 2 * 9,
        torn: 0,
    },
    Case {
        begin: &[
            "columnar",
            "run",
            "--from",
            "sqlite:",
            "--scale",
            "0.01",
            "--levels",
            "query-high",
            "--dop",
            "1",
            "--users",
            "1",
            "--queries",
            "6",
            "--memory",
            "200MB",
            "--name",
            "k",
            "--yes",
        ],
        verb: "run",
        runs: &["k"],
        points: super::STUDY_POINTS,
        torn: 0,
    },
];

#[test]
fn what_went_with_its_process_is_loaded_again() {
    need_duckdb();
    for (number, case) in (0..).zip(CASES) {
        kill_and_resume(number, &case);
    }
}

fn kill_and_resume(number: u64, case: &Case) {
    let place = Place::new();
    place.file("k.toml", ORDER_ENTRY);
    let mut random = Random::stream(SEED, 1_000 + number);
    let at = moment(&mut random, case.points - 1, POINT);
    let at = Moment {
        reported: 1 + at.reported,
        ..at
    };
    let said = killed(&place, case.begin, at);
    let context = format!("{:?}, {at:?}: {said}", case.begin);
    let runs = || {
        let runs = case.runs.iter().map(|run| place.export(run));
        runs.collect::<Vec<Value>>()
    };
    let before = runs();
    let kept: usize = before.iter().map(|run| points(run).len()).sum();
    assert!(kept >= reported(&said), "{context}");
    if before.iter().any(|run| run["run"]["state"] != "complete") {
        let resumed = place.dbdyno(&[case.verb, "--resume", "k", "--yes"]);
        // Too few pairs for a verdict, or busy neighbours, are not what is looked at.
        assert_eq!(resumed.status, 0, "{context}: {}", resumed.stderr);
    }
    let mut all = 0;
    for (before, after) in before.iter().zip(runs()) {
        assert_eq!(after["run"]["state"], "complete", "{context}");
        let (before, after) = (points(before), points(&after));
        let is_kept = after[..before.len()] == *before;
        assert!(is_kept, "{context}: a finished point was changed");
        for point in after {
            assert_eq!(faults(point), [""; 0], "{context}: {}", point["test"]);
        }
        let parts = ["repetition", "step", "target", "test", "jobs", "threads"];
        let key = |point: &Value| parts.map(|part| point[part].to_string()).join(" ");
        let keys: HashSet<String> = after.iter().map(key).collect();
        assert_eq!(keys.len(), after.len(), "{context}");
        all += after.len();
    }
    let right = case.points - case.torn..=case.points;
    assert!(right.contains(&all), "{context}: {all} points");
}
