//! Outputs of a list during its execution: lines to the terminal, runs to the archive, events to watchers.

use std::time::SystemTime;

use anyhow::Result;
use archive::stream::{DeviceRates, PointHead, PointResult, Snapshot, StreamEvent};
use storage::execution::{Audience, Completion, Done, ExecutionError, Lap};
use storage::language::heading;
use storage::run::Run;

use super::keep::{self, Keeper, NAME};
use crate::command::print;
use crate::event_outputs::Watched;

pub struct Onlooker {
    keeper: Keeper,
    watched: Watched,
    repetition: u32,
    in_flight: u32,
}

impl Onlooker {
    pub fn begin(keeper: Keeper, watched: Watched) -> Result<Self> {
        let (run, planned) = (keeper.label()?, keeper.planned());
        watched.tell(|| StreamEvent::RunBegins {
            run,
            at: host::clock::rfc3339(SystemTime::now()),
            planned,
            todo: planned,
        });
        Ok(Self {
            keeper,
            watched,
            repetition: 0,
            in_flight: 0,
        })
    }

    /// Closes the run in the archive and returns its name.
    pub fn end(self, ended: &Result<Completion, ExecutionError>) -> Result<String> {
        let label = self.keeper.finish(ended)?;
        let problem = match ended {
            Ok(Completion::Interrupted) => Some("interrupted".to_owned()),
            Ok(_) => None,
            Err(error) => Some(error.to_string()),
        };
        self.watched.tell(|| StreamEvent::RunEnds {
            run: Some(label.clone()),
            complete: problem.is_none(),
            problem,
        });
        Ok(label)
    }
}

impl Onlooker {
    /// An interval has only the sum of the response times; their distribution exists only for the whole run.
    fn snapshot(&self, lap: &Lap) -> Snapshot {
        let total = lap.total();
        let response_us = total.response_ns as f64 / 1e3;
        let device = self.keeper.device().map(|name| DeviceRates {
            name: name.to_owned(),
            read_iops: lap.rates.read_iops,
            write_iops: lap.rates.write_iops,
            busy_pct: None,
        });
        Snapshot {
            at_s: lap.end.as_secs_f64(),
            length_s: lap.length.as_secs_f64(),
            operations: Some(total.operations),
            errors: Some(total.errors),
            response_us_mean: (total.operations > 0).then(|| response_us / total.operations as f64),
            users: self.in_flight,
            host: Some(workload::below::sample(lap)),
            devices: device.into_iter().collect(),
            ..Snapshot::default()
        }
    }
}

impl Audience for Onlooker {
    fn show(&mut self, text: &str) {
        // The reader may be gone; the pages and the archive continue.
        let _ = print(text);
    }

    fn repetition_begins(&mut self, repetition: u32) {
        self.repetition = repetition;
    }

    fn run_begins(&mut self, number: usize, run: &Run) {
        let key = keep::key(self.repetition, number, run);
        self.in_flight = key.jobs;
        self.watched.tell(|| {
            StreamEvent::PointBegins(PointHead {
                key,
                title: heading(run),
                target_name: NAME.to_owned(),
            })
        });
    }

    fn interval(&mut self, lap: &Lap) {
        self.watched
            .tell(|| StreamEvent::Snapshot(Box::new(self.snapshot(lap))));
    }

    fn done(&mut self, done: &Done<'_>) -> Result<(), String> {
        let point = self.keeper.point(done);
        let point = point.map_err(|error| format!("{error:#}"))?;
        if let Some(point) = point {
            self.watched
                .tell(|| StreamEvent::PointEnds(Box::new(PointResult::of(&point))));
        }
        Ok(())
    }
}
