//! Requests, as they are written.

use super::{Form, Phase, StatementId, Wire};
use crate::wire::{STATEMENTS_MAX, WireError, WireResult};
use engine::Value;

const COM_QUIT: u8 = 0x01;
pub(super) const COM_QUERY: u8 = 0x03;
const COM_STMT_PREPARE: u8 = 0x16;
const COM_STMT_CLOSE: u8 = 0x19;
const COM_STMT_RESET: u8 = 0x1a;

/// Requests of the driver. Outside a group only one is on its way at a time; its end is a
/// `Event::Finished` without `more`, `Event::Prepared` or `Event::Failed`.
impl Wire {
    /// Sends statements as text; their results come one after the other.
    pub fn query(&mut self, sql: &str) -> WireResult<()> {
        self.upload_expected = false;
        self.request(COM_QUERY, sql.as_bytes())?;
        self.phase = Phase::Result(Form::Text);
        Ok(())
    }

    /// Sends a LOAD DATA LOCAL; `Event::Upload` asks for the rows.
    pub fn query_with_upload(&mut self, sql: &str) -> WireResult<()> {
        self.query(sql)?;
        self.upload_expected = true;
        Ok(())
    }

    pub fn prepare(&mut self, sql: &str) -> WireResult<()> {
        if self.statements.len() >= STATEMENTS_MAX {
            return Err(WireError::TooManyStatements);
        }
        self.request(COM_STMT_PREPARE, sql.as_bytes())?;
        self.phase = Phase::Prepare;
        Ok(())
    }

    /// Has a prepared statement executed; `parameters` are as many as [`Wire::parameters`] says.
    #[inline]
    pub fn execute(&mut self, id: StatementId, parameters: &[Value<'_>]) -> WireResult<()> {
        self.put_execution(id, parameters)?;
        self.phase = Phase::Result(Form::Binary(id));
        Ok(())
    }

    #[inline]
    pub(super) fn put_execution(
        &mut self,
        id: StatementId,
        parameters: &[Value<'_>],
    ) -> WireResult<()> {
        let into = self.outbox.begin(0);
        let statement = &mut self.statements[id.0];
        statement.put_execution(parameters, into);
        let ended = self.outbox.end();
        if ended.is_err() {
            statement.not_sent();
        }
        ended.map(|_| ())
    }

    /// Has the server forget what an execution left open; the statement stays prepared.
    ///
    /// # Errors
    /// None in practice: the request is short.
    pub fn reset(&mut self, id: StatementId) -> WireResult<()> {
        self.request(COM_STMT_RESET, &self.statements[id.0].id.to_le_bytes())?;
        self.phase = Phase::Result(Form::Text);
        Ok(())
    }

    /// Has the server forget a statement, which must not be used again; there is no answer.
    ///
    /// # Errors
    /// None in practice: the request is short.
    pub fn close(&mut self, id: StatementId) -> WireResult<()> {
        self.request(COM_STMT_CLOSE, &self.statements[id.0].id.to_le_bytes())
    }

    /// Says good-bye; there is no answer.
    ///
    /// # Errors
    /// None in practice: the request is short.
    pub fn quit(&mut self) -> WireResult<()> {
        self.request(COM_QUIT, &[])
    }

    /// The packet of rows that is being put together, to be appended to, after `Event::Upload`.
    pub fn upload(&mut self) -> &mut Vec<u8> {
        if self.outbox.open_bytes().is_none() {
            self.outbox.begin(self.sequence);
        }
        self.outbox.payload()
    }

    /// Ends that packet, so that it can be written; one without a row stays open.
    pub fn end_upload_packet(&mut self) -> WireResult<()> {
        if self.outbox.open_bytes().unwrap_or(0) > 0 {
            self.sequence = self.outbox.end()?;
        }
        Ok(())
    }

    /// Says that these were all the rows, which an empty packet does; the result follows.
    pub fn end_upload(&mut self) -> WireResult<()> {
        self.end_upload_packet()?;
        self.upload();
        self.outbox.end()?;
        self.phase = Phase::Result(Form::Text);
        Ok(())
    }

    pub(super) fn request(&mut self, command: u8, argument: &[u8]) -> WireResult<()> {
        let into = self.outbox.begin(0);
        into.push(command);
        into.extend_from_slice(argument);
        self.outbox.end().map(|_| ())
    }
}
