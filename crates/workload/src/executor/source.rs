//! Where the statements of transactions come from.

use load::Failure;
use target::{Replies, Session, Statement, Value};

use crate::transaction_error::TransactionError;

/// Says what is asked in a transaction, given what was answered so far.
pub trait Source: Send {
    /// A part of a group: one statement, or several where an engine needs them, of which the last answers.
    type Ask: Copy + Send;

    /// Takes a transaction up, and draws its inputs, which a retry keeps.
    fn take_up(&mut self, request: load::Request);

    /// Puts the group of this number, from 0, together.
    fn ask(&mut self, number: usize, group: &mut Group<Self::Ask>);

    /// Where the first row of the `at`-th part of a group is kept.
    fn place(&self, asked: Self::Ask, at: usize) -> usize;

    /// Number of the statements of a part.
    fn statements(&self, asked: Self::Ask) -> usize;

    /// One of them, and whether its first row is kept.
    fn prepared(&self, asked: Self::Ask, statement: usize) -> (Prepared, bool);

    /// Does something with its parameters; `replies` has the rows that were kept.
    ///
    /// # Errors
    /// When one has no value; else what `work` says.
    fn with_parameters<T>(
        &self,
        asked: Self::Ask,
        statement: usize,
        replies: &Replies,
        work: impl FnOnce(&[Value<'_>]) -> Result<T, TransactionError>,
    ) -> Result<T, TransactionError>;

    /// Holds the rows of a part against what is expected. On a thread of its own before what is behind it in its group is
    /// asked.
    ///
    /// # Errors
    /// When they are fewer or more.
    fn check_rows(&self, _asked: Self::Ask, _rows: u64) -> Result<(), TransactionError> {
        Ok(())
    }

    /// Takes the answers to the group of this number; what comes next.
    ///
    /// # Errors
    /// When they are not what was expected.
    fn take(&mut self, number: usize, answers: &Answers<'_>) -> Result<Next, TransactionError>;

    /// The transaction has ended as it should, with so many rows.
    ///
    /// # Errors
    /// When it cannot be accounted for.
    fn end(&mut self, ended: Ended, rows: u64) -> Result<(), Failure>;

    /// Times that a transaction is begun anew because another one was in the way.
    fn retries_max(&self) -> u32;

    /// From which group on it is begun anew when this one met a conflict: from the first, unless what was before stands.
    fn resumes_at(&self, _number: usize) -> usize {
        0
    }

    fn tried_again(&mut self) {}

    /// It has failed; where the connection was lost in a commit, nobody will ever say what became of it.
    ///
    /// # Errors
    /// When that cannot be written down.
    fn failed(&mut self, _is_unknown: bool) -> Result<(), Failure> {
        Ok(())
    }

    /// The connection is given up in the middle of a commit.
    fn given_up(&mut self) {}

    /// So many answers were waited for.
    fn waited_for(&mut self, _round_trips: u64) {}

    /// Whether a group may commit without being told to.
    fn commits_by_itself(&self) -> bool {
        false
    }

    fn measurement_begins(&mut self, _session: &mut dyn Session) {}

    /// The session is about to be closed.
    fn leaves(&mut self, _session: &mut dyn Session) {}
}

/// A statement as it was prepared.
#[derive(Debug, Clone, Copy)]
pub struct Prepared {
    /// The session's name for it.
    pub statement: Statement,
    pub returns: bool,
}

/// How a transaction is begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opening {
    Write,
    /// As one that only reads.
    Read,
}

#[derive(Debug, Clone)]
pub struct Group<A> {
    /// Whether a transaction begins in front of them, and how.
    pub begin: Option<Opening>,
    pub asks: Vec<A>,
    /// Whether a commit follows them.
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
    /// Forgets everything, for the next one.
    #[inline]
    pub fn clear(&mut self) {
        self.asks.clear();
        (self.begin, self.commit) = (None, false);
    }

    /// True when there is nothing to ask.
    pub fn is_empty(&self) -> bool {
        self.begin.is_none() && !self.commit && self.asks.is_empty()
    }
}

/// The answers to a group, part by part.
pub struct Answers<'a> {
    /// Rows that each part returned or changed.
    pub rows: &'a [u64],
    /// Its first row, where it is kept.
    pub replies: &'a Replies,
}

/// What comes after the answers to a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    Group,
    /// A rollback, on purpose: the order names an item that there is not.
    RollBack,
    Done(Ended),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    Committed,
    /// By a rollback, on purpose.
    RolledBack,
}
