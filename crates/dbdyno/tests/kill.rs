//! `kill -9` at random moments of a run, from its first millisecond to its last: every archive opens, no finished point is lost, and the
//! resumed run is complete.
//!
//! `make faults` kills more often. Every workload and study is killed once. A column-store study is killed at its most dangerous moment: while the rows of its source are changed.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;
#[path = "kill/power_cut.rs"]
mod power_cut;
#[path = "kill/workloads.rs"]
mod workloads;

use std::collections::HashSet;
use std::fs::File;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::common::words;
use common::{Ended, Workspace, faults, points};
use serde_json::Value;
use stats::random::Random;

/// Ten points of about 50 ms in two repetitions: a computation, reads of a table that is loaded first, a load.
const PLAN: &str = "name = \"kill\"\nsample_ms = 50\nrepeat = 2\n\
    [[step]]\nuse = \"library\"\ntests = [\"T132\", \"T421\", \"T331\"]\njobs = [1, 2]\n\
    mode = \"time\"\nseconds = 0.05\n";
const POINTS: usize = 10;
const KILLS_DEFAULT: u32 = 12;
const SEED: u64 = 20_260_101;
const AT_ONCE: u32 = 2;
/// Time for starting the process, creating the archive and entering the run.
const START: Duration = Duration::from_millis(20);
/// Slightly more than a point takes, so that kills cover all its moments.
const POINT: Duration = Duration::from_millis(100);
/// Longest time of a run, even on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Moment of a kill: a delay after this many reported points. Counting points rather than time spreads the moments over the run on slow and
/// fast machines alike.
#[derive(Debug, Clone, Copy)]
struct Moment {
    reported: usize,
    after: Duration,
}

#[derive(Default)]
struct Tally {
    before_the_run: AtomicU32,
    during_the_run: AtomicU32,
    after_the_run: AtomicU32,
}

#[test]
fn a_run_killed_at_any_moment_is_resumed_to_its_end() {
    let kills = kills();
    let tally = Tally::default();
    std::thread::scope(|scope| {
        for worker in 0..AT_ONCE.min(kills) {
            let tally = &tally;
            scope.spawn(move || {
                for number in (worker..kills).step_by(AT_ONCE as usize) {
                    kill_and_resume(number, tally);
                }
            });
        }
    });
    let [before, during, after] = [
        &tally.before_the_run,
        &tally.during_the_run,
        &tally.after_the_run,
    ]
    .map(|count| count.load(Ordering::Relaxed));
    println!(
        "{kills} kills: {before} before the run was entered, {during} during it, {after} after it"
    );
    assert_eq!(before + during + after, kills);
    assert!(
        during * 4 >= kills,
        "the kills missed the run: {during} of {kills}"
    );
}

fn kills() -> u32 {
    std::env::var("DBDYNO_KILLS").map_or(KILLS_DEFAULT, |n| n.parse().unwrap())
}

fn moment(random: &mut Random, left: usize, longest: Duration) -> Moment {
    Moment {
        reported: random.below(left.max(1) as u64) as usize,
        after: Duration::from_micros(random.below(longest.as_micros() as u64)),
    }
}

fn kill_and_resume(number: u32, tally: &Tally) {
    let mut random = Random::stream(SEED, u64::from(number));
    let workspace = Workspace::new();
    let plan = workspace.file("plan.toml", PLAN);
    let url = workspace.url("sqlite", "bench.db");
    let run = ["run", &plan, "--target", &url];
    let resume = ["run", "--resume", "last"];
    // Every fifth kill comes while the process starts.
    let at = if number.is_multiple_of(5) {
        moment(&mut random, 1, START)
    } else {
        moment(&mut random, POINTS, POINT)
    };
    let context = format!("kill {number}, {at:?}");
    let said = killed(&workspace, &run, at);
    let before = match finished(&workspace) {
        Some(exported) => exported,
        None => {
            tally.before_the_run.fetch_add(1, Ordering::Relaxed);
            assert_eq!(reported(&said), 0, "{context}: {said}");
            let refused = workspace.dbdyno(&resume);
            // Without an archive there is nothing to open; in an empty one there is no such run.
            let status = if workspace.archive().exists() { 2 } else { 1 };
            assert_eq!(refused.status, status, "{context}: {}", refused.stderr);
            refused.sentence();
            assert_done(&workspace.dbdyno(&run), &context);
            assert_whole(&workspace, &[], &context);
            return;
        }
    };
    assert_kept(&before, reported(&said), &context);
    if before["run"]["state"] == "complete" {
        tally.after_the_run.fetch_add(1, Ordering::Relaxed);
        assert_eq!(workspace.dbdyno(&resume).status, 2);
        assert_whole(&workspace, points(&before), &context);
        return;
    }
    tally.during_the_run.fetch_add(1, Ordering::Relaxed);
    let mut before = before;
    if number.is_multiple_of(3) {
        // A second kill does not harm a resumed run either.
        let again = moment(&mut random, POINTS - points(&before).len(), POINT);
        let said = killed(&workspace, &resume, again);
        let now = finished(&workspace).expect("the run was there before");
        let reported_points = points(&before).len() + reported(&said);
        assert_kept(&now, reported_points, &format!("{context}, second kill"));
        before = now;
    }
    if before["run"]["state"] != "complete" {
        let resumed = workspace.dbdyno(&resume);
        assert_done(&resumed, &context);
    }
    assert_whole(&workspace, points(&before), &context);
}

/// Starts the command, kills it at a moment, and returns its standard error up to then.
fn killed(workspace: &Workspace, arguments: &[&str], at: Moment) -> String {
    let is_time = |said: &str| reported(said) >= at.reported;
    killed_when(workspace, arguments, &is_time, at.after)
}

/// Kills the command some time after its output meets a condition.
fn killed_when(
    workspace: &Workspace,
    arguments: &[&str],
    is_time: &dyn Fn(&str) -> bool,
    after: Duration,
) -> String {
    let said = workspace.path("stderr");
    let mut child = workspace
        .command(arguments)
        .stdout(Stdio::null())
        .stderr(File::create(&said).unwrap())
        .spawn()
        .unwrap();
    let comes = || !is_time(&std::fs::read_to_string(&said).unwrap());
    let begun = Instant::now();
    while comes() && child.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < PATIENCE, "{arguments:?} hangs");
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::sleep(after);
    child.kill().unwrap();
    child.wait().unwrap();
    std::fs::read_to_string(said).unwrap()
}

fn reported(said: &str) -> usize {
    common::lines_of_points(said)
}

/// The export of the run; `None` if the kill came before its entry.
fn finished(workspace: &Workspace) -> Option<Value> {
    let runs = workspace.fine("runs list").stdout;
    let entered = workspace.archive().exists() && runs.lines().count() > 1;
    entered.then(|| workspace.export("last"))
}

/// All reported points are stored; at most one more, whose report was cut off, is stored as well.
fn assert_kept(exported: &Value, reported: usize, context: &str) {
    let stored = points(exported).len();
    assert!(
        (reported..=reported + 1).contains(&stored),
        "{context}: {reported} points were reported, {stored} are kept"
    );
    assert_eq!(
        exported["run"]["reasons"],
        Value::Array(Vec::new()),
        "{context}"
    );
    assert_sound(points(exported), context);
}

fn assert_done(ended: &Ended, context: &str) {
    assert_eq!(ended.status, 0, "{context}: {}", ended.stderr);
}

fn assert_sound(points: &[Value], context: &str) {
    for point in points {
        assert_eq!(faults(point), [""; 0], "{context}: {point}");
    }
}

/// The run is complete and sound, has no point twice, and its earlier points are unchanged.
fn assert_whole(workspace: &Workspace, earlier: &[Value], context: &str) {
    let exported = workspace.export("last");
    assert_eq!(exported["run"]["state"], "complete", "{context}");
    assert_eq!(
        exported["run"]["reasons"],
        Value::Array(Vec::new()),
        "{context}"
    );
    let points = points(&exported);
    assert_sound(points, context);
    let keys: HashSet<String> = points
        .iter()
        .map(|p| {
            format!(
                "{} {} {} {}",
                p["repetition"], p["step"], p["test"], p["jobs"]
            )
        })
        .collect();
    assert_eq!((points.len(), keys.len()), (POINTS, POINTS), "{context}");
    assert!(
        points[..earlier.len()] == *earlier,
        "{context}: a finished point was changed"
    );
}

/// Points of the study in order: the load; eight tables and their sum, populated; three changes on disk, and with their lags six that the
/// copy follows; one query, alone and by one of one users, on both sides; and changes again.
const STUDY_POINTS: usize = 1 + 9 + 3 + 6 + 2 * 2 + 3 + 6;
/// Points before a cycle of changes: on disk, and after the queries with the copy.
const BEFORE_CYCLES: [usize; 2] = [1 + 9, 1 + 9 + 3 + 6 + 4 + 3];
/// A cycle takes a tenth of a second; a kill that comes too late is repeated.
const TRIES: usize = 10;

#[test]
fn a_study_killed_while_rows_change_is_resumed_and_they_are_put_back() {
    common::need_duckdb();
    let workspace = Workspace::new();
    let url = workspace.load_olap("sqlite", "olap");
    let database = workspace.path("olap");
    let right = sums(&database);
    for before in BEFORE_CYCLES {
        let caught = (0..TRIES).any(|_| killed_in_a_cycle(&workspace, &url, before));
        assert!(
            caught,
            "no kill behind {before} points met a cycle of changes"
        );
        assert_eq!(sums(&database), right, "behind {before} points");
    }
}

/// Kills a study while the rows of its source are changed, and resumes it; false if the rows were already restored.
fn killed_in_a_cycle(workspace: &Workspace, url: &str, before: usize) -> bool {
    let study = words(
        "run columnar --target {} --scale 0.01 --levels query-high --dop 1 --clients 1 --queries 6 \
        --memory 200MB --yes",
        &[url],
    );
    let database = workspace.path("olap");
    let is_time = |said: &str| reported(said) >= before && is_changed(&database);
    killed_when(workspace, &study, &is_time, Duration::ZERO);
    let was_changed = is_changed(&database);
    let stored = finished(workspace).expect("the study has reported points");
    let is_cut = stored["run"]["state"] != "complete";
    if is_cut {
        workspace.fine("run --resume last");
    }
    let exported = workspace.export("last");
    assert_eq!(exported["run"]["state"], "complete");
    let all = points(&exported);
    let key = |p: &Value| {
        let parts = ["step", "target", "test", "jobs", "threads"];
        parts.map(|part| p[part].to_string()).join(" ")
    };
    let keys: HashSet<String> = all.iter().map(key).collect();
    assert_eq!((all.len(), keys.len()), (STUDY_POINTS, STUDY_POINTS));
    let earlier = points(&stored);
    assert!(
        all[..earlier.len()] == *earlier,
        "a finished point was changed"
    );
    for point in all {
        assert_eq!(faults(point), [""; 0], "{}", point["test"]);
    }
    assert!(!is_changed(&database));
    workspace.fine(&["data", "check", "olap", "--target", url]);
    was_changed && is_cut && earlier.len() == before
}

/// True if the database's register says that its rows are changed.
fn is_changed(database: &Path) -> bool {
    let sql = "SELECT count(*) FROM dbdyno_olap WHERE name = 'before_refreshed'";
    read(database, sql) == ["1"]
}

/// Checksums of the rows that changes affect.
fn sums(database: &Path) -> Vec<String> {
    read(
        database,
        "SELECT count(*) || ' ' || sum(o_orderkey) || ' ' || sum(o_custkey) || ' ' || sum(length(o_comment)) FROM orders \
         UNION ALL SELECT count(*) || ' ' || sum(l_orderkey) || ' ' || sum(l_partkey * l_linenumber) || ' ' || \
         sum(length(l_comment)) FROM lineitem",
    )
}

fn read(database: &Path, sql: &str) -> Vec<String> {
    let database = rusqlite::Connection::open(database).unwrap();
    database.busy_timeout(PATIENCE).unwrap();
    let mut statement = database.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| {
        Ok(match row.get::<_, rusqlite::types::Value>(0)? {
            rusqlite::types::Value::Integer(n) => n.to_string(),
            rusqlite::types::Value::Text(text) => text,
            other => format!("{other:?}"),
        })
    });
    rows.unwrap().map(Result::unwrap).collect()
}
