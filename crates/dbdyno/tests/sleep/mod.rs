//! A workload that only sleeps: everything that a new kind of work has to define.

use std::sync::Arc;
use std::time::Duration;

use archive::{
    Archive, Axis, Chart, Component, Latency, Point, PointKey, Section, Series, Table, WorkDone,
};
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
        let measured = observed.map(|observed| {
            let mut point = observed.finish();
            point.sections.extend(section(&point));
            Measured::Points(vec![point])
        });
        measured
            .unwrap_or_else(|ended| ended)
            .enter(archive, self.context)
    }
}

/// The time of naps beyond their end, which only this workload knows how to show.
fn section(point: &Point) -> Option<Section> {
    let naps = Latency::of(&point.histograms.service)?;
    let late_us = |us: f64| us - NAP.as_micros() as f64;
    let sleepers = f64::from(point.key.jobs);
    let mut table = Table::new("sleepers | naps | late, mean [µs] | late, p99 [µs]");
    let naps_done = point.figures.operations.unwrap_or(0.0);
    table.row([
        sleepers,
        naps_done,
        late_us(naps.mean_us),
        late_us(naps.p99_us),
    ]);
    let series = [("mean", naps.mean_us), ("p99", naps.p99_us)].map(|(name, us)| Series {
        name: name.to_owned(),
        points: vec![(sleepers, Some(late_us(us)))],
    });
    let chart = Chart {
        title: "Late by sleepers".into(),
        note: None,
        x: Axis::new("sleepers", ""),
        y: Axis::new("late", "µs"),
        series: series.into(),
    };
    let section = Section::new("Oversleeping")
        .note("Time of a nap beyond the 2 ms that it was meant to take.");
    Some(section.table(table).chart(chart))
}

const NAP: Duration = Duration::from_millis(2);

struct Sleeper;

impl BlockingClient for Sleeper {
    fn operate(&mut self, _request: load::Request) -> std::result::Result<load::Done, Failure> {
        std::thread::sleep(NAP);
        Ok(load::Done::default())
    }
}
