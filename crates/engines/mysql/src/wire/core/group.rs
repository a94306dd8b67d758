//! Groups of requests, whose answers come one after the other.
//!
//! The server takes one packet after another from the socket, whether its last answer was read or not,
//! but an error does not keep it from carrying out what follows. So a request is kept back until all
//! before it have succeeded, unless whoever asks says that it may join them.

use super::request::COM_QUERY;
use super::{Behind, Form, Phase, StatementId, Wire};
use crate::wire::WireResult;
use engine::Value;

/// Requests that follow each other. The first failure drops what was not sent; what joined is answered.
impl Wire {
    /// As [`Wire::execute`], behind what is asked already.
    ///
    /// # Errors
    /// When the parameters are too long for a packet; to be followed by [`Wire::drop_group`].
    #[inline]
    pub fn queue_execution(
        &mut self,
        id: StatementId,
        parameters: &[Value<'_>],
        joins: bool,
    ) -> WireResult<()> {
        let start = self.outbox.position();
        self.put_execution(id, parameters)?;
        self.line_up(Form::Binary(id), start, joins);
        Ok(())
    }

    /// As [`Wire::query`], behind what is asked already.
    ///
    /// # Errors
    /// When the text is too long for a packet; to be followed by [`Wire::drop_group`].
    #[inline]
    pub fn queue_query(&mut self, sql: &str, joins: bool) -> WireResult<()> {
        let start = self.outbox.position();
        self.request(COM_QUERY, sql.as_bytes())?;
        self.line_up(Form::Text, start, joins);
        Ok(())
    }

    /// Forgets a group of which nothing was sent.
    pub fn drop_group(&mut self) {
        if let Phase::Result(Form::Binary(id)) = self.phase {
            self.statements[id.0].not_sent();
        }
        while let Some(behind) = self.line.pop_front() {
            self.forget(behind);
        }
        self.outbox.clear();
        self.phase = Phase::Idle;
    }

    #[inline]
    pub fn is_idle(&self) -> bool {
        self.phase == Phase::Idle
    }

    /// How often something of the group was set free by an answer.
    #[inline]
    pub fn releases(&self) -> u64 {
        self.releases
    }

    #[inline]
    fn line_up(&mut self, form: Form, start: usize, joins: bool) {
        if self.is_idle() {
            self.phase = Phase::Result(form);
            self.releases = 0;
            return;
        }
        if !joins && self.outbox.held_from().is_none() {
            self.outbox.hold(Some(start));
        }
        self.line.push_back(Behind { form, joins, start });
    }

    /// A request was answered: the next one's answer comes, and if it was kept back, it may go now with
    /// those that join it.
    #[inline]
    pub(super) fn next_in_line(&mut self) {
        let Some(next) = self.line.pop_front() else {
            self.phase = Phase::Idle;
            return;
        };
        self.phase = Phase::Result(next.form);
        if self.outbox.held_from() == Some(next.start) {
            self.releases += 1;
            let following = self.line.iter().find(|behind| !behind.joins);
            self.outbox.hold(following.map(|behind| behind.start));
        }
    }

    /// A request failed: what was kept back is not sent.
    #[cold]
    pub(super) fn drop_unsent(&mut self) {
        let Some(from) = self.outbox.held_from() else {
            return;
        };
        while let Some(behind) = self.line.pop_back_if(|behind| behind.start >= from) {
            self.forget(behind);
        }
        self.outbox.drop_held();
    }

    /// The server does not get the types of parameters that this request would have told it.
    fn forget(&mut self, behind: Behind) {
        if let Form::Binary(id) = behind.form {
            self.statements[id.0].not_sent();
        }
    }
}
