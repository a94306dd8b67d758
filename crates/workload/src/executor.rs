//! Execution of transactions: one state machine for scripts and order entry, for blocking and non-blocking engines.
//!
//! A [`Source`] provides groups of statements that travel together, and decides what follows the answers. In an event
//! loop a group is one round trip; on a thread of its own it runs statement by statement. Conflicts are retried after a
//! pause; any other error is rolled back.

mod blocking;
mod nonblocking;
mod source;

use std::time::Duration;

use engine::{Replies, Result as TargetResult, Session};

pub use blocking::Blocking;
pub use nonblocking::Nonblocking;
pub use source::{Answers, Ended, Group, Next, Opening, Prepared, Source, effect};

use crate::backoff::Backoff;
use crate::transaction_error::TransactionError;
use load::{Done, Failure};

pub struct Executor<S: Source> {
    source: S,
    session: Box<dyn Session>,
    /// Current group; its memory is reused.
    group: Group<S::Ask>,
    /// Answers, and the first rows that are stored.
    replies: Replies,
    /// Rows that each statement of the group returned or changed.
    rows: Vec<u64>,
    rows_of_all: u64,
    retries: u32,
    backoff: Backoff,
}

impl<S: Source> Executor<S> {
    /// `rows` is the number of first rows that the source's groups store.
    pub fn new(source: S, session: Box<dyn Session>, rows: usize) -> Self {
        let mut replies = Replies::default();
        replies.reserve(rows);
        Self {
            source,
            session,
            group: Group::default(),
            replies,
            rows: Vec::with_capacity(rows),
            rows_of_all: 0,
            retries: 0,
            backoff: Backoff::new(),
        }
    }

    #[cold]
    fn pause(&mut self) -> Duration {
        self.backoff.pause(self.retries)
    }

    /// True if the engine's answers can be awaited in an event loop.
    pub fn can_be_awaited(&mut self) -> bool {
        self.session.nonblocking().is_some()
    }

    #[inline]
    fn take_up(&mut self, request: load::Request) {
        (self.retries, self.rows_of_all) = (0, 0);
        self.source.take_up(request);
    }

    /// Assembles the group of this number. Rows are reset, because a statement that returns no row must not seem to
    /// have returned that of an earlier group.
    #[inline]
    fn ask(&mut self, number: usize) {
        self.group.clear();
        self.rows.clear();
        self.replies.clear();
        self.source.ask(number, &mut self.group);
        for (at, part) in self.group.asks.iter().enumerate() {
            if let Some(first) = self.replies.first_mut(self.source.row_index(*part, at)) {
                first.clear();
            }
        }
    }

    #[inline]
    fn take(&mut self, number: usize) -> Result<Next, TransactionError> {
        self.rows_of_all += self.rows.iter().sum::<u64>();
        self.source.take(
            number,
            &Answers {
                rows: &self.rows,
                replies: &self.replies,
            },
        )
    }

    #[inline]
    fn end(&mut self, ended: Ended) -> Result<Done, Failure> {
        self.source.end(ended, self.rows_of_all)?;
        Ok(Done {
            rows: self.rows_of_all,
            retries: self.retries,
            rolled_back: ended == Ended::RolledBack,
        })
    }

    /// Group from which the transaction is retried after the error, or the reason why it is not.
    #[cold]
    fn again(&mut self, wrong: TransactionError, group: Option<usize>) -> Result<usize, Failure> {
        if !wrong.is_conflict() || self.retries >= self.source.retries_max() {
            let is_unknown = group.is_some() && wrong.is_lost() && self.is_committing();
            self.source.failed(is_unknown)?;
            return Err(wrong.into_failure(self.retries));
        }
        self.retries += 1;
        self.source.tried_again();
        let from = group.map_or(0, |number| self.source.resumes_at(number));
        if from == 0 {
            self.rows_of_all = 0;
        }
        Ok(from)
    }

    /// True if the current group commits, so that a lost connection leaves the outcome unknown.
    fn is_committing(&self) -> bool {
        self.group.commit || self.source.commits_by_itself()
    }

    fn measurement_begins(&mut self) {
        self.source.measurement_begins(self.session.as_mut());
    }
}

impl<S: Source> Drop for Executor<S> {
    fn drop(&mut self) {
        self.source.leaves(self.session.as_mut());
    }
}

/// Engines prepare BEGIN and COMMIT at their first use, which must not be measured.
pub fn prepare_opening(session: &mut dyn Session, opening: Opening) -> TargetResult<()> {
    match opening {
        Opening::Write => session.begin()?,
        Opening::Read => session.begin_read()?,
    }
    session.commit()
}
