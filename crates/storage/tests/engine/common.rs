use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use storage::engine::{
    self, Ended, EngineError, EngineEvent, MockDevice, Operation, Options, Outcome, TraceRecord,
};
use storage::run::{Arrivals, ErrorLimit, Run, StorageDefinition, Stream};

use super::distribution;

pub const KIB: u64 = 1024;
pub const MIB: u64 = 1 << 20;
pub const TRACE_MAX: usize = 3_000_000;
static NEVER: AtomicBool = AtomicBool::new(false);

pub fn file(folder: &Path, name: &str, bytes: u64) -> PathBuf {
    let path = folder.join(name);
    let file = std::fs::File::create(&path).unwrap();
    file.set_len(bytes).unwrap();
    path
}

pub fn sd(name: &str, path: &Path) -> StorageDefinition {
    StorageDefinition::whole(name, path)
}

pub fn stream(name: &str, storage: usize) -> Stream {
    Stream::random_reads(name, storage, 4 * KIB)
}

/// A run at maximum rate of two seconds, of which the second counts; shares are equal.
pub fn run(storage: Vec<StorageDefinition>, streams: Vec<Stream>) -> Run {
    Run {
        elapsed_s: Some(2),
        arrivals: Arrivals::Exponential,
        errors: ErrorLimit::default(),
        ..Run::fill("rd1", String::new(), storage, streams)
    }
}

pub fn one(path: &Path, stream: Stream) -> Run {
    run(vec![sd("sd1", path)], vec![stream])
}

pub fn try_run<'a>(
    run: &Run,
    change: impl FnOnce(&mut Options<'a>),
) -> Result<Outcome, EngineError> {
    let mut options = Options::new(42, &NEVER);
    change(&mut options);
    engine::run(run, &options, &mut |_| {})
}

/// Carries out a run with a recording, and compares the totals with it.
pub fn recorded(run: &Run) -> Outcome {
    checked(try_run(run, |options| options.trace_max = TRACE_MAX).unwrap())
}

/// Carries out a run with a recording until `io_min` I/Os completed or failed, however long that takes on this
/// machine.
pub fn until<'a>(io_min: u64, run: &Run, change: impl FnOnce(&mut Options<'a>)) -> Outcome {
    let stop = AtomicBool::new(false);
    let mut options = Options {
        trace_max: TRACE_MAX,
        ..Options::new(42, &NEVER)
    };
    change(&mut options);
    let options = Options {
        stop: &stop,
        ..options
    };
    let endless = Run {
        elapsed_s: Some(3600),
        ..run.clone()
    };
    let mut done = 0;
    let outcome = engine::run(&endless, &options, &mut |message| {
        if let EngineEvent::Interval(interval) = message {
            let cells = interval.cells.iter().map(engine::Cell::all);
            done += cells.map(|all| all.operations + all.errors).sum::<u64>();
            stop.store(done >= io_min, Ordering::Relaxed);
        }
    });
    let outcome = outcome.unwrap();
    assert_eq!(outcome.ended, Ended::Stopped);
    outcome
}

pub fn mocked(run: &Run, device: &MockDevice<'_>) -> Outcome {
    let options = Options {
        trace_max: TRACE_MAX,
        ..Options::new(42, &NEVER)
    };
    checked(device.run(run, &options, &mut |_| {}).unwrap())
}

/// A device that is never the bottleneck: 1 µs per I/O at any depth.
pub fn fast() -> MockDevice<'static> {
    MockDevice::of(1024, Duration::from_micros(1))
}

/// An SD for virtual time, which needs no files.
pub fn of_size(name: &str, bytes: u64) -> StorageDefinition {
    StorageDefinition {
        size_bytes: Some(bytes),
        ..sd(name, Path::new(name))
    }
}

/// Compares the totals with the recording.
pub fn checked(outcome: Outcome) -> Outcome {
    let trace = outcome.trace.as_ref().unwrap();
    let done = trace.records.len() as u64 + trace.dropped;
    let message: u64 = outcome
        .all_cells
        .iter()
        .map(|cell| cell.all().operations + cell.all().errors)
        .sum();
    assert_eq!(
        done,
        message + outcome.drained,
        "every I/O is in one figure"
    );
    assert!(done > 0, "a run that does nothing proves nothing");
    outcome
}

pub fn of(outcome: &Outcome, stream: usize) -> Vec<TraceRecord> {
    let trace = outcome.trace.as_ref().unwrap();
    let mut records: Vec<TraceRecord> = trace
        .records
        .iter()
        .filter(|record| record.stream == stream)
        .copied()
        .collect();
    records.sort_by_key(|record| (record.intended_ns, record.issued_ns));
    records
}

/// Asserts that `share` of `records` fulfil `wanted`, within five standard deviations of a binomial.
pub fn assert_share(
    what: &str,
    records: &[TraceRecord],
    share: f64,
    wanted: impl Fn(&TraceRecord) -> bool,
) {
    let n = records.len();
    assert!(n >= 500, "{what}: {n} I/Os are too few to judge by");
    let seen = records.iter().filter(|record| wanted(record)).count();
    distribution::assert_share(what, seen, n, share, 0.0);
}

pub fn reads(record: &TraceRecord) -> bool {
    record.operation == Operation::Read
}
