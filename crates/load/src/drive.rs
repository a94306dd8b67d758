//! A drive: all jobs on their threads, from the ramp-up to the outcome.

use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::account::Account;
use crate::client::{BlockingClient, Request};
use crate::clock::{Clock, Participation, Usage};
use crate::gate::{Gate, Ticket};
use crate::job::{Cancellation, ExitReason, Job};
use crate::outcome::{ClientOutcome, Outcome};
use crate::recorder::{INTERVAL_MIN, Progress, Recorder};
use crate::schedule::{End, RampUp, Schedule, Timetable};
use crate::series::Series;

/// Most jobs of one drive: one thread each.
pub const JOBS_MAX: usize = 4096;

/// How to drive.
#[derive(Debug, Clone)]
pub struct Drive<'a> {
    /// The model of load.
    pub schedule: Schedule,
    /// What is done before measuring, unrecorded.
    pub ramp_up: RampUp,
    /// When measuring ends.
    pub end: End,
    /// Length of the intervals of the series, at least [`INTERVAL_MIN`].
    pub interval: Duration,
    /// Arrivals and think times follow from it.
    pub seed: u64,
    /// Set from outside, it stops the drive: at once where jobs wait, after the operation in hand where they work.
    pub stop: &'a AtomicBool,
    /// Where the count so far is published.
    pub progress: Option<&'a Progress>,
    /// What tells the time.
    pub clock: Clock,
}

/// Drives one job per client, each on its own thread, and returns when all of them have ended.
///
/// The clients are dropped after the last job has ended, so that closing one session does not
/// disturb the measurement of another.
pub fn drive(clients: Vec<Box<dyn BlockingClient + '_>>, drive: &Drive) -> Outcome {
    let jobs = clients.len();
    if jobs > JOBS_MAX {
        return Outcome::fatal(format!(
            "{jobs} jobs are more than one driver can hold: use at most {JOBS_MAX}"
        ));
    }
    let table = match Timetable::new(drive.schedule, drive.ramp_up, drive.end, jobs, drive.seed) {
        Ok(table) => table,
        Err(error) => return Outcome::fatal(error.to_string()),
    };
    let cancellation = Cancellation {
        stop: drive.stop,
        fatal: OnceLock::new(),
        failed: AtomicBool::new(false),
    };
    let gate = Gate::new(jobs, &drive.clock);
    let series = Mutex::new(Series::new(drive.interval.max(INTERVAL_MIN), 1));
    let ended = run(clients, drive, &table, &gate, (&series, &cancellation));
    let origin_ns = gate.common_start_ns().filter(|_| jobs > 0);
    let started = origin_ns.map(|at| drive.clock.instant_of(at.saturating_add(table.from_ns())));
    let (mut clients, mut recorders) = (Vec::new(), Vec::new());
    for job in ended {
        clients.push(Ended {
            account: job.account,
            thread: Some(job.usage),
            unserved: job.unserved,
            leaving: job.leaving,
        });
        recorders.push(job.recorder);
    }
    let recorder = merged(recorders);
    let fatal = cancellation.fatal.into_inner();
    let outcome = summarise(&clients, recorder, &table, started, fatal);
    with_series(outcome, series)
}

/// Runs the jobs.
fn run<'a, 'o>(
    clients: Vec<Box<dyn BlockingClient + 'o>>,
    drive: &Drive<'a>,
    table: &Timetable,
    gate: &Gate,
    (series, cancellation): (&'a Mutex<Series>, &Cancellation),
) -> Vec<Job<'a, 'o>> {
    let window = table.window();
    let jobs: Vec<(Job, Ticket, Participation)> = (0u64..)
        .zip(clients)
        .map(|(number, client)| {
            let job = Job {
                number,
                client,
                recorder: Recorder::new(1, &window, series, drive.progress),
                account: Account::new(&window),
                usage: Usage::default(),
                unserved: 0,
                leaving: ExitReason::Failed,
                request: Request::of_job(number as u32, 0),
                clock: drive.clock.clone(),
            };
            (job, gate.ticket(), drive.clock.participate())
        })
        .collect();
    let ramp_up = drive.ramp_up.operations();
    std::thread::scope(|scope| {
        let threads: Vec<_> = jobs
            .into_iter()
            .map(|(mut job, ticket, part)| {
                let name = format!("job-{}", job.number);
                let thread = std::thread::Builder::new().name(name);
                let spawned = thread.spawn_scoped(scope, move || {
                    part.enter();
                    job.run(ticket, table, ramp_up, cancellation);
                    drop(part);
                    job
                });
                spawned.inspect_err(|error| {
                    cancellation.fail(format!(
                        "a thread for every job cannot be had ({error}): use fewer jobs, or raise the limit of processes"
                    ));
                })
            })
            .collect();
        threads
            .into_iter()
            .filter_map(|thread| thread.ok()?.join().ok())
            .collect()
    })
}

/// What is left of a client when it has ended, whatever drove it.
pub(crate) struct Ended {
    pub account: Account,
    pub thread: Option<Usage>,
    pub unserved: u64,
    pub leaving: ExitReason,
}

/// What all recorders of a drive have written down, if there is any.
pub(crate) fn merged(recorders: Vec<Recorder<'_>>) -> Option<Recorder<'_>> {
    recorders.into_iter().reduce(|mut all, one| {
        all.merge(one);
        all
    })
}

/// The outcome of a drive of jobs from what they left, without its series.
pub(crate) fn summarise(
    ended: &[Ended],
    recorder: Option<Recorder>,
    table: &Timetable,
    started: Option<Instant>,
    fatal: Option<String>,
) -> Outcome {
    let clients = ended.iter().map(|job| job.account.outcome(job.thread));
    let clients: Vec<ClientOutcome> = clients.collect();
    let unserved: u64 = ended.iter().map(|job| job.unserved).sum();
    let left = |why: ExitReason| ended.iter().any(|job| job.leaving == why);
    let interrupted = left(ExitReason::Stopped);
    let mut elapsed = clients.iter().map(|job| job.finish).max();
    if let (Some(until), true) = (table.until_ns(), left(ExitReason::Over)) {
        let window = Duration::from_nanos(until - table.from_ns());
        if !interrupted && fatal.is_none() {
            elapsed = elapsed.max(Some(window));
        }
    }
    let mut recorder = recorder;
    if let Some(recorder) = recorder.as_mut().filter(|_| unserved > 0) {
        recorder.add_message(&format!(
            "{unserved} operations were due but not begun in the time allowed for draining: the target is slower than the rate"
        ));
    }
    let (kinds, tally, error_messages) = recorder.map(Recorder::into_parts).unwrap_or_default();
    Outcome {
        started,
        elapsed: elapsed.unwrap_or_default(),
        clients,
        kinds,
        asked: tally.asked + unserved,
        unfinished: tally.unfinished + unserved,
        unserved,
        late_starts: tally.late_starts,
        late_start_max: Duration::from_nanos(tally.late_max_ns),
        error_messages,
        fatal,
        interrupted,
        ..Outcome::default()
    }
}

/// The outcome with what was done in each interval.
pub(crate) fn with_series(outcome: Outcome, series: Mutex<Series>) -> Outcome {
    let series = series.into_inner().unwrap_or_else(PoisonError::into_inner);
    Outcome {
        intervals: series.intervals(outcome.elapsed),
        ..outcome
    }
}
