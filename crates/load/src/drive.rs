//! A drive: all jobs on their threads, from the ramp-up to the outcome.

use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::BlockingClient;
use crate::clock::{Clock, Participation, Usage};
use crate::gate::{Gate, Ticket};
use crate::job::{Cancellation, ExitReason, Job};
use crate::outcome::Outcome;
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
    let (ended, series) = run(clients, drive, &table, &gate, &cancellation);
    let origin_ns = gate.common_start_ns().filter(|_| jobs > 0);
    let ended: Vec<Ended> = ended
        .iter()
        .map(|job| Ended {
            recorder: &job.recorder,
            usage: job.usage,
            unserved: job.unserved,
            leaving: job.leaving,
        })
        .collect();
    let started = origin_ns.map(|at| drive.clock.instant_of(at.saturating_add(table.from_ns())));
    summarise(
        &ended,
        &series,
        &table,
        started,
        cancellation.fatal.into_inner(),
    )
}

/// Runs the jobs, and gathers their intervals on the calling thread meanwhile.
fn run<'a, 'o>(
    clients: Vec<Box<dyn BlockingClient + 'o>>,
    drive: &Drive<'a>,
    table: &Timetable,
    gate: &Gate,
    cancellation: &Cancellation,
) -> (Vec<Job<'a, 'o>>, Series) {
    let interval = drive.interval.max(INTERVAL_MIN);
    let mut series = Series::new(interval);
    let (sender, intervals) = mpsc::channel();
    let ramp_up = match drive.ramp_up {
        RampUp::Operations { per_job } => per_job,
        RampUp::None | RampUp::Time(_) => 0,
    };
    let jobs: Vec<(Job, Ticket, Participation)> = (0u64..)
        .zip(clients)
        .map(|(number, client)| {
            let recorder = Recorder::new(table.from_ns(), interval, sender.clone(), drive.progress);
            let job = Job {
                number,
                client,
                recorder,
                usage: Usage::default(),
                unserved: 0,
                leaving: ExitReason::Failed,
                index: 0,
                clock: drive.clock.clone(),
            };
            (job, gate.ticket(), drive.clock.participate())
        })
        .collect();
    drop(sender);
    let ended = std::thread::scope(|scope| {
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
        for record in intervals {
            series.add(&record);
        }
        threads
            .into_iter()
            .filter_map(|thread| thread.ok()?.join().ok())
            .collect()
    });
    (ended, series)
}

/// What is left of a job when it has ended, whatever drove it.
pub(crate) struct Ended<'r> {
    pub recorder: &'r Recorder<'r>,
    pub usage: Usage,
    pub unserved: u64,
    pub leaving: ExitReason,
}

/// The outcome of a drive from what its jobs left.
pub(crate) fn summarise(
    ended: &[Ended],
    series: &Series,
    table: &Timetable,
    started: Option<Instant>,
    fatal: Option<String>,
) -> Outcome {
    let mut outcome = Outcome {
        started,
        ..Outcome::default()
    };
    for job in ended {
        outcome.add_sums(job.recorder.sums(), table.from_ns());
        if let Some(added) = outcome.jobs.last_mut() {
            added.cpu = job.usage.cpu;
            added.run_queue = job.usage.run_queue;
        }
        if let Some(latencies) = job.recorder.latencies() {
            outcome.service.merge(&latencies.service);
            outcome.response.merge(&latencies.response);
        }
        outcome.unserved += job.unserved;
        for message in job.recorder.messages() {
            outcome.add_message(message);
        }
    }
    let left = |why: ExitReason| ended.iter().any(|job| job.leaving == why);
    outcome.interrupted = left(ExitReason::Stopped);
    outcome.fatal = fatal;
    if let (Some(until), true) = (table.until_ns(), left(ExitReason::Over)) {
        let window = Duration::from_nanos(until - table.from_ns());
        if !outcome.interrupted && outcome.fatal.is_none() {
            outcome.elapsed = outcome.elapsed.max(window);
        }
    }
    if outcome.unserved > 0 {
        outcome.errors += outcome.unserved;
        outcome.add_message(&format!(
            "{} operations were due but not begun in the time allowed for draining: the target is slower than the rate",
            outcome.unserved
        ));
    }
    outcome.intervals = series.intervals(outcome.elapsed);
    outcome
}
