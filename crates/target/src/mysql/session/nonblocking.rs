//! The session for those who do not wait.
//!
//! This server carries out what follows a failed request of a group, and after a deadlock it does so outside
//! the transaction, which it has rolled back. So only what can do no harm is sent before the answer to what
//! stands in front of it: anything behind a BEGIN, which touches no data and fails only with the session; and
//! queries and the COMMIT of a transaction that was begun to read only.

use std::os::fd::RawFd;

use super::{BEGIN, BEGIN_READ, COMMIT, MySqlSession, ROLLBACK};
use crate::mysql::client::{Asked, Came};
use crate::mysql::explain::explain;
use crate::mysql::read::keep_row;
use crate::mysql::wire::{Event, StatementId, Wire};
use crate::nonblocking::{Nonblocking, Replies, Request, Sent};
use crate::{ErrorKind, Result, TargetError};

/// The group under way.
#[derive(Debug, Default)]
pub(super) struct Group {
    /// Rows of the answer that is coming in.
    rows: u64,
    failed: bool,
    /// Whether the last request queued begins a transaction.
    begins: bool,
    /// Whether the transaction was begun to read only.
    reads_only: bool,
}

impl Group {
    /// Whether a request may be sent before the one in front of it is answered.
    #[inline]
    fn may_join(&mut self, begins: bool, changes_nothing: bool) -> bool {
        let joins = self.begins || (self.reads_only && changes_nothing);
        self.begins = begins;
        joins
    }

    #[inline]
    fn take(&mut self, event: Event, wire: &Wire, replies: &mut Replies) {
        if self.failed {
            return;
        }
        match event {
            Event::Row => {
                self.rows += 1;
                if let Some(first) = replies.wanted()
                    && let Err(error) = keep_row(wire.row(), first)
                {
                    replies.failed(error);
                }
            }
            Event::Finished(finished) => {
                if self.rows == 0 {
                    self.rows = finished.changed;
                }
                if !finished.more {
                    replies.sent_again(wire.releases());
                    replies.completed(std::mem::take(&mut self.rows), false);
                }
            }
            Event::Failed(error) => self.fail(explain("statement failed", &error), replies),
            Event::Connected | Event::Prepared(_) | Event::Upload => {
                let error = TargetError::new(
                    ErrorKind::Unreachable,
                    "mysql: the server answered something that was not asked; check that it is a \
                     MariaDB or MySQL server",
                );
                self.fail(error, replies);
            }
        }
    }

    #[cold]
    fn fail(&mut self, error: TargetError, replies: &mut Replies) {
        self.failed = true;
        replies.failed(error);
    }
}

impl Nonblocking for MySqlSession {
    fn descriptor(&self) -> RawFd {
        self.client.descriptor()
    }

    #[inline]
    fn queue(&mut self, request: Request<'_>) -> Result<()> {
        let group = &mut self.group;
        if self.client.is_idle() {
            (group.rows, group.failed, group.begins) = (0, false, false);
        }
        let (asked, joins) = match request {
            Request::Begin => {
                group.reads_only = false;
                (Asked::Text(BEGIN), group.may_join(true, false))
            }
            Request::BeginRead => {
                group.reads_only = true;
                (Asked::Text(BEGIN_READ), group.may_join(true, false))
            }
            Request::Commit => (Asked::Text(COMMIT), group.may_join(false, true)),
            Request::Rollback => (Asked::Text(ROLLBACK), group.may_join(false, false)),
            Request::Execute(statement, parameters) => {
                let id = StatementId(statement.0);
                let is_query = !self.client.columns(id).is_empty();
                let joins = group.may_join(false, is_query);
                (Asked::Execution(id, parameters), joins)
            }
        };
        self.client.queue(asked, joins)
    }

    #[inline]
    fn send(&mut self) -> Result<Sent> {
        self.client.try_send(false)
    }

    #[inline]
    fn waits_for_room(&self) -> bool {
        self.client.waits_for_room()
    }

    #[inline]
    fn receive(&mut self, replies: &mut Replies) -> Result<bool> {
        let Self { client, group, .. } = self;
        let came = client.try_take(false, |event, wire| group.take(event, wire, replies))?;
        Ok(came == Came::All)
    }

    #[inline]
    fn await_replies(&mut self, replies: &mut Replies) -> Result<()> {
        let Self { client, group, .. } = self;
        let came = client.try_take(true, |event, wire| group.take(event, wire, replies));
        came.map(drop)
    }

    fn in_transaction(&self) -> bool {
        self.client.in_transaction()
    }
}
