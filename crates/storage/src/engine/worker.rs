//! One worker: the loop that takes I/Os from streams, hands them over in batches, and records their completions.
//!
//! A round reads the clock twice: when it reaps completions, which is also when due I/Os are issued, and before it
//! hands over the batch. Completions reaped together share one time.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use load::clock::{SLEEP_SLICE, UsageMeter, ns};
use load::recorder::LATE_START;

use super::backend::{Backend, Completion, Request};
use super::buffers::Buffers;
use super::content::Content;
use super::error::{EngineError, Fault, IoFault, Operation};
use super::lane::{Lane, Slot};
use super::message::{Message, WorkerEnd};
use super::phase::{Phase, Step};
use super::proofs::Validated;
use super::recorder::{Recorder, Times};
use super::shared::Shared;
use super::stall::Stalls;
use super::stream::ActiveStream;
use super::trace::{Trace, TraceRecord};
use crate::run::Run;

/// Faults that one worker describes; further ones are only counted.
const FAULTS_REPORTED_MAX: u64 = 64;
/// Largest number of due I/Os that are counted at the end of one stream; drawing more would keep the user waiting.
const UNSERVED_MAX: u64 = 50_000_000;
/// On a device that is 90 % busy, the queue of a late start is gone after this many times its delay.
const LATE_ECHO: u64 = 10;
/// Retries of an I/O that the kernel could not take at once.
const RETRIES_MAX: u16 = 1000;

/// State of one worker. Fields are dropped in order: the backend before the buffers.
pub(crate) struct Worker<'a, B> {
    pub index: usize,
    pub run: &'a Run,
    pub shared: &'a Shared,
    pub backend: B,
    pub lanes: Vec<Lane>,
    pub streams: Vec<ActiveStream>,
    pub slots: Vec<Slot>,
    pub offsets: Vec<u64>,
    pub contents: Vec<Content>,
    /// By SD: state of its blocks, if they are validated.
    pub validated: Vec<Option<Validated>>,
    pub recorder: Recorder,
    pub trace: Option<Trace>,
    pub batch: Vec<Request>,
    pub batch_max: usize,
    pub completions: Vec<Completion>,
    pub state: State,
    /// Memory that slots point into, stored only to outlive them.
    pub _buffers: Buffers,
}

#[derive(Default)]
pub(crate) struct State {
    pub start_ns: u64,
    /// End of the run since its start; `u64::MAX` if streams end by themselves.
    pub limit_ns: u64,
    pub in_flight: usize,
    first_lane: usize,
    end: Option<WorkerEnd>,
    drained: u64,
    late_starts: u64,
    late_max_ns: u64,
    late_queued: u64,
    /// Until this time, queueing is attributed to the last late start.
    late_until_ns: u64,
    faults_reported: u64,
    stalls: Stalls,
    /// Latest time at which the loop should continue.
    due_ns: u64,
}

impl State {
    pub fn new(limit_ns: u64) -> Self {
        Self {
            limit_ns,
            ..Self::default()
        }
    }
}

impl<B: Backend> Worker<'_, B> {
    /// Works from `start_ns` of the monotonic clock until the run ends and nothing is in flight.
    pub fn work(mut self, start_ns: u64) -> Result<WorkerEnd, EngineError> {
        let meter = UsageMeter::of_this_thread();
        self.state.start_ns = start_ns;
        let begun = meter.read();
        loop {
            let now_ns = self.since_start();
            self.state.stalls.ran(self.state.due_ns, now_ns);
            self.look(now_ns);
            if self.state.end.is_none() && self.is_over(now_ns) {
                self.end(now_ns);
            }
            if self.state.end.is_some() && self.state.in_flight == 0 {
                break;
            }
            let is_more = self.state.end.is_none() && self.fill(now_ns);
            if let Err(error) = self.hand_over(now_ns, is_more) {
                // The kernel may still write into the buffers, so they are leaked instead of unmapped.
                std::mem::forget(self);
                return Err(error);
            }
        }
        let used = meter.read().since(&begun);
        let mut end = self.state.end.take().ok_or(EngineError::WorkerGone)?;
        end.cpu_ns = ns(used.cpu);
        end.drained = self.state.drained;
        end.trace = self.trace.take();
        end.validated = std::mem::take(&mut self.validated);
        Ok(end)
    }

    #[inline]
    fn since_start(&self) -> u64 {
        self.backend.now_ns().saturating_sub(self.state.start_ns)
    }

    fn look(&mut self, now_ns: u64) {
        self.backend.reap(&mut self.completions);
        // A completion at the very end of an interval belongs to it.
        let is_counting = self.state.end.is_none();
        let recorded_ns = now_ns.min(self.state.limit_ns);
        if is_counting {
            self.recorder.roll(recorded_ns.saturating_sub(1));
        }
        // The loop borrows the list and returns it with its memory.
        let mut completions = std::mem::take(&mut self.completions);
        for completion in completions.drain(..) {
            self.complete(completion, now_ns);
        }
        self.completions = completions;
        if is_counting {
            self.recorder.roll(recorded_ns);
        }
    }

    #[inline]
    fn complete(&mut self, completion: Completion, now_ns: u64) {
        let number = completion.slot as usize;
        let slot = &mut self.slots[number];
        let is_passing = matches!(-completion.result, libc::EAGAIN | libc::EINTR);
        if is_passing && slot.retries < RETRIES_MAX {
            slot.retries += 1;
            self.batch.push(slot.handed());
            return;
        }
        slot.times.completed_ns = now_ns;
        if let Some(trace) = self.trace.as_mut().filter(|_| slot.phase != Phase::Sync) {
            let stream = self.streams[slot.stream as usize].index;
            trace.push(record(&slot.handed(), &slot.times, stream, completion));
        }
        let length = if slot.phase == Phase::Sync {
            0
        } else {
            slot.request.length
        };
        let mut fault = match u64::try_from(completion.result) {
            Ok(done_bytes) if done_bytes == u64::from(length) => None,
            Ok(done_bytes) => Some(Fault::Short { done_bytes }),
            Err(_) => Some(Fault::System(-completion.result)),
        };
        if slot.phase != Phase::Plain {
            match self.go_on(number, fault.is_none(), now_ns) {
                Step::Next => {
                    self.batch.push(self.slots[number].handed());
                    return;
                }
                Step::Done(found) => fault = fault.or(found),
            }
        }
        self.close(number, fault, now_ns);
    }

    #[inline]
    fn close(&mut self, number: usize, fault: Option<Fault>, now_ns: u64) {
        // A reference avoids a copy of the slot, which is slow to read as a whole right after it was written in
        // pieces.
        let slot = &self.slots[number];
        let (request, cell, stream) = (&slot.request, slot.cell as usize, slot.stream as usize);
        self.lanes[slot.lane as usize].give_back(number as u32, now_ns);
        self.state.in_flight -= 1;
        // I/Os in flight at the end of the time are awaited and belong to no interval.
        if self.state.end.is_some() {
            self.state.drained += 1;
        } else if fault.is_some() {
            let at_ns = now_ns.min(self.state.limit_ns);
            self.recorder.failed(cell, request.operation, at_ns);
        } else if now_ns <= self.state.limit_ns {
            let bytes = u64::from(request.length);
            self.recorder
                .completed(cell, request.operation, bytes, &slot.times);
        } else {
            self.recorder.left(cell, self.state.limit_ns);
            self.state.drained += 1;
        }
        if let Some(what) = fault {
            // In a chain its own reads may have failed.
            let request = slot.handed();
            self.fault(&request, stream, now_ns, what);
        }
        let stream = &mut self.streams[stream];
        stream.in_flight -= 1;
        if stream.is_over() && stream.source.ends() {
            self.shared.stream_ended();
        }
    }

    #[cold]
    fn fault(&mut self, request: &Request, stream: usize, now_ns: u64, what: Fault) {
        self.shared.count_fault(now_ns);
        if self.state.faults_reported >= FAULTS_REPORTED_MAX {
            return;
        }
        self.state.faults_reported += 1;
        let sd = &self.run.storage[request.file as usize];
        // The receiver is gone only while the run is being torn down.
        let _ = self
            .shared
            .messages()
            .send(Message::Fault(Box::new(IoFault {
                sd: sd.name.clone(),
                path: sd.path.clone(),
                workload: self.run.streams[self.streams[stream].index]
                    .workload
                    .clone(),
                operation: request.operation,
                offset_bytes: request.offset,
                size_bytes: u64::from(request.length),
                at: Duration::from_nanos(now_ns),
                what,
            })));
    }

    /// True while only the I/Os in flight are awaited.
    pub(crate) fn is_ending(&self) -> bool {
        self.state.end.is_some()
    }

    fn is_over(&self, now_ns: u64) -> bool {
        now_ns >= self.state.limit_ns
            || self.shared.end.load(Relaxed)
            || (self.state.in_flight == 0 && self.streams.iter().all(ActiveStream::is_over))
    }

    /// Ends the figures; I/Os in flight are still awaited.
    #[cold]
    fn end(&mut self, now_ns: u64) {
        let end_ns = now_ns.min(self.state.limit_ns);
        let (latencies, counts) = self.recorder.finish(end_ns);
        let (mut unserved, mut oldest_ns) = (0, end_ns);
        for stream in &mut self.streams {
            let (count, first_ns) = stream.unserved(end_ns, UNSERVED_MAX);
            unserved += count;
            oldest_ns = oldest_ns.min(first_ns);
        }
        self.state.end = Some(WorkerEnd {
            worker: self.index,
            latencies,
            counts,
            drained: 0,
            unserved,
            unserved_wait_max_ns: end_ns - oldest_ns,
            late_starts: self.state.late_starts,
            late_max_ns: self.state.late_max_ns,
            late_queued: self.state.late_queued,
            stopped_ns: self.state.stalls.stopped_ns,
            cpu_ns: 0,
            trace: None,
            validated: Vec::new(),
        });
    }

    /// Puts I/Os that may start into the batch. True if the batch is full, so that there may be more.
    fn fill(&mut self, now_ns: u64) -> bool {
        let horizons = self.streams.iter().filter_map(ActiveStream::horizon_ns);
        let horizon_ns = horizons.min().unwrap_or(u64::MAX);
        let lanes = self.lanes.len();
        for turn in 0..lanes {
            let lane = (self.state.first_lane + turn) % lanes;
            self.lanes[lane].is_blocked = false;
            while let Some(stream) = self.lanes[lane].pick(&self.streams, now_ns, horizon_ns) {
                if self.batch.len() >= self.batch_max {
                    // The next round begins here, so that no lane starves.
                    self.state.first_lane = lane;
                    return true;
                }
                if !self.issue(lane, stream, now_ns) {
                    // The I/O waits for its blocks and not for the engine.
                    self.lanes[lane].is_blocked = true;
                    self.lanes[lane].open_since_ns = now_ns;
                    break;
                }
            }
            let lane = &mut self.lanes[lane];
            lane.is_behind &= lane.free.is_empty() || lane.is_blocked;
        }
        false
    }

    /// Issues the next I/O of a stream; false while another I/O uses its blocks.
    #[inline]
    fn issue(&mut self, lane: usize, stream_number: usize, now_ns: u64) -> bool {
        let stream = &mut self.streams[stream_number];
        let lane = &mut self.lanes[lane];
        let (Some(planned), Some(&number)) = (stream.front, lane.free.last()) else {
            return true;
        };
        let (member, address) = stream.space.place(planned.address, planned.size);
        let file = stream.storage[member];
        if let Some(validated) = &mut self.validated[file] {
            let blocks = validated.proof.range(address, planned.size);
            if !validated.proof.take(blocks) {
                return false;
            }
        }
        stream.take();
        lane.free.pop();
        let cell = stream.first_cell + member;
        let is_paced = stream.is_paced();
        let slot = &mut self.slots[number as usize];
        slot.stream = stream_number as u32;
        slot.cell = cell as u32;
        slot.retries = 0;
        slot.times = Times {
            intended_ns: if is_paced {
                planned.intended_ns
            } else {
                now_ns
            },
            issued_ns: now_ns,
            ..Times::default()
        };
        let request = Request {
            slot: number,
            file: file as u32,
            operation: planned.operation,
            is_sync: false,
            offset: address + self.offsets[file],
            length: planned.size as u32,
            buffer: slot.buffer(planned.operation),
        };
        slot.request = request;
        if is_paced {
            // A backlog after a stall waits for slots as well, but not because of the device.
            let stalled_ns = self.state.stalls.rest_ns(planned.intended_ns);
            let late_ns = now_ns.saturating_sub(planned.intended_ns.max(lane.open_since_ns));
            let late_ns = late_ns.max(stalled_ns);
            self.state.late_max_ns = self.state.late_max_ns.max(late_ns);
            if late_ns > LATE_START.as_nanos() as u64 {
                self.state.late_starts += 1;
                let until_ns = now_ns.saturating_add(late_ns * LATE_ECHO);
                self.state.late_until_ns = self.state.late_until_ns.max(until_ns);
                lane.is_behind = true;
            }
            self.state.late_queued +=
                u64::from(lane.is_behind && now_ns < self.state.late_until_ns);
        }
        self.recorder.issued(cell, now_ns);
        self.state.in_flight += 1;
        if self.validated[file].is_some() {
            self.begin_chain(number as usize);
            self.batch.push(self.slots[number as usize].handed());
            return true;
        }
        if request.operation == Operation::Write {
            // SAFETY: the slot was free, so its buffer, at least as long as the largest write, is not in use.
            let data =
                unsafe { std::slice::from_raw_parts_mut(request.buffer, planned.size as usize) };
            self.contents[file].stamp(data, address);
            if self.run.storage[file].open_flags.sync_each {
                self.slots[number as usize].phase = Phase::WriteThenSync;
            }
        }
        self.batch.push(request);
        true
    }

    /// Hands the batch to the kernel and waits for a completion or the next due I/O.
    fn hand_over(&mut self, now_ns: u64, is_more: bool) -> Result<(), EngineError> {
        let mut until_ns = now_ns + ns(SLEEP_SLICE);
        if self.state.end.is_none() {
            let end_ns = self.recorder.interval_end_ns().min(self.state.limit_ns);
            until_ns = until_ns.min(end_ns);
            let waiting = |lane: &&Lane| !lane.free.is_empty() && !lane.is_blocked;
            for lane in self.lanes.iter().filter(waiting) {
                let dues = lane
                    .streams
                    .iter()
                    .filter_map(|s| self.streams[*s].due_ns());
                until_ns = until_ns.min(dues.min().unwrap_or(u64::MAX));
            }
        }
        let mut is_flushed = false;
        for validated in self.validated.iter_mut().flatten() {
            if let Some(journal) = &mut validated.journal {
                journal.flush(&validated.proof)?;
                is_flushed = true;
            }
        }
        let handed_ns = self.since_start();
        // Waiting for the journal's device is no stall.
        if !is_flushed {
            self.state.stalls.ran(now_ns, handed_ns);
        }
        for request in &self.batch {
            self.slots[request.slot as usize].times.submitted_ns = handed_ns;
        }
        let want = usize::from(!is_more);
        self.state.due_ns = if is_more {
            handed_ns
        } else {
            until_ns.max(handed_ns)
        };
        let timeout_ns = until_ns.saturating_sub(handed_ns);
        self.backend
            .submit_and_wait(&self.batch, want, timeout_ns)
            .map_err(|reason| EngineError::Submit { reason })?;
        self.batch.clear();
        Ok(())
    }
}

fn record(request: &Request, times: &Times, stream: usize, completion: Completion) -> TraceRecord {
    TraceRecord {
        stream,
        storage: request.file as usize,
        operation: request.operation,
        offset_bytes: request.offset,
        size_bytes: u64::from(request.length),
        intended_ns: times.intended_ns,
        issued_ns: times.issued_ns,
        submitted_ns: times.submitted_ns,
        completed_ns: times.completed_ns,
        result: completion.result,
    }
}
