//! A session with its statements, the group at hand, and the answers to it.

use target::{ErrorKind, Replies, Request, Result as TargetResult, Sent, Session, TargetError};

use super::{Answers, Group, Mode, Transaction, TransactionError};
use crate::oltp::Result;
use crate::oltp::statements::Statements;

/// Steps of the longest group: the customer and fifteen lines of a New-Order.
const STEPS_MAX: usize = 20;

pub(super) struct PreparedSession {
    pub session: Box<dyn Session>,
    statements: Statements,
    pub group: Group,
    replies: Replies,
    /// Which request of the group answers each step, and whether its first row is kept.
    answering: Vec<(usize, bool)>,
    rows: Vec<u64>,
}

impl PreparedSession {
    pub(super) fn new(mut session: Box<dyn Session>, engine: &str, mode: Mode) -> Result<Self> {
        let statements = Statements::prepare(session.as_mut(), engine, mode)?;
        if mode == Mode::Client {
            // Engines prepare BEGIN and COMMIT when they are first asked; nothing of that is to be measured.
            session.begin().and_then(|()| session.commit())?;
        }
        let mut replies = Replies::default();
        replies.reserve(STEPS_MAX);
        Ok(Self {
            session,
            statements,
            group: Group::default(),
            replies,
            answering: Vec::with_capacity(STEPS_MAX),
            rows: Vec::with_capacity(STEPS_MAX),
        })
    }

    pub(super) fn answers(&self) -> Answers<'_> {
        Answers {
            rows: &self.rows,
            replies: &self.replies,
        }
    }

    /// True when there is nothing to ask.
    pub(super) fn is_empty(&self) -> bool {
        let Group {
            begin,
            asks,
            commit,
        } = &self.group;
        !begin && !commit && asks.is_empty()
    }

    pub(super) fn forget_answers(&mut self) {
        self.rows.clear();
        self.answering.clear();
        self.replies.clear();
        // A step that returns no row must not seem to have returned that of an earlier group.
        for step in 0..STEPS_MAX {
            if let Some(first) = self.replies.first_mut(step) {
                first.clear();
            }
        }
    }

    /// Encodes the group and sends what can be sent.
    pub(super) fn send(
        &mut self,
        transaction: &dyn Transaction,
    ) -> std::result::Result<Sent, TransactionError> {
        self.forget_answers();
        let Self {
            session,
            statements,
            group,
            replies,
            answering,
            ..
        } = self;
        let session = session
            .nonblocking()
            .ok_or_else(|| TransactionError::Target(blocks()))?;
        let mut requests = 0;
        if group.begin {
            session
                .queue(Request::Begin)
                .map_err(TransactionError::Target)?;
            replies.awaits(None);
            requests += 1;
        }
        for (step, asked) in group.asks.iter().enumerate() {
            let prepared = statements.of(*asked);
            for (number, one) in prepared.iter().enumerate() {
                one.with_values(transaction, asked.line.into(), |values| {
                    let request = Request::Execute(one.statement, values);
                    session.queue(request).map_err(TransactionError::Target)
                })?;
                let is_kept = number + 1 == prepared.len() && one.returns;
                replies.awaits(is_kept.then_some(step));
                if number + 1 == prepared.len() {
                    answering.push((requests + number, is_kept));
                }
            }
            requests += prepared.len();
        }
        if group.commit {
            session
                .queue(Request::Commit)
                .map_err(TransactionError::Target)?;
            replies.awaits(None);
        }
        session.send().map_err(TransactionError::Target)
    }

    pub(super) fn send_rollback(&mut self) -> TargetResult<Sent> {
        self.forget_answers();
        let session = self.session.nonblocking().ok_or_else(blocks)?;
        session.queue(Request::Rollback)?;
        self.replies.awaits(None);
        session.send()
    }

    /// Sends what is left, if anything is, and takes what has come; `None` when all was answered.
    pub(super) fn exchange(&mut self, is_writing: bool) -> TargetResult<Option<Sent>> {
        let session = self.session.nonblocking().ok_or_else(blocks)?;
        if is_writing {
            session.send()?;
        }
        let all = session.receive(&mut self.replies)?;
        // An answer may have set free what follows it.
        let sent = match session.waits_for_room() {
            true => Sent::Part,
            false => Sent::All,
        };
        Ok((!all).then_some(sent))
    }

    /// Round trips that the group took after it was sent, where an engine cannot be sent all of it at once.
    pub(super) fn further_round_trips(&self) -> u64 {
        self.replies.round_trips() - 1
    }

    /// Waits until all was answered.
    pub(super) fn await_answers(&mut self) -> TargetResult<()> {
        let session = self.session.nonblocking().ok_or_else(blocks)?;
        session.await_replies(&mut self.replies)
    }

    /// Everything was answered: what was wrong, or the rows of each step.
    pub(super) fn settle(&mut self) -> std::result::Result<(), TransactionError> {
        if let Some(error) = self.replies.take_error() {
            return Err(TransactionError::Target(error));
        }
        if self.group.commit && self.replies.rolled_back() {
            return Err(TransactionError::Effect(
                "wrong effect: what was to be committed was rolled back".into(),
            ));
        }
        let Self {
            rows,
            replies,
            answering,
            ..
        } = self;
        rows.extend(answering.iter().enumerate().map(|(step, (at, is_kept))| {
            let told = replies.rows(*at).unwrap_or(0);
            // A call of a procedure returns a row and tells of none.
            let has_row = *is_kept && replies.first(step).is_some_and(|row| !row.is_empty());
            told.max(u64::from(has_row))
        }));
        Ok(())
    }

    /// Carries the group out, statement by statement; gives the number of calls that had to be waited for.
    pub(super) fn carry_out(
        &mut self,
        transaction: &dyn Transaction,
        calls: &mut u64,
    ) -> std::result::Result<(), TransactionError> {
        self.forget_answers();
        let Self {
            session,
            statements,
            group,
            replies,
            rows,
            ..
        } = self;
        if group.begin {
            *calls += 1;
            session.begin().map_err(TransactionError::Target)?;
        }
        for (step, asked) in group.asks.iter().enumerate() {
            let prepared = statements.of(*asked);
            let mut found = 0;
            for (number, one) in prepared.iter().enumerate() {
                let first = replies.first_mut(step);
                let first = first.filter(|_| one.returns && number + 1 == prepared.len());
                *calls += 1;
                found = one.with_values(transaction, asked.line.into(), |values| {
                    let done = match first {
                        Some(first) => session.fetch_first(one.statement, values, first),
                        None if one.returns => session.fetch(one.statement, values).map(|f| f.rows),
                        None => session.execute(one.statement, values),
                    };
                    done.map_err(TransactionError::Target)
                })?;
            }
            rows.push(found);
        }
        if group.commit {
            *calls += 1;
            session.commit().map_err(TransactionError::Target)?;
        }
        Ok(())
    }
}

#[cold]
fn blocks() -> TargetError {
    TargetError::new(
        ErrorKind::Statement,
        "the session cannot be driven without waiting any more",
    )
}
