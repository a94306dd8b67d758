//! Histograms from archives: one run is a system before an update, another one the same system after it.

use std::collections::BTreeMap;
use std::path::Path;

use archive::{Archive, Point, Run, RunName};
use jiff::Timestamp;
use stats::{Histogram, HistogramSnapshot};
use verdict::fleet::{Mix, Operation, Side};

use crate::csv::of_snapshot;
use crate::entry::{Entry, Key};
use crate::error::FleetError;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Observer {
    /// The kernel at the block device, from the request to its completion.
    Device,
    Driver,
}

impl Observer {
    fn is(self, times: &archive::OperationTimes, operation: Operation) -> bool {
        let (observer, phase) = match self {
            Self::Device => ("device", "whole"),
            Self::Driver => ("driver", "service"),
        };
        times.is(observer, operation.name(), phase)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Runs {
    pub before: String,
    pub after: String,
    /// Name of the system; `None` for that of the run's machine.
    pub system: Option<String>,
    pub observer: Observer,
}

impl Default for Runs {
    fn default() -> Self {
        Self {
            before: "before".to_owned(),
            after: "after".to_owned(),
            system: None,
            observer: Observer::Device,
        }
    }
}

/// Passes on the histograms of both runs: of each repetition one for reads and one for writes, over all its valid
/// points. Fails if a run is absent, or has no times by operation, or if `take` does.
pub fn read(
    path: &Path,
    runs: &Runs,
    take: &mut dyn FnMut(Entry) -> Result<(), FleetError>,
) -> Result<(), FleetError> {
    let archive = Archive::open_read_only(path)?;
    for (side, name) in [(Side::Before, &runs.before), (Side::After, &runs.after)] {
        let parsed: RunName = name
            .parse()
            .unwrap_or_else(|never: std::convert::Infallible| match never {});
        let run = archive.load_run(&parsed)?;
        let entries = entries(&run, side, runs).map_err(|what| FleetError::File {
            file: path.to_owned(),
            what: format!("run \"{name}\" {what}"),
        })?;
        entries.into_iter().try_for_each(&mut *take)?;
    }
    Ok(())
}

fn entries(run: &Run, side: Side, runs: &Runs) -> Result<Vec<Entry>, String> {
    let named = runs.system.clone().or(run.platform.host_name.clone());
    let system =
        named.ok_or("does not contain the name of its machine; give one as FILE?system=NAME")?;
    let mut repetitions: BTreeMap<u32, Vec<&Point>> = BTreeMap::new();
    for point in run.points.iter().filter(|point| point.valid()) {
        let points = repetitions.entry(point.key.repetition).or_default();
        points.push(point);
    }
    let mut entries = Vec::new();
    for (repetition, points) in repetitions {
        let merged = Operation::ALL.map(|operation| merged(&points, operation, runs.observer));
        let counts = merged.each_ref().map(HistogramSnapshot::count);
        let all = counts.iter().sum::<u64>();
        let began_us = began_us(&points).ok_or("does not say when its points began")?;
        for (operation, histogram) in Operation::ALL.into_iter().zip(&merged) {
            if histogram.is_empty() {
                continue;
            }
            entries.push(Entry {
                key: Key {
                    system: system.clone(),
                    began_us,
                    side,
                    operation,
                },
                mix: Mix {
                    read_pct: Some(counts[0] as f64 / all as f64 * 100.0),
                    ..Mix::default()
                },
                line: u64::from(repetition),
                buckets: of_snapshot(histogram),
            });
        }
    }
    if entries.is_empty() {
        let advice = match runs.observer {
            Observer::Device => {
                "measure it as root, or use the driver's times with FILE?observer=driver"
            }
            Observer::Driver => "take those of the device as FILE?observer=device",
        };
        return Err(format!(
            "has no valid point with distributions of reads or writes; {advice}"
        ));
    }
    Ok(entries)
}

fn merged(points: &[&Point], operation: Operation, observer: Observer) -> HistogramSnapshot {
    let mut merged = Histogram::new();
    let times = points.iter().flat_map(|point| &point.by_operation.times);
    for times in times.filter(|times| observer.is(times, operation)) {
        if let Some(histogram) = times.histogram() {
            merged.merge_snapshot(&histogram);
        }
    }
    HistogramSnapshot::from(&merged)
}

fn began_us(points: &[&Point]) -> Option<i64> {
    let began = points.iter().filter_map(|point| {
        let began: Timestamp = point.started_at.parse().ok()?;
        Some(began.as_microsecond())
    });
    began.min()
}
