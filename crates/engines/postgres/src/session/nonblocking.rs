//! The session for those who do not wait.

use std::os::fd::RawFd;

use super::{Control, PostgresSession, keep, statement};
use crate::explain::explain;
use crate::wire::Event;
use engine::nonblocking::{Nonblocking, Replies, Request, Sent};
use engine::{Result, Statement, TargetError};

impl Nonblocking for PostgresSession {
    fn descriptor(&self) -> RawFd {
        self.connection.descriptor()
    }

    #[inline]
    fn queue(&mut self, request: Request<'_>) -> Result<()> {
        let (of, encoded) = match request {
            Request::Begin => (None, self.control_of_group(Control::Begin)),
            Request::BeginRead => (None, self.control_of_group(Control::BeginRead)),
            Request::Commit => (None, self.control_of_group(Control::Commit)),
            Request::Rollback => {
                let asked = self.connection.wire().query("ROLLBACK");
                (None, asked.map_err(TargetError::from))
            }
            Request::Execute(statement, parameters) => {
                let prepared = &self.statements[statement.0];
                let asked = self.connection.wire().execute(prepared, parameters);
                (Some(statement), asked.map_err(TargetError::from))
            }
        };
        if encoded.is_err() {
            self.connection.wire().discard_output();
            self.group.clear();
            return encoded;
        }
        self.group.push(of);
        // The server says by itself that it is ready after a query without preparation.
        self.unended = request != Request::Rollback;
        Ok(())
    }

    #[inline]
    fn send(&mut self) -> Result<Sent> {
        if std::mem::take(&mut self.unended) {
            self.connection.wire().sync();
        }
        self.connection.try_send(false)
    }

    #[inline]
    fn waits_for_room(&self) -> bool {
        self.connection.waits_for_room()
    }

    #[inline]
    fn receive(&mut self, replies: &mut Replies) -> Result<bool> {
        self.take_replies(replies, false)
    }

    #[inline]
    fn await_replies(&mut self, replies: &mut Replies) -> Result<()> {
        self.take_replies(replies, true).map(drop)
    }

    fn in_transaction(&self) -> bool {
        self.connection.in_transaction()
    }
}

impl PostgresSession {
    /// Encodes a control statement. One that is prepared first waits for its answer and would take those to what is
    /// queued before it, so a COMMIT is prepared with the BEGIN.
    #[inline]
    fn control_of_group(&mut self, control: Control) -> Result<()> {
        if self.group.is_empty() {
            self.prepare_control(Control::Commit)?;
        } else if self.controls[control as usize].is_none() {
            return Err(statement(
                "a group of requests that is no whole transaction needs a transaction that was begun and ended before",
            ));
        }
        self.control(control)
    }

    /// Takes what has come, or all answers to the group when it may `wait`; whether that was all.
    #[inline]
    fn take_replies(&mut self, replies: &mut Replies, wait: bool) -> Result<bool> {
        let Self {
            connection,
            statements,
            group,
            ..
        } = self;
        let is_all = connection.try_take(wait, |event| match event {
            Event::Row(row) => {
                let of = group.get(replies.next()).copied().flatten();
                if let (Some(Statement(at)), Some(first)) = (of, replies.wanted())
                    && let Err(error) = keep(&statements[at].columns, *row, first)
                {
                    replies.failed(error);
                }
            }
            Event::Complete(tag) => replies.completed(tag.rows(), tag.0 == b"ROLLBACK"),
            Event::Failed(error) => replies.failed(explain("statement failed", error)),
            _ => {}
        })?;
        if is_all {
            group.clear();
        }
        Ok(is_all)
    }
}
