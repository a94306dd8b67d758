//! Checks of a new connection: its session's user, and that its settings hold.
//!
//! A pooler between client and server may ignore the settings of a logon (pgbouncer's
//! `ignore_startup_parameters`) or refuse them, so that names would be looked up in somebody's schema.

use std::time::Duration;

use super::{Connection, LOGON_TIMEOUT};
use crate::endpoint::Endpoint;
use crate::overrides::set;
use crate::wire::Event;
use engine::{Result, TargetError};

/// A pooler that has no process for a second session within this time keeps the first one's for it.
const SECOND_SESSION_WAIT: Duration = Duration::from_secs(5);

impl Connection {
    /// Reads back the settings of the logon, and sets those that a pooler has kept away from the server.
    pub(super) fn settle(&mut self, endpoint: &Endpoint, settings: &[(&str, &str)]) -> Result<()> {
        let (process, lost) = self.lost(settings)?;
        self.is_pooled = process != self.process_told;
        // Before anything is set: it would be set for others, too.
        if self.is_pooled {
            self.refuse_shared_process(endpoint, process)?;
        }
        if lost.is_empty() {
            return Ok(());
        }
        let set = lost.iter().map(|(name, value)| set(name, value));
        self.batch(&set.collect::<Vec<_>>().join("; "))?;
        match self.lost(settings)?.1.first() {
            None => Ok(()),
            Some((name, value)) => Err(self.unusable(&format!(
                "the setting {name} = {value} does not persist between transactions, so something between dbdyno and the \
                 server switches sessions; connect to the server directly"
            ))),
        }
    }

    /// The server's process, and the settings that are not in force.
    fn lost<'s>(
        &mut self,
        settings: &[(&'s str, &'s str)],
    ) -> Result<(i32, Vec<(&'s str, &'s str)>)> {
        let names = settings.iter();
        let names = names.map(|(name, _)| format!(", current_setting('{name}')"));
        let sql = format!("SELECT pg_backend_pid(){}", names.collect::<String>());
        let mut found = self.simple_texts(&sql)?.into_iter().flatten().flatten();
        let process = found.next().and_then(|number| number.parse().ok());
        let settings = settings.iter().copied();
        let lost = settings.filter(|(_, value)| found.next().as_deref() != Some(*value));
        Ok((process.unwrap_or_default(), lost.collect()))
    }

    /// Makes sure that a table without a schema is one of `schema`.
    pub(crate) fn check_schema(&mut self, schema: &str) -> Result<()> {
        let rows = self.simple_texts("SELECT current_schema()")?;
        let found = rows.into_iter().flatten().flatten().next();
        if found.as_deref() == Some(schema) {
            return Ok(());
        }
        Err(TargetError::foreign(format!(
            "PostgreSQL: a session at {} uses the schema \"{}\" instead of dbdyno's schema \"{schema}\"; nothing was \
             changed: connect to the server directly, as a user with access to that schema",
            self.place,
            found.unwrap_or_default()
        )))
    }

    /// True if a pooler stands between this session and the server.
    pub(crate) fn is_pooled(&self) -> bool {
        self.is_pooled
    }

    /// Looks whether a second session gets the process of this one while no transaction is open.
    fn refuse_shared_process(&mut self, endpoint: &Endpoint, process: i32) -> Result<()> {
        let mut second = Self::logged_on(endpoint, &[], LOGON_TIMEOUT)?;
        let patience = second.stream.set_timeout(Some(SECOND_SESSION_WAIT));
        patience.map_err(|e| super::unreachable(&self.place, &e))?;
        let shared = |own: &Self| {
            own.unusable(
                "a connection pooler switches server connections between transactions (transaction or statement mode), so \
                 settings and prepared statements do not persist; connect to the server directly, or through a pool in \
                 session mode (pgbouncer: pool_mode = session)",
            )
        };
        let of_second = match second.batch("BEGIN") {
            Ok(()) => second.lost(&[])?.0,
            // It waits for a process, because this session keeps its own.
            Err(_) if second.timed_out => return Ok(()),
            Err(_) => return Err(shared(self)),
        };
        if of_second == process || self.lost(&[])?.0 != process {
            return Err(shared(self));
        }
        Ok(())
    }

    /// Rows of a query as texts, in one message, which leaves no prepared statement behind.
    pub(crate) fn simple_texts(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>> {
        self.texts_about(sql, sql)
    }

    /// The same, where an error names something shorter than the query.
    pub(crate) fn texts_about(
        &mut self,
        what: &str,
        sql: &str,
    ) -> Result<Vec<Vec<Option<String>>>> {
        self.wire.query(sql)?;
        let mut rows = Vec::new();
        self.exchange(what, |event| {
            if let Event::Row(row) = event {
                rows.push(super::texts_of_row(*row)?);
            }
            Ok(())
        })?;
        Ok(rows)
    }

    fn unusable(&self, why: &str) -> TargetError {
        TargetError::unreachable(format!("PostgreSQL at {}: {why}", self.place))
    }
}
