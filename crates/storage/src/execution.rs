//! Carries out a list of runs, with the steps before, between and after them.

mod error;
mod findings;
mod log;
mod monitor;
mod rounds;
mod searched;
mod slo;
mod turns;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use archive::Remark;
use host::block::{BlockWatch, DeviceTimes};
use host::{CpuOwners, Rates, Reader};
use jiff::Timestamp;

use crate::engine::{
    self, Carrier, Claims, Ended, EngineError, EngineEvent, Outcome, Proofs, Reached,
};
use crate::language::{Repeat, Script};
use crate::pages::{Cpu, Pages, PagesError, worst_share};
use crate::run::Run;
pub use error::ExecutionError;
pub use findings::{notes, reasons};
pub use log::{Lap, Log};
use monitor::{Monitored, monitored};
use rounds::Round;
pub use rounds::{Decides, Steadiness};
pub use searched::search_of;
pub use slo::Slo;

/// Interval at which an interruption is noticed while nothing runs.
const NAP: Duration = Duration::from_millis(50);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completion {
    Whole,
    /// A response time was above `stopcurve=`.
    ResponseTime,
    Monitor,
    /// Journals were recovered, and nothing else was requested.
    Recovered,
    Interrupted,
}

#[derive(Debug)]
pub struct Done<'a> {
    pub repetition: u32,
    pub number: usize,
    pub run: &'a Run,
    pub started_at: Timestamp,
    pub outcome: &'a Outcome,
    pub laps: &'a [Lap],
    /// Activity of the machine in the counted time.
    pub rates: Rates,
    /// Owners of its processor time, as far as they can be told apart.
    pub owners: Option<CpuOwners>,
    /// Requests of its devices in the counted time; empty if they are not timed.
    pub requests: &'a [DeviceTimes],
    /// Findings of rounds or a search.
    pub findings: &'a [Remark],
    /// Steadiness, if rounds were requested; the figures are those of the last rounds.
    pub steadiness: Option<&'a Steadiness>,
    /// No rate met the response-time objective; the figures are those of the last attempt.
    pub is_missed: bool,
}

struct Measured {
    run: Run,
    round: Round,
    findings: Vec<Remark>,
    steadiness: Option<Steadiness>,
    is_missed: bool,
    monitor: Option<Monitored>,
}

impl Measured {
    fn of(run: Run, round: Round, findings: Vec<Remark>) -> Self {
        Self {
            run,
            round,
            findings,
            steadiness: None,
            is_missed: false,
            monitor: None,
        }
    }
}

pub trait Audience {
    fn show(&mut self, text: &str);
    /// A pass through the list begins, from 1; 0 is the format before it.
    fn repetition_begins(&mut self, _repetition: u32) {}
    /// Run `number` of the list begins, once per round or attempt of a search.
    fn run_begins(&mut self, _number: usize, _run: &Run) {}
    fn interval(&mut self, _lap: &Lap) {}
    /// Stores a finished run.
    fn done(&mut self, done: &Done<'_>) -> Result<(), String>;
}

pub struct Execution<'a> {
    pub script: &'a Script,
    /// The run that brings files to their size, if needed; number 0 on the pages.
    pub format: Option<&'a Run>,
    pub pages: &'a mut Pages,
    pub audience: &'a mut dyn Audience,
    pub carrier: Carrier<'a>,
    pub options: engine::Options<'a>,
    /// Objective for which the highest rate of each run is searched; `None`: runs have their own rates.
    pub slo: Option<Slo>,
    /// Set by Ctrl-C, or by a monitor file to end a run.
    pub stop: &'a AtomicBool,
    pub counters: Reader,
    /// Timing of the devices' requests, if possible.
    pub requests: Option<&'a BlockWatch>,
    /// A monitor file that was written earlier does not concern this execution.
    pub monitored_since: SystemTime,
}

/// Checks a list before its first I/O.
pub fn check(
    script: &Script,
    format: Option<&Run>,
    options: &engine::Options<'_>,
) -> Result<(), ExecutionError> {
    if let Some(path) = &script.monitor {
        monitor::check(path).map_err(|reason| EngineError::SideFile {
            path: path.clone(),
            purpose: "a monitor file",
            reason,
        })?;
    }
    Ok(engine::check_list(format, &script.runs, options)?)
}

impl Execution<'_> {
    /// Carries out everything, and writes to the pages how it ended.
    ///
    /// # Errors
    /// [`ExecutionError`] when it was broken off. The figures until then are on the pages.
    pub fn carry_out(mut self) -> Result<Completion, ExecutionError> {
        let completion = self.list();
        let why = match &completion {
            Ok(Completion::Interrupted) => Some("interrupted".to_owned()),
            Ok(_) => None,
            Err(error) => Some(error.to_string()),
        };
        let last = self.pages.finish(why.as_deref(), Timestamp::now())?;
        if why.is_none() {
            self.audience.show(&last);
        }
        completion
    }

    fn list(&mut self) -> Result<Completion, ExecutionError> {
        let script = self.script;
        let begun = Instant::now();
        let (proofs, claims) = (Proofs::default(), Claims::default());
        let options = engine::Options {
            proofs: Some(&proofs),
            claims: Some(&claims),
            ..self.options
        };
        check(script, self.format, &options)?;
        if let Some(format) = self.format {
            self.audience.repetition_begins(0);
            let growing = engine::Options {
                may_grow: true,
                ..options
            };
            if let Some(end) = self.lines(0, 0, std::slice::from_ref(format), &growing)?.1 {
                return Ok(end);
            }
        }
        let recovers_only = script.runs.iter().any(Run::recovers_only);
        let mut recovered = BTreeSet::new();
        for repetition in 1.. {
            self.audience.repetition_begins(repetition);
            let mut reached: Vec<Reached> = Vec::with_capacity(script.runs.len());
            for lines in script.runs.chunk_by(Run::takes_turns_with) {
                if recovers_only {
                    // One statement per SD is enough.
                    let names = lines.iter().flat_map(Run::used_storage).map(|sd| &sd.name);
                    let new: Vec<&String> = names.filter(|name| recovered.insert(*name)).collect();
                    if new.is_empty() {
                        reached.resize(reached.len() + lines.len(), Reached::default());
                        continue;
                    }
                }
                let resolved = lines.iter().map(|run| Run {
                    steady: run.steady.filter(|_| !recovers_only),
                    ..engine::resolve(run, &reached)
                });
                let resolved: Vec<Run> = resolved.collect();
                let number = reached.len() + 1;
                let (these, end) = self.lines(repetition, number, &resolved, &options)?;
                reached.extend(these);
                if let Some(end) = end {
                    return Ok(end);
                }
            }
            if recovers_only {
                return Ok(Completion::Recovered);
            }
            let again = match script.repeat {
                Repeat::Times(times) => repetition < times,
                Repeat::Seconds(seconds) => begun.elapsed() < Duration::from_secs(seconds.into()),
            };
            if !again {
                break;
            }
        }
        Ok(Completion::Whole)
    }

    fn rest(&self, run: &Run) -> bool {
        let until = Instant::now() + Duration::from_secs(run.pause_s.into());
        while Instant::now() < until && !self.stopped() {
            sleep(NAP);
        }
        !self.stopped()
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Carries out one line of the list, or several that take turns, with all their rounds. Returns the results, and
    /// how the list ends if it ends here.
    fn lines(
        &mut self,
        repetition: u32,
        number: usize,
        lines: &[Run],
        options: &engine::Options<'_>,
    ) -> Result<(Vec<Reached>, Option<Completion>), ExecutionError> {
        match (self.slo, lines) {
            (Some(slo), [run]) if slo::is_searched(run) && !run.recovers_only() => {
                if !self.rest(run) {
                    return Ok((Vec::new(), Some(Completion::Interrupted)));
                }
                let measured = self.search(number, run, options, &slo)?;
                let (reached, end) = self.conclude(repetition, number, &measured)?;
                Ok((vec![reached], end))
            }
            _ => self.in_turns(repetition, number, lines, options),
        }
    }

    /// Stores the result of one line. Returns how the list ends if it ends here.
    fn conclude(
        &mut self,
        repetition: u32,
        number: usize,
        measured: &Measured,
    ) -> Result<(Reached, Option<Completion>), ExecutionError> {
        for remark in &measured.findings {
            let shown = self.pages.remark(&remark.to_string(), Timestamp::now())?;
            self.audience.show(&shown);
        }
        let (run, outcome) = (&measured.run, &measured.round.outcome);
        let done = Done {
            repetition,
            number,
            run,
            started_at: measured.round.started_at,
            outcome,
            laps: &measured.round.laps,
            rates: measured.round.rates(),
            owners: measured.round.owners,
            requests: &measured.round.requests,
            findings: &measured.findings,
            steadiness: measured.steadiness.as_ref(),
            is_missed: measured.is_missed,
        };
        self.audience
            .done(&done)
            .map_err(ExecutionError::Audience)?;
        judge(&done, self.script.skew_tolerance_pct)?;
        let end = match measured.monitor {
            Some(Monitored::EndRun) => {
                self.stop.store(false, Ordering::Relaxed);
                None
            }
            Some(Monitored::EndAll) => Some(Completion::Monitor),
            None if self.stopped() => Some(Completion::Interrupted),
            None => too_slow(run, outcome).then_some(Completion::ResponseTime),
        };
        Ok((Reached::of(outcome, run.streams.len()), end))
    }

    /// Carries out one run from its heading to its totals, and returns the monitor file's request.
    fn round(
        &mut self,
        number: usize,
        run: &Run,
        options: &engine::Options<'_>,
    ) -> Result<(Round, Option<Monitored>), ExecutionError> {
        let started_at = Timestamp::now();
        let place = number - usize::from(self.format.is_none());
        self.audience
            .show(&self.pages.begin(place, run, size_bytes(run), started_at)?);
        self.audience.run_begins(number, run);
        let mut log = Log::new(self.counters.snapshot(), self.requests);
        let mut failed: Option<PagesError> = None;
        let mut monitor = None;
        let outcome = (self.carrier)(run, options, &mut |event| {
            let now = Timestamp::now();
            let shown = match event {
                EngineEvent::Interval(interval) => {
                    let lap = log.add(interval, self.counters.snapshot());
                    self.audience.interval(&lap);
                    monitor = monitor.or(monitored(
                        self.script.monitor.as_deref(),
                        self.monitored_since,
                    ));
                    self.pages.interval(run, interval, cpu(&lap.rates), now)
                }
                EngineEvent::Fault(fault) => self.pages.fault(fault, now),
                EngineEvent::Recovered(journal) => {
                    self.pages.remark(&journal.remark().to_string(), now)
                }
            };
            match shown {
                Ok(text) => self.audience.show(&text),
                Err(error) => failed = Some(error),
            }
            if monitor.is_some() || failed.is_some() {
                self.stop.store(true, Ordering::Relaxed);
            }
        })?;
        if let Some(error) = failed {
            return Err(error.into());
        }
        self.monitored_since = SystemTime::now();
        let (requests, owners) = (log.requests(), log.owners());
        let last = log.laps.last().map_or(1, |lap| lap.number);
        let round = Round {
            started_at,
            outcome,
            span: log.span(),
            owners,
            requests,
            laps: log.laps,
        };
        let cpu = cpu(&round.rates());
        let shown = self
            .pages
            .end(run, &round.outcome, last, cpu, Timestamp::now())?;
        self.audience.show(&format!("{shown}\n"));
        let found = reasons(&round.outcome).into_iter();
        for remark in found.chain(notes(run, &round.outcome, &round.rates())) {
            let shown = self.pages.logged(&remark.to_string(), Timestamp::now())?;
            self.audience.show(&shown);
        }
        Ok((round, monitor))
    }
}

fn judge(done: &Done<'_>, skew_tolerance_pct: Option<f64>) -> Result<(), ExecutionError> {
    let (run, outcome) = (done.run, done.outcome);
    if outcome.faults_count > 0 || outcome.ended == Ended::Errors {
        return Err(ExecutionError::Failed {
            run: run.name.clone(),
            count: outcome.faults_count,
            first: outcome
                .faults
                .first()
                .map_or("unknown".to_owned(), ToString::to_string),
        });
    }
    if let Some(sentence) = outcome.close_errors.first() {
        return Err(ExecutionError::NotWrittenBack(sentence.clone()));
    }
    if let (true, Some(what)) = (done.is_missed, done.findings.first()) {
        return Err(ExecutionError::Missed {
            run: run.name.clone(),
            what: what.to_string(),
        });
    }
    match (skew_tolerance_pct, worst_share(run, outcome)) {
        (Some(allowed_pct), Some((workload, off_pct))) if off_pct > allowed_pct => {
            Err(ExecutionError::Skew {
                run: run.name.clone(),
                workload,
                off_pct,
                allowed_pct,
            })
        }
        _ => Ok(()),
    }
}

fn too_slow(run: &Run, outcome: &Outcome) -> bool {
    let limit_ms = run.stop.response_ms_max;
    limit_ms
        .zip(outcome.total().issued_mean_ms())
        .is_some_and(|(limit, mean)| mean > limit)
}

fn cpu(rates: &Rates) -> Option<Cpu> {
    Some(Cpu {
        user_pct: rates.cpu_user_pct?,
        system_pct: rates.cpu_system_pct?,
        wait_pct: rates.cpu_iowait_pct?,
    })
}

fn size_bytes(run: &Run) -> Option<u64> {
    let sizes = run.storage.iter().map(|sd| {
        let length = || {
            std::fs::metadata(&sd.path)
                .ok()
                .filter(std::fs::Metadata::is_file)
                .map(|file| file.len())
        };
        sd.size_bytes.or_else(length)
    });
    sizes.sum()
}
