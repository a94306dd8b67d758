//! The connection for those who do not wait: what the socket takes and gives at once.

use std::os::fd::{AsRawFd, RawFd};

use super::Connection;
use crate::wire::{Event, Transaction};
use engine::Result;
use engine::nonblocking::Sent;
use net::stream::Buffers;

impl Connection {
    pub(crate) fn descriptor(&self) -> RawFd {
        self.stream.as_raw_fd()
    }

    /// Sends what the socket takes, or all when it may wait.
    #[inline]
    pub(crate) fn try_send(&mut self, wait: bool) -> Result<Sent> {
        if let Some(broken) = &self.broken {
            return Err(broken.clone());
        }
        let sent = self.stream.send(&mut self.wire, wait);
        sent.map_err(|error| self.last_words(&error))
    }

    /// Takes the events that have come, up to the one that says that the server is ready, for which it waits
    /// when it may; false where more is to come.
    ///
    /// A stream is read until it has nothing more, unless all has come: the end of a server that died in the middle
    /// of an answer may have been told together with that part, and is not told again.
    #[inline]
    pub(crate) fn try_take(
        &mut self,
        wait: bool,
        mut take: impl FnMut(&Event<'_>),
    ) -> Result<bool> {
        if let Some(broken) = &self.broken {
            return Err(broken.clone());
        }
        loop {
            match self.wire.next_event() {
                Ok(Some(Event::Ready(transaction))) => {
                    self.transaction = transaction;
                    return Ok(true);
                }
                Ok(Some(Event::Failed(error))) if error.is_fatal() => {
                    let mut outcome = Ok(());
                    self.failed("the session has ended", &error, &mut outcome)?;
                }
                Ok(Some(event)) => take(&event),
                Ok(None) => match self.stream.receive(&mut self.wire, wait) {
                    Ok(true) => {}
                    Ok(false) => return Ok(false),
                    Err(error) => return Err(self.break_off(&error.to_string())),
                },
                Err(error) => return Err(self.break_off(&error.to_string())),
            }
        }
    }

    pub(crate) fn waits_for_room(&self) -> bool {
        !self.wire.pending().is_empty()
    }

    /// True if the server is in a transaction, failed ones included.
    pub(crate) fn in_transaction(&self) -> bool {
        self.transaction != Transaction::Idle
    }
}
