//! `dbdyno ab --until`: studies that stop at planned interim analyses. The measuring part runs in virtual time with given answers.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;
mod sleep;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::common::words;
use archive::{Archive, Ended, PlannedAnalysis, Point, PointKey, Run, RunName, RunState, Until};
use common::{Ended as Exited, TINY, Workspace, points, repository};
use host::SystemClock;
use lab::study::{self, Side, Stopping, StudyOptions};
use lab::{LabError, Observer, Registry};
use load::Progress;
use serde_json::Value;
use testing::Says;
use workload::Library;

const PLAN: &str = "name = \"siesta\"\nsample_ms = 10\nrepeat = 5\n\
    [[step]]\nuse = \"sleep\"\n[step.sleep]\nsleepers = [1]\nnaps = 1\n";

fn registry() -> Registry {
    workloads::registry(Library::embedded().unwrap()).with(Box::new(sleep::Sleep))
}

fn analysis((pairs, spent): (u32, f64)) -> PlannedAnalysis {
    PlannedAnalysis { pairs, spent }
}

/// Counts the points, and stops the study after one of them.
struct Study {
    points: Arc<AtomicU32>,
    stops_at: Option<u32>,
}

impl Observer for Study {
    fn begins(&mut self, _: &str, _: usize, _: usize) {}
    fn point_begins(&mut self, _: &PointKey, _: &str, _: &str, _: &Arc<Progress>) {}
    fn point_ends(&mut self, _: &Point) {
        let observed = self.points.fetch_add(1, Ordering::Relaxed) + 1;
        lab::signal::stop_flag().store(self.stops_at == Some(observed), Ordering::Relaxed);
    }
}

/// A study with points of one second, which is decided at the analysis after this many pairs.
struct Report {
    points: Arc<AtomicU32>,
    answered_at: Option<u32>,
    /// Number of points after which the machine stands still for an hour.
    stalls_at: Option<u32>,
    /// Additional duration of the first pair.
    slow_start_s: u64,
    planned: Vec<u32>,
    looks_at: Vec<u32>,
}

impl Stopping for Report {
    fn elapsed(&self) -> Duration {
        let points = self.points.load(Ordering::Relaxed);
        let stalled = self.stalls_at.is_some_and(|at| points >= at);
        Duration::from_secs(self.slow_start_s + u64::from(points) + if stalled { 3600 } else { 0 })
    }

    fn analyses(&self, pairs: u32) -> Vec<PlannedAnalysis> {
        [(2, 0.5), (pairs, 1.0)].map(analysis).to_vec()
    }

    fn is_planned(&mut self, until: &Until, pair: Duration) {
        assert!(pair >= Duration::from_secs(2), "{pair:?}");
        self.planned.push(until.pairs());
    }

    fn is_answered(&mut self, a: &Run, b: &Run) -> bool {
        let pairs = a.points.len() as u32;
        let until = |run: &Run| run.study.clone().unwrap().until.unwrap();
        // The verdict uses the analyses recorded in the runs.
        assert_eq!(b.points.len() as u32, pairs);
        assert_eq!(until(a).pairs_seen(), pairs);
        assert_eq!(until(a), until(b));
        self.looks_at.push(pairs);
        self.answered_at == Some(pairs)
    }
}

/// The flag that stops a run belongs to the process.
static ONE_STUDY: Mutex<()> = Mutex::new(());

struct Measured {
    _place: tempfile::TempDir,
    archive: PathBuf,
    report: Report,
    observed: Study,
}

impl Measured {
    /// A study of at most five pairs, with analyses after 2, 3 and 5.
    fn study(
        within_s: Option<f64>,
        set: impl Fn(&mut Report, &mut Study),
    ) -> (Self, lab::Result<Vec<i64>>) {
        let _place = tempfile::tempdir().unwrap();
        let points = Arc::<AtomicU32>::default();
        let mut study = Self {
            archive: _place.path().join("a.dbdyno"),
            _place,
            report: Report {
                points: Arc::clone(&points),
                answered_at: None,
                stalls_at: None,
                slow_start_s: 0,
                planned: Vec::new(),
                looks_at: Vec::new(),
            },
            observed: Study {
                points,
                stops_at: None,
            },
        };
        set(&mut study.report, &mut study.observed);
        let ended = study::study(
            options(&study.archive, within_s),
            &mut study.report,
            &mut study.observed,
        );
        lab::signal::stop_flag().store(false, Ordering::Relaxed);
        (study, ended)
    }

    /// The study's record in the archive, identical on both sides.
    fn recorded(&self) -> (Run, Until) {
        let archive = Archive::open_read_only(&self.archive).unwrap();
        let [a, b] =
            ["s-a", "s-b"].map(|label| archive.load_run(&RunName::Label(label.into())).unwrap());
        let until = |run: &Run| run.study.clone().unwrap().until.unwrap();
        assert_eq!(until(&a), until(&b));
        assert_eq!(a.repetitions, b.repetitions);
        assert_eq!(a.points_planned, b.points_planned);
        assert_eq!((&a.reasons, a.state), (&Vec::new(), b.state));
        (a.clone(), until(&a))
    }
}

fn options(archive: &Path, within_s: Option<f64>) -> StudyOptions {
    let sqlite = [engines::parse("sqlite:").unwrap()];
    let side = |_| Side::new(&registry(), PLAN, &[], &[], &sqlite).unwrap();
    let sides = (0..2).map(side).collect();
    StudyOptions {
        until: Some(Until {
            effect_pct: 3.0,
            within_s,
            analyses: [(2, 0.4), (3, 0.6), (5, 1.0)].map(analysis).to_vec(),
            ..Until::default()
        }),
        name: Some("s".into()),
        ..StudyOptions::new(sides, 5, archive, 1, vec![registry(), registry()])
    }
}

#[test]
fn a_study_stops_at_the_look_that_answers_it() {
    let _alone = ONE_STUDY.lock().unwrap_or_else(PoisonError::into_inner);
    let (study, ended) = Measured::study(None, |report, _| report.answered_at = Some(3));
    ended.unwrap();
    assert_eq!(study.report.looks_at, [2, 3]);
    assert_eq!(study.report.planned, [5]);
    let (run, until) = study.recorded();
    assert_eq!(until.taken, 2);
    assert_eq!(until.ended, Some(Ended::Answered));
    assert_eq!(until.elapsed_s, 6.0);
    assert_eq!(run.state, RunState::Complete);
    assert_eq!(run.repetitions, 3);
    assert_eq!(run.points_planned, 3);
    assert_eq!((until.analyses.len(), until.analyses[1].spent), (3, 0.6));
}

#[test]
fn a_study_without_an_answer_takes_all_pairs_and_no_more() {
    let _alone = ONE_STUDY.lock().unwrap_or_else(PoisonError::into_inner);
    let (study, ended) = Measured::study(Some(100.0), |_, _| {});
    ended.unwrap();
    assert_eq!(study.report.looks_at, [2, 3, 5]);
    let (run, until) = study.recorded();
    assert_eq!(until.taken, 3);
    assert_eq!(until.ended, Some(Ended::Pairs));
    assert_eq!(run.points.len(), 5);
}

#[test]
fn a_bound_of_time_plans_fewer_pairs_after_the_first() {
    let _alone = ONE_STUDY.lock().unwrap_or_else(PoisonError::into_inner);
    let (study, ended) = Measured::study(Some(8.0), |_, _| {});
    ended.unwrap();
    assert_eq!(study.report.planned, [4]);
    assert_eq!(study.report.looks_at, [2, 4]);
    let (run, until) = study.recorded();
    assert_eq!(until.ended, Some(Ended::Time));
    assert_eq!(run.repetitions, 4);
    assert_eq!(run.state, RunState::Complete);
}

/// Three pairs as slow as the first would fit; five actual ones do.
#[test]
fn the_last_look_is_put_off_while_the_time_allows() {
    let _alone = ONE_STUDY.lock().unwrap_or_else(PoisonError::into_inner);
    let (study, ended) = Measured::study(Some(30.0), |report, _| report.slow_start_s = 8);
    ended.unwrap();
    assert_eq!(study.report.planned, [3, 5]);
    assert_eq!(study.report.looks_at, [2, 5]);
    let (run, until) = study.recorded();
    assert_eq!(until.ended, Some(Ended::Pairs));
    assert_eq!(run.points.len(), 5);
    assert_eq!(until.analyses.len(), 2);
}

#[test]
fn the_look_at_which_the_time_is_over_spends_what_is_left() {
    let _alone = ONE_STUDY.lock().unwrap_or_else(PoisonError::into_inner);
    let (study, ended) = Measured::study(Some(100.0), |report, _| report.stalls_at = Some(7));
    ended.unwrap();
    // Analyses come after 2 and 3 pairs, as planned; the fourth pair was the last to begin.
    assert_eq!(study.report.looks_at, [2, 3, 4]);
    let (run, until) = study.recorded();
    assert_eq!((until.ended, run.points.len()), (Some(Ended::Time), 4));
    assert_eq!(until.analyses, [(2, 0.4), (3, 0.6), (4, 1.0)].map(analysis));
}

#[test]
fn a_study_is_resumed_between_two_analyses() {
    let _alone = ONE_STUDY.lock().unwrap_or_else(PoisonError::into_inner);
    let (mut study, ended) =
        Measured::study(Some(100.0), |_, observed| observed.stops_at = Some(5));
    assert!(
        matches!(ended, Err(LabError::Interrupted { finished: 5, .. })),
        "{ended:?}"
    );
    let (run, until) = study.recorded();
    assert_eq!(until.taken, 1);
    assert_eq!(until.elapsed_s, 4.0);
    assert_eq!(run.state, RunState::Interrupted);
    // Until the next analysis, only the pairs of the last one count.
    let archive = Archive::open_read_only(&study.archive).unwrap();
    let load = |label: &str| archive.load_run(&RunName::Label(label.into())).unwrap();
    let compared =
        verdict::compare::compare(&load("s-a"), &load("s-b"), &Default::default()).unwrap();
    assert_eq!(compared.repetitions, (2, 2));
    assert!(
        compared
            .cautions
            .iter()
            .any(|c| c.contains("only its first 2 pairs count")),
        "{:?}",
        compared.cautions
    );

    study.report.points.store(0, Ordering::Relaxed);
    study.report.answered_at = Some(5);
    study.observed.stops_at = None;
    study::resume(
        "s",
        &study.archive,
        &registry,
        Arc::new(SystemClock),
        &mut study.report,
        &mut study.observed,
    )
    .unwrap();
    assert_eq!(study.report.looks_at, [2, 3, 5]);
    assert_eq!(study.report.planned, [5]);
    let (run, until) = study.recorded();
    assert_eq!(until.taken, 3);
    assert_eq!(until.ended, Some(Ended::Answered));
    assert_eq!(run.points.len(), 5);
    assert_eq!(until.elapsed_s, 4.0 + 5.0);
}

/// A study on a target of known speed.
fn mock(workspace: &Workspace, more: &[&str]) -> Exited {
    let (plan, library) = (
        repository("bench/aa/mock.toml"),
        repository("bench/aa/library"),
    );
    let library = format!("library={}", library.display());
    let fixed = words(
        "ab {} --set {} --target mock:?service_us=2000&wait=sleep --set step.seconds=0.2",
        &[plan.to_str().unwrap(), &library],
    );
    let sides: &[&str] = if more.contains(&"--b") {
        &[]
    } else {
        &["--aa"]
    };
    workspace.dbdyno(&[&fixed, sides, more].concat())
}

/// A hundred times slower exceeds any noise, and the first analysis finds it.
#[test]
fn a_handicap_is_found_at_the_first_look_and_the_archive_agrees() {
    let workspace = Workspace::new();
    let handicap = ["--b", "target.service_us=200000", "--until", "50%"];
    let how = ["--repeat", "12", "--name", "slow", "--format", "json"];
    let ended = mock(&workspace, &[&handicap[..], &how].concat());
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    ended.stderr.says_all(&[
        "interim analyses after 7 and 12 pairs",
        "a pair takes ",
        "analysis 1 of 2, after 7 pairs: 1 of 1 primary metrics answered",
        "at most 24 of 24 points",
    ]);
    let compared = ended.json();
    let analyses = &compared["analyses"];
    assert_eq!(analyses["taken"], 1);
    assert_eq!(analyses["planned"], 2);
    assert_eq!(analyses["ended"], "answered");
    assert_eq!(analyses["answered"], true);
    let primary = &compared["metrics"][0];
    assert_eq!(primary["verdict"], "worse");
    assert_eq!(primary["rank_p"], Value::Null);
    assert_eq!(primary["values_b"].as_array().unwrap().len(), 7);
    // The level exceeds 95 %, because a further analysis was planned.
    assert!(
        primary["confidence"].as_f64().unwrap() > 0.96,
        "{primary:#}"
    );

    let later = workspace.fine("compare slow-a slow-b --format json");
    assert_eq!(later.json(), compared);
    let text = workspace.fine("compare slow-a slow-b").stdout;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.says_all(&["7 pairs of at most 12", "Stopped at analysis 1 of 2"]);
    assert!(text.contains("all analyses together 95 %"), "{text}");
    let page = workspace.page("slow-b --against slow-a");
    assert!(page.contains("Stopped at analysis 1 of 2"));
    let exported = workspace.export("slow-a");
    let until = &exported["run"]["study"]["until"];
    assert_eq!(until["effect_pct"], 50.0);
    assert_eq!(until["taken"], 1);
    assert_eq!(exported["run"]["repetitions"], 7);
    assert_eq!(exported["run"]["valid"], true);
}

/// Too few pairs for any verdict, so that no analysis can stop it.
#[test]
fn equal_sides_are_measured_to_the_end_and_an_effect_out_of_reach_is_refused() {
    let workspace = Workspace::new();
    let ended = mock(
        &workspace,
        &[
            "--until", "50%", "--repeat", "5", "--name", "few", "--yes", "--format", "json",
        ],
    );
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let compared = ended.json();
    assert_eq!(compared["analyses"]["ended"], "pairs");
    assert_eq!(compared["repetitions_a"], 5);
    assert_eq!(compared["metrics"][0]["verdict"], "inconclusive");
    // Five pairs are too few for a scatter, six are enough.
    let six = mock(&workspace, &["--repeat", "6", "--name", "six"]);
    assert_eq!(six.status, 0, "{}", six.stderr);
    // No machine is quiet enough for a hundred-thousandth.
    let looks_at = [
        "--until", "0.001%", "--band", "0", "--repeat", "6", "--name", "more",
    ];
    let refused = mock(&workspace, &looks_at);
    assert_eq!(refused.status, 2, "{}", refused.stderr);
    let sentence = refused.sentence();
    sentence.says_all(&[
        "6 pairs would find an effect of",
        "not one of 0.001 %",
        "--yes",
    ]);
    let runs = workspace.fine("runs list").stdout;
    assert!(!runs.contains("more-a"), "{runs}");
}

#[test]
fn slices_stop_early_too() {
    let workspace = Workspace::new();
    for (name, times) in [("one", 1), ("five", 5)] {
        let statement = "[[transaction.statement]]\nsql = \"SELECT length(hex(zeroblob(2000)))\"\n"
            .repeat(times);
        workspace.file(
            &format!("{name}.toml"),
            &format!("name = \"work\"\n[[transaction]]\nname = \"work\"\n{statement}"),
        );
    }
    let plan = workspace.file(
        "plan.toml",
        "name = \"p\"\nsample_ms = 50\nprimary = [\"S-work.operations_per_s\"]\n[[step]]\nuse = \"script\"\nscript = \"one.toml\"\n\
         jobs = [2]\nmode = \"time\"\nseconds = 1\n",
    );
    let five = format!("step.script={}", workspace.path("five.toml").display());
    let url = workspace.url("sqlite", "one.db");
    let how = words(
        "--interleave 100ms --until 20% --repeat 9 --name s --format json",
        &[],
    );
    let ended =
        workspace.dbdyno(&[&["ab", &plan, "--target", &url, "--b", &five], &how[..]].concat());
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let compared = ended.json();
    assert_eq!(compared["slice_ms"], 100);
    assert_eq!(compared["analyses"]["taken"], 1);
    assert_eq!(compared["metrics"][0]["verdict"], "worse");
    let exported = workspace.export("s-b");
    assert!(points(&exported).len() < 9 && exported["run"]["valid"] == true);
}

#[test]
fn a_killed_study_is_resumed_with_its_analyses() {
    let workspace = Workspace::new();
    let plan = workspace.file("plan.toml", TINY);
    let url = workspace.url("sqlite", "bench.db");
    let begun = [
        "ab", &plan, "--target", &url, "--aa", "--until", "50%", "--repeat", "8", "--name", "cut",
    ];
    let mut child = workspace.begin(&begun);
    // The kill comes after the first committed point.
    for _ in 0..400 {
        std::thread::sleep(Duration::from_millis(25));
        let exported = workspace.dbdyno("report cut-a --format json");
        if exported.status == 0 && !points(&exported.json()).is_empty() {
            break;
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(points(&workspace.export("cut-a")).len() < 8);
    let resumed = workspace.json("ab --resume cut --format json");
    let analyses = &resumed["analyses"];
    assert!(
        analyses["taken"].as_u64().unwrap() >= 1 && analyses["ended"].is_string(),
        "{analyses}"
    );
    let pairs = resumed["repetitions_a"].as_u64().unwrap();
    for run in ["cut-a", "cut-b"] {
        let exported = workspace.export(run);
        assert_eq!(points(&exported).len() as u64, pairs);
        assert_eq!(exported["run"]["valid"], true);
    }
}

#[test]
fn unreachable_effects_are_announced_before_the_study() {
    let workspace = Workspace::new();
    for (arguments, expected) in testing::rows(
        "
        --until 0                     => above 0 and below 100
        --until 100%                  => above 0 and below 100
        --until soon                  => a percentage
        --until 2%                    => lies within the band of ±2 %
        --until 5% --band 8%          => or a smaller --band
        --until 5% --band learned     => not learned
        --max-time 5m               => --until
        --until 5% --max-time soon  => such as 100ms
        ",
    ) {
        let ended = mock(&workspace, &words(arguments, &[]));
        assert_eq!(ended.status, 2, "{arguments}: {}", ended.stderr);
        assert!(
            ended.stderr.contains(expected),
            "{arguments}: {}",
            ended.stderr
        );
    }
    assert!(!workspace.archive().exists(), "nothing was begun");
}
