//! Messages of a worker to the thread that started it.

use super::error::{EngineError, IoFault};
use super::figures::{Cell, Latencies, Way};
use super::proofs::Validated;
use super::trace::Trace;

pub(crate) enum Message {
    Ready(Way),
    Failed(EngineError),
    Interval {
        worker: usize,
        number: u32,
        end_ns: u64,
        length_ns: u64,
        cells: Vec<Cell>,
    },
    Fault(Box<IoFault>),
    /// No I/O is in flight any more.
    Finished(Box<WorkerEnd>),
}

#[derive(Default)]
pub(crate) struct WorkerEnd {
    pub worker: usize,
    pub latencies: Vec<[Latencies; 2]>,
    /// The figures are of counted time; otherwise the worker ended in its warm-up.
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
    pub validated: Vec<Option<Validated>>,
}
