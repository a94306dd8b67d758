//! Figures of a run: counts and times by interval, and histograms of everything that counts.
//!
//! Every I/O has three times. *Service* runs from its hand-over to the kernel to its observed completion. *Issued*
//! runs from when it was taken from its queue, as in vdbench, where a thread takes the time when it begins its call.
//! *Response* runs from its intended start, and so includes the queue in front of a device that is too slow.

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

/// Distributions of the three times of one kind of I/O.
#[derive(Debug, Clone, Default)]
pub struct Latencies {
    /// Hand-over to the kernel → completion.
    pub service: Histogram,
    /// Taken from its queue → completion: vdbench's response time.
    pub issued: Histogram,
    /// Intended start → completion; equal to `issued` at a maximum rate, which has no intended starts.
    pub response: Histogram,
}

impl Latencies {
    pub fn merge(&mut self, other: &Latencies) {
        self.service.merge(&other.service);
        self.issued.merge(&other.issued);
        self.response.merge(&other.response);
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Tally {
    pub operations: u64,
    pub bytes: u64,
    /// I/Os that failed; no other figure includes them.
    pub errors: u64,
    pub service_ns: u64,
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

/// Sums of one stream on one SD. A run has one per pair; a stream over concatenated SDs has several.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cell {
    pub stream: usize,
    pub storage: usize,
    pub tallies: [Tally; 2],
    /// Integral of the I/Os in flight over time; divided by the length of time it is the queue depth.
    pub in_flight_ns: u64,
}

impl Cell {
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

    pub fn merge(&mut self, other: &Cell) {
        for (mine, theirs) in self.tallies.iter_mut().zip(&other.tallies) {
            mine.merge(theirs);
        }
        self.in_flight_ns += other.in_flight_ns;
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Interval {
    pub number: u32,
    /// The interval is in the totals, so it is after the warm-up.
    pub counted: bool,
    pub end: Duration,
    /// Length; only the last interval may be shorter.
    pub length: Duration,
    /// Sums in the order of [`cells_of`].
    pub cells: Vec<Cell>,
}

#[derive(Debug, Clone, Copy)]
pub enum EngineEvent<'a> {
    Interval(&'a Interval),
    Fault(&'a IoFault),
    Recovered(&'a Recovery),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    Elapsed,
    StreamsDone,
    DataLimit,
    Errors,
    Stopped,
    /// The run only had to recover journals.
    Recovered,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Way {
    /// io_uring, with the features that all workers were granted.
    Ring(RingFeatures),
    Threads {
        /// Answer of the kernel, or the request for threads.
        reason: String,
    },
}

/// Processor time of the engine itself, and its late starts.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Driver {
    pub workers: usize,
    /// Processor time of these threads from start to end of the run, including the kernel's work for them.
    pub workers_cpu: Duration,
    /// Processor time of the whole process in the same time, including the kernel's helpers of a ring and all other
    /// threads.
    pub process_cpu: Duration,
    /// I/Os that started more than a millisecond late for no reason but the engine, or for a backlog of a time in
    /// which the engine did not run.
    pub late_starts: u64,
    pub late_max: Duration,
    /// Number of these I/Os, plus those that were late because they queued after them.
    pub late_queued: u64,
    /// Time in which the engine should have run and did not, in pieces long enough to count as stops.
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

#[derive(Debug, Clone)]
pub struct Outcome {
    /// Time that counts: the intervals after the warm-up, or all if the run ended before that.
    pub counted: Duration,
    /// The run ended within its warm-up, so that all of it counts.
    pub ends_in_warmup: bool,
    pub elapsed: Duration,
    /// Counted sums, in the order of [`cells_of`].
    pub cells: Vec<Cell>,
    /// Sums including the warm-up.
    pub all_cells: Vec<Cell>,
    /// Counted distributions of reads and writes, in the same order.
    pub latencies: Vec<[Latencies; 2]>,
    /// I/Os in flight at the end of the time: awaited, and in no other figure.
    pub drained: u64,
    /// I/Os that were due and had not started at the end of the time.
    pub unserved: u64,
    /// Longest waiting time among these.
    pub unserved_wait_max: Duration,
    /// Number of failed I/Os, including those in the warm-up.
    pub faults_count: u64,
    pub faults: Vec<IoFault>,
    /// Files that could not be synchronized at the end, each with a sentence.
    pub close_errors: Vec<String>,
    pub ended: Ended,
    pub way: Way,
    pub driver: Driver,
    pub blocks_proven: u64,
    pub recovered: Vec<Recovery>,
    /// Every I/O, if a recording was requested.
    pub trace: Option<super::trace::Trace>,
}

impl Outcome {
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

    #[must_use]
    pub fn total(&self) -> Tally {
        let mut total = Tally::default();
        for cell in &self.cells {
            total.merge(&cell.all());
        }
        total
    }

    /// Counted I/Os per second; 0 when no time counted.
    #[must_use]
    pub fn rate_iops(&self) -> f64 {
        let seconds = self.counted.as_secs_f64();
        if seconds > 0.0 {
            self.total().operations as f64 / seconds
        } else {
            0.0
        }
    }

    /// Merged distributions of the cells that `wanted` picks by (stream, SD, operation).
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

    /// Part of all I/Os that each stream did, for curves whose points use observed shares.
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
