//! The connection for those who do not wait: what the socket takes and gives at once.

use std::io;
use std::os::fd::{AsRawFd, RawFd};

use super::Client;
use crate::explain::{explain, explain_wire};
use crate::wire::{Event, StatementId, Wire, WireResult};
use engine::nonblocking::Sent;
use engine::{Result, TargetError, Value};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Came {
    All,
    /// Nothing more is there yet, or something waits for room.
    Part,
}

/// A request of a group.
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
        encode(&mut self.wire).map_err(|e| explain_wire(&e))
    }

    /// Sends what may go and the socket takes; all of it when it may wait.
    ///
    /// # Errors
    /// When the connection broke, with the server's last words.
    #[inline]
    pub(crate) fn try_send(&mut self, wait: bool) -> Result<Sent> {
        if self.is_broken {
            return Err(self.broken(None));
        }
        while !self.wire.pending().is_empty() {
            match self.stream.try_write(self.wire.pending(), wait) {
                Ok(0) => return Err(self.broken(None)),
                Ok(bytes) => self.wire.wrote(bytes),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Sent::Part),
                Err(error) => return Err(self.last_words(error)),
            }
        }
        Ok(Sent::All)
    }

    /// Takes the events that have come, up to the one that ends the group, for which it waits when it may. What
    /// an answer sets free is sent.
    ///
    /// A stream is read until it has nothing more, unless all has come: the end of a server that died in the middle
    /// of an answer may have been told together with that part, and is not told again.
    ///
    /// # Errors
    /// When the connection broke.
    #[inline]
    pub(crate) fn try_take(
        &mut self,
        wait: bool,
        mut take: impl FnMut(Event, &Wire),
    ) -> Result<Came> {
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
                        return Ok(Came::All);
                    }
                    if self.waits_for_room() && self.try_send(wait)? == Sent::Part {
                        return Ok(Came::Part);
                    }
                }
                Ok(None) if self.try_read(wait)? => {}
                Ok(None) => return Ok(Came::Part),
                Err(error) => {
                    self.is_broken = true;
                    return Err(explain_wire(&error));
                }
            }
        }
    }

    /// Reads once; false when there is nothing.
    #[inline]
    fn try_read(&mut self, wait: bool) -> Result<bool> {
        match self.stream.try_read(self.wire.room(), wait) {
            Ok(0) => Err(self.broken(None)),
            Ok(bytes) => {
                self.wire.filled(bytes);
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(self.broken(Some(error))),
        }
    }

    /// A server that ends a session says why before it closes, which then is still to be read.
    #[cold]
    fn last_words(&mut self, error: io::Error) -> TargetError {
        while let Ok(bytes @ 1..) = self.stream.try_read(self.wire.room(), false) {
            self.wire.filled(bytes);
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
