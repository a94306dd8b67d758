//! One point: prepare, drive, close, verify, and put the result row together.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use archive::{
    ByOperation, Component, Figures, Histograms, Point, PointKey, Sample, Steady, WorkDone,
};
use host::{HostUse, HostWatch, Programs, Stopwatch, WallClock};
use load::random::mix;
use load::{Drive, End, Outcome, Progress, RampUp};
use sha2::{Digest, Sha256};
use target::Counters;
use workload::library::Kind;
use workload::{Amount, Bench, Exercise, Library, Meter, Test, exercise_for};

use crate::agenda::sweep_obstacle;
use crate::done::Measured;
use crate::nodes::{Nodes, OnNodes};
use crate::plan::{Mode, Validity};
use crate::programs::programs_of;
use crate::servers::Servers;
use crate::sight::Sight;
use crate::start::Start;
use crate::watcher::Watcher;
use crate::{Result, Step, below, columnar, gates};

/// Relative slope over a point that still counts as steady.
pub(crate) const STEADY_LIMIT: f64 = 0.1;

/// What all points of a run share.
pub struct Bay<'a> {
    /// The library.
    pub library: Arc<Library>,
    /// Targets of the run.
    pub targets: &'a [Nodes],
    /// What watches driver and machine, one per target.
    pub samplers: &'a [HostWatch],
    /// Seed of the run.
    pub seed: u64,
    /// Repetitions of the plan.
    pub repeat: u32,
    /// Limits of the checks on the driver.
    pub validity: Validity,
    /// Interval of the series.
    pub interval: Duration,
    /// Hardware threads of the targets' machine; `None` where nothing is known of it.
    pub hardware_threads: Option<u32>,
    /// Fingerprint of machine and target, one per target.
    pub platforms: Vec<String>,
    /// Wall clock.
    pub clock: Arc<dyn WallClock>,
    /// Stop flag.
    pub stop: &'a AtomicBool,
    /// Since when the servers run.
    pub servers: Servers,
}

impl Bay<'_> {
    /// Fingerprint of all that a point was configured by: machine and target, its test, its step.
    pub fn configuration(&self, step: &Step, key: &PointKey, definition: &str) -> String {
        let step = toml::to_string(step).unwrap_or_default();
        let platform = &self.platforms[key.target as usize];
        let changed = self.validity.note().unwrap_or_default();
        match changed.as_str() {
            "" => fingerprint(&[platform, definition, &step]),
            changed => fingerprint(&[platform, definition, &step, changed]),
        }
    }

    /// The programs that a target is made of; one that is a copy works together with what it is a copy of.
    ///
    /// # Errors
    /// With the reason, where a server's process is not known.
    pub(crate) fn programs(&self, target: u32) -> std::result::Result<Programs, String> {
        let target = &self.targets[target as usize];
        let source = columnar::source_of(self.targets).filter(|_| columnar::is_replica(target));
        let both = std::iter::once(target).chain(source);
        programs_of(both.flat_map(|target| &target.nodes))
    }

    /// A point of a step without figures, begun now; `definition` is the fingerprint of what is measured.
    pub(crate) fn blank(
        &self,
        step: &Step,
        key: PointKey,
        definition: String,
        (title, component): (String, Component),
    ) -> Point {
        Point {
            started_at: host::clock::rfc3339(self.clock.now()),
            seed: point_seed(self.seed, &key),
            configuration: self.configuration(step, &key, &definition),
            definition,
            ..Point::blank(key, title, component)
        }
    }
}

/// A database with less room than this cannot write any more: logs grow by pieces of this size.
const LITTLE_ROOM_BYTES: u64 = 16 << 20;

/// Measures one point of a step.
///
/// # Errors
/// Only what is wrong before anything was measured: a test or size that does not exist, an engine
/// that fails to be set up.
pub(crate) fn measure(
    bay: &Bay,
    step: &Step,
    key: &PointKey,
    progress: &Progress,
) -> Result<Measured> {
    let target = &bay.targets[key.target as usize];
    let test = bay.library.test(&key.test)?;
    let size = bay.library.size(&step.size)?;
    if let Kind::Below {
        workload,
        file_mib,
        seconds,
    } = &test.definition.exercise
    {
        let asked = below::test::Asked {
            workload,
            file_mib: *file_mib,
            seconds: *seconds,
        };
        return below::test::measure(bay, step, key, (target, test, asked));
    }
    let task = Task {
        bay,
        step,
        key,
        target,
        test,
        amount: test.amount(size, &target.engine),
        seed: point_seed(bay.seed, key),
    };
    target.set_threads(sweeps_threads(test, target).then_some(key.threads))?;
    let meter = Arc::new(Meter::default());
    let mut exercise = task.exercise(&meter, size);
    let measured = match task.carry_out(exercise.as_mut(), &meter, progress) {
        Ok(measured) => measured,
        // A statement that fails is a finding about the target, anything else the end of the run.
        Err(error) if error.kind == target::ErrorKind::Statement => {
            Measured::Points(vec![task.failed(error.message)])
        }
        Err(error) => Measured::Broken(error.message),
    };
    Ok(match measured {
        Measured::Broken(message) => Measured::Broken(with_room(target, message)),
        measured => measured,
    })
}

/// Why a target gave out, with the room that is left to it where that is little: a server whose disk is full may end without a word.
fn with_room(target: &Nodes, message: String) -> String {
    let room = |directory: &Path| Some((directory.display().to_string(), host::room(directory)?));
    match target.data_path().and_then(room) {
        Some((directory, room)) if room.free_bytes < LITTLE_ROOM_BYTES => format!(
            "{message}; the file system of {directory} is full, with {:.1} MB left: make room there",
            room.free_bytes as f64 / 1e6
        ),
        _ => message,
    }
}

fn sweeps_threads(test: &Test, target: &Nodes) -> bool {
    test.definition.sweep == workload::Sweep::Threads
        && target.lacks(target::Feature::ParallelStatement).is_none()
}

/// The seed of a point depends on the run's seed, the test, its parallelism and the repetition, but
/// not on the target or the step: two configurations are given the same keys.
pub(crate) fn point_seed(seed: u64, key: &PointKey) -> u64 {
    let code = key.test.bytes().fold(0, |h: u64, b| mix(h ^ u64::from(b)));
    let place = u64::from(key.jobs) << 32 | u64::from(key.repetition);
    mix(seed ^ mix(code ^ mix(place)))
}

struct Task<'a> {
    bay: &'a Bay<'a>,
    step: &'a Step,
    key: &'a PointKey,
    target: &'a Nodes,
    test: &'a Test,
    amount: Amount,
    seed: u64,
}

impl Task<'_> {
    fn exercise(
        &self,
        meter: &Arc<Meter>,
        size: workload::library::SizeClass,
    ) -> Box<dyn Exercise> {
        let bench = |node: usize, meter: &Arc<Meter>| {
            exercise_for(Bench {
                target: Arc::clone(&self.target.nodes[node]),
                proven: Arc::clone(&self.target.proven[node]),
                engine: self.target.engine.clone(),
                test: self.test.clone(),
                library: Arc::clone(&self.bay.library),
                size,
                amount: self.amount,
                seed: self.seed,
                meter: Arc::clone(meter),
            })
        };
        match self.target.nodes.len() {
            1 => bench(0, meter),
            // The nodes' meters are apart, because each node proves its own rows.
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
    ) -> target::Result<Measured> {
        let stopwatch = Stopwatch::start(Arc::clone(&self.bay.clock));
        let started_at = stopwatch.started_at();
        let prepared = exercise.prepare()?;
        if self.bay.stop.load(Ordering::Relaxed) {
            return Ok(Measured::Interrupted);
        }
        let watcher = Watcher::open(&self.target.nodes);
        let watch = &self.bay.samplers[self.key.target as usize];
        let timed = self.step.ramp_up_seconds.is_some();
        let start = Start::new(self.bay, self.key.target, watcher.as_ref(), timed);
        let outcome = self.drive_all(exercise, &start, progress)?;
        if let Err(ended) = Measured::cut_short(outcome.interrupted, outcome.fatal.as_deref()) {
            return Ok(ended);
        }
        let closing = Instant::now();
        exercise.close()?;
        let closing = closing.elapsed();
        let (used, counters) = start.finish(meter);
        let seen = Sight::of(&outcome, watcher.map(Watcher::finish));
        let mut figures = self.figures(exercise, &outcome, closing, &used, counters);
        seen.write_into(&mut figures);
        let mut reasons = prepared.reasons;
        reasons.extend(gates::reasons(&outcome, &self.bay.validity));
        reasons.extend(exercise.verify(&outcome)?);
        let limits = &self.bay.validity;
        let mut notes = gates::notes(&outcome, &figures, limits);
        let offered = self.offered(&outcome);
        reasons.extend(offered.and_then(|offered| offered.reason(limits)));
        notes.extend(offered.and_then(|offered| offered.note(limits)));
        notes.extend(gates::cache_note(
            &prepared.cache,
            exercise.device_read_bytes(&outcome),
            &figures,
        ));
        notes.extend(gates::write_note(
            self.test.definition.leaves_traces(),
            &figures,
        ));
        notes.extend(exercise.notes(&outcome));
        notes.extend(self.standing_notes(&used));
        notes.extend(seen.note());
        notes.extend(gates::clock_note(&stopwatch));
        let samples = series(&used.samples, &outcome, self.bay.interval);
        let held_back = seen.held_back(&outcome, &figures, (watch.device(), &used));
        Ok(Measured::Points(vec![Point {
            started_at,
            work: self.work_done(&prepared.state, &prepared.cache),
            figures,
            steady: steady(&outcome),
            timed_events: seen.top(),
            held_back,
            by_operation: ByOperation {
                transactions: exercise.transactions(),
                ..ByOperation::default()
            },
            samples,
            reasons,
            notes,
            histograms: Histograms::of(&outcome.service, &outcome.response),
            ..self.blank()
        }]))
    }

    /// What became of the rate, where operations arrive at one for a time.
    fn offered(&self, outcome: &Outcome) -> Option<gates::Offered> {
        let load::Schedule::Open { rate_per_s, .. } = self.step.schedule() else {
            return None;
        };
        let window = Duration::from_secs_f64(self.step.seconds?);
        (self.step.mode == Mode::Time)
            .then(|| gates::Offered::of_jobs(outcome, rate_per_s, window))
            .flatten()
    }

    /// In an event loop where the engine can be asked without waiting, else a thread for every job.
    fn drive_all(
        &self,
        exercise: &mut dyn Exercise,
        start: &Start,
        progress: &Progress,
    ) -> target::Result<Outcome> {
        let how = self.drive(progress);
        let Some(stations) = exercise.stations(self.key.jobs)? else {
            let operators = exercise.operators(self.key.jobs)?;
            return Ok(load::drive(start.watch(operators), &how));
        };
        let stations = start.watch_stations(stations);
        Ok(load::drive_stations(
            stations,
            self.step.driver_threads(),
            &how,
        ))
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
            end,
            interval: self.bay.interval,
            seed: self.seed,
            stop: self.bay.stop,
            progress: Some(progress),
            clock: load::Clock::Monotonic,
        }
    }

    fn figures(
        &self,
        exercise: &dyn Exercise,
        outcome: &Outcome,
        closing: Duration,
        used: &HostUse,
        counters: Counters,
    ) -> Figures {
        let operations = outcome.operations * exercise.operations_scale();
        let mut figures = figures_of(outcome, closing, operations, used, counters);
        let elapsed_s = figures.elapsed_s.unwrap_or_default();
        let per_s = |n: f64| (elapsed_s > 0.0).then(|| n / elapsed_s);
        figures.queries_per_min =
            per_s(operations as f64 * 60.0).filter(|_| self.test.definition.queries);
        figures.payload_mb_per_s = exercise
            .row_bytes()
            .and_then(|bytes| per_s((outcome.rows * bytes) as f64 / 1e6));
        figures
    }

    /// What is true of every point of this test on this target.
    fn standing_notes(&self, used: &HostUse) -> Vec<String> {
        let lacks = |f| self.target.lacks(f);
        let mut notes = Vec::new();
        if let Some(reason) = sweep_obstacle(self.test, false, lacks) {
            notes.push(if self.key.jobs > 1 {
                format!("contention extra: {reason}")
            } else {
                format!("one point: {reason}")
            });
        }
        let pool = self.target.first().threads();
        if pool > 1 && !sweeps_threads(self.test, self.target) {
            notes.push(format!(
                "the engine's pool of {pool} threads is shared by all jobs"
            ));
        }
        if self.test.definition.engine_specific {
            notes.push("not comparable across engines: it measures this engine's executor".into());
        }
        notes.extend(gates::host_notes(used));
        notes
    }

    fn work_done(&self, state: &str, cache: &str) -> WorkDone {
        let work_mode = self.step.mode == Mode::Work;
        WorkDone {
            mode: if work_mode { "work" } else { "time" }.into(),
            size: self.step.size.clone(),
            operations_per_job: work_mode.then_some(self.amount.operations),
            seconds: self.step.seconds,
            schedule: self.step.schedule_words(),
            state: state.into(),
            cache: cache.into(),
            ..WorkDone::default()
        }
    }

    /// A point whose preparation or proof failed: no figures, one reason.
    fn failed(&self, message: String) -> Point {
        Point {
            work: self.work_done("unknown", "unknown"),
            reasons: vec![message],
            ..self.blank()
        }
    }

    fn blank(&self) -> Point {
        let definition = &self.test.definition;
        let fingerprint = self.test.fingerprint(&self.target.engine);
        let about = (definition.title.clone(), definition.component);
        self.bay
            .blank(self.step, self.key.clone(), fingerprint, about)
    }
}

/// Sixteen hexadecimal digits that change with any of the texts.
pub fn fingerprint(texts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update(text.as_bytes());
        hash.update([0]);
    }
    hash.finalize()
        .iter()
        .take(8)
        .map(|b| format!("{b:02x}"))
        .collect()
}

/// The figures that every drive of jobs has; `closing` is what belongs to the timing behind its last job.
pub(crate) fn figures_of(
    outcome: &Outcome,
    closing: Duration,
    operations: u64,
    used: &HostUse,
    counters: Counters,
) -> Figures {
    let elapsed_s = (outcome.elapsed + closing).as_secs_f64();
    let per_s = |n: f64| (elapsed_s > 0.0).then(|| n / elapsed_s);
    let rows = Some(outcome.rows as f64).filter(|n| *n > 0.0);
    let operations = operations as f64;
    let mut figures = Figures::default();
    used.write_into(&mut figures);
    figures.rows = rows;
    figures.rows_per_s = rows.and_then(per_s);
    figures.operations = Some(operations);
    figures.operations_per_s = per_s(operations);
    figures.buffer_gets_per_s = counters.buffer_gets.and_then(|n| per_s(n as f64));
    figures.redo_mb_per_s = counters.redo_bytes.and_then(|n| per_s(n as f64 / 1e6));
    figures.elapsed_s = Some(elapsed_s);
    figures.first_finish_s = outcome.first_finish().map(|d| d.as_secs_f64());
    figures.last_finish_s = Some(outcome.elapsed.as_secs_f64());
    figures.errors = Some(outcome.errors as f64);
    figures.retries = Some(outcome.retries as f64);
    figures.in_flight_mean = outcome.in_flight_mean();
    figures.little_error_pct = outcome.little_error_pct();
    figures.driver_cpu_pct =
        per_s((outcome.driver_cpu().as_secs_f64() + used.sampler_cpu_s) * 100.0);
    used.write_owners_into(&mut figures);
    figures.late_starts = Some(outcome.late_starts as f64);
    figures.late_start_us_max = Some(outcome.late_start_max.as_secs_f64() * 1e6);
    figures
}

pub(crate) fn steady(outcome: &Outcome) -> Option<Steady> {
    match stats::steady::judge(&outcome.interval_rates_per_s(), STEADY_LIMIT) {
        stats::steady::Steady::Yes => Some(Steady::Yes),
        stats::steady::Steady::No => Some(Steady::No),
        stats::steady::Steady::Trend => Some(Steady::Trend),
        stats::steady::Steady::Unknown => None,
    }
}

/// Lays the jobs' intervals beside the host's samples: the interval that ends nearest to a sample.
pub(crate) fn series(samples: &[Sample], outcome: &Outcome, interval: Duration) -> Vec<Sample> {
    let half_s = interval.as_secs_f64() / 2.0;
    samples
        .iter()
        .map(|sample| {
            let near = outcome
                .intervals
                .iter()
                .find(|i| ((i.at + i.length).as_secs_f64() - sample.at_s).abs() <= half_s);
            Sample {
                operations_per_s: near
                    .filter(|i| !i.length.is_zero())
                    .map(|i| i.operations as f64 / i.length.as_secs_f64()),
                response_us_p99: near
                    .and_then(|i| i.response_p99)
                    .map(|d| d.as_secs_f64() * 1e6),
                ..sample.clone()
            }
        })
        .collect()
}
