//! `kill -9` of runs and studies on databases that end with their process: data of finished steps are lost, and a resumed run loads them
//! again.

use std::collections::HashSet;

use super::common::{Workspace, faults, need_duckdb, points};
use super::{KILLS_DEFAULT, Moment, POINT, SEED, killed, kills, moment, reported};
use serde_json::Value;
use stats::random::Random;

/// Order entry after tests of the library and a script; its level needs the data of the second step. It has one user, because two lock each
/// other out of a database that SQLite keeps in memory.
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
users = "1"
"#;

struct Case {
    begin: &'static str,
    /// Points that its runs must have in the end.
    points: usize,
    /// Points of one side that an interruption can leave without those of the other.
    torn: usize,
}

const fn case(begin: &'static str, points: usize) -> Case {
    Case {
        begin,
        points,
        torn: 0,
    }
}

const CASES: [Case; 5] = [
    case("run k.toml --target sqlite:", 11),
    case("ab k.toml --target sqlite: --pairs 1", 2 * 11),
    Case {
        torn: 6,
        ..case(
            "ab k.toml --target sqlite: --pairs 1 --interleave 20ms --b target.cache_mb=9",
            2 * 11,
        )
    },
    case(
        "study memory --size quick --target postgres+local: --pairs 1 --set step.oltp.users=1 --set step.2.seconds=0.2 \
         --set step.2.ramp_up_seconds=0.1 --set step.oltp.warehouse_rows=tenth",
        2 * 9,
    ),
    case(
        "columnar run --from postgres+local: --scale 0.01 --levels query-high --dop 1 --users 1 --queries 6 --memory 200MB",
        super::STUDY_POINTS,
    ),
];

#[test]
fn data_that_ended_with_their_process_are_loaded_again() {
    need_duckdb();
    let rounds = kills().div_ceil(KILLS_DEFAULT);
    let cases = (0..rounds).flat_map(|_| CASES);
    for (number, case) in (0..).zip(cases) {
        kill_and_resume(number, &case);
    }
}

fn kill_and_resume(number: u64, case: &Case) {
    let workspace = Workspace::new();
    workspace.file("k.toml", ORDER_ENTRY);
    let mut random = Random::stream(SEED, 1_000 + number);
    let at = moment(&mut random, case.points - 1, POINT);
    let at = Moment {
        reported: 1 + at.reported,
        ..at
    };
    let begin: Vec<&str> = case.begin.split_whitespace().collect();
    let said = killed(
        &workspace,
        &[&begin[..], &["--name", "k", "--yes"]].concat(),
        at,
    );
    let context = format!("{}, {at:?}: {said}", case.begin);
    let runs = || {
        let runs: &[&str] = match begin[0] {
            "ab" | "study" => &["k-a", "k-b"],
            _ => &["k"],
        };
        runs.iter()
            .map(|run| workspace.export(run))
            .collect::<Vec<Value>>()
    };
    let before = runs();
    let stored: usize = before.iter().map(|run| points(run).len()).sum();
    assert!(stored >= reported(&said), "{context}");
    if before.iter().any(|run| run["run"]["state"] != "complete") {
        let verb = match begin[0] {
            "columnar" => "run",
            verb => verb,
        };
        let resumed = workspace.dbdyno(&[verb, "--resume", "k", "--yes"]);
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
