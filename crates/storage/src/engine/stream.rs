//! A stream in progress: its next I/O, and the time at which that may start.

use super::error::EngineError;
use super::files::Extent;
use super::geometry::{Space, controlled_gap_ns, source};
use super::source::{Pace, Planned, Source};
use crate::run::Run;

/// A controlled maximum lets a stream run ahead of the slowest by this many I/Os, which is vdbench's queue for one
/// SD.
const AHEAD_MAX: f64 = 2000.0;

pub(crate) struct ActiveStream {
    pub index: usize,
    pub source: Source,
    pub space: Space,
    /// Next I/O, drawn and not yet issued; `None` after the end of the stream.
    pub front: Option<Planned>,
    /// First of its cells at the worker; a stream has one for each of its SDs.
    pub first_cell: usize,
    pub storage: Vec<usize>,
    pub in_flight: u32,
    priority: u32,
    /// I/Os issued so far, by which unpaced streams take turns.
    issued: u64,
    ahead_ns: u64,
}

pub(crate) type Key = (u32, bool, u64);

impl ActiveStream {
    pub fn new(
        run: &Run,
        index: usize,
        storage: &[Extent],
        seed: u64,
        first_cell: usize,
    ) -> Result<Self, EngineError> {
        let stream = &run.streams[index];
        let mut source = source(run, index, storage, seed)?;
        Ok(Self {
            index,
            front: source.next(),
            space: Space::new(run, stream, storage),
            source,
            first_cell,
            storage: stream.storage.clone(),
            in_flight: 0,
            priority: stream.priority.unwrap_or(0),
            issued: 0,
            ahead_ns: (controlled_gap_ns(stream.share) * AHEAD_MAX) as u64,
        })
    }

    /// Rank of the next I/O among those of its lane; `None` while it may not start.
    #[inline]
    pub fn key(&self, now_ns: u64, horizon_ns: u64) -> Option<Key> {
        let front = self.front.as_ref()?;
        match self.source.pace {
            Pace::None => Some((self.priority, true, self.issued)),
            Pace::Clock(_) => {
                (front.intended_ns <= now_ns).then_some((self.priority, false, front.intended_ns))
            }
            Pace::Order(_) => (front.intended_ns <= horizon_ns).then_some((
                self.priority,
                true,
                front.intended_ns,
            )),
        }
    }

    #[inline]
    pub fn is_paced(&self) -> bool {
        matches!(self.source.pace, Pace::Clock(_))
    }

    pub fn due_ns(&self) -> Option<u64> {
        match self.source.pace {
            Pace::Clock(_) => self.front.as_ref().map(|front| front.intended_ns),
            Pace::None | Pace::Order(_) => None,
        }
    }

    /// Limit up to which others may run ahead of this one; `None` without an order.
    pub fn horizon_ns(&self) -> Option<u64> {
        match self.source.pace {
            Pace::Order(_) => self
                .front
                .as_ref()
                .map(|front| front.intended_ns.saturating_add(self.ahead_ns)),
            Pace::None | Pace::Clock(_) => None,
        }
    }

    #[inline]
    pub fn take(&mut self) -> Option<Planned> {
        let planned = self.front.take()?;
        self.front = self.source.next();
        self.issued += 1;
        self.in_flight += 1;
        Some(planned)
    }

    #[inline]
    pub fn is_over(&self) -> bool {
        self.front.is_none() && self.in_flight == 0
    }

    /// I/Os that were due before `end_ns` and not issued, counted up to `limit`, and the due time of the first.
    pub fn unserved(&mut self, end_ns: u64, limit: u64) -> (u64, u64) {
        let first_ns = match self.due_ns() {
            Some(due_ns) if due_ns < end_ns => due_ns,
            _ => return (0, end_ns),
        };
        let mut count = 1;
        while count < limit && self.source.next_intended_ns().is_some_and(|ns| ns < end_ns) {
            count += 1;
        }
        (count, first_ns)
    }
}
