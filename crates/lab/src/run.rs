//! The loop: measure a point, commit it to the archive, go on to the next.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use archive::{Archive, Inventory, NewRun, Platform, Point, PointKey, Run, RunName, RunState};
use host::inventory::{Document, Stated};
use host::{Sampler, SamplerOptions, WallClock};
use load::Progress;
use workload::Library;

use crate::agenda::{self, Agenda};
use crate::error::{LabError, Result};
use crate::measure::{Bay, Measured, fingerprint, measure};
use crate::nodes::{Nodes, group, urls_of};
use crate::{Plan, signal};

/// Who watches a run: the terminal, a test.
pub trait Observer {
    /// The run was entered into the archive; `todo` of `planned` points are to be measured.
    fn begins(&mut self, label: &str, planned: usize, todo: usize);
    /// A point begins; `progress` can be read while it runs.
    fn point_begins(&mut self, key: &PointKey, title: &str, target: &str, progress: &Arc<Progress>);
    /// A point was measured and is safe in the archive.
    fn point_ends(&mut self, point: &Point);
}

/// What a run is made of.
pub struct RunOptions {
    /// The plan, checked.
    pub plan: Plan,
    /// URLs of the targets.
    pub targets: Vec<String>,
    /// Where the result goes.
    pub archive: PathBuf,
    /// Label; made up when `None`.
    pub label: Option<String>,
    /// Seed.
    pub seed: u64,
    /// The library.
    pub library: Library,
    /// Wall clock.
    pub clock: Arc<dyn WallClock>,
    /// Version of the tool.
    pub tool_version: String,
    /// What the machine's owner states of it.
    pub stated: Stated,
}

/// What a finished run says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// Number of the run.
    pub id: i64,
    /// Points that are invalid.
    pub invalid: usize,
}

/// Carries out a plan.
///
/// # Errors
/// What is wrong in itself is found before anything is touched; what the environment does later ends
/// the run with every finished point in the archive.
pub fn run(options: RunOptions, observer: &mut dyn Observer) -> Result<Finished> {
    agenda::check(&options.plan, &options.library)?;
    if let Some(label) = &options.label {
        archive::store::check_label(label)?;
    }
    let groups = group(&options.targets)?;
    let mut archive = Archive::open(&options.archive)?;
    let targets = groups
        .iter()
        .map(|g| Nodes::open(g))
        .collect::<Result<Vec<_>>>()?;
    let platform = host::facts(Path::new("/"));
    let cores = platform.threads.unwrap_or(1);
    let agenda = Agenda::lay(&options.plan, &options.library, &targets, cores)?;
    let id = archive.create_run(&NewRun {
        label: options.label.clone(),
        plan_name: options.plan.name.clone(),
        plan_toml: options.plan.to_toml(),
        seed: options.seed,
        repetitions: options.plan.repeat,
        targets: targets.iter().map(Nodes::record).collect(),
        platform: platform.clone(),
        inventory: inventory(&options.stated),
        study: None,
        missing: agenda.missing,
        tool_version: options.tool_version.clone(),
        started_at: host::clock::rfc3339(options.clock.now()),
        planned: agenda.points.clone(),
    })?;
    let label = options.label.clone().unwrap_or_else(|| format!("run-{id}"));
    observer.begins(&label, agenda.points.len(), agenda.points.len());
    let work = Work {
        plan: &options.plan,
        library: Arc::new(options.library.clone()),
        targets: &targets,
        platform: &platform,
        seed: options.seed,
        clock: &options.clock,
    };
    let queue = Queue {
        id,
        label,
        planned: agenda.points.len(),
        todo: agenda.points,
    };
    work.through(&mut archive, &queue, observer)
}

/// Goes on with a run that was interrupted or killed.
///
/// # Errors
/// Also when the run is complete, or was begun on another machine.
pub fn resume(
    name: &RunName,
    archive_path: &Path,
    library: Library,
    clock: Arc<dyn WallClock>,
    observer: &mut dyn Observer,
) -> Result<Finished> {
    let mut archive = Archive::open(archive_path)?;
    let begun = archive.load_run(name)?;
    if begun.state == RunState::Complete {
        return Err(LabError::Plan(format!(
            "run {} is complete; there is nothing to resume",
            begun.label
        )));
    }
    let platform = host::facts(Path::new("/"));
    refuse_other_machine(&begun.platform, &platform)?;
    refuse_other_library(&begun, &library)?;
    let plan = Plan::parse(&begun.plan_toml, &[])?;
    let urls: Vec<String> = begun.targets.iter().flat_map(urls_of).collect();
    let targets = group(&urls)?
        .iter()
        .map(|g| Nodes::open(g))
        .collect::<Result<Vec<_>>>()?;
    let planned = archive.planned(begun.id)?;
    let finished = archive.finished(begun.id)?;
    let todo: Vec<_> = planned
        .iter()
        .filter(|key| !finished.contains(key))
        .cloned()
        .collect();
    observer.begins(&begun.label, planned.len(), todo.len());
    let work = Work {
        plan: &plan,
        library: Arc::new(library),
        targets: &targets,
        platform: &platform,
        seed: begun.seed,
        clock: &clock,
    };
    let queue = Queue {
        id: begun.id,
        label: begun.label.clone(),
        planned: planned.len(),
        todo,
    };
    work.through(&mut archive, &queue, observer)
}

/// The machine in full with what is advised for it; empty where nothing can be read.
fn inventory(stated: &Stated) -> Inventory {
    let Ok(found) = host::inventory::inventory(Path::new("/")) else {
        return Inventory::default();
    };
    let advice = host::lint::advice(&host::lint::lint(&found, stated));
    let document = Document {
        found,
        stated: stated.clone(),
    };
    Inventory {
        facts: host::inventory::rows(&document),
        advice,
    }
}

/// Half a run from one machine and half from another would be one figure of neither.
fn refuse_other_machine(begun: &Platform, now: &Platform) -> Result<()> {
    let same = begun.processor == now.processor
        && begun.threads == now.threads
        && begun.memory_bytes == now.memory_bytes;
    if same {
        return Ok(());
    }
    Err(LabError::Plan(
        "this run was begun on another machine (processor or memory differ); measure it anew here"
            .into(),
    ))
}

/// Nor may half of its points be measured with other tests than the rest.
fn refuse_other_library(begun: &Run, library: &Library) -> Result<()> {
    for point in &begun.points {
        let engine = begun.targets.get(point.key.target as usize);
        let engine = engine.map_or("", |target| target.name.as_str());
        let test = library.test(&point.key.test)?;
        if test.fingerprint(engine) != point.definition {
            return Err(LabError::Plan(format!(
                "run {} was begun with another definition of {}; give the library it was begun with by --library, or measure anew",
                begun.label, point.key.test
            )));
        }
    }
    Ok(())
}

struct Queue {
    id: i64,
    label: String,
    planned: usize,
    todo: Vec<PointKey>,
}

struct Work<'a> {
    plan: &'a Plan,
    library: Arc<Library>,
    targets: &'a [Nodes],
    platform: &'a Platform,
    seed: u64,
    clock: &'a Arc<dyn WallClock>,
}

impl Work<'_> {
    fn through(
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

    fn measure_all(
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
        let before = queue.planned - queue.todo.len();
        for (done, key) in queue.todo.iter().enumerate() {
            let step = &self.plan.step[key.step as usize - 1];
            let title = &self.library.test(&key.test)?.definition.title;
            let progress = Arc::new(Progress::new());
            observer.point_begins(
                key,
                title,
                &self.targets[key.target as usize].engine,
                &progress,
            );
            let finished = before + done;
            let measured = measure(&bay, step, key, &progress)
                .map_err(|error| queue.broken(error.to_string(), finished))?;
            let point = match measured {
                Measured::Point(point) => point,
                Measured::Interrupted => return Err(queue.interrupted(finished)),
                Measured::Broken(message) => return Err(queue.broken(message, finished)),
            };
            archive.append_point(queue.id, &point)?;
            observer.point_ends(&point);
            if signal::stop_flag().load(std::sync::atomic::Ordering::Relaxed) {
                return Err(queue.interrupted(finished + 1));
            }
        }
        Ok(())
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
    fn interrupted(&self, finished: usize) -> LabError {
        LabError::Interrupted {
            finished,
            planned: self.planned,
            label: self.label.clone(),
        }
    }

    fn broken(&self, message: String, finished: usize) -> LabError {
        LabError::Broken {
            message,
            finished,
            planned: self.planned,
            label: self.label.clone(),
        }
    }
}
