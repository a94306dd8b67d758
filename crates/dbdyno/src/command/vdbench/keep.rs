//! Runs of a parameter file in the archive: one point for each, committed when it is over.

use std::path::Path;

use anyhow::Result;
use archive::{
    Archive, Component, Figures, Histograms, Inventory, Missing, NewRun, Point, PointKey, RunState,
    Sample, Steady, TargetRecord, WorkDone,
};
use host::inventory::{Document, Stated};
use storage::engine::{Ended, Way};
use storage::execution::{Completion, Done, ExecutionError, Lap};
use storage::language::{Repeat, Script, heading};
use storage::run::{Rate, Run};

/// Scatter beyond which the rates of intervals are not steady, as for every other point.
const STEADY_LIMIT: f64 = 0.1;
/// Name of the plan and of the target: what is measured is storage and nothing above it.
const NAME: &str = "vdbench";
const MB: f64 = 1e6;

/// The archive with the run that is being measured.
pub struct Keeper {
    archive: Archive,
    id: i64,
    seed: u64,
    /// The list as often as it was planned; what is done beyond stands on the pages alone.
    planned: Vec<PointKey>,
}

impl Keeper {
    /// Enters the run.
    ///
    /// # Errors
    /// When the archive cannot be written.
    pub fn enter(
        path: &Path,
        script: &Script,
        parameters: &str,
        seed: u64,
        device: Option<&str>,
    ) -> Result<Self> {
        let mut archive = Archive::open(path)?;
        let repetitions = match script.repeat {
            Repeat::Times(times) => times,
            Repeat::Seconds(_) => 1,
        };
        let planned = (1..=repetitions).flat_map(|repetition| {
            script
                .runs
                .iter()
                .zip(1..)
                .map(move |(run, step)| key(repetition, step, run))
        });
        let new = NewRun {
            label: None,
            plan_name: NAME.to_owned(),
            plan_toml: plan_text(parameters),
            seed,
            repetitions,
            targets: vec![target(script, device)],
            platform: host::facts(Path::new("/")),
            inventory: inventory(),
            study: None,
            missing: Vec::new(),
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            started_at: now(),
            planned: planned.collect(),
        };
        let id = archive.create_run(&new)?;
        Ok(Self {
            archive,
            id,
            seed,
            planned: new.planned,
        })
    }

    /// Number of the run in the archive.
    pub fn id(&self) -> i64 {
        self.id
    }

    /// Commits one run of the list; the format before them is none of it.
    pub fn point(&mut self, done: &Done<'_>) -> Result<()> {
        let key = key(done.repetition, u32::try_from(done.number)?, done.run);
        if self.planned.contains(&key) {
            self.archive
                .append_point(self.id, &point(done, key, self.seed))?;
        }
        Ok(())
    }

    /// Closes the run. What a rule of the parameter file left out is named with the rule.
    pub fn finish(mut self, ended: &Result<Completion, ExecutionError>) -> Result<()> {
        let rule = match ended {
            Ok(Completion::Whole) => None,
            Ok(Completion::ResponseTime) => Some("a response time was above stopcurve="),
            Ok(Completion::Monitor) => Some("the monitor file ended the list"),
            Ok(Completion::Interrupted) | Err(_) => {
                return Ok(self.archive.finish_run(
                    self.id,
                    RunState::Interrupted,
                    Some(&now()),
                )?);
            }
        };
        if let Some(rule) = rule {
            let finished = self.archive.finished(self.id)?;
            let left: Vec<PointKey> = self
                .planned
                .iter()
                .filter(|key| !finished.contains(key))
                .cloned()
                .collect();
            let missing = Missing {
                target: 0,
                test: NAME.to_owned(),
                title: format!("{} runs of the list", left.len()),
                reason: rule.to_owned(),
            };
            self.archive.leave_out(self.id, &left, &missing)?;
        }
        Ok(self
            .archive
            .finish_run(self.id, RunState::Complete, Some(&now()))?)
    }
}

fn now() -> String {
    host::clock::rfc3339(host::WallClock::now(&host::SystemClock))
}

fn plan_text(parameters: &str) -> String {
    let mut table = toml::Table::new();
    table.insert(
        "parameters".to_owned(),
        toml::Value::String(parameters.to_owned()),
    );
    table.to_string()
}

fn inventory() -> Inventory {
    let Ok(found) = host::inventory::inventory(Path::new("/")) else {
        return Inventory::default();
    };
    let stated = Stated::default();
    let advice = host::lint::advice(&host::lint::lint(&found, &stated));
    Inventory {
        facts: host::inventory::rows(&Document { found, stated }),
        advice,
    }
}

fn target(script: &Script, device: Option<&str>) -> TargetRecord {
    let mut record = TargetRecord {
        name: NAME.to_owned(),
        url: NAME.to_owned(),
        engine: NAME.to_owned(),
        engine_version: env!("CARGO_PKG_VERSION").to_owned(),
        nodes: 1,
        device: device.map(str::to_owned),
        ..TargetRecord::default()
    };
    for sd in script.runs.iter().flat_map(|run| &run.storage) {
        record
            .settings
            .insert(format!("sd {}", sd.name), sd.path.display().to_string());
    }
    record
}

/// I/Os in flight are the jobs of a run. The values of its loops are part of its code, because points of one code,
/// target and number of jobs are repetitions of each other.
fn key(repetition: u32, step: u32, run: &Run) -> PointKey {
    let own = || {
        run.storage
            .iter()
            .map(|sd| sd.threads)
            .fold(0, u32::saturating_add)
    };
    PointKey {
        repetition,
        step,
        target: 0,
        test: format!("{} {}", run.name, run.loops).trim_end().to_owned(),
        nodes: 1,
        jobs: run.threads_shared.unwrap_or_else(own),
        threads: 1,
    }
}

fn point(done: &Done<'_>, key: PointKey, seed: u64) -> Point {
    let (run, outcome) = (done.run, done.outcome);
    let all = outcome.latencies_of(|_, _, _| true);
    let heading = heading(run, None);
    let title = heading
        .split_once("; ")
        .map_or("", |(_, rest)| rest)
        .to_owned();
    let counted: Vec<&Lap> = done.laps.iter().filter(|lap| lap.counted).collect();
    let rates: Vec<f64> = counted.iter().map(|lap| iops(lap)).collect();
    Point {
        started_at: done.started_at.to_string(),
        seed,
        configuration: heading.clone(),
        definition: heading.clone(),
        work: WorkDone {
            mode: "time".to_owned(),
            size: String::new(),
            operations_per_job: None,
            seconds: run.elapsed_s.map(f64::from),
            schedule: schedule(run),
            state: "as found".to_owned(),
            cache: "as found".to_owned(),
            ..WorkDone::default()
        },
        figures: figures(done),
        histograms: Histograms {
            service: all.service,
            response: all.response,
        },
        steady: steady(&rates),
        samples: counted.iter().map(|lap| sample(lap)).collect(),
        reasons: reasons(done),
        notes: notes(done),
        ..Point::blank(key, title, Component::Storage)
    }
}

fn schedule(run: &Run) -> String {
    match &run.rate {
        Rate::Fixed { iops } => format!("open {:?} {iops}/s", run.arrivals).to_lowercase(),
        Rate::Variable { steps } => {
            format!("open {:?} at {} rates in turn", run.arrivals, steps.len()).to_lowercase()
        }
        _ => "closed".to_owned(),
    }
}

fn figures(done: &Done<'_>) -> Figures {
    let (outcome, rates) = (done.outcome, &done.rates);
    let total = outcome.total();
    let seconds = outcome.counted.as_secs_f64();
    let per_second = |amount: f64| (seconds > 0.0).then(|| amount / seconds);
    let in_flight_ns: u64 = outcome.cells.iter().map(|cell| cell.in_flight_ns).sum();
    let elapsed_s = outcome.elapsed.as_secs_f64();
    Figures {
        operations_per_s: per_second(total.operations as f64),
        operations: Some(total.operations as f64),
        payload_mb_per_s: per_second(total.bytes as f64 / MB),
        errors: Some(outcome.faults_count as f64),
        elapsed_s: Some(seconds),
        in_flight_mean: per_second(in_flight_ns as f64 / 1e9),
        unfinished: Some(outcome.unserved as f64),
        late_starts: Some(outcome.driver.late_starts as f64),
        late_start_us_max: Some(outcome.driver.late_max.as_secs_f64() * 1e6),
        driver_cpu_pct: (elapsed_s > 0.0)
            .then(|| outcome.driver.workers_cpu.as_secs_f64() * 100.0 / elapsed_s),
        process_cpu_pct: rates.process_cpu_pct,
        cpu_pct_avg: rates.cpu_pct,
        cpu_user_pct: rates.cpu_user_pct,
        cpu_system_pct: rates.cpu_system_pct,
        cpu_iowait_pct: rates.cpu_iowait_pct,
        cpu_steal_pct: rates.cpu_steal_pct,
        read_iops: rates.read_iops,
        write_iops: rates.write_iops,
        total_iops: rates.total_iops(),
        read_mb_per_s: rates.read_mb_per_s,
        write_mb_per_s: rates.write_mb_per_s,
        total_mb_per_s: rates.total_mb_per_s(),
        read_await_ms: rates.read_await_ms,
        write_await_ms: rates.write_await_ms,
        device_busy_pct: rates.device_busy_pct,
        device_queue_mean: rates.device_queue_mean,
        pressure_cpu_pct: rates.pressure_cpu_pct,
        pressure_memory_pct: rates.pressure_memory_pct,
        pressure_io_pct: rates.pressure_io_pct,
        ..Figures::default()
    }
}

fn iops(lap: &Lap) -> f64 {
    lap.total.operations as f64 / lap.length.as_secs_f64().max(f64::MIN_POSITIVE)
}

fn sample(lap: &Lap) -> Sample {
    let rates = &lap.rates;
    Sample {
        at_s: lap.end.as_secs_f64(),
        operations_per_s: Some(iops(lap)),
        cpu_pct: rates.cpu_pct,
        cpu_iowait_pct: rates.cpu_iowait_pct,
        read_iops: rates.read_iops,
        write_iops: rates.write_iops,
        read_mb_per_s: rates.read_mb_per_s,
        write_mb_per_s: rates.write_mb_per_s,
        ..Sample::default()
    }
}

fn steady(rates: &[f64]) -> Option<Steady> {
    match stats::steady::judge(rates, STEADY_LIMIT) {
        stats::steady::Steady::Yes => Some(Steady::Yes),
        stats::steady::Steady::No => Some(Steady::No),
        stats::steady::Steady::Trend => Some(Steady::Trend),
        stats::steady::Steady::Unknown => None,
    }
}

fn reasons(done: &Done<'_>) -> Vec<String> {
    let outcome = done.outcome;
    let mut reasons: Vec<String> = outcome
        .faults
        .iter()
        .take(1)
        .map(ToString::to_string)
        .collect();
    reasons.extend(outcome.close_errors.iter().take(1).cloned());
    if outcome.total().operations == 0 {
        reasons.push("no I/O was done in the time that counts".to_owned());
    }
    if outcome.ended == Ended::Stopped {
        reasons.push("the run was stopped before its time".to_owned());
    }
    reasons
}

fn notes(done: &Done<'_>) -> Vec<String> {
    let outcome = done.outcome;
    let mut notes = Vec::new();
    if let Way::Threads { reason } = &outcome.way {
        notes.push(format!("blocking threads instead of io_uring: {reason}"));
    }
    if outcome.unserved > 0 {
        notes.push(format!(
            "{} I/Os were due and not begun at the end, the oldest since {:.3} s; no response time counts them",
            outcome.unserved,
            outcome.unserved_wait_max.as_secs_f64()
        ));
    }
    notes
}
