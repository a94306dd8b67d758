//! Builds a worker: its buffers, slots, lanes and streams, and its backend.

use std::fs::File;

use super::backend::{Backend, Request};
use super::buffers::Buffers;
use super::content::Content;
use super::error::{EngineError, Operation};
use super::figures::{Cell, Way};
use super::files::Extent;
use super::lane::{Lane, Slot};
use super::message::WorkerEnd;
use super::options::{BATCH_MAX, Options, TRACE_MAX};
use super::phase::Phase;
use super::plan::LanePlan;
use super::pool::Pool;
use super::proofs::Validated;
use super::recorder::{Recorder, Times};
use super::ring::Ring;
use super::shared::Shared;
use super::stream::ActiveStream;
use super::trace::Trace;
use super::worker::{State, Worker};

use crate::run::Run;

const NS_PER_S: u64 = 1_000_000_000;

pub(crate) struct Job<'a> {
    pub index: usize,
    pub run: &'a Run,
    pub extents: &'a [Extent],
    pub lanes: &'a [LanePlan],
    pub options: &'a Options<'a>,
    pub shared: &'a Shared,
}

/// Loop of a worker that is ready, to be called with the start of the run.
type Work<'w> = dyn FnOnce(u64) -> Result<WorkerEnd, EngineError> + 'w;

/// Builds the worker on the calling thread, on which it has to run, and passes its loop to `then`.
pub(crate) fn with_worker<R>(
    job: &Job<'_>,
    files: &[&File],
    then: impl FnOnce(Way, Box<Work<'_>>) -> R,
) -> Result<R, EngineError> {
    let parts = Parts::new(job)?;
    let slots = parts.slots.len();
    let reason = if job.options.without_ring {
        "threads were requested".to_owned()
    } else {
        match Ring::new(slots as u32, files, &parts.buffers) {
            Ok(ring) => {
                let way = Way::Ring(ring.features());
                return Ok(run_with(job, parts, ring, way, then));
            }
            Err(error) => format!("the kernel refuses io_uring: {error}"),
        }
    };
    let pool = Pool::new(slots, files).map_err(|reason| EngineError::Submit { reason })?;
    Ok(run_with(job, parts, pool, Way::Threads { reason }, then))
}

/// Does the work on a device other than the kernel's, from time 0 of its clock.
pub(crate) fn work_on<B: Backend>(job: &Job<'_>, device: B) -> Result<WorkerEnd, EngineError> {
    let reason = "a programmed device".to_owned();
    let parts = Parts::new(job)?;
    run_with(job, parts, device, Way::Threads { reason }, |_, work| {
        work(0)
    })
}

struct Parts {
    lanes: Vec<Lane>,
    slots: Vec<Slot>,
    streams: Vec<ActiveStream>,
    cells: Vec<Cell>,
    contents: Vec<Content>,
    buffers: Buffers,
}

impl Parts {
    fn new(job: &Job<'_>) -> Result<Self, EngineError> {
        let bytes: u64 = job
            .lanes
            .iter()
            .map(|lane| u64::from(lane.limit) * lane.slot_bytes() as u64)
            .sum();
        let storage = job.run.storage.iter().zip(job.extents);
        let contents = storage
            .map(|(sd, extent)| Content::new(sd, extent.size_bytes, job.options.seed))
            .collect::<Result<_, _>>()?;
        let mut parts = Self {
            lanes: Vec::new(),
            slots: Vec::new(),
            streams: Vec::new(),
            cells: Vec::new(),
            contents,
            buffers: Buffers::new(bytes)?,
        };
        let mut at = 0;
        for plan in job.lanes {
            at = parts.add_lane(job, plan, at)?;
        }
        Ok(parts)
    }

    /// Adds a lane whose buffers begin at byte `at`, and returns the byte after them.
    fn add_lane(
        &mut self,
        job: &Job<'_>,
        plan: &LanePlan,
        mut at: usize,
    ) -> Result<usize, EngineError> {
        let first_slot = self.slots.len() as u32;
        let sd = plan
            .streams
            .first()
            .map_or(0, |stream| job.run.streams[*stream].storage[0]);
        for _ in 0..plan.limit {
            let buffers = [Operation::Read, Operation::Write].map(|operation| {
                let start = at + plan.buffer_start(operation);
                if plan.buffer_bytes[operation.index()] == 0 {
                    std::ptr::null_mut()
                } else {
                    self.buffers.at(start)
                }
            });
            let write = plan.buffer_bytes[Operation::Write.index()];
            if write > 0 {
                // SAFETY: these bytes of the mapping belong to this slot, which is not in use yet.
                let data = unsafe { std::slice::from_raw_parts_mut(buffers[1], write) };
                self.contents[sd].fill(data);
            }
            self.slots.push(free_slot(
                self.lanes.len() as u32,
                self.slots.len() as u32,
                buffers,
            ));
            at += plan.slot_bytes();
        }
        let first_stream = self.streams.len();
        for &index in &plan.streams {
            let seed = job.options.seed;
            let first_cell = self.cells.len();
            let stream = ActiveStream::new(job.run, index, job.extents, seed, first_cell)?;
            self.cells
                .extend(stream.storage.iter().map(|&storage| Cell {
                    stream: index,
                    storage,
                    ..Cell::default()
                }));
            self.streams.push(stream);
        }
        self.lanes.push(Lane {
            free: (first_slot..self.slots.len() as u32).rev().collect(),
            streams: (first_stream..self.streams.len()).collect(),
            open_since_ns: 0,
            is_behind: false,
            is_blocked: false,
        });
        Ok(at)
    }
}

fn free_slot(lane: u32, number: u32, buffers: [*mut u8; 2]) -> Slot {
    let request = Request {
        slot: number,
        file: 0,
        operation: Operation::Read,
        is_sync: false,
        offset: 0,
        length: 0,
        buffer: std::ptr::null_mut(),
    };
    Slot {
        lane,
        stream: 0,
        cell: 0,
        retries: 0,
        phase: Phase::Plain,
        request,
        times: Times::default(),
        measured: Times::default(),
        buffers,
    }
}

fn run_with<B: Backend, R>(
    job: &Job<'_>,
    parts: Parts,
    backend: B,
    way: Way,
    then: impl FnOnce(Way, Box<Work<'_>>) -> R,
) -> R {
    let run = job.run;
    let paced = parts
        .cells
        .iter()
        .map(|cell| {
            let mut streams = parts.streams.iter();
            streams.any(|stream| stream.index == cell.stream && stream.is_paced())
        })
        .collect();
    let interval_ns = u64::from(run.interval_s) * NS_PER_S;
    let limit_ns = run.elapsed_s.map_or(u64::MAX, |elapsed_s| {
        (u64::from(elapsed_s) + u64::from(run.warmup_s)) * NS_PER_S
    });
    let batch_max = job.options.batch_max.clamp(1, BATCH_MAX);
    let slots = parts.slots.len();
    let mut validated: Vec<Option<Validated>> = run.storage.iter().map(|_| None).collect();
    for lane in job.lanes {
        for &sd in lane.streams.iter().flat_map(|s| &run.streams[*s].storage) {
            if validated[sd].is_none() {
                validated[sd] = job.shared.take_validated(sd);
            }
        }
    }
    let worker = Worker {
        index: job.index,
        run,
        shared: job.shared,
        backend,
        recorder: Recorder::new(
            job.index,
            job.shared.messages().clone(),
            interval_ns,
            run.counts_from_interval(),
            parts.cells,
            paced,
        ),
        lanes: parts.lanes,
        streams: parts.streams,
        slots: parts.slots,
        offsets: job.extents.iter().map(|sd| sd.offset_bytes).collect(),
        contents: parts.contents,
        validated,
        trace: (job.options.trace_max > 0)
            .then(|| Trace::with_room(job.options.trace_max.min(TRACE_MAX))),
        batch: Vec::with_capacity(slots + batch_max),
        batch_max,
        completions: Vec::with_capacity(slots),
        state: State::new(limit_ns),
        _buffers: parts.buffers,
    };
    then(way, Box::new(move |start_ns| worker.work(start_ns)))
}
