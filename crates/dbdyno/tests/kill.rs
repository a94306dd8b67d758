//! `kill -9` at random moments of a run, from its first millisecond to its last: every archive opens,
//! no finished point is lost, and the resumed run is complete.
//!
//! `scripts/kill-test.sh N` kills N times instead of 50.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::collections::HashSet;
use std::fs::File;
use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use common::{Place, points};
use load::random::Random;
use serde_json::Value;

/// Twenty points of about 50 ms: pure computing, a table that has to be loaded, commits.
const PLAN: &str = "name = \"kill\"\nsample_ms = 50\nrepeat = 5\n\
    [[step]]\nuse = \"library\"\ntests = [\"T132\"]\njobs = [1, 2]\nmode = \"time\"\nseconds = 0.05\n\
    [[step]]\nuse = \"library\"\ntests = [\"T611\", \"T311\"]\njobs = [1]\nmode = \"time\"\nseconds = 0.05\n";
const POINTS: usize = 20;
const KILLS_DEFAULT: u32 = 50;
const SEED: u64 = 20_260_101;
/// Runs that are killed at the same time.
const AT_ONCE: u32 = 2;
/// In this time the process starts, makes its archive and enters the run.
const START: Duration = Duration::from_millis(60);

/// How often the kill came when.
#[derive(Default)]
struct Tally {
    before_the_run: AtomicU32,
    during_the_run: AtomicU32,
    after_the_run: AtomicU32,
}

#[test]
fn a_run_killed_at_any_moment_is_resumed_to_its_end() {
    let kills = std::env::var("DBDYNO_KILLS").map_or(KILLS_DEFAULT, |n| n.parse().unwrap());
    let whole = uninterrupted();
    let tally = Tally::default();
    std::thread::scope(|scope| {
        for worker in 0..AT_ONCE.min(kills) {
            let tally = &tally;
            scope.spawn(move || {
                for number in (worker..kills).step_by(AT_ONCE as usize) {
                    kill_and_resume(number, whole, tally);
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

/// How long the whole run takes on this machine now, with as many beside it as there will be.
fn uninterrupted() -> Duration {
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                let ended = Place::new().run(PLAN, &[]);
                assert_eq!(ended.status, 0, "{}", ended.stderr);
                assert_eq!(reported(&ended.stderr), POINTS, "{}", ended.stderr);
            });
        }
    });
    begun.elapsed()
}

fn kill_and_resume(number: u32, whole: Duration, tally: &Tally) {
    let mut random = Random::stream(SEED, u64::from(number));
    let mut moment =
        |longest: Duration| Duration::from_micros(random.below(longest.as_micros() as u64));
    let place = Place::new();
    let plan = place.file("plan.toml", PLAN);
    let url = place.url("sqlite", "bench.db");
    let run = ["run", &plan, "--target", &url];
    let at = moment(if number.is_multiple_of(5) {
        START
    } else {
        whole
    });
    let context = format!("kill {number} at {at:?}");
    let said = killed(&place, &run, at);
    let before = match finished(&place) {
        Some(exported) => exported,
        None => {
            tally.before_the_run.fetch_add(1, Ordering::Relaxed);
            assert_eq!(reported(&said), 0, "{context}: {said}");
            let refused = place.dbdyno(&["run", "--resume", "last"]);
            assert!(
                [1, 2].contains(&refused.status),
                "{context}: {}",
                refused.stderr
            );
            refused.sentence();
            place.fine(&run);
            assert_whole(&place, &[], &context);
            return;
        }
    };
    assert_kept(&before, reported(&said), &context);
    if before["run"]["state"] == "complete" {
        tally.after_the_run.fetch_add(1, Ordering::Relaxed);
        assert_eq!(place.dbdyno(&["run", "--resume", "last"]).status, 2);
        assert_whole(&place, points(&before), &context);
        return;
    }
    tally.during_the_run.fetch_add(1, Ordering::Relaxed);
    let mut before = before;
    if number.is_multiple_of(3) {
        // Nor is a resumed run harmed by a second kill.
        let said = killed(&place, &["run", "--resume", "last"], moment(whole));
        let now = finished(&place).expect("the run was there before");
        let told = points(&before).len() + reported(&said);
        assert_kept(&now, told, &format!("{context}, second kill"));
        before = now;
    }
    if before["run"]["state"] != "complete" {
        let resumed = place.dbdyno(&["run", "--resume", "last"]);
        assert_eq!(resumed.status, 0, "{context}: {}", resumed.stderr);
    }
    assert_whole(&place, points(&before), &context);
}

/// Starts the command, kills it at a moment, and gives what it had said on standard error.
fn killed(place: &Place, arguments: &[&str], at: Duration) -> String {
    let said = place.path("stderr");
    let mut child = place
        .command(arguments)
        .stdout(Stdio::null())
        .stderr(File::create(&said).unwrap())
        .spawn()
        .unwrap();
    std::thread::sleep(at);
    child.kill().unwrap();
    child.wait().unwrap();
    std::fs::read_to_string(said).unwrap()
}

/// Points that were reported as finished.
fn reported(said: &str) -> usize {
    said.lines().filter(|line| line.contains(" · J ")).count()
}

/// The export of the run; `None` when the kill came before it was entered.
fn finished(place: &Place) -> Option<Value> {
    let runs = place.fine(&["list", "runs"]).stdout;
    let entered = place.archive().exists() && runs.lines().count() > 1;
    entered.then(|| place.export("last"))
}

/// What was reported is there; at most the point whose report was cut off is there besides.
fn assert_kept(exported: &Value, reported: usize, context: &str) {
    let kept = points(exported).len();
    assert!(
        (reported..=reported + 1).contains(&kept),
        "{context}: {reported} points were reported, {kept} are kept"
    );
    assert_eq!(
        exported["run"]["reasons"],
        Value::Array(Vec::new()),
        "{context}"
    );
    assert!(
        points(exported).iter().all(|p| p["valid"] == true),
        "{context}"
    );
}

/// The run is complete and valid, has no point twice, and kept its earlier points as they were.
fn assert_whole(place: &Place, earlier: &[Value], context: &str) {
    let exported = place.export("last");
    assert_eq!(exported["run"]["state"], "complete", "{context}");
    assert_eq!(exported["run"]["valid"], true, "{context}");
    let points = points(&exported);
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
