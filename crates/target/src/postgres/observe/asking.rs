//! The connection of an observer, and what is asked on it.

use super::super::connection::Connection;
use super::super::endpoint::Endpoint;
use super::super::processes;
use crate::Result;

/// What tells sessions of observers from all others.
pub(super) const APPLICATION: &str = "dbdyno observe";

/// Settings of an observer's sessions: nothing can be written, and nothing waits for long.
pub(in crate::postgres) const OF_OBSERVERS: &[(&str, &str)] = &[
    ("application_name", APPLICATION),
    ("TimeZone", "UTC"),
    ("DateStyle", "ISO, MDY"),
    ("default_transaction_isolation", "read committed"),
    ("default_transaction_read_only", "on"),
    ("statement_timeout", "10s"),
    ("lock_timeout", "100ms"),
    ("idle_in_transaction_session_timeout", "1min"),
    ("client_min_messages", "warning"),
];

/// A connection, and how much was asked on it: the server counts every question as a transaction.
pub(super) struct Asking {
    pub connection: Connection,
    /// Statements on this connection and on those before it.
    pub asked: u64,
    /// The server's process, when it is one of this machine.
    pub process: Option<u32>,
}

impl Asking {
    pub fn open(endpoint: &Endpoint, asked: u64) -> Result<Self> {
        let mut connection = Connection::open(endpoint, OF_OBSERVERS)?;
        let is_local = endpoint.socket.is_some();
        let pid = processes::own(&mut connection)?;
        Ok(Self {
            process: pid.filter(|pid| is_local && processes::is_server(*pid)),
            connection,
            asked,
        })
    }

    /// The rows of a query that is one transaction.
    pub fn rows(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>> {
        self.asked += 1;
        self.connection.simple_texts(sql)
    }
}
