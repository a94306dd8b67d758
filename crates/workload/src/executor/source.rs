//! Origin of the statements of transactions.

use engine::{Replies, Session, Statement, Value};
use load::Failure;

use crate::transaction_error::TransactionError;

/// Provider of the statements of a transaction, given the answers so far.
pub trait Source: Send {
    /// Part of a group: one statement, or several where an engine needs them, of which the last one answers.
    type Ask: Copy + Send;

    /// Begins a transaction and draws its inputs, which a retry reuses.
    fn take_up(&mut self, request: load::Request);

    /// Assembles the group of this number, counted from 0.
    fn ask(&mut self, number: usize, group: &mut Group<Self::Ask>);

    /// Index at which the first row of the `at`-th part of a group is stored.
    fn row_index(&self, part: Self::Ask, at: usize) -> usize;

    fn statements(&self, part: Self::Ask) -> usize;

    /// Prepared statement, and `true` if its first row is stored.
    fn prepared(&self, part: Self::Ask, statement: usize) -> (Prepared, bool);

    /// Calls `work` with its parameters; `replies` has the stored rows.
    ///
    /// # Errors
    /// When a parameter has no value, or those of `work`.
    fn with_parameters<T>(
        &self,
        part: Self::Ask,
        statement: usize,
        replies: &Replies,
        work: impl FnOnce(&[Value<'_>]) -> Result<T, TransactionError>,
    ) -> Result<T, TransactionError>;

    /// Checks the number of rows of a part. A blocking executor checks before it sends the next part of the group.
    ///
    /// # Errors
    /// When the number is wrong.
    fn check_rows(&self, _part: Self::Ask, _rows: u64) -> Result<(), TransactionError> {
        Ok(())
    }

    /// Takes the answers to the group of this number and decides what comes next.
    ///
    /// # Errors
    /// When an answer is wrong.
    fn take(&mut self, number: usize, answers: &Answers<'_>) -> Result<Next, TransactionError>;

    /// Ends a transaction that succeeded with so many rows.
    ///
    /// # Errors
    /// When it cannot be accounted for.
    fn end(&mut self, ended: Ended, rows: u64) -> Result<(), Failure>;

    fn retries_max(&self) -> u32;

    /// First group of a retry after a conflict in this one: the first of all, unless earlier groups are committed.
    fn resumes_at(&self, _number: usize) -> usize {
        0
    }

    fn tried_again(&mut self) {}

    /// Ends a transaction that failed; if the connection was lost in a commit, its outcome stays unknown.
    ///
    /// # Errors
    /// When that cannot be logged.
    fn failed(&mut self, _is_unknown: bool) -> Result<(), Failure> {
        Ok(())
    }

    /// The connection is abandoned in the middle of a commit.
    fn given_up(&mut self) {}

    fn waited_for(&mut self, _round_trips: u64) {}

    /// True if a group may commit without a commit statement.
    fn commits_by_itself(&self) -> bool {
        false
    }

    fn measurement_begins(&mut self, _session: &mut dyn Session) {}

    fn leaves(&mut self, _session: &mut dyn Session) {}
}

#[derive(Debug, Clone, Copy)]
pub struct Prepared {
    pub statement: Statement,
    pub returns: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opening {
    Write,
    Read,
}

#[derive(Debug, Clone)]
pub struct Group<A> {
    /// Kind of transaction that begins before them.
    pub begin: Option<Opening>,
    pub asks: Vec<A>,
    pub commit: bool,
}

impl<A> Default for Group<A> {
    fn default() -> Self {
        Self {
            begin: None,
            asks: Vec::new(),
            commit: false,
        }
    }
}

impl<A> Group<A> {
    #[inline]
    pub fn clear(&mut self) {
        self.asks.clear();
        (self.begin, self.commit) = (None, false);
    }

    pub fn ask(&mut self, part: impl Into<A>) {
        self.asks.push(part.into());
    }

    pub fn is_empty(&self) -> bool {
        self.begin.is_none() && !self.commit && self.asks.is_empty()
    }
}

pub struct Answers<'a> {
    /// Rows that each part returned or changed.
    pub rows: &'a [u64],
    /// First rows, if stored.
    pub replies: &'a Replies,
}

impl Answers<'_> {
    pub fn rows(&self, part: usize) -> u64 {
        self.rows.get(part).copied().unwrap_or(0)
    }

    /// Checks that a part returned or changed exactly one row.
    pub fn one(&self, part: usize, what: &str) -> Result<(), TransactionError> {
        match self.rows(part) {
            1 => Ok(()),
            rows => Err(effect(format!("{what}: {rows} rows instead of 1"))),
        }
    }

    /// Integer of the first row; `None` if null.
    pub fn int(&self, part: usize, column: usize) -> Option<i64> {
        match self.replies.first(part)?.value(column)? {
            Value::Int(number) => Some(number),
            Value::Text(text) => text.parse().ok(),
            _ => None,
        }
    }

    pub fn must_int(
        &self,
        part: usize,
        column: usize,
        what: &str,
    ) -> Result<i64, TransactionError> {
        let found = self.int(part, column);
        found.ok_or_else(|| effect(format!("{what} is not a number")))
    }

    /// Text of the first row; empty if null.
    pub fn text(&self, part: usize, column: usize) -> &str {
        let row = self.replies.first(part);
        match row.and_then(|row| row.value(column)) {
            Some(Value::Text(text)) => text,
            _ => "",
        }
    }
}

#[cold]
pub fn effect(what: String) -> TransactionError {
    TransactionError::Effect(format!("wrong effect: {what}"))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    Group,
    /// Intended rollback, such as for an order with an unknown item.
    RollBack,
    Done(Ended),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    Committed,
    RolledBack,
}
