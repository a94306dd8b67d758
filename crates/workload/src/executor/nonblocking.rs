//! Execution in an event loop, for engines whose answers can be awaited.

use std::os::fd::RawFd;

use engine::{Request, Result as TargetResult, Sent, TargetError};
use load::{Failure, Turn};

use super::{Ended, Executor, Next, Opening, Source};
use crate::transaction_error::TransactionError;

pub struct Nonblocking<S: Source> {
    executor: Executor<S>,
    descriptor: RawFd,
    sent: Part,
    /// True while a part of it is still to be sent.
    is_writing: bool,
}

#[derive(Debug)]
enum Part {
    Nothing,
    /// The group of this number of the current transaction.
    Group(usize),
    /// A rollback, and the state after it.
    Rollback(After),
    /// The pause before a retry from this group on.
    Pause(usize),
}

#[derive(Debug)]
enum After {
    End,
    Again(usize),
    Failed(Failure),
}

impl<S: Source> Nonblocking<S> {
    /// `None` if the engine's calls block.
    pub fn new(mut executor: Executor<S>) -> Option<Self> {
        let descriptor = executor.session.nonblocking()?.descriptor();
        Some(Self {
            executor,
            descriptor,
            sent: Part::Nothing,
            is_writing: false,
        })
    }

    #[inline]
    fn send_group(&mut self, number: usize) -> Turn {
        let executor = &mut self.executor;
        executor.ask(number);
        self.sent = Part::Group(number);
        if executor.group.is_empty() {
            return self.group_answered(number);
        }
        executor.source.waited_for(1);
        match executor.send() {
            Ok(sent) => self.waits(sent),
            // Nothing of the group was sent, but the transaction may have begun before.
            Err(wrong) => self.went_wrong(wrong, number),
        }
    }

    #[inline]
    fn waits(&mut self, sent: Sent) -> Turn {
        self.is_writing = sent == Sent::Part;
        if self.is_writing {
            Turn::Writing
        } else {
            Turn::Reading
        }
    }

    #[inline]
    fn answered(&mut self) -> Turn {
        if let Part::Group(number) = self.sent {
            return match self.executor.settle() {
                Ok(()) => self.group_answered(number),
                Err(wrong) => self.went_wrong(wrong, number),
            };
        }
        self.rolled_back()
    }

    #[cold]
    fn rolled_back(&mut self) -> Turn {
        match std::mem::replace(&mut self.sent, Part::Nothing) {
            Part::Nothing | Part::Group(_) | Part::Pause(_) => Turn::Reading,
            Part::Rollback(After::End) => self.finish(Ended::RolledBack),
            Part::Rollback(After::Again(from)) => {
                self.sent = Part::Pause(from);
                Turn::Pausing(self.executor.pause())
            }
            Part::Rollback(After::Failed(failure)) => Turn::Finished(Err(failure)),
        }
    }

    #[inline]
    fn group_answered(&mut self, number: usize) -> Turn {
        match self.executor.take(number) {
            Err(wrong) => self.went_wrong(wrong, number),
            Ok(Next::Group) => self.send_group(number + 1),
            Ok(Next::Done(ended)) => self.finish(ended),
            Ok(Next::RollBack) => self.roll_back(After::End),
        }
    }

    #[inline]
    fn finish(&mut self, ended: Ended) -> Turn {
        self.sent = Part::Nothing;
        Turn::Finished(self.executor.end(ended))
    }

    #[cold]
    fn went_wrong(&mut self, wrong: TransactionError, number: usize) -> Turn {
        match self.executor.again(wrong, Some(number)) {
            Ok(from) => self.roll_back(After::Again(from)),
            Err(fatal @ Failure::Fatal(_)) => {
                self.sent = Part::Nothing;
                Turn::Finished(Err(fatal))
            }
            Err(failure) => self.roll_back(After::Failed(failure)),
        }
    }

    #[cold]
    fn roll_back(&mut self, after: After) -> Turn {
        self.sent = Part::Rollback(after);
        let session = self.executor.session.nonblocking();
        if !session.is_some_and(|session| session.in_transaction()) {
            return self.rolled_back();
        }
        self.executor.source.waited_for(1);
        match self.executor.send_rollback() {
            Ok(sent) => self.waits(sent),
            Err(error) => self.broken(error),
        }
    }

    /// The connection is gone, maybe in the middle of a commit.
    #[cold]
    fn broken(&mut self, error: TargetError) -> Turn {
        let group = match std::mem::replace(&mut self.sent, Part::Nothing) {
            Part::Group(number) => Some(number),
            Part::Nothing | Part::Rollback(_) | Part::Pause(_) => None,
        };
        let wrong = TransactionError::Target(error);
        Turn::Finished(Err(match self.executor.again(wrong, group) {
            Err(failure) => failure,
            // A broken connection is no conflict.
            Ok(_) => Failure::Fatal("the connection broke during a conflict".into()),
        }))
    }
}

impl<S: Source> Drop for Nonblocking<S> {
    fn drop(&mut self) {
        if matches!(self.sent, Part::Group(_)) && self.executor.is_committing() {
            self.executor.source.given_up();
        }
    }
}

impl<S: Source> Executor<S> {
    #[inline]
    fn send(&mut self) -> Result<Sent, TransactionError> {
        let Self {
            source,
            session,
            group,
            replies,
            ..
        } = self;
        let session = session
            .nonblocking()
            .ok_or_else(|| TransactionError::Target(blocks()))?;
        let refused = TransactionError::Target;
        if let Some(opening) = group.begin {
            let begin = match opening {
                Opening::Write => Request::Begin,
                Opening::Read => Request::BeginRead,
            };
            session.queue(begin).map_err(refused)?;
            replies.awaits(None);
        }
        for (at, part) in group.asks.iter().enumerate() {
            for number in 0..source.statements(*part) {
                let (prepared, is_stored) = source.prepared(*part, number);
                source.with_parameters(*part, number, replies, |parameters| {
                    let request = Request::Execute(prepared.statement, parameters);
                    session.queue(request).map_err(refused)
                })?;
                replies.awaits(is_stored.then(|| source.row_index(*part, at)));
            }
        }
        if group.commit {
            session.queue(Request::Commit).map_err(refused)?;
            replies.awaits(None);
        }
        session.send().map_err(refused)
    }

    fn send_rollback(&mut self) -> TargetResult<Sent> {
        self.replies.clear();
        let session = self.session.nonblocking().ok_or_else(blocks)?;
        session.queue(Request::Rollback)?;
        self.replies.awaits(None);
        session.send()
    }

    /// Sends the rest and reads answers; `None` when all have arrived.
    #[inline]
    fn exchange(&mut self, is_writing: bool) -> TargetResult<Option<Sent>> {
        let session = self.session.nonblocking().ok_or_else(blocks)?;
        if is_writing {
            session.send()?;
        }
        let all = session.receive(&mut self.replies)?;
        // An answer may have made room for the rest.
        let sent = if session.waits_for_room() {
            Sent::Part
        } else {
            Sent::All
        };
        Ok((!all).then_some(sent))
    }

    fn await_answers(&mut self) -> TargetResult<()> {
        let session = self.session.nonblocking().ok_or_else(blocks)?;
        session.await_replies(&mut self.replies)
    }

    /// Checks the complete answers: the first error, or the rows of each part.
    #[inline]
    fn settle(&mut self) -> Result<(), TransactionError> {
        // Some engines cannot be sent the whole group at once.
        self.source.waited_for(self.replies.round_trips() - 1);
        if let Some(error) = self.replies.take_error() {
            return Err(TransactionError::Target(error));
        }
        if self.replies.rolled_back() {
            return Err(TransactionError::Effect(
                "wrong effect: the transaction was rolled back instead of committed".into(),
            ));
        }
        let mut request = usize::from(self.group.begin.is_some());
        for (at, part) in self.group.asks.iter().enumerate() {
            let statements = self.source.statements(*part);
            request += statements;
            let mut rows = 0;
            if let Some(last) = statements.checked_sub(1) {
                rows = self.replies.rows(request - 1).unwrap_or(0);
                // A call of a procedure returns a row but reports no count.
                let (_, is_stored) = self.source.prepared(*part, last);
                if rows == 0 && is_stored {
                    let first = self.replies.first(self.source.row_index(*part, at));
                    rows = u64::from(first.is_some_and(|row| !row.is_empty()));
                }
            }
            self.source.check_rows(*part, rows)?;
            self.rows.push(rows);
        }
        Ok(())
    }
}

impl<S: Source> load::NonblockingClient for Nonblocking<S> {
    fn descriptor(&self) -> RawFd {
        self.descriptor
    }

    #[inline]
    fn begin(&mut self, request: load::Request) -> Turn {
        self.executor.take_up(request);
        self.send_group(0)
    }

    #[inline]
    fn ready(&mut self) -> Turn {
        if let Part::Pause(from) = self.sent {
            return self.send_group(from);
        }
        match self.executor.exchange(self.is_writing) {
            Ok(None) => self.answered(),
            Ok(Some(sent)) => self.waits(sent),
            Err(error) => self.broken(error),
        }
    }

    #[inline]
    fn await_ready(&mut self) -> Option<Turn> {
        Some(match self.executor.await_answers() {
            Ok(()) => self.answered(),
            Err(error) => self.broken(error),
        })
    }

    fn measurement_begins(&mut self) {
        self.executor.measurement_begins();
    }
}

#[cold]
fn blocks() -> TargetError {
    TargetError::statement("the session no longer supports non-blocking requests")
}
