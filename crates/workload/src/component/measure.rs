//! One point of a component test: prepare, drive, close, verify.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use archive::{Archive, CacheState, Point, PointKey, Remark, WorkDone};
use engine::{ErrorKind, TargetError};
use host::Stopwatch;
use lab::observe::{Driven, Observation, Observed};
use lab::point::point_seed;
use lab::start::Start;
use lab::{Done, Measure, Measured, Mode, Nodes, Result, RunContext, Step, checks};
use load::{Drive, End, Outcome, Progress, RampUp};

use super::on_nodes::OnNodes;
use super::points::sweep_obstacle;
use crate::library::{Kind, SizeClass};
use crate::room::shortage;
use crate::{Amount, Bench, Exercise, Library, Meter, Proven, Sweep, Test, below, exercise_for};

pub(super) struct Tests<'a> {
    context: &'a RunContext<'a>,
    library: Arc<Library>,
    proven: Vec<Vec<Arc<Proven>>>,
}

impl Measure for Tests<'_> {
    fn measure(
        &mut self,
        archive: &mut Archive,
        step: &Step,
        key: &PointKey,
        progress: &Progress,
    ) -> Result<Done> {
        match self.point(step, key, progress) {
            Ok(measured) => measured.enter(archive, self.context),
            Err(error) => Ok(Done::Broken(error.to_string())),
        }
    }
}

impl<'a> Tests<'a> {
    pub fn new(context: &'a RunContext<'a>, library: Arc<Library>) -> Self {
        let nodes = context.targets.iter().map(|target| target.nodes.len());
        Self {
            context,
            library,
            proven: nodes
                .map(|nodes| (0..nodes).map(|_| Arc::default()).collect())
                .collect(),
        }
    }

    /// Measures one point of a step.
    ///
    /// # Errors
    /// Only errors before anything is measured: an unknown test or size, or an engine that cannot be set up.
    fn point(&self, step: &Step, key: &PointKey, progress: &Progress) -> Result<Measured> {
        let context = self.context;
        let target = &context.targets[key.target as usize];
        let test = self.library.test(&key.test)?;
        let size = self.library.size(&step.size)?;
        if let Kind::Below {
            workload,
            file_mib,
            seconds,
        } = &test.definition.exercise
        {
            let file_test = below::test::FileTest {
                workload,
                file_mib: *file_mib,
                seconds: *seconds,
            };
            return below::test::measure(context, step, key, target, test, file_test);
        }
        let task = Task {
            tests: self,
            context,
            step,
            key,
            target,
            test,
            amount: test.amount(size, &target.engine),
            seed: point_seed(context.seed, key),
        };
        target.set_threads(sweeps_threads(test, target).then_some(key.threads))?;
        let meter = Arc::new(Meter::default());
        let mut exercise = task.exercise(&meter, size);
        let measured = task.carry_out(exercise.as_mut(), &meter, progress);
        Ok(match measured.unwrap_or_else(|error| task.ended(error)) {
            Measured::Broken(message) => match shortage(target.data_path()) {
                Some(shortage) => Measured::Broken(format!("{message}; {shortage}")),
                None => Measured::Broken(message),
            },
            measured => measured,
        })
    }
}

fn sweeps_threads(test: &Test, target: &Nodes) -> bool {
    test.definition.sweep == Sweep::Threads
        && target.lacks(engine::Feature::ParallelStatement).is_none()
}

struct Task<'a> {
    tests: &'a Tests<'a>,
    context: &'a RunContext<'a>,
    step: &'a Step,
    key: &'a PointKey,
    target: &'a Nodes,
    test: &'a Test,
    amount: Amount,
    seed: u64,
}

impl Task<'_> {
    fn exercise(&self, meter: &Arc<Meter>, size: SizeClass) -> Box<dyn Exercise> {
        let bench = |node: usize, meter: &Arc<Meter>| {
            exercise_for(Bench {
                target: Arc::clone(&self.target.nodes[node]),
                proven: Arc::clone(&self.tests.proven[self.key.target as usize][node]),
                engine: self.target.engine.clone(),
                test: self.test.clone(),
                library: Arc::clone(&self.tests.library),
                size,
                amount: self.amount,
                seed: self.seed,
                meter: Arc::clone(meter),
                shared: self
                    .context
                    .side
                    .and_then(|side| side.shared_point())
                    .map(|point| (point, format!("{} {node}", self.key.target))),
            })
        };
        match self.target.nodes.len() {
            1 => bench(0, meter),
            // The nodes' meters are separate, because each node verifies its own rows.
            many => Box::new(OnNodes::new(
                (0..many)
                    .map(|node| bench(node, &Arc::new(Meter::default())))
                    .collect(),
            )),
        }
    }

    fn carry_out(
        &self,
        exercise: &mut dyn Exercise,
        meter: &Meter,
        progress: &Progress,
    ) -> engine::Result<Measured> {
        let stopwatch = Stopwatch::start(Arc::clone(&self.context.clock));
        let prepared = {
            let _prepare = tracing::info_span!("prepare").entered();
            exercise.prepare()?
        };
        if self.context.stop.load(Ordering::Relaxed) {
            return Ok(Measured::Interrupted);
        }
        let blank = Point {
            work: self.work_done(&prepared.state, &prepared.cache),
            reasons: prepared.reasons,
            ..self.blank()
        };
        let is_timed = self.step.ramp_up_seconds.is_some();
        let observation = Observation::of(self.context, blank)
            .since(stopwatch)
            .timed(is_timed);
        let observed = observation.drive(|start| self.drive_all(exercise, start, meter, progress));
        let mut observed = match observed {
            Ok(observed) => observed,
            Err(ended) => return Ok(ended),
        };
        {
            let _verify = tracing::info_span!("verify").entered();
            self.complete(exercise, &prepared.cache, &mut observed)?;
        }
        Ok(Measured::Points(vec![observed.finish()]))
    }

    /// Adds the test's own proof and notes to the point.
    fn complete(
        &self,
        exercise: &mut dyn Exercise,
        cache: &CacheState,
        observed: &mut Observed<'_>,
    ) -> engine::Result<()> {
        let (outcome, point) = (&observed.outcome, &mut observed.point);
        point.by_operation.transactions = exercise.transactions();
        let figures = &mut point.figures;
        let per_min = figures.operations_per_s.map(|rate| rate * 60.0);
        figures.queries_per_min = per_min.filter(|_| self.test.definition.queries);
        let row_bytes = exercise.row_bytes().map(|bytes| bytes as f64 / 1e6);
        figures.payload_mb_per_s = row_bytes
            .zip(figures.rows_per_s)
            .map(|(mb, rate)| mb * rate);
        let limits = &self.context.validity;
        let offered = self.offered(outcome);
        point.reasons.extend(exercise.verify(outcome)?);
        point
            .reasons
            .extend(offered.and_then(|offered| offered.reason(limits)));
        let device_read_bytes = exercise.device_read_bytes(outcome);
        let leaves_traces = self.test.definition.leaves_traces();
        point
            .notes
            .extend(offered.and_then(|offered| offered.note(limits)));
        point
            .notes
            .extend(checks::cache_note(cache, device_read_bytes, &point.figures));
        point
            .notes
            .extend(checks::write_note(leaves_traces, &point.figures));
        point.notes.extend(exercise.notes(outcome));
        point.notes.extend(self.standing_notes());
        Ok(())
    }

    /// Result of a point that was not measured: a statement that fails is a finding about the target, anything else
    /// ends the run.
    fn ended(&self, error: TargetError) -> Measured {
        match error.kind {
            ErrorKind::Statement => Measured::Points(vec![self.failed(error.message)]),
            _ => Measured::Broken(error.message),
        }
    }

    /// Achieved rate of an open step.
    fn offered(&self, outcome: &Outcome) -> Option<checks::Offered> {
        let load::Schedule::Open { rate_per_s, .. } = self.step.schedule() else {
            return None;
        };
        (self.step.mode == Mode::Time)
            .then(|| checks::Offered::of(outcome, rate_per_s))
            .flatten()
    }

    /// Drives in an event loop if the engine supports it, else with a thread per job.
    fn drive_all(
        &self,
        exercise: &mut dyn Exercise,
        start: &Start<'_>,
        meter: &Meter,
        progress: &Progress,
    ) -> std::result::Result<Driven, Measured> {
        let ended = |error| self.ended(error);
        let how = self.drive(progress);
        let jobs = self.key.jobs;
        let clients = match exercise.nonblocking_clients(jobs).map_err(ended)? {
            Some(clients) => start.watch_nonblocking(clients),
            None => start.watch(exercise.clients(jobs).map_err(ended)?),
        };
        let outcome = self.context.drive(clients, &how);
        Measured::cut_short(outcome.interrupted, outcome.fatal.as_deref())?;
        let closing = Instant::now();
        exercise.close().map_err(ended)?;
        Ok(Driven {
            outcome,
            closing: closing.elapsed(),
            counters: meter.counters().unwrap_or_default(),
            operations_scale: exercise.operations_scale(),
            failure: None,
        })
    }

    fn drive<'d>(&'d self, progress: &'d Progress) -> Drive<'d> {
        let seconds = |s: Option<f64>| s.map(Duration::from_secs_f64);
        let (end, ramp_up) = match self.step.mode {
            Mode::Time => (
                End::Time(seconds(self.step.seconds).unwrap_or(Duration::from_secs(1))),
                seconds(self.step.ramp_up_seconds).map_or(RampUp::None, RampUp::Time),
            ),
            Mode::Work => (
                End::Operations {
                    per_job: self.amount.operations,
                },
                match (self.amount.operations as f64 * self.test.definition.work.ramp_up).ceil()
                    as u64
                {
                    0 => RampUp::None,
                    per_job => RampUp::Operations { per_job },
                },
            ),
        };
        Drive {
            schedule: self.step.schedule(),
            ramp_up,
            interval: self.context.interval,
            threads: self.step.driver_threads(),
            seed: self.seed,
            progress: Some(progress),
            ..Drive::of_jobs(end, self.context.stop)
        }
    }

    /// Notes on every point of this test on this target.
    fn standing_notes(&self) -> Vec<Remark> {
        let lacks = |f| self.target.lacks(f);
        let mut notes = Vec::new();
        if let Some(why) = sweep_obstacle(self.test, false, lacks) {
            notes.push(if self.key.jobs > 1 {
                Remark::ContentionExtra { why }
            } else {
                Remark::OnePoint { why }
            });
        }
        let pool = self.target.first().threads();
        if pool > 1 && !sweeps_threads(self.test, self.target) {
            notes.push(Remark::PoolShared { threads: pool });
        }
        if self.test.definition.engine_specific {
            notes.push(Remark::EngineSpecific);
        }
        notes
    }

    fn work_done(&self, state: &str, cache: &CacheState) -> WorkDone {
        let work_mode = self.step.mode == Mode::Work;
        WorkDone {
            mode: if work_mode { "work" } else { "time" }.into(),
            size: self.step.size.clone(),
            operations_per_job: work_mode.then_some(self.amount.operations),
            seconds: self.step.seconds,
            schedule: self.step.schedule_words(),
            state: state.into(),
            cache: cache.clone(),
            ..WorkDone::default()
        }
    }

    /// Point without figures, because its preparation or proof failed.
    fn failed(&self, message: String) -> Point {
        Point {
            work: self.work_done("unknown", &CacheState::Unknown),
            reasons: vec![Remark::StatementFailed { error: message }],
            ..self.blank()
        }
    }

    fn blank(&self) -> Point {
        let definition = &self.test.definition;
        let fingerprint = self.test.fingerprint(&self.target.engine);
        self.context.blank(
            self.step,
            self.key.clone(),
            fingerprint,
            definition.title.clone(),
            definition.component,
        )
    }
}
