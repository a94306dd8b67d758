//! The session for those who do not wait.
//!
//! This server carries out what follows a failed request of a group, and after a deadlock it does so outside
//! the transaction, which it has rolled back. So only what can do no harm is sent before the answer to what
//! stands in front of it: anything behind a BEGIN, which touches no data and fails only with the session; and
//! queries and the COMMIT of a transaction that was begun to read only.

use std::os::fd::RawFd;

use super::{BEGIN, BEGIN_READ, COMMIT, MySqlSession, ROLLBACK};
use crate::client::ClientRequest;
use crate::wire::StatementId;
use engine::Result;
use engine::nonblocking::{Nonblocking, Replies, Request, Sent};

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
                (ClientRequest::Text(BEGIN), group.may_join(true, false))
            }
            Request::BeginRead => {
                group.reads_only = true;
                (ClientRequest::Text(BEGIN_READ), group.may_join(true, false))
            }
            Request::Commit => (ClientRequest::Text(COMMIT), group.may_join(false, true)),
            Request::Rollback => (ClientRequest::Text(ROLLBACK), group.may_join(false, false)),
            Request::Execute(statement, parameters) => {
                let id = StatementId(statement.0);
                let is_query = !self.client.columns(id).is_empty();
                let joins = group.may_join(false, is_query);
                (ClientRequest::Execution(id, parameters), joins)
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
        client.try_take(false, |event, wire| group.take(event, wire, replies))
    }

    #[inline]
    fn await_replies(&mut self, replies: &mut Replies) -> Result<()> {
        let Self { client, group, .. } = self;
        let is_all = client.try_take(true, |event, wire| group.take(event, wire, replies));
        is_all.map(drop)
    }

    fn in_transaction(&self) -> bool {
        self.client.in_transaction()
    }
}
