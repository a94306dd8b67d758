//! A kind of work that nobody knows but the registry: planned, measured, resumed, reported and judged like any other.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

mod sleep;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use archive::{Point, PointKey, Run, RunName};
use host::SystemClock;
use host::inventory::Stated;
use lab::{HostAsked, LabError, Observer, Plan, Registry, RunOptions, Setting};
use load::Progress;
use target::TargetUrl;
use verdict::sla::{self, Sla};
use workload::Library;

const PLAN: &str = "name = \"siesta\"\nsample_ms = 10\n\
    [[step]]\nuse = \"sleep\"\n[step.sleep]\nsleepers = [1, 2]\nnaps = 20\n";

fn registry() -> Registry {
    workload::registry(Library::embedded().unwrap()).with(Box::new(sleep::Sleep))
}

/// Stops the run behind its first point.
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
    RunOptions {
        plan: Plan::parse(&workloads, PLAN, &[]).unwrap(),
        targets: vec![TargetUrl::parse("sqlite:").unwrap()],
        archive: archive.to_owned(),
        label: Some("siesta".into()),
        seed: 1,
        workloads,
        clock: Arc::new(SystemClock),
        tool_version: "0".into(),
        stated: Stated::default(),
        host: HostAsked::default(),
    }
}

/// Begun, stopped behind the first of its two points, and gone on with.
fn measured(archive: &Path) -> Run {
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
    let place = tempfile::tempdir().unwrap();
    let run = measured(&place.path().join("archive.dbdyno"));
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
    let limits = Sla::parse(
        "l",
        "[[limit]]\nmetric = \"SLEEP@2.operations\"\nat_least = 40\n",
    );
    let judgement = sla::judge(&run, &limits.unwrap());
    assert_eq!((judgement.met(), judgement.missed()), (1, 0));
}

#[test]
fn its_keys_are_checked_like_those_of_others() {
    let parsed = |text: &str, settings: &[&str]| {
        let settings = settings.iter().map(|s| Setting::parse(s).unwrap());
        Plan::parse(&registry(), text, &settings.collect::<Vec<_>>())
    };
    let set = parsed(PLAN, &["step.sleep.naps=3"]).unwrap();
    assert!(set.to_toml().contains("naps = 3"));
    for (text, setting, says) in [
        (
            PLAN.replace("naps", "nap"),
            "",
            "step 1, sleep has the unknown key \"nap\" (did you mean \"naps\"?)",
        ),
        (
            PLAN.replace("use = \"sleep\"", "use = \"slep\""),
            "",
            "did you mean \"sleep\"?",
        ),
        (
            PLAN.to_owned(),
            "step.sleep.naps=0",
            "step 1: nobody sleeps, or never",
        ),
        (
            PLAN.to_owned(),
            "step.tests=[\"T611\"]",
            "tests means nothing to use = \"sleep\"",
        ),
    ] {
        let settings: &[&str] = if setting.is_empty() { &[] } else { &[setting] };
        let error = parsed(&text, settings).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}
