//! What a worker tells the thread that started it.

use super::error::{EngineError, IoFault};
use super::figures::{Cell, Latencies, Way};
use super::proofs::Validated;
use super::trace::Trace;

pub(crate) enum Message {
    Ready(Way),
    /// It cannot start, or cannot go on.
    Failed(EngineError),
    Interval {
        worker: usize,
        number: u32,
        end_ns: u64,
        length_ns: u64,
        cells: Vec<Cell>,
    },
    Fault(Box<IoFault>),
    /// Nothing is in flight any more.
    Finished(Box<WorkerEnd>),
}

/// What a worker leaves behind.
#[derive(Default)]
pub(crate) struct WorkerEnd {
    pub worker: usize,
    pub latencies: Vec<[Latencies; 2]>,
    /// Whether these are of the time that counts; else the worker ended in its warm-up.
    pub counts: bool,
    pub drained: u64,
    pub unserved: u64,
    pub unserved_wait_max_ns: u64,
    pub late_starts: u64,
    pub late_max_ns: u64,
    pub late_queued: u64,
    pub stopped_ns: u64,
    pub cpu_ns: u64,
    pub trace: Option<Trace>,
    /// By SD, those of this worker.
    pub validated: Vec<Option<Validated>>,
}
