//! Slots for I/Os in flight, and the choice of the stream that gets the next one.

use super::backend::Request;
use super::error::Operation;
use super::phase::Phase;
use super::recorder::Times;
use super::stream::ActiveStream;

/// I/Os that share one limit: those of an SD, or of all concatenated SDs.
pub(crate) struct Lane {
    pub free: Vec<u32>,
    pub streams: Vec<usize>,
    /// Time since which a slot has been free. A late I/O waited for a slot until then and for the engine afterwards;
    /// the same holds if its blocks were in use.
    pub open_since_ns: u64,
    /// An I/O was late because of the engine, and another one has been due ever since.
    pub is_behind: bool,
    /// The next I/O waits for another one on the same blocks; every round checks again.
    pub is_blocked: bool,
}

impl Lane {
    /// The stream whose next I/O starts first, if a slot is free and an I/O is due.
    #[inline]
    pub fn pick(&self, streams: &[ActiveStream], now_ns: u64, horizon_ns: u64) -> Option<usize> {
        if self.free.is_empty() {
            return None;
        }
        if let [only] = self.streams[..] {
            return streams[only].key(now_ns, horizon_ns).map(|_| only);
        }
        self.streams
            .iter()
            .filter_map(|&number| Some((streams[number].key(now_ns, horizon_ns)?, number)))
            .min()
            .map(|(_, number)| number)
    }

    #[inline]
    pub fn give_back(&mut self, slot: u32, now_ns: u64) {
        if self.free.is_empty() {
            self.open_since_ns = now_ns;
        }
        self.free.push(slot);
    }
}

pub(crate) struct Slot {
    pub lane: u32,
    pub stream: u32,
    pub cell: u32,
    pub retries: u16,
    pub phase: Phase,
    pub request: Request,
    pub times: Times,
    /// Times of the write while it is read again or synchronized.
    pub measured: Times,
    pub buffers: [*mut u8; 2],
}

impl Slot {
    /// Request that the kernel has now: the I/O itself, a read that proves its blocks, or the `fdatasync`.
    #[inline]
    pub fn handed(&self) -> Request {
        match self.phase {
            Phase::Plain | Phase::Read | Phase::Write | Phase::WriteThenSync => self.request,
            Phase::Sync => Request {
                is_sync: true,
                ..self.request
            },
            Phase::ReadBefore | Phase::ReadAfter => Request {
                operation: Operation::Read,
                buffer: self.buffer(Operation::Read),
                ..self.request
            },
        }
    }

    #[inline]
    pub fn buffer(&self, operation: Operation) -> *mut u8 {
        self.buffers[operation.index()]
    }
}
