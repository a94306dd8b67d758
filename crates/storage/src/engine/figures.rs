//! What a run amounts to: counts and times by interval, and histograms of all that counts.
//!
//! Every I/O has three times. *Service* runs from its hand-over to the kernel until its completion was seen. *Issued*
//! runs from when it was taken from its queue, as vdbench counts: a thread takes the time when it begins its call.
//! *Response* runs from when it was meant to start, and so shows the queue in front of a device that is too slow.

use std::time::Duration;

use stats::Histogram;

use super::error::{IoFault, Operation};
use super::recovery::Recovery;
use super::ring::RingFeatures;
use crate::run::Run;

/// (stream, SD) of each [`Cell`], in the order of all lists of cells.
#[must_use]
pub fn cells_of(run: &Run) -> Vec<(usize, usize)> {
    let streams = run.streams.iter().enumerate();
    streams
        .flat_map(|(stream, what)| what.storage.iter().map(move |storage| (stream, *storage)))
        .collect()
}

/// The three times of one kind of I/O, as distributions.
#[derive(Debug, Clone, Default)]
pub struct Latencies {
    /// Hand-over to the kernel → completion.
    pub service: Histogram,
    /// Taken from its queue → completion: what vdbench calls response time.
    pub issued: Histogram,
    /// Intended start → completion. At a maximum, where nothing is intended, the same as `issued`.
    pub response: Histogram,
}

impl Latencies {
    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Latencies) {
        self.service.merge(&other.service);
        self.issued.merge(&other.issued);
        self.response.merge(&other.response);
    }
}

/// Sums over I/Os of one kind.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Tally {
    pub operations: u64,
    /// Bytes they transferred.
    pub bytes: u64,
    /// I/Os that failed; they are in no other figure.
    pub errors: u64,
    pub service_ns: u64,
    /// Sum of times since issue.
    pub issued_ns: u64,
    pub issued_square_ns2: f64,
    pub issued_max_ns: u64,
    pub response_ns: u64,
    pub response_max_ns: u64,
}

impl Tally {
    #[inline]
    pub(crate) fn record(&mut self, bytes: u64, service_ns: u64, issued_ns: u64, response_ns: u64) {
        self.operations += 1;
        self.bytes += bytes;
        self.service_ns += service_ns;
        self.issued_ns += issued_ns;
        let issued = issued_ns as f64;
        self.issued_square_ns2 += issued * issued;
        self.issued_max_ns = self.issued_max_ns.max(issued_ns);
        self.response_ns += response_ns;
        self.response_max_ns = self.response_max_ns.max(response_ns);
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Tally) {
        self.operations += other.operations;
        self.bytes += other.bytes;
        self.errors += other.errors;
        self.service_ns += other.service_ns;
        self.issued_ns += other.issued_ns;
        self.issued_square_ns2 += other.issued_square_ns2;
        self.issued_max_ns = self.issued_max_ns.max(other.issued_max_ns);
        self.response_ns += other.response_ns;
        self.response_max_ns = self.response_max_ns.max(other.response_max_ns);
    }

    /// Mean time since issue in milliseconds; `None` when nothing completed.
    #[must_use]
    pub fn issued_mean_ms(&self) -> Option<f64> {
        (self.operations > 0).then(|| self.issued_ns as f64 / self.operations as f64 / 1e6)
    }

    /// Standard deviation (of a sample) of the time since issue, in milliseconds; `None` below two I/Os.
    #[must_use]
    pub fn issued_deviation_ms(&self) -> Option<f64> {
        if self.operations < 2 {
            return None;
        }
        let (n, sum) = (self.operations as f64, self.issued_ns as f64);
        let variance = (self.issued_square_ns2 - sum * sum / n) / (n - 1.0);
        Some(variance.max(0.0).sqrt() / 1e6)
    }
}

/// Sums of one stream on one SD. A run has one for each; a stream over SDs that are concatenated has several.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cell {
    /// Index of the stream in the run.
    pub stream: usize,
    /// Index of the SD in the run.
    pub storage: usize,
    pub tallies: [Tally; 2],
    /// Sum over time of the I/Os in flight; divided by the length of time it is the queue depth.
    pub in_flight_ns: u64,
}

impl Cell {
    /// What was read, or written.
    #[must_use]
    pub fn of(&self, operation: Operation) -> &Tally {
        &self.tallies[operation.index()]
    }

    #[must_use]
    pub fn all(&self) -> Tally {
        let mut all = self.tallies[0];
        all.merge(&self.tallies[1]);
        all
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Cell) {
        for (mine, theirs) in self.tallies.iter_mut().zip(&other.tallies) {
            mine.merge(theirs);
        }
        self.in_flight_ns += other.in_flight_ns;
    }
}

/// One interval of a run, as all workers together saw it.
#[derive(Debug, Clone, PartialEq)]
pub struct Interval {
    /// Its number, from 1.
    pub number: u32,
    /// Whether it is part of the totals; warm-up is not.
    pub counted: bool,
    /// Its end, since the start of the run.
    pub end: Duration,
    /// Its length; only the last one may be shorter.
    pub length: Duration,
    /// What was done, in the order of [`cells_of`].
    pub cells: Vec<Cell>,
}

/// What is told while a run goes on.
#[derive(Debug, Clone, Copy)]
pub enum EngineEvent<'a> {
    Interval(&'a Interval),
    Fault(&'a IoFault),
    /// A journal has been recovered, before the first I/O of the run.
    Recovered(&'a Recovery),
}

/// Why a run came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    Elapsed,
    /// All streams that end by themselves have ended.
    StreamsDone,
    /// An amount of data was reached.
    DataLimit,
    Errors,
    Stopped,
    /// It was to recover journals and to do nothing else.
    Recovered,
}

/// By which way I/Os reached the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Way {
    /// io_uring, with what all workers were granted.
    Ring(RingFeatures),
    /// Threads that block in `pread` and `pwrite`, and why.
    Threads {
        /// The reason: what the kernel said, or that it was asked for.
        reason: String,
    },
}

/// What the engine itself used, and where it came late.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Driver {
    pub workers: usize,
    /// Processor time of these threads from the start of the run to its end, the kernel's work for them included.
    pub workers_cpu: Duration,
    /// Processor time of the whole process meanwhile: also the kernel's helpers of a ring and all other threads.
    pub process_cpu: Duration,
    /// Starts more than a millisecond after the intended one although nothing held them back but the engine, or a backlog of
    /// the time in which it did not run.
    pub late_starts: u64,
    /// The latest of all of these.
    pub late_max: Duration,
    /// These starts, and those that were late because they queued behind them.
    pub late_queued: u64,
    /// How long the engine did not run although it should have, in pieces that are long enough to be called stops.
    pub stopped: Duration,
}

impl Driver {
    fn merge(&mut self, later: &Self) {
        self.workers = self.workers.max(later.workers);
        self.workers_cpu += later.workers_cpu;
        self.process_cpu += later.process_cpu;
        self.late_starts += later.late_starts;
        self.late_queued += later.late_queued;
        self.late_max = self.late_max.max(later.late_max);
        self.stopped += later.stopped;
    }
}

/// What a run amounts to.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Time that counts: the intervals after the warm-up, or all of them where it ended before.
    pub counted: Duration,
    /// Whether the run ended before its warm-up did, so that all of it counts.
    pub ends_in_warmup: bool,
    /// From the start to the end, warm-up included.
    pub elapsed: Duration,
    /// Sums of what counts, in the order of [`cells_of`].
    pub cells: Vec<Cell>,
    /// Sums of everything, warm-up included.
    pub all_cells: Vec<Cell>,
    /// Distributions of what counts, reads and writes, in the same order.
    pub latencies: Vec<[Latencies; 2]>,
    /// I/Os in flight when the time was over: awaited, and in no other figure.
    pub drained: u64,
    /// I/Os whose intended start had come and that had not been started when the time was over.
    pub unserved: u64,
    /// How long the oldest of these had waited.
    pub unserved_wait_max: Duration,
    /// I/Os that failed, all of them.
    pub faults_count: u64,
    pub faults: Vec<IoFault>,
    /// Files that could not be written back at the end, each with a sentence.
    pub close_errors: Vec<String>,
    pub ended: Ended,
    /// How I/Os reached the kernel.
    pub way: Way,
    /// What the engine itself used.
    pub driver: Driver,
    /// Blocks that were read and proven to hold what was written, where validation was asked for.
    pub blocks_proven: u64,
    /// What journals that were recovered said, one for each SD.
    pub recovered: Vec<Recovery>,
    /// Every I/O, where a recording was asked for.
    pub trace: Option<super::trace::Trace>,
}

impl Outcome {
    /// Adds a later run of the same streams, as if this one had gone on.
    pub fn merge(&mut self, later: Self) {
        self.counted += later.counted;
        self.ends_in_warmup |= later.ends_in_warmup;
        self.elapsed += later.elapsed;
        for (mine, theirs) in self.cells.iter_mut().zip(&later.cells) {
            mine.merge(theirs);
        }
        for (mine, theirs) in self.all_cells.iter_mut().zip(&later.all_cells) {
            mine.merge(theirs);
        }
        let pairs = self.latencies.iter_mut().flatten();
        for (mine, theirs) in pairs.zip(later.latencies.iter().flatten()) {
            mine.merge(theirs);
        }
        self.drained += later.drained;
        self.unserved += later.unserved;
        self.unserved_wait_max = self.unserved_wait_max.max(later.unserved_wait_max);
        self.faults_count += later.faults_count;
        self.faults.extend(later.faults);
        self.close_errors.extend(later.close_errors);
        self.ended = later.ended;
        self.driver.merge(&later.driver);
        self.blocks_proven += later.blocks_proven;
        self.recovered.extend(later.recovered);
        if let (Some(mine), Some(theirs)) = (&mut self.trace, later.trace) {
            mine.merge(theirs);
        }
    }

    /// Everything that counts, added up.
    #[must_use]
    pub fn total(&self) -> Tally {
        let mut total = Tally::default();
        for cell in &self.cells {
            total.merge(&cell.all());
        }
        total
    }

    /// I/Os a second that count; 0 when no time counted.
    #[must_use]
    pub fn rate_iops(&self) -> f64 {
        let seconds = self.counted.as_secs_f64();
        if seconds > 0.0 {
            self.total().operations as f64 / seconds
        } else {
            0.0
        }
    }

    /// The distributions of all cells that `wanted` picks by (stream, SD, operation), merged.
    #[must_use]
    pub fn latencies_of(&self, wanted: impl Fn(usize, usize, Operation) -> bool) -> Latencies {
        let mut merged = Latencies::default();
        for (cell, pair) in self.cells.iter().zip(&self.latencies) {
            for operation in [Operation::Read, Operation::Write] {
                if wanted(cell.stream, cell.storage, operation) {
                    merged.merge(&pair[operation.index()]);
                }
            }
        }
        merged
    }

    /// The part of all I/Os that each stream did, for curves whose points keep observed shares.
    #[must_use]
    pub fn shares(&self, streams: usize) -> Vec<f64> {
        let mut operations = vec![0_u64; streams];
        for cell in &self.cells {
            if let Some(count) = operations.get_mut(cell.stream) {
                *count += cell.all().operations;
            }
        }
        let total = operations.iter().sum::<u64>().max(1) as f64;
        operations
            .iter()
            .map(|count| *count as f64 / total)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_deviation_of_a_sample() {
        let mut tally = Tally::default();
        assert_eq!(tally.issued_mean_ms(), None);
        for ms in [2_u64, 4, 4, 4, 5, 5, 7, 9] {
            tally.record(512, 1, ms * 1_000_000, ms * 1_000_000);
        }
        assert_eq!(tally.issued_mean_ms(), Some(5.0));
        let deviation = tally.issued_deviation_ms().unwrap();
        assert!((deviation - (32.0_f64 / 7.0).sqrt()).abs() < 1e-9);
        assert_eq!((tally.bytes, tally.issued_max_ns), (4096, 9_000_000));
    }
}
