//! A workload known only to the registry: planned, measured, resumed, reported and judged like any other.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

mod sleep;

use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use archive::{Point, PointKey, Remark, Run, RunName};
use host::{SystemClock, WallClock};
use lab::{LabError, Observer, Plan, Registry, RunOptions, Setting};
use load::Progress;
use verdict::sla::{self, Sla};
use workload::Library;

const PLAN: &str = "name = \"siesta\"\nsample_ms = 10\n\
    [[step]]\nuse = \"sleep\"\n[step.sleep]\nsleepers = [1, 2]\nnaps = 20\n";

fn registry() -> Registry {
    workloads::registry(Library::embedded().unwrap()).with(Box::new(sleep::Sleep))
}

/// Stops the run after its first point.
struct Stopping {
    is_stopping: bool,
    titles: Vec<String>,
}

impl Observer for Stopping {
    fn begins(&mut self, _label: &str, _planned: usize, _todo: usize) {}

    fn point_begins(&mut self, _: &PointKey, title: &str, _: &str, _: &Arc<Progress>) {
        self.titles.push(title.to_owned());
    }

    fn point_ends(&mut self, _: &Point) {
        lab::signal::stop_flag().store(self.is_stopping, Ordering::Relaxed);
    }
}

fn options(archive: &Path) -> RunOptions {
    let workloads = registry();
    let plan = Plan::parse(&workloads, PLAN, &[]).unwrap();
    let sqlite = vec![engines::parse("sqlite:").unwrap()];
    RunOptions {
        label: Some("siesta".into()),
        ..RunOptions::new(plan, sqlite, archive, 1, workloads)
    }
}

/// The flag that stops a run belongs to the process.
static ONE_RUN: Mutex<()> = Mutex::new(());

/// A run started, stopped after the first of its two points, and resumed.
fn measured(archive: &Path) -> Run {
    let _alone = ONE_RUN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut observer = Stopping {
        is_stopping: true,
        titles: Vec::new(),
    };
    let stopped = lab::run(options(archive), &mut observer).unwrap_err();
    assert!(
        matches!(
            stopped,
            LabError::Interrupted {
                finished: 1,
                planned: 2,
                ..
            }
        ),
        "{stopped}"
    );
    lab::signal::stop_flag().store(false, Ordering::Relaxed);
    observer.is_stopping = false;
    let name = RunName::Label("siesta".into());
    let clock = Arc::new(SystemClock);
    let run = lab::resume(&name, archive, registry(), clock, &mut observer).unwrap();
    assert_eq!(observer.titles, ["Sleep", "Sleep"]);
    run
}

#[test]
fn a_workload_that_is_registered_is_planned_measured_resumed_reported_and_judged() {
    let directory = tempfile::tempdir().unwrap();
    let run = measured(&directory.path().join("archive.dbdyno"));
    let counted = run
        .points
        .iter()
        .map(|p| (p.key.jobs, p.figures.operations));
    assert_eq!(
        counted.collect::<Vec<_>>(),
        [(1, Some(20.0)), (2, Some(40.0))]
    );
    assert!(run.points.iter().all(|p| p.histograms.service.count() > 0));

    let page = report::html(&run, &[], &report::HtmlOptions::default());
    let table = report::terminal(&run, &[], 120, false);
    for text in [&page, &table] {
        assert!(text.contains("SLEEP") && text.contains("Sleep"), "{text}");
    }
    shows_its_own_section(&page, &table, &archive::export::markdown(&run, &[]));
    let limits = Sla::parse(
        "l",
        "[[limit]]\nmetric = \"SLEEP@2.operations\"\nat_least = 40\n",
    );
    let judgement = sla::judge(&run, &limits.unwrap());
    assert_eq!((judgement.met(), judgement.missed()), (1, 0));
}

/// The workload's table and chart of both points, of which neither report nor archive knows anything.
fn shows_its_own_section(page: &str, table: &str, markdown: &str) {
    let own = |text: &str| text.split_once("Oversleeping").unwrap().1.to_owned();
    for text in [page, table, markdown].map(own) {
        for part in ["2 ms that it was meant", "late, p99", "Late by sleepers"] {
            assert!(text.contains(part), "no {part:?} in {text}");
        }
    }
    let own = own(page);
    assert!(
        own.contains("<svg") && own.contains("sleepers</text>"),
        "{own}"
    );
    let rows = own.split_once("</table>").unwrap().0;
    for (sleepers, naps) in [(1, 20), (2, 40)] {
        let row = format!("<tr><th scope=\"row\">{sleepers}</th><td>{naps}</td>");
        assert!(rows.contains(&row), "{rows}");
        assert!(
            markdown.contains(&format!("| {sleepers} | {naps} |")),
            "{markdown}"
        );
    }
}

/// A wall clock that steps forward or back at each reading.
struct Stepping {
    step_ms: i64,
    reads: AtomicI64,
}

impl WallClock for Stepping {
    fn now(&self) -> SystemTime {
        let offset_ms = self.step_ms * self.reads.fetch_add(1, Ordering::Relaxed);
        let offset = Duration::from_millis(offset_ms.unsigned_abs());
        if offset_ms < 0 {
            SystemTime::now() - offset
        } else {
            SystemTime::now() + offset
        }
    }
}

struct Silent;

impl Observer for Silent {
    fn begins(&mut self, _label: &str, _planned: usize, _todo: usize) {}
    fn point_begins(&mut self, _: &PointKey, _: &str, _: &str, _: &Arc<Progress>) {}
    fn point_ends(&mut self, _: &Point) {}
}

#[test]
fn a_wall_clock_that_steps_is_reported_and_changes_no_figure() {
    let _alone = ONE_RUN.lock().unwrap_or_else(PoisonError::into_inner);
    for step_ms in [3_600_000, -3_600_000] {
        let directory = tempfile::tempdir().unwrap();
        let mut options = options(&directory.path().join("archive.dbdyno"));
        options.clock = Arc::new(Stepping {
            step_ms,
            reads: AtomicI64::new(0),
        });
        let run = lab::run(options, &mut Silent).unwrap();
        assert_eq!(run.points.len(), 2);
        for point in &run.points {
            assert!(point.valid(), "{point:#?}");
            let elapsed_s = point.figures.elapsed_s.unwrap();
            assert!(elapsed_s < 600.0, "{elapsed_s} s");
            let steps: Vec<f64> = point.notes.iter().filter_map(clock_step_s).collect();
            let [step_s] = steps[..] else {
                panic!("{:?}", point.notes)
            };
            assert!(step_s.abs() > 3000.0, "{step_s} s");
            assert_eq!(step_s.is_sign_negative(), step_ms < 0);
        }
    }
}

fn clock_step_s(note: &Remark) -> Option<f64> {
    match note {
        Remark::ClockStepped { step_s } => Some(*step_s),
        _ => None,
    }
}

#[test]
fn its_keys_are_checked_like_those_of_others() {
    let parsed = |text: &str, settings: &[&str]| {
        let settings = settings.iter().map(|s| Setting::parse(s).unwrap());
        Plan::parse(&registry(), text, &settings.collect::<Vec<_>>())
    };
    let set = parsed(PLAN, &["step.sleep.naps=3"]).unwrap();
    assert!(set.to_toml().contains("naps = 3"));
    for (change, says) in testing::rows(
        r#"
        naps -> nap                     => step 1, sleep has the unknown key "nap" (did you mean "naps"?)
        use = "sleep" -> use = "slep"   => did you mean "sleep"?
        step.sleep.naps=0               => step 1: nobody sleeps, or never
        step.tests=["T611"]             => tests does not apply to use = "sleep"
        "#,
    ) {
        let error = match change.split_once(" -> ") {
            Some((from, to)) => parsed(&PLAN.replace(from, to), &[]),
            None => parsed(PLAN, &[change]),
        };
        let error = error.unwrap_err().to_string();
        assert!(error.contains(says), "{change}: {error}");
    }
}
