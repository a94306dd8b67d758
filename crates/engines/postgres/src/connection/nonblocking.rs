//! The connection for those who do not wait: what the socket takes and gives at once.

use std::io;
use std::os::fd::{AsRawFd, RawFd};

use super::Connection;
use crate::wire::{Event, Transaction};
use engine::Result;
use engine::nonblocking::Sent;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Came {
    /// The server is ready for the next group.
    All,
    /// Nothing more is there yet.
    Part,
}

impl Connection {
    pub(crate) fn descriptor(&self) -> RawFd {
        self.stream.as_raw_fd()
    }

    /// Sends what the socket takes.
    ///
    /// # Errors
    /// When the connection broke, with the server's last words.
    #[inline]
    pub(crate) fn try_send(&mut self) -> Result<Sent> {
        if let Some(broken) = &self.broken {
            return Err(broken.clone());
        }
        while !self.wire.output().is_empty() {
            match self.stream.try_write(self.wire.output(), false) {
                Ok(0) => return Err(self.break_off("the connection accepts no data")),
                Ok(bytes) => self.wire.sent(bytes),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Sent::Part),
                Err(error) => return Err(self.last_words(&error)),
            }
        }
        Ok(Sent::All)
    }

    /// Takes the events that have come, up to the one that says that the server is ready, for which it waits
    /// when it may.
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
        mut take: impl FnMut(&Event<'_>),
    ) -> Result<Came> {
        if let Some(broken) = &self.broken {
            return Err(broken.clone());
        }
        loop {
            match self.wire.next_event() {
                Ok(Some(Event::Ready(transaction))) => {
                    self.transaction = transaction;
                    return Ok(Came::All);
                }
                Ok(Some(Event::Failed(error))) if error.is_fatal() => {
                    let mut outcome = Ok(());
                    self.failed("the session has ended", &error, &mut outcome)?;
                }
                Ok(Some(event)) => take(&event),
                Ok(None) => match self.stream.try_read(self.wire.space(), wait) {
                    Ok(0) => return Err(self.break_off("end of data")),
                    Ok(bytes) => self.wire.received(bytes),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        return Ok(Came::Part);
                    }
                    Err(error) => return Err(self.break_off(&error.to_string())),
                },
                Err(error) => return Err(self.break_off(&error.to_string())),
            }
        }
    }

    pub(crate) fn waits_for_room(&self) -> bool {
        !self.wire.output().is_empty()
    }

    /// True if the server is in a transaction, failed ones included.
    pub(crate) fn in_transaction(&self) -> bool {
        self.transaction != Transaction::Idle
    }
}
