//! The places for I/Os in flight, and who gets the next one.

use super::backend::Request;
use super::error::Operation;
use super::phase::Phase;
use super::recorder::Times;
use super::stream::ActiveStream;

/// I/Os that share one limit: those of an SD, or of all SDs that are concatenated.
pub(crate) struct Lane {
    /// Numbers of the slots that are free.
    pub free: Vec<u32>,
    /// Numbers of its streams at the worker.
    pub streams: Vec<usize>,
    /// Since when a slot has been free: an I/O that starts later than intended waited for a slot until then, and for
    /// the engine from then on; likewise one whose blocks were in use.
    pub open_since_ns: u64,
    /// An I/O was late by the engine's fault, and since then there has always been another one that was due.
    pub is_behind: bool,
    /// Its next I/O waits for another one on the same blocks; looked at anew in every round.
    pub is_blocked: bool,
}

impl Lane {
    /// The stream whose next I/O starts first, if there is a slot for it and one is due.
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

    /// A slot is free again.
    #[inline]
    pub fn give_back(&mut self, slot: u32, now_ns: u64) {
        if self.free.is_empty() {
            self.open_since_ns = now_ns;
        }
        self.free.push(slot);
    }
}

/// One place for an I/O in flight, with the memory for its data.
pub(crate) struct Slot {
    pub lane: u32,
    pub stream: u32,
    pub cell: u32,
    pub retries: u16,
    pub phase: Phase,
    /// The I/O that the stream asked for.
    pub request: Request,
    pub times: Times,
    /// Times of the write while it is read again, or synchronized.
    pub measured: Times,
    /// Where reads go and where writes come from.
    pub buffers: [*mut u8; 2],
}

impl Slot {
    /// What the kernel has of the I/O just now: itself, a read that proves its blocks, or what makes it last.
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
