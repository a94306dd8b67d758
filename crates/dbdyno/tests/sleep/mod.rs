//! A workload that only sleeps: everything that a new kind of work has to define.

use std::sync::Arc;
use std::time::Duration;

use archive::{Archive, Component, Point, PointKey, WorkDone};
use engine::TargetUrl;
use lab::observe::Observation;
use lab::plan::{Keys, TableKind};
use lab::volume::Written;
use lab::{Agenda, Done, Ground, Measure, Measured, Result, RunContext, Step, Workload};
use load::{BlockingClient, Drive, End, Failure, Progress};

const CODE: &str = "SLEEP";

/// `use = "sleep"`, with `[step.sleep]`.
pub struct Sleep;

impl Workload for Sleep {
    fn names(&self) -> &'static [&'static str] {
        &["sleep"]
    }

    fn tables(&self) -> &'static [TableKind] {
        &[TableKind {
            name: "sleep",
            keys: Keys {
                of_more: &["sleepers", "naps"],
                of_a_run: &[],
                run: "run",
            },
            read: |step| Ok(Arc::new(step)),
        }]
    }

    fn check(&self, step: &Step) -> std::result::Result<(), String> {
        if list(step).iter().all(|sleepers| *sleepers > 0) && naps(step) > 0 {
            Ok(())
        } else {
            Err("nobody sleeps, or never".into())
        }
    }

    fn lay(&self, step: &Step, ground: &Ground<'_>) -> Result<Agenda> {
        let mut agenda = Agenda::default();
        for (_, base) in ground.places() {
            let key = |jobs| PointKey {
                test: CODE.to_owned(),
                jobs,
                ..base.clone()
            };
            let keys = list(step).into_iter().map(key).collect();
            agenda.add(keys, None, |_| "Sleep".into());
        }
        Ok(agenda)
    }

    fn written(&self, _steps: &[&Step], _: &str, _replicas: u32) -> Result<Written> {
        Ok(Written::default())
    }

    fn title(&self, _code: &str) -> Result<String> {
        Ok("Sleep".into())
    }

    fn definition(&self, _code: &str, _targets: &[TargetUrl], _number: usize) -> Result<String> {
        Ok("asleep".into())
    }

    fn begin<'a>(&'a self, context: &'a RunContext<'a>) -> Box<dyn Measure + 'a> {
        Box::new(Bed { context })
    }
}

fn list(step: &Step) -> Vec<u32> {
    let sleepers = step.table::<toml::Table>()["sleepers"].as_array();
    let numbers = sleepers
        .into_iter()
        .flatten()
        .filter_map(toml::Value::as_integer);
    numbers.filter_map(|n| u32::try_from(n).ok()).collect()
}

fn naps(step: &Step) -> u64 {
    let naps = step.table::<toml::Table>()["naps"].as_integer();
    naps.and_then(|n| u64::try_from(n).ok()).unwrap_or(0)
}

struct Bed<'a> {
    context: &'a RunContext<'a>,
}

impl Measure for Bed<'_> {
    fn measure(
        &mut self,
        archive: &mut Archive,
        step: &Step,
        key: &PointKey,
        progress: &Progress,
    ) -> Result<Done> {
        let work = WorkDone {
            mode: "work".into(),
            operations_per_job: Some(naps(step)),
            ..WorkDone::default()
        };
        let blank = Point {
            work,
            ..self.context.blank(
                step,
                key.clone(),
                "asleep".into(),
                "Sleep".to_owned(),
                Component::Cpu,
            )
        };
        let end = End::Operations {
            per_job: naps(step),
        };
        let drive = Drive {
            interval: self.context.interval,
            seed: blank.seed,
            progress: Some(progress),
            ..Drive::of_jobs(end, self.context.stop)
        };
        let sleepers = (0..key.jobs).map(|_| Box::new(Sleeper) as Box<dyn BlockingClient>);
        let observed = Observation::of(self.context, blank)
            .drive(|start| Ok(load::drive(start.watch(sleepers.collect()), &drive).into()));
        let measured = observed.map(|observed| Measured::Points(vec![observed.finish()]));
        measured
            .unwrap_or_else(|ended| ended)
            .enter(archive, self.context)
    }
}

struct Sleeper;

impl BlockingClient for Sleeper {
    fn operate(&mut self, _request: load::Request) -> std::result::Result<load::Done, Failure> {
        std::thread::sleep(Duration::from_millis(2));
        Ok(load::Done::default())
    }
}
