//! The loop: measure a point, commit it to the archive, go on to the next.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use archive::{Advice, Archive, Inventory, Platform, PointKey, RunName, RunState};
use host::inventory::{Document, Stated};
use host::lint::ServerFacts;
use host::{Sampler, SamplerOptions, WallClock};
use load::Progress;
use workload::Library;

use crate::error::{LabError, Result};
use crate::measure::{Bay, Measured, fingerprint, measure};
use crate::nodes::Nodes;
use crate::observer::Observer;
use crate::{Plan, signal};

/// What a finished run says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// Number of the run.
    pub id: i64,
    /// Points that are invalid.
    pub invalid: usize,
}

/// The points of a run that are still to be measured.
pub(crate) struct Queue {
    /// Number of the run.
    pub id: i64,
    /// By what it is gone on with: label of the run, or name of its study.
    pub label: String,
    /// Points of the complete run, or study.
    pub planned: usize,
    /// Points of it that are safe in the archive.
    pub finished: usize,
    /// Points to measure now.
    pub todo: Vec<PointKey>,
}

/// What a run is measured with.
pub(crate) struct Work<'a> {
    pub plan: &'a Plan,
    pub library: Arc<Library>,
    pub targets: &'a [Nodes],
    pub platform: &'a Platform,
    pub seed: u64,
    pub clock: &'a Arc<dyn WallClock>,
    /// Side of a study, shown beside the target.
    pub side: Option<&'a str>,
}

impl Work<'_> {
    /// Measures everything that is to do, and says how far the run came.
    pub fn through(
        &self,
        archive: &mut Archive,
        queue: &Queue,
        observer: &mut dyn Observer,
    ) -> Result<Finished> {
        let ended = self.measure_all(archive, queue, observer);
        let now = host::clock::rfc3339(self.clock.now());
        match ended {
            Ok(()) => {
                archive.finish_run(queue.id, RunState::Complete, Some(&now))?;
                let run = archive.load_run(&RunName::Id(queue.id))?;
                let invalid = run.points.iter().filter(|p| !p.valid()).count();
                Ok(Finished {
                    id: queue.id,
                    invalid,
                })
            }
            Err(error) => {
                // On a full disk this fails as well; the points are safe all the same and the run can
                // be resumed, so the first error is the one to tell.
                let _ = archive.finish_run(queue.id, RunState::Interrupted, Some(&now));
                Err(error)
            }
        }
    }

    /// Measures what is to do; every finished point is in the archive when this returns.
    pub fn measure_all(
        &self,
        archive: &mut Archive,
        queue: &Queue,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let samplers = self.samplers()?;
        let bay = Bay {
            library: Arc::clone(&self.library),
            targets: self.targets,
            samplers: &samplers,
            seed: self.seed,
            interval: Duration::from_millis(self.plan.sample_ms),
            platforms: self.platforms(),
            clock: Arc::clone(self.clock),
            stop: signal::stop_flag(),
        };
        for (done, key) in queue.todo.iter().enumerate() {
            let step = &self.plan.step[key.step as usize - 1];
            let title = &self.library.test(&key.test)?.definition.title;
            let progress = Arc::new(Progress::new());
            observer.point_begins(key, title, &self.shown_target(key), &progress);
            let finished = queue.finished + done;
            let measured = measure(&bay, step, key, &progress)
                .map_err(|error| queue.broken(error.to_string(), finished))?;
            let point = match measured {
                Measured::Point(point) => point,
                Measured::Interrupted => return Err(queue.interrupted(finished)),
                Measured::Broken(message) => return Err(queue.broken(message, finished)),
            };
            archive.append_point(queue.id, &point)?;
            observer.point_ends(&point);
            if signal::stop_flag().load(Ordering::Relaxed) {
                return Err(queue.interrupted(finished + 1));
            }
        }
        Ok(())
    }

    fn shown_target(&self, key: &PointKey) -> String {
        let engine = &self.targets[key.target as usize].engine;
        match self.side {
            Some(side) => format!("{side} {engine}"),
            None => engine.clone(),
        }
    }

    fn samplers(&self) -> Result<Vec<Sampler>> {
        self.targets
            .iter()
            .map(|target| {
                let device = target.record().device;
                let interval = Duration::from_millis(self.plan.sample_ms);
                Sampler::start(SamplerOptions {
                    interval,
                    device,
                    ..SamplerOptions::default()
                })
                .map_err(|e| LabError::Host(e.to_string()))
            })
            .collect()
    }

    fn platforms(&self) -> Vec<String> {
        let machine = format!("{:?}", self.platform);
        self.targets
            .iter()
            .map(|target| {
                let mut record = target.record();
                // Where the files lie is a place, not a property; their device is in the record.
                record.url.clear();
                fingerprint(&[&machine, &format!("{record:?}")])
            })
            .collect()
    }
}

impl Queue {
    pub fn interrupted(&self, finished: usize) -> LabError {
        LabError::Interrupted {
            finished,
            planned: self.planned,
            label: self.label.clone(),
            verb: "run",
        }
    }

    fn broken(&self, message: String, finished: usize) -> LabError {
        LabError::Broken {
            message,
            finished,
            planned: self.planned,
            label: self.label.clone(),
            verb: "run",
        }
    }
}

/// The machine in full with what is advised for it; empty where nothing can be read.
pub(crate) fn inventory(stated: &Stated, platform: &Platform, targets: &[Nodes]) -> Inventory {
    let of_servers = targets
        .iter()
        .flat_map(|target| server_advice(target, platform));
    let Ok(found) = host::inventory::inventory(Path::new("/")) else {
        return Inventory {
            advice: of_servers.collect(),
            ..Inventory::default()
        };
    };
    let mut advice = host::lint::advice(&host::lint::lint(&found, stated));
    advice.extend(of_servers);
    let document = Document {
        found,
        stated: stated.clone(),
    };
    Inventory {
        facts: host::inventory::rows(&document),
        advice,
    }
}

/// What is advised for the settings of a target's server.
fn server_advice(target: &Nodes, platform: &Platform) -> Vec<Advice> {
    let record = target.record();
    // Only of a server whose files are here is the memory that of this machine.
    let is_here = target.data_path().is_some();
    let limit = record.settings.get("dbdyno.memory_bytes");
    let limit = limit.and_then(|text| text.parse().ok());
    let disk = record.device.as_deref();
    let disk = disk.and_then(|name| platform.block_devices.iter().find(|d| d.name == name));
    let facts = ServerFacts {
        settings: Some(&record.settings),
        memory_bytes: limit.or(platform.memory_bytes.filter(|_| is_here)),
        rotational: disk.and_then(|disk| disk.rotational),
    };
    let findings = host::lint::lint_server(target.first().setting_rules(), &facts)
        .expect("the tests of the engines parse the rules that they give");
    let mut advice = host::lint::advice(&findings);
    for one in &mut advice {
        one.what = format!("{}: {}", record.name, one.what);
    }
    advice
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::lint::Decision;

    /// The texts of the engines are read as they stand in their files, so that none can be forgotten.
    #[test]
    fn the_rules_of_all_engines_parse_and_have_their_sources() {
        let engines = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/src");
        let mut files = 0;
        for entry in std::fs::read_dir(engines).unwrap() {
            let Ok(text) = std::fs::read_to_string(entry.unwrap().path().join("rules.toml")) else {
                continue;
            };
            files += 1;
            let findings = host::lint::lint_server(&text, &ServerFacts::default()).unwrap();
            let mut names: Vec<_> = findings.iter().map(|f| f.id.as_str()).collect();
            names.dedup();
            assert_eq!(names.len(), findings.len());
            for finding in &findings {
                // Nothing is known of this server, so nothing can be decided, and the reason is a sentence.
                assert_eq!(
                    finding.decision,
                    Decision::CannotBeDecided,
                    "{}",
                    finding.id
                );
                assert!(finding.why.ends_with('.'), "{}", finding.id);
                assert!(
                    finding.source.contains(" documentation, "),
                    "{}",
                    finding.id
                );
            }
        }
        assert_eq!(files, 2, "the engines that are servers");
    }
}
