//! `kill -9` of every workload and study, most of them on databases that end with their process: data of finished steps are lost, and a
//! resumed run loads them again.

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::common::{LOOKUPS, SCRIPT_STEP, Workspace, faults, need_duckdb, points};
use super::{AT_ONCE, KILLS_DEFAULT, Moment, POINT, SEED, killed, kills, moment, reported};
use serde_json::Value;
use stats::random::Random;

const LOAD: &str = r#"[[step]]
use = "oltp"
[step.oltp]
do = "load"
warehouses = 1
warehouse_rows = "tenth"
"#;
/// The level needs the data of the load. It has one user, because two lock each other out of a database that SQLite keeps in memory.
const LEVEL: &str = r#"[[step]]
use = "oltp"
seconds = 0.2
[step.oltp]
do = "run"
users = "1"
"#;

/// Order entry and queries at once, after points that a kill can spare.
const MIXED: &str = r#"[[step]]
use = "mixed"
seconds = 0.3
[step.oltp]
do = "run"
warehouses = 1
warehouse_rows = "tenth"
users = 1
[step.olap]
do = "run"
tables = "order-entry"
queries = "6,1"
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

/// In memory or on a server of its own; a ramp, a screening, two versions, and each design of study.
const CASES: [Case; 12] = [
    case("run k.toml --target sqlite:", 11),
    case("ab k.toml --target sqlite: --aa --repeat 1", 2 * 11),
    Case {
        torn: 6,
        ..case(
            "ab k.toml --target sqlite: --repeat 1 --interleave 100ms --b target.cache_mb=9 --set step.seconds=1.0",
            2 * 11,
        )
    },
    case(
        "study memory --size quick --target postgres+local: --repeat 1 --set step.oltp.users=1 --set step.2.seconds=0.2 \
         --set step.2.ramp_up_seconds=0.1 --set step.oltp.warehouse_rows=tenth",
        2 * 9,
    ),
    case(
        "run columnar --target postgres+local: --scale 0.01 --levels query-high --dop 1 --clients 1 --queries 6 --memory 200MB",
        super::STUDY_POINTS,
    ),
    case("run m.toml --target postgres+local:", 10),
    case("run backup --target sqlite:k.db --set work_seconds=0.3", 2),
    case(
        "study backup-half --size quick --repeat 1 --set step.backup.work_seconds=0.3 --set step.backup.warehouse_rows=tenth \
         --set step.backup.methods=[\"basebackup-null\",\"basebackup-tar\"]",
        4,
    ),
    case(
        "study memory-queries --size quick --target postgres+local: --repeat 1 --set step.olap.scale=0.01 --set step.olap.rounds=2",
        4,
    ),
    case(
        "study storage-update --size quick --target sqlite:k.db --change-cmd true --set repeat=1 --set step.1.jobs=[1] \
         --set step.1.tests=[\"T311\"] --set step.oltp.warehouse_rows=tenth --set step.oltp.users=2 --set step.3.seconds=0.3 \
         --set step.3.ramp_up_seconds=0 --set step.oltp.warm_up_max_seconds=1",
        20,
    ),
    case(
        "study settings --size quick --target sqlite:k.db --repeat 2 --vary step.oltp.users=1,2 --vary target.cache_mb=2,9 \
         --set step.oltp.warehouse_rows=tenth --set step.2.seconds=0.3 --set step.2.ramp_up_seconds=0 \
         --set step.oltp.warm_up_max_seconds=1",
        72,
    ),
    case(
        "study versions --size quick --repeat 1 --set step.1.seconds=0.3 --set step.1.ramp_up_seconds=0 \
         --set step.oltp.warehouse_rows=tenth --set step.3.seconds=0.3 --set step.3.ramp_up_seconds=0",
        20,
    ),
];

#[test]
fn every_workload_and_study_killed_is_resumed_to_its_end() {
    need_duckdb();
    let rounds = kills().div_ceil(KILLS_DEFAULT);
    let cases: Vec<Case> = (0..rounds).flat_map(|_| CASES).collect();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = cases.get(number) else { break };
                    kill_and_resume(number as u64, case);
                }
            });
        }
    });
}

fn kill_and_resume(number: u64, case: &Case) {
    let workspace = Workspace::new();
    let head = "name = \"k\"\nsample_ms = 50";
    let order_entry = format!("{head}\n{LOOKUPS}{LOAD}{SCRIPT_STEP}{LEVEL}");
    workspace.file("k.toml", &order_entry);
    let mixed = format!("{head}\nrepeat = 2\n{LOOKUPS}{MIXED}");
    workspace.file("m.toml", &mixed);
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
    let before = runs(&workspace);
    let stored: usize = before.values().map(|run| points(run).len()).sum();
    assert!(stored >= reported(&said), "{context}");
    let right = case.points - case.torn..=case.points;
    let is_complete = |run: &Value| run["run"]["state"] == "complete";
    if !right.contains(&stored) || !before.values().all(is_complete) {
        let verb = match begin[0] {
            verb @ ("ab" | "study") => verb,
            _ => "run",
        };
        let hook = begin.iter().position(|word| *word == "--change-cmd");
        let hook = hook.map_or(&[][..], |at| &begin[at..at + 2]);
        let resumed = workspace.dbdyno(&[&[verb, "--resume", "k", "--yes"], hook].concat());
        assert_eq!(resumed.status, 0, "{context}: {}", resumed.stderr);
    }
    let mut all = 0;
    for (label, after) in runs(&workspace) {
        assert!(is_complete(&after), "{context}: {label}");
        let before = before.get(&label).map_or(&[][..], |run| points(run));
        let after = points(&after);
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
    assert!(right.contains(&all), "{context}: {all} points");
}

/// The runs by label. A study enters its later runs when it comes to them.
fn runs(workspace: &Workspace) -> BTreeMap<String, Value> {
    let list = workspace.fine(&["runs", "list"]).stdout;
    let labels = list
        .lines()
        .skip(1)
        .filter_map(|line| line.split_whitespace().nth(1));
    labels
        .map(|label| (label.to_owned(), workspace.export(label)))
        .collect()
}
