//! The engine carries out one [`Run`] through io_uring and returns an [`Outcome`].
//!
//! * `files` opens SDs, `geometry` turns ranges into addresses, `source` draws I/Os, `arrival` their intended starts.
//! * `plan` gives each worker its lanes (an SD with its limit of I/Os in flight), `worker` is the loop, over a `ring`
//!   or, where rings are forbidden, a `pool` of blocking threads.
//! * `recorder` records, `collect` adds up; a [`Trace`] proves what was done.
//!
//! An SD belongs to one worker for the whole run, so nothing is locked or shared between two I/Os.

mod address;
mod arrival;
mod backend;
mod buffers;
mod build;
mod chain;
mod collect;
mod content;
mod error;
mod figures;
mod files;
mod format;
mod geometry;
mod journal;
mod lane;
mod message;
mod mock;
mod options;
mod phase;
mod plan;
mod pool;
mod precheck;
mod proof;
mod proofs;
mod recorder;
mod recovery;
mod ring;
mod shared;
pub(crate) mod signature;
mod source;
mod stall;
mod stream;
mod trace;
mod worker;

use std::fs::File;
use std::sync::mpsc::{Receiver, Sender, channel};

use load::clock::{now_ns, sharpen_timers, sleep_until};

pub use error::{EngineError, Fault, IoFault, Obstacle, Operation};
pub use figures::{
    Cell, Driver, Ended, EngineEvent, Interval, Latencies, Outcome, Tally, Way, cells_of,
};
pub use files::Claims;
pub use format::{FORMAT_NAME, format_run};
pub use mock::{MockDevice, MockIo};
pub use options::{BATCH_DEFAULT, BATCH_MAX, Options, TRACE_MAX};
pub use precheck::check_list;
pub use proofs::Proofs;
pub use recovery::Recovery;
pub use ring::RingFeatures;
pub use trace::{Trace, TraceRecord};

use crate::run::{Rate, Run, Seek};
use collect::Collector;
use files::Extent;
use message::Message;
use shared::Shared;

/// Time between the last worker being ready and the start of the run, so that all workers start together.
const LEAD_NS: u64 = 2_000_000;

pub type Carrier<'a> =
    &'a dyn Fn(&Run, &Options<'_>, &mut dyn FnMut(EngineEvent<'_>)) -> Result<Outcome, EngineError>;

/// Carries out one run, and reports each interval when it ends and each I/O that fails. The caller pauses before it
/// and makes a relative rate absolute with [`resolve`].
///
/// # Errors
/// [`EngineError`] when the run cannot begin. Failed I/Os are no error of the run: they are in the outcome.
pub fn run(
    run: &Run,
    options: &Options<'_>,
    report: &mut dyn FnMut(EngineEvent<'_>),
) -> Result<Outcome, EngineError> {
    check(run)?;
    let own_claims = Claims::default();
    let claims = options.claims.unwrap_or(&own_claims);
    let storage = files::open_all(run, &options.opening(claims))?;
    let extents: Vec<Extent> = storage.iter().map(|sd| sd.extent).collect();
    let open: Vec<&File> = storage.iter().map(|sd| &sd.file).collect();
    let mut plans = plan::workers(run, options.workers())?;
    let (validated, recovered) = proofs::begin(run, &storage, options.proofs)?;
    if recovered.is_all {
        plans.clear();
    }
    for journal in &recovered.journals {
        report(EngineEvent::Recovered(journal));
    }
    for fault in &recovered.faults {
        report(EngineEvent::Fault(fault));
    }
    let (sender, messages) = channel();
    let shared = Shared::new(run, sender, validated);
    let sizes = extents.iter().map(|sd| sd.size_bytes).sum();
    let mut collector = Collector::new(run, &plans, sizes);
    std::thread::scope(|scope| {
        let mut starts: Vec<Sender<u64>> = Vec::with_capacity(plans.len());
        let mut threads = Vec::with_capacity(plans.len());
        for (index, lanes) in plans.iter().enumerate() {
            let (start, started) = channel();
            starts.push(start);
            let job = build::Job {
                index,
                run,
                extents: &extents,
                lanes,
                options,
                shared: &shared,
            };
            let open = &open;
            threads.push(scope.spawn(move || thread(&job, open, &started)));
        }
        let mut ended = collector.until_ready(&messages, plans.len());
        let start_ns = now_ns() + LEAD_NS;
        if ended.is_ok() {
            for start in &starts {
                // A worker whose channel is closed has already sent why it ended; the collector reads that message.
                let _ = start.send(start_ns);
            }
            ended = collector.until_finished(&messages, &shared, options.stop, start_ns, report);
        }
        // Dropping the channels ends the workers that wait for a start.
        starts.clear();
        for thread in threads {
            // A thread that panicked has reported it through `Farewell`.
            let _ = thread.join();
        }
        ended
    })?;
    let (mut outcome, known) = collector.outcome(&shared);
    for (sd, validated) in known {
        validated.finish(&run.storage[sd], options.proofs)?;
    }
    if recovered.is_all {
        outcome.ended = Ended::Recovered;
    }
    outcome.blocks_proven += recovered.blocks_proven();
    outcome.recovered = recovered.journals;
    outcome.faults_count += recovered.faults_count;
    outcome.faults.splice(0..0, recovered.faults);
    for (sd, open) in run.storage.iter().zip(&storage) {
        if let Err(error) = open.finish() {
            outcome.close_errors.push(format!(
                "SD {}: {} could not be flushed to stable storage ({error}); the last writes may be lost",
                sd.name,
                sd.path.display()
            ));
        }
    }
    Ok(outcome)
}

fn thread(job: &build::Job<'_>, files: &[&File], started: &Receiver<u64>) {
    sharpen_timers();
    let mut farewell = Farewell {
        messages: job.shared.messages(),
        has_reported: false,
    };
    let end = build::with_worker(job, files, |way, work| {
        let _ = job.shared.messages().send(Message::Ready(way));
        // A closed channel means that another worker failed and the run is cancelled.
        let start_ns = started.recv().ok()?;
        sleep_until(start_ns, || false);
        Some(work(start_ns))
    });
    let message = match end {
        Ok(Some(Ok(end))) => Message::Finished(Box::new(end)),
        Ok(Some(Err(error))) | Err(error) => Message::Failed(error),
        Ok(None) => return farewell.has_reported = true,
    };
    // The receiver is gone only while the run is being torn down.
    let _ = job.shared.messages().send(message);
    farewell.has_reported = true;
}

/// Reports that a worker has gone unless it reported its end: otherwise the collector would wait forever for a thread
/// that panicked.
struct Farewell<'a> {
    messages: &'a Sender<Message>,
    has_reported: bool,
}

impl Drop for Farewell<'_> {
    fn drop(&mut self) {
        if !self.has_reported {
            let _ = self.messages.send(Message::Failed(EngineError::WorkerGone));
        }
    }
}

fn check(run: &Run) -> Result<(), EngineError> {
    let unusable = |what: &str| Err(EngineError::unusable(run, what));
    if matches!(run.rate, Rate::Curve(_) | Rate::PercentOfPrevious { .. }) {
        return unusable("its rate is relative to another run, which must come first");
    }
    if run.interval_s == 0 {
        return unusable("interval= must be at least one second");
    }
    let to_end = |seek| seek == Seek::SequentialToEnd;
    if run.elapsed_s.is_none() && !run.streams.iter().any(|stream| to_end(stream.seek)) {
        return unusable("it has neither an elapsed time nor a stream that ends by itself");
    }
    Ok(())
}

/// Result of a finished run that later runs refer to; an [`Outcome`] with its distributions is too large to store for
/// each.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reached {
    pub iops: f64,
    pub shares: Vec<f64>,
}

impl Reached {
    #[must_use]
    pub fn of(outcome: &Outcome, streams: usize) -> Self {
        Self {
            iops: outcome.rate_iops(),
            shares: outcome.shares(streams),
        }
    }
}

/// The run with an absolute rate: a point of a curve, or a percentage of the previous run, becomes I/Os per second.
/// `reached` holds the results of the earlier runs in the list; absolute rates stay as they are.
#[must_use]
pub fn resolve(run: &Run, reached: &[Reached]) -> Run {
    let mut resolved = run.clone();
    match run.rate {
        Rate::Curve(point) => {
            let maximum = reached.get(point.maximum_run);
            let iops = maximum.map_or(0.0, |maximum| maximum.iops);
            resolved.rate = Rate::Fixed {
                iops: crate::run::curve_rate_iops(iops, point.pct),
            };
            if let Some(maximum) = maximum.filter(|_| point.shares_observed) {
                for (stream, share) in resolved.streams.iter_mut().zip(&maximum.shares) {
                    stream.share = *share;
                }
            }
        }
        Rate::PercentOfPrevious { pct } => {
            let iops = reached.last().map_or(0.0, |last| last.iops);
            // After a run without any I/O, the next one still needs a rate at which it ends.
            resolved.rate = Rate::Fixed {
                iops: (iops * pct / 100.0).max(1.0),
            };
        }
        Rate::Max { .. } | Rate::Fixed { .. } | Rate::Variable { .. } => {}
    }
    resolved
}
