//! The connection of an observer, and what is asked on it.

use std::collections::{BTreeSet, HashSet};

use super::super::connection::Connection;
use super::super::endpoint::Endpoint;
use super::super::processes;
use engine::Result;

pub(super) const APPLICATION: &str = "dbdyno observe";

/// Settings of an observer's sessions: nothing can be written, and nothing waits for long.
pub(crate) const OF_OBSERVERS: &[(&str, &str)] = &[
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
    /// Texts come as the bytes that they are: one of them has no characters.
    is_raw: bool,
    questions: BTreeSet<String>,
}

/// Rows of a query, as texts.
pub(super) type Rows = Vec<Vec<Option<String>>>;

/// Different questions that are remembered.
const QUESTIONS_MAX: usize = 64;
/// Characters of a statement that are asked for.
const TEXT_MAX: usize = 1000;
/// Bytes of a statement that cannot be cut, because functions of texts refuse its bytes.
const RAW_BYTES_MAX: usize = 64 << 10;

impl Asking {
    pub fn open(endpoint: &Endpoint, asked: u64) -> Result<Self> {
        let mut connection = Connection::open(endpoint, OF_OBSERVERS)?;
        let is_local = endpoint.socket.is_some();
        let pid = processes::own(&mut connection)?;
        Ok(Self {
            process: pid.filter(|pid| is_local && processes::is_server(*pid)),
            connection,
            asked,
            is_raw: false,
            questions: BTreeSet::new(),
        })
    }

    /// The rows of a query that is one transaction. An error names what was asked.
    ///
    /// A statement of any database of the cluster may have bytes that are no characters in this one. One such text must not hide
    /// everything else, so that after the first all texts come as they are.
    pub fn rows(&mut self, what: &str, sql: &str) -> Result<Rows> {
        self.remember(sql);
        self.asked += 1;
        match self.connection.texts_about(what, sql) {
            Err(_) if self.turns_raw()? => {
                self.asked += 1;
                self.connection.texts_about(what, sql)
            }
            told => told,
        }
    }

    /// Has the server convert no more texts, if it met one that it cannot; whether it is worth to ask again.
    pub fn turns_raw(&mut self) -> Result<bool> {
        if self.is_raw || !self.connection.met_odd_bytes() {
            return Ok(false);
        }
        self.is_raw = true;
        self.asked += 1;
        self.connection
            .batch("SET /* dbdyno observe */ client_encoding = 'SQL_ASCII'")?;
        Ok(true)
    }

    /// Remembers a question by which this observer can be recognized.
    pub fn remember(&mut self, sql: &str) {
        if self.questions.len() < QUESTIONS_MAX && !self.questions.contains(sql) {
            self.questions.insert(sql.to_owned());
        }
    }

    /// The numbers that the server gives to this observer's questions.
    pub fn own_numbers(&mut self) -> HashSet<String> {
        let mut numbers = HashSet::new();
        for question in self.questions.clone() {
            let sql = format!("EXPLAIN (VERBOSE, COSTS OFF) {question}");
            self.asked += 1;
            let plan = self.connection.texts_about("a plan", &sql);
            let lines = plan.unwrap_or_default().into_iter().flatten().flatten();
            let number = |line: String| Some(line.strip_prefix("Query Identifier: ")?.to_owned());
            numbers.extend(lines.filter_map(number));
        }
        numbers
    }

    pub fn text(&self) -> String {
        if self.is_raw {
            format!("CASE WHEN octet_length(query) <= {RAW_BYTES_MAX} THEN query END")
        } else {
            format!("left(query, {TEXT_MAX})")
        }
    }
}
