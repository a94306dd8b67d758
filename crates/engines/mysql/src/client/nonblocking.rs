//! The connection for those who do not wait: what the socket takes and gives at once.

use std::io;
use std::os::fd::{AsRawFd, RawFd};

use super::Client;
use crate::explain::explain;
use crate::wire::{Event, StatementId, Wire, WireResult};
use engine::nonblocking::Sent;
use engine::{Result, TargetError, Value};
use net::stream::Buffers;

#[derive(Debug, Clone, Copy)]
pub(crate) enum ClientRequest<'a> {
    Text(&'static str),
    Execution(StatementId, &'a [Value<'a>]),
}

impl Client {
    pub(crate) fn descriptor(&self) -> RawFd {
        self.stream.as_raw_fd()
    }

    #[inline]
    pub(crate) fn waits_for_room(&self) -> bool {
        !self.wire.pending().is_empty()
    }

    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.wire.is_idle()
    }

    /// Encodes a request behind the others of its group. It is sent when all of those have succeeded, or
    /// together with the one before it when it may `join`.
    ///
    /// # Errors
    /// When it cannot be encoded; the group is forgotten then.
    #[inline]
    pub(crate) fn queue(&mut self, asked: ClientRequest<'_>, join: bool) -> Result<()> {
        let encoded = match asked {
            ClientRequest::Text(sql) => self.encoded(|wire| wire.queue_query(sql, join)),
            ClientRequest::Execution(statement, parameters) => {
                self.check_count(statement, parameters).and_then(|()| {
                    self.encoded(|wire| wire.queue_execution(statement, parameters, join))
                })
            }
        };
        if encoded.is_err() {
            self.wire.drop_group();
        }
        encoded
    }

    #[inline]
    fn encoded(&mut self, encode: impl FnOnce(&mut Wire) -> WireResult<()>) -> Result<()> {
        encode(&mut self.wire).map_err(TargetError::from)
    }

    /// Sends what may go and the socket takes; all of it when it may wait.
    #[inline]
    pub(crate) fn try_send(&mut self, wait: bool) -> Result<Sent> {
        if self.is_broken {
            return Err(self.broken(None));
        }
        let sent = self.stream.send(&mut self.wire, wait);
        sent.map_err(|error| self.last_words(error))
    }

    /// Takes the events that have come, up to the one that ends the group, for which it waits when it may. What
    /// an answer sets free is sent. False where more is to come, or something waits for room.
    ///
    /// A stream is read until it has nothing more, unless all has come: the end of a server that died in the middle
    /// of an answer may have been told together with that part, and is not told again.
    #[inline]
    pub(crate) fn try_take(
        &mut self,
        wait: bool,
        mut take: impl FnMut(Event, &Wire),
    ) -> Result<bool> {
        if self.is_broken {
            return Err(self.broken(None));
        }
        loop {
            match self.wire.next_event() {
                Ok(Some(event)) => {
                    if let Event::Finished(finished) = &event {
                        self.in_transaction = finished.in_transaction;
                    }
                    take(event, &self.wire);
                    if self.wire.is_idle() {
                        return Ok(true);
                    }
                    if self.waits_for_room() && self.try_send(wait)? == Sent::Part {
                        return Ok(false);
                    }
                }
                Ok(None) if self.receive(wait)? => {}
                Ok(None) => return Ok(false),
                Err(error) => {
                    self.is_broken = true;
                    return Err(error.into());
                }
            }
        }
    }

    /// Reads once; false when there is nothing.
    #[inline]
    pub(super) fn receive(&mut self, wait: bool) -> Result<bool> {
        let received = self.stream.receive(&mut self.wire, wait);
        received.map_err(|error| self.broken(Some(error)))
    }

    /// A server that ends a session says why before it closes, which then is still to be read.
    #[cold]
    fn last_words(&mut self, error: io::Error) -> TargetError {
        while let Ok(true) = self.stream.receive(&mut self.wire, false) {
            while let Ok(Some(event)) = self.wire.next_event() {
                if let Event::Failed(said) = event {
                    self.is_broken = true;
                    return explain("the session has ended", &said);
                }
            }
        }
        self.broken(Some(error))
    }
}
