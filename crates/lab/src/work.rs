//! The loop: measure a point, commit it to the archive, continue with the next.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use archive::{Archive, Point, PointKey, Run, RunName, RunState};
use host::inventory::Role;
use host::{HostWatch, WallClock};
use load::Progress;

use crate::alternate::Side;
use crate::context::RunContext;
use crate::done::Done;
use crate::error::{LabError, Result};
use crate::machine::{Machine, Site};
use crate::nodes::Nodes;
use crate::observer::Observer;
use crate::point::fingerprint;
use crate::registry::Registry;
use crate::server_memory::ServerMemory;
use crate::servers::Servers;
use crate::session_sampler::WaitsSeen;
use crate::snapshots::Taker;
use crate::watchdog::Watchdog;
use crate::workload::{Measure, Workload};
use crate::{Plan, Step, signal};

pub(crate) struct Queue {
    pub id: i64,
    /// Label of the run or name of its study, by which it is resumed.
    pub label: String,
    /// Points of the complete run, or study.
    pub planned: usize,
    pub finished: usize,
    pub todo: Vec<PointKey>,
}

pub(crate) struct Work<'a> {
    pub plan: &'a Plan,
    pub workloads: &'a Registry,
    pub targets: &'a [Nodes],
    pub machine: &'a Machine,
    pub seed: u64,
    pub clock: &'a Arc<dyn WallClock>,
    /// Letter of the side of a study, shown with the target.
    pub letter: Option<char>,
    pub side: Option<&'a Side<'a>>,
}

impl Work<'_> {
    /// Measures all remaining points, stores the state of the run, and returns the complete run.
    pub fn through(
        &self,
        archive: &mut Archive,
        queue: &Queue,
        observer: &mut dyn Observer,
    ) -> Result<Run> {
        let ended = self.measure_all(archive, queue, observer);
        let now = host::clock::rfc3339(self.clock.now());
        match ended {
            Ok(()) => {
                archive.finish_run(queue.id, RunState::Complete, Some(&now))?;
                Ok(archive.load_run(&RunName::Id(queue.id))?)
            }
            Err(error) => {
                // On a full disk this fails as well; the points are safe all the same and the run can be resumed, so
                // the first error is the one to report.
                let _ = archive.finish_run(queue.id, RunState::Interrupted, Some(&now));
                Err(error)
            }
        }
    }

    /// Measures the remaining points; every finished one is in the archive when this returns.
    pub fn measure_all(
        &self,
        archive: &mut Archive,
        queue: &Queue,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let sites: Vec<Site> = self.targets.iter().map(|t| self.machine.site(t)).collect();
        let _tuned = self.machine.tune(&self.plan.host, &sites)?;
        let samplers = self.watches(&sites)?;
        // Points in slices have no separate intervals.
        let sink = observer.snapshots().filter(|_| self.side.is_none());
        let context = RunContext {
            run: queue.id,
            plan: &self.plan.name,
            targets: self.targets,
            samplers: &samplers,
            seed: self.seed,
            repeat: self.plan.repeat,
            validity: self.plan.validity,
            interval: Duration::from_millis(self.plan.sample_ms),
            hardware_threads: self.machine.platform.threads,
            platforms: self.platforms(&sites),
            clock: Arc::clone(self.clock),
            stop: signal::stop_flag(),
            servers: Servers::behind(&queue.newest(archive)?),
            server_memory: ServerMemory::default(),
            side: self.side,
            waits_seen: sink.as_ref().map(|_| WaitsSeen::default()),
        };
        let taker = sink.map(|sink| Taker::new(&context, sink));
        let limit = self.plan.stall_limit_s.map(Duration::from_secs_f64);
        let watchdog = Watchdog::new(self.targets, limit);
        let taker = taker.as_ref();
        let mut work = || self.measure_under(&watchdog, taker, &context, archive, queue, observer);
        watchdog.during(|| match taker {
            Some(taker) => taker.during(work),
            None => work(),
        })
    }

    fn measure_under(
        &self,
        watchdog: &Watchdog<'_>,
        taker: Option<&Taker<'_>>,
        context: &RunContext<'_>,
        archive: &mut Archive,
        queue: &Queue,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let mut measures: HashMap<&str, Box<dyn Measure + '_>> = HashMap::new();
        let mut finished = queue.finished;
        // A key may be entered together with another one.
        let mut entered: HashSet<PointKey> = HashSet::new();
        // Targets that failed, and the error of the first.
        let mut given_out: HashSet<u32> = HashSet::new();
        let mut broken: Option<String> = None;
        let mut lost = Lost::behind(&archive.planned(queue.id)?, &queue.todo);
        for key in &queue.todo {
            if given_out.contains(&key.target) {
                continue;
            }
            let step = &self.plan.step[key.step as usize - 1];
            let workload = self.workloads.of(step);
            let measure = measures.entry(workload.names()[0]);
            let measure = measure.or_insert_with(|| workload.begin(context));
            if entered.contains(key) || measure.has_left_out(key) {
                continue;
            }
            let progress = Arc::new(match taker {
                Some(_) => Progress::watched(),
                None => Progress::new(),
            });
            let target = self.shown_target(key);
            observer.point_begins(key, &workload.title(&key.test)?, &target, &progress);
            let (test, jobs, threads) = (&key.test, key.jobs, key.threads);
            let _point = tracing::info_span!("point", %test, on = target, jobs, threads, repetition = key.repetition).entered();
            if let Some(side) = self.side {
                side.next_point();
            }
            if let Some(taker) = taker {
                taker.point_begins(key, workload.operations(), &progress);
            }
            let (done, hung) = watchdog.over(key.target, &progress, || {
                let ready = self.reload(&mut lost, key, context);
                match ready.and_then(|()| self.refill(workload, step, key, context)) {
                    Ok(()) => measure.measure(archive, step, key, &progress),
                    Err(done) => Ok(done),
                }
            });
            if let Some(taker) = taker {
                taker.point_ends();
            }
            let points = match because(done, hung)? {
                Done::Entered(points) => points,
                Done::Interrupted => return Err(queue.interrupted(finished)),
                Done::NotLoaded(what) => return Err(queue.not_loaded(what)),
                Done::Broken(message) => {
                    given_out.insert(key.target);
                    let is_left =
                        |key: &PointKey| !given_out.contains(&key.target) && !entered.contains(key);
                    if queue.todo.iter().any(is_left) {
                        observer.gave_out(&target, &message);
                    }
                    broken.get_or_insert(message);
                    continue;
                }
            };
            finished += points.len();
            entered.extend(points.iter().map(|point| point.key.clone()));
            points.iter().for_each(|point| observer.point_ends(point));
            if signal::stop_flag().load(Ordering::Relaxed) {
                return Err(queue.interrupted(finished));
            }
        }
        match broken {
            Some(message) => Err(queue.broken(message, finished)),
            None => Ok(()),
        }
    }

    /// Repeats the loads of finished steps into the target of a key and into the original of a replica, if a resumed
    /// run has lost them with a throw-away server.
    fn reload(
        &self,
        lost: &mut Lost,
        key: &PointKey,
        context: &RunContext<'_>,
    ) -> std::result::Result<(), Done> {
        let is_source = |target: &Nodes| !target.is_replica();
        let source = self.targets.iter().position(is_source);
        let source = source.filter(|_| !is_source(&self.targets[key.target as usize]));
        for target in source.map(|at| at as u32).into_iter().chain([key.target]) {
            let steps = lost.finished_before(key, target).into_iter();
            let steps = steps.map(|number| &self.plan.step[number as usize - 1]);
            for (workload, steps) in self.workloads.by_workload(steps) {
                workload.reload(context, &steps, target)?;
            }
        }
        Ok(())
    }

    /// Fills the replica that a step reads in a resumed run: it ended with its process.
    fn refill(
        &self,
        workload: &dyn Workload,
        step: &Step,
        key: &PointKey,
        context: &RunContext<'_>,
    ) -> std::result::Result<(), Done> {
        let replica = self.targets[key.target as usize].replica();
        let is_empty = replica.is_some_and(|replica| !replica.is_filled());
        if is_empty && workload.reads_replicas(step) {
            (self.workloads.all()).try_for_each(|w| w.refill(context, key.target))
        } else {
            Ok(())
        }
    }

    fn shown_target(&self, key: &PointKey) -> String {
        let target = &self.targets[key.target as usize];
        let engine = match target.replica() {
            Some(replica) => format!("{} {}", target.engine, replica.level()),
            None => target.engine.clone(),
        };
        match self.letter {
            Some(letter) => format!("{letter} {engine}"),
            None => engine,
        }
    }

    fn watches(&self, sites: &[Site]) -> Result<Vec<HostWatch>> {
        let interval = Duration::from_millis(self.plan.sample_ms);
        let watches = sites.iter().map(|site| self.machine.watch(site, interval));
        watches.collect()
    }

    fn platforms(&self, sites: &[Site]) -> Vec<String> {
        let mut platform = self.machine.platform.clone();
        // Devices other than disks come and go with the machine's users; the data's device is a property of the site.
        (platform.block_devices).retain(|device| Role::of(&device.name, None) != Role::Other);
        let machine = format!("{platform:?}");
        let properties = sites.iter().map(Site::properties);
        properties
            .map(|text| fingerprint(&[&machine, &text]))
            .collect()
    }
}

/// Steps that were finished before this process began, whose loads may be lost.
struct Lost {
    finished: BTreeSet<(u32, u32, u32)>,
}

impl Lost {
    fn behind(planned: &[PointKey], todo: &[PointKey]) -> Self {
        let step = |key: &PointKey| (key.repetition, key.target, key.step);
        let open: HashSet<_> = todo.iter().map(step).collect();
        let finished = planned.iter().map(step);
        Self {
            finished: finished.filter(|step| !open.contains(step)).collect(),
        }
    }

    /// Finished steps at a target before that of a key, in its repetition; each is returned once.
    fn finished_before(&mut self, key: &PointKey, target: u32) -> Vec<u32> {
        let of_key = (key.repetition, target, 0)..(key.repetition, target, key.step);
        let before = self.finished.extract_if(of_key, |_| true);
        before.map(|(.., step)| step).collect()
    }
}

/// The result of a key with its cause: after a stop, or on a hanging server, an error follows from cancelled
/// sessions.
fn because(done: Result<Done>, hung: Option<String>) -> Result<Done> {
    let is_stopped = signal::stop_flag().load(Ordering::Relaxed);
    match (done, hung) {
        (Ok(done @ (Done::Entered(_) | Done::Interrupted)), _) => Ok(done),
        (Err(error @ LabError::Archive(_)), _) => Err(error),
        _ if is_stopped => Ok(Done::Interrupted),
        (_, Some(message)) => Ok(Done::Broken(message)),
        (done, None) => done,
    }
}

impl Queue {
    /// The points after which the run continues: those of the same repetition and the previous one.
    fn newest(&self, archive: &Archive) -> Result<Vec<Point>> {
        let next = self.todo.first().map_or(0, |key| key.repetition);
        let is_near = |key: &PointKey| key.repetition + 1 >= next;
        Ok(archive.load_points(self.id, &is_near)?)
    }

    pub fn interrupted(&self, finished: usize) -> LabError {
        LabError::Interrupted {
            finished,
            planned: self.planned,
            label: self.label.clone(),
            verb: "run",
        }
    }

    fn not_loaded(&self, what: Box<dyn std::error::Error + Send + Sync>) -> LabError {
        LabError::NotLoaded {
            what,
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
