//! An engine that nobody knows but the list: it passes the suite, and is planned, measured and reported like any other.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

mod toy;

use std::sync::Arc;

use archive::{Point, PointKey};
use engine::conformance::{Outcome, Suite};
use lab::{Observer, Plan, RunOptions};
use load::Progress;
use workload::Library;

const PLAN: &str = "name = \"shop\"\nsample_ms = 50\n[[step]]\nuse = \"script\"\njobs = [1]\nmode = \"time\"\n\
    script = \"../../docs/examples/shop.toml\"\nseconds = 0.5\n";

#[test]
fn it_passes_the_suite() {
    let url = toy::ENGINES.parse("toy:").unwrap();
    let suite = Suite::beside(toy::ENGINES, &url).unwrap();
    let mut passed = 0;
    for result in suite.run(|_| {}).unwrap() {
        match result.outcome {
            Outcome::Passed => passed += 1,
            Outcome::NotOffered(why) => assert!(!why.is_empty(), "{}", result.name),
            failed @ Outcome::Failed { .. } => panic!("{}: {failed:?}", result.name),
        }
    }
    assert!(passed >= 15, "{passed} checks passed");
}

struct Silent;

impl Observer for Silent {
    fn begins(&mut self, _label: &str, _planned: usize, _todo: usize) {}
    fn point_begins(&mut self, _: &PointKey, _: &str, _: &str, _: &Arc<Progress>) {}
    fn point_ends(&mut self, _: &Point) {}
}

#[test]
fn it_is_planned_measured_and_reported() {
    engines::add(toy::ENGINES);
    let place = tempfile::tempdir().unwrap();
    let workloads = workloads::registry(Library::embedded().unwrap());
    let plan = Plan::parse(&workloads, PLAN, &[]).unwrap();
    let toy = vec![engines::parse("toy:").unwrap()];
    let archive = place.path().join("archive.dbdyno");
    let options = RunOptions::new(plan, toy, &archive, 1, workloads);
    let run = lab::run(options, &mut Silent).unwrap();
    let [point] = &run.points[..] else {
        panic!("{} points", run.points.len())
    };
    assert!(
        point.figures.operations.unwrap_or(0.0) > 0.0,
        "{:?}",
        point.reasons
    );
    let page = report::html(&run, &[], &report::HtmlOptions::default());
    let table = report::terminal(&run, &[], 120, false);
    for text in [&page, &table] {
        assert!(text.contains("toy"), "{text}");
    }
}
