//! Adds up the workers' reports: intervals as they end, and the outcome.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use load::clock::{now_ns, process_cpu};

use super::error::{EngineError, IoFault};
use super::figures::{
    Cell, Driver, Ended, EngineEvent, Interval, Latencies, Outcome, Way, cells_of,
};
use super::message::{Message, WorkerEnd};
use super::plan::LanePlan;
use super::proofs::Validated;
use super::shared::Shared;
use super::trace::Trace;
use crate::run::{DataLimit, Run};

const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Faults that are described; further ones are only counted.
const FAULTS_MAX: usize = 64;

pub(crate) struct Collector<'a> {
    run: &'a Run,
    storage_bytes: u64,
    /// Positions of each worker's cells among all cells.
    places: Vec<Vec<usize>>,
    way: Option<Way>,
    open: BTreeMap<u32, Interval>,
    /// Last interval that each worker has reported; `u32::MAX` when it has finished.
    reported_by: Vec<u32>,
    next: u32,
    totals: Totals,
    ends: Vec<WorkerEnd>,
    faults: Vec<IoFault>,
    ended: Option<Ended>,
    process_cpu: Duration,
}

#[derive(Default)]
struct Totals {
    counted: Duration,
    elapsed: Duration,
    cells: Vec<Cell>,
    all_cells: Vec<Cell>,
}

impl<'a> Collector<'a> {
    pub fn new(run: &'a Run, plans: &[Vec<LanePlan>], storage_bytes: u64) -> Self {
        let all = cells_of(run);
        let place = |stream: usize, storage: usize| {
            all.iter()
                .position(|cell| *cell == (stream, storage))
                .expect("the cells of a worker are among those of the run")
        };
        let places = plans
            .iter()
            .map(|lanes| {
                let streams = lanes.iter().flat_map(|lane| &lane.streams);
                streams
                    .flat_map(|&stream| {
                        let sds = run.streams[stream].storage.iter();
                        sds.map(move |&sd| place(stream, sd))
                    })
                    .collect()
            })
            .collect();
        Self {
            run,
            storage_bytes,
            places,
            way: None,
            open: BTreeMap::new(),
            reported_by: vec![0; plans.len()],
            next: 1,
            totals: Totals {
                cells: empty_cells(run),
                all_cells: empty_cells(run),
                ..Totals::default()
            },
            ends: Vec::with_capacity(plans.len()),
            faults: Vec::new(),
            ended: None,
            process_cpu: Duration::ZERO,
        }
    }

    pub fn until_ready(
        &mut self,
        messages: &Receiver<Message>,
        workers: usize,
    ) -> Result<(), EngineError> {
        for _ in 0..workers {
            match messages.recv().map_err(|_| EngineError::WorkerGone)? {
                Message::Ready(way) => self.way = Some(weakest(self.way.take(), way)),
                Message::Failed(error) => return Err(error),
                _ => return Err(EngineError::WorkerGone),
            }
        }
        Ok(())
    }

    pub fn until_finished(
        &mut self,
        messages: &Receiver<Message>,
        shared: &Shared,
        stop: &AtomicBool,
        start_ns: u64,
        report: &mut dyn FnMut(EngineEvent<'_>),
    ) -> Result<(), EngineError> {
        let cpu_begin = process_cpu();
        let mut failure = None;
        while self.ends.len() < self.places.len() {
            self.look(shared, stop, now_ns().saturating_sub(start_ns));
            match messages.recv_timeout(LOOK_EVERY) {
                Ok(message) => self.take(message, shared, report, &mut failure),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(EngineError::WorkerGone),
            }
        }
        self.process_cpu = process_cpu().saturating_sub(cpu_begin);
        failure.map_or(Ok(()), Err)
    }

    /// Takes the reports so far, without waiting; `since_ns` have passed since the start.
    pub fn keep_up(
        &mut self,
        messages: &Receiver<Message>,
        shared: &Shared,
        stop: &AtomicBool,
        since_ns: u64,
        report: &mut dyn FnMut(EngineEvent<'_>),
    ) {
        // The single worker of this path also returns its failure to the caller.
        messages
            .try_iter()
            .for_each(|message| self.take(message, shared, report, &mut None));
        self.look(shared, stop, since_ns);
    }

    /// Ends the run if its user stopped it or if too many I/Os failed.
    fn look(&mut self, shared: &Shared, stop: &AtomicBool, since_ns: u64) {
        if stop.load(Relaxed) {
            self.end(shared, Ended::Stopped);
        }
        if self.patience_is_over(shared, since_ns) {
            self.end(shared, Ended::Errors);
        }
    }

    fn take(
        &mut self,
        message: Message,
        shared: &Shared,
        report: &mut dyn FnMut(EngineEvent<'_>),
        failure: &mut Option<EngineError>,
    ) {
        match message {
            Message::Ready(_) => {}
            Message::Failed(error) => {
                // The other workers end in good order; this one counts as finished without figures.
                *failure = Some(error);
                self.end(shared, Ended::Errors);
                self.ends.push(WorkerEnd::default());
            }
            Message::Fault(fault) => {
                if self.faults.len() < FAULTS_MAX {
                    report(EngineEvent::Fault(&fault));
                    self.faults.push(*fault);
                }
            }
            Message::Interval {
                worker,
                number,
                end_ns,
                length_ns,
                cells,
            } => {
                let first_counted = self.run.counts_from_interval();
                let interval = self.open.entry(number).or_insert_with(|| Interval {
                    number,
                    counted: number >= first_counted,
                    end: Duration::ZERO,
                    length: Duration::ZERO,
                    cells: empty_cells(self.run),
                });
                interval.end = interval.end.max(Duration::from_nanos(end_ns));
                interval.length = interval.length.max(Duration::from_nanos(length_ns));
                for (place, cell) in self.places[worker].iter().zip(&cells) {
                    interval.cells[*place].merge(cell);
                }
                self.reported_by[worker] = number;
                self.report_complete(shared, report);
            }
            Message::Finished(end) => {
                self.reported_by[end.worker] = u32::MAX;
                self.ends.push(*end);
                self.report_complete(shared, report);
            }
        }
    }

    fn report_complete(&mut self, shared: &Shared, report: &mut dyn FnMut(EngineEvent<'_>)) {
        let complete = self.reported_by.iter().copied().min().unwrap_or(0);
        while self.next <= complete {
            let Some(interval) = self.open.remove(&self.next) else {
                return;
            };
            self.next += 1;
            self.totals.add(&interval);
            report(EngineEvent::Interval(&interval));
            if self.data_limit_is_reached() {
                self.end(shared, Ended::DataLimit);
            }
        }
    }

    fn end(&mut self, shared: &Shared, why: Ended) {
        self.ended.get_or_insert(why);
        shared.end.store(true, Relaxed);
    }

    fn patience_is_over(&self, shared: &Shared, since_ns: u64) -> bool {
        let after_first = self.run.errors.after_first_s;
        shared.has_too_many_faults()
            || after_first
                .zip(shared.first_fault_ns())
                .is_some_and(|(seconds, first_ns)| {
                    since_ns >= first_ns.saturating_add(u64::from(seconds) * 1_000_000_000)
                })
    }

    fn data_limit_is_reached(&self) -> bool {
        let [mut read, mut written] = [0_u64; 2];
        for cell in &self.totals.cells {
            read += cell.tallies[0].bytes;
            written += cell.tallies[1].bytes;
        }
        let is_reached = |limit: Option<DataLimit>, bytes: u64| {
            limit.is_some_and(|limit| match limit {
                DataLimit::Bytes(most) => bytes >= most,
                DataLimit::TimesSize(times) => bytes as f64 >= times * self.storage_bytes as f64,
            })
        };
        let stop = &self.run.stop;
        is_reached(stop.data_max, read + written)
            || is_reached(stop.read_max, read)
            || is_reached(stop.written_max, written)
    }

    pub fn outcome(self, shared: &Shared) -> (Outcome, Vec<(usize, Validated)>) {
        let mut latencies: Vec<[Latencies; 2]> = self
            .totals
            .cells
            .iter()
            .map(|_| Default::default())
            .collect();
        let ends_in_warmup = self.totals.counted.is_zero() && !self.totals.elapsed.is_zero();
        let (counted, cells) = if ends_in_warmup {
            (self.totals.elapsed, self.totals.all_cells.clone())
        } else {
            (self.totals.counted, self.totals.cells)
        };
        let mut driver = Driver {
            workers: self.places.len(),
            process_cpu: self.process_cpu,
            ..Driver::default()
        };
        let (mut drained, mut unserved, mut oldest_ns) = (0, 0, 0);
        let mut trace: Option<Trace> = None;
        let mut known = Vec::new();
        for end in self.ends {
            let places = self.places[end.worker].iter();
            // A worker that ended in its warm-up contributes nothing, unless all did.
            for (place, pair) in places.zip(end.latencies) {
                if end.counts || ends_in_warmup {
                    latencies[*place] = pair;
                }
            }
            drained += end.drained;
            unserved += end.unserved;
            oldest_ns = oldest_ns.max(end.unserved_wait_max_ns);
            driver.workers_cpu += Duration::from_nanos(end.cpu_ns);
            driver.late_starts += end.late_starts;
            driver.late_queued += end.late_queued;
            driver.stopped = driver.stopped.max(Duration::from_nanos(end.stopped_ns));
            driver.late_max = driver.late_max.max(Duration::from_nanos(end.late_max_ns));
            for (sd, validated) in end.validated.into_iter().enumerate() {
                known.extend(validated.map(|validated| (sd, validated)));
            }
            if let Some(of_worker) = end.trace {
                trace.get_or_insert_default().merge(of_worker);
            }
        }
        let ended = if let Some(why) = self.ended {
            why
        } else if shared.has_too_many_faults() {
            Ended::Errors
        } else if shared.streams_are_done() {
            Ended::StreamsDone
        } else {
            Ended::Elapsed
        };
        let outcome = Outcome {
            counted,
            ends_in_warmup,
            elapsed: self.totals.elapsed,
            cells,
            all_cells: self.totals.all_cells,
            latencies,
            drained,
            unserved,
            unserved_wait_max: Duration::from_nanos(oldest_ns),
            faults_count: shared.faults(),
            faults: self.faults,
            close_errors: Vec::new(),
            ended,
            way: self.way.unwrap_or(Way::Threads {
                reason: "no worker was needed".to_owned(),
            }),
            driver,
            blocks_proven: known
                .iter()
                .map(|(_, v): &(usize, Validated)| v.proof.proven)
                .sum(),
            recovered: Vec::new(),
            trace,
        };
        (outcome, known)
    }
}

impl Totals {
    fn add(&mut self, interval: &Interval) {
        self.elapsed += interval.length;
        let cells = self.all_cells.iter_mut().zip(&interval.cells);
        cells.for_each(|(mine, theirs)| mine.merge(theirs));
        if interval.counted {
            self.counted += interval.length;
            let cells = self.cells.iter_mut().zip(&interval.cells);
            cells.for_each(|(mine, theirs)| mine.merge(theirs));
        }
    }
}

fn empty_cells(run: &Run) -> Vec<Cell> {
    cells_of(run)
        .into_iter()
        .map(|(stream, storage)| Cell {
            stream,
            storage,
            ..Cell::default()
        })
        .collect()
}

fn weakest(known: Option<Way>, new: Way) -> Way {
    match (known, new) {
        (Some(Way::Ring(a)), Way::Ring(b)) => Way::Ring(a.both(b)),
        (Some(threads @ Way::Threads { .. }), _) => threads,
        (_, new) => new,
    }
}
