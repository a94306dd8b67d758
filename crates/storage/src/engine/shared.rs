//! State that the workers of a run share to end together. They read it in every round and rarely write it.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::Sender;
use std::sync::{Mutex, PoisonError};

use super::message::Message;
use super::proofs::Validated;
use crate::run::{Run, Seek, Stream};

pub(crate) struct Shared {
    pub end: AtomicBool,
    /// Streams that end by themselves and have not ended yet.
    ending_left: AtomicUsize,
    has_ending: bool,
    faults: AtomicU64,
    /// Time of the first fault since the start; `u64::MAX`: none yet.
    first_fault_ns: AtomicU64,
    fault_limit: u64,
    messages: Sender<Message>,
    /// State by SD; each worker takes that of its SDs before the start.
    validated: Mutex<Vec<Option<Validated>>>,
}

impl Shared {
    pub fn new(run: &Run, messages: Sender<Message>, validated: Vec<Option<Validated>>) -> Self {
        let ends = |stream: &&Stream| stream.seek == Seek::SequentialToEnd;
        let ending = run.streams.iter().filter(ends).count();
        Self {
            end: AtomicBool::new(false),
            ending_left: AtomicUsize::new(ending),
            has_ending: ending > 0,
            faults: AtomicU64::new(0),
            first_fault_ns: AtomicU64::new(u64::MAX),
            fault_limit: u64::from(run.errors.count_max.max(1)),
            messages,
            validated: Mutex::new(validated),
        }
    }

    pub fn take_validated(&self, sd: usize) -> Option<Validated> {
        let mut all = self
            .validated
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        all.get_mut(sd)?.take()
    }

    pub fn messages(&self) -> &Sender<Message> {
        &self.messages
    }

    /// Records that a stream ended by itself; the last one ends the run.
    pub fn stream_ended(&self) {
        if self.ending_left.fetch_sub(1, Relaxed) == 1 {
            self.end.store(true, Relaxed);
        }
    }

    /// True if there were streams that end by themselves, and all have ended.
    pub fn streams_are_done(&self) -> bool {
        self.has_ending && self.ending_left.load(Relaxed) == 0
    }

    pub fn count_fault(&self, now_ns: u64) {
        self.first_fault_ns.fetch_min(now_ns, Relaxed);
        if self.faults.fetch_add(1, Relaxed) + 1 >= self.fault_limit {
            self.end.store(true, Relaxed);
        }
    }

    pub fn faults(&self) -> u64 {
        self.faults.load(Relaxed)
    }

    pub fn has_too_many_faults(&self) -> bool {
        self.faults() >= self.fault_limit
    }

    pub fn first_fault_ns(&self) -> Option<u64> {
        let first = self.first_fault_ns.load(Relaxed);
        (first != u64::MAX).then_some(first)
    }
}
