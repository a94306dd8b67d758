//! A connection in an event loop, for engines whose answers can be awaited.

use std::os::fd::RawFd;

use load::{Failure, Turn};
use target::{Sent, Target, TargetError};

use super::{Ended, ExecutorContext, Next, TransactionError, TransactionExecutor};

/// Serves users without waiting for answers.
pub struct NonblockingExecutor {
    executor: TransactionExecutor,
    descriptor: RawFd,
    /// What was sent last.
    sent: Part,
    /// Whether a part of it is still to be sent.
    is_writing: bool,
}

/// What is under way.
#[derive(Debug)]
enum Part {
    Nothing,
    /// The group of this number of the transaction at hand.
    Group(usize),
    /// A rollback, and what comes after it.
    Rollback(After),
}

#[derive(Debug)]
enum After {
    /// The transaction has ended, as it should.
    End,
    /// It is tried once more.
    Again,
    /// It has failed.
    Failed(Failure),
}

impl ExecutorContext {
    /// Opens a connection whose answers are awaited in an event loop; `None` where the engine's calls block.
    ///
    /// # Errors
    /// When the target lets no further session in, or does not take the statements.
    pub fn nonblocking(
        &self,
        target: &dyn Target,
    ) -> crate::oltp::Result<Option<NonblockingExecutor>> {
        Ok(NonblockingExecutor::new(
            self.executor(target.open_session()?)?,
        ))
    }
}

impl NonblockingExecutor {
    /// `None` where the engine's calls block.
    pub(super) fn new(mut executor: TransactionExecutor) -> Option<Self> {
        let descriptor = executor.prepared.session.nonblocking()?.descriptor();
        Some(Self {
            executor,
            descriptor,
            sent: Part::Nothing,
            is_writing: false,
        })
    }

    fn send_group(&mut self, number: usize) -> Turn {
        let executor = &mut self.executor;
        executor.ask(number);
        self.sent = Part::Group(number);
        if executor.prepared.is_empty() {
            executor.prepared.forget_answers();
            return self.group_answered(number);
        }
        executor.sent(1);
        let transaction = executor.five.of(executor.kind);
        match executor.prepared.send(transaction) {
            Ok(sent) => self.waits(sent),
            // Nothing of the group has left, but the transaction may have begun before.
            Err(wrong) => self.went_wrong(wrong),
        }
    }

    fn waits(&mut self, sent: Sent) -> Turn {
        self.is_writing = sent == Sent::Part;
        match self.is_writing {
            true => Turn::Writing,
            false => Turn::Reading,
        }
    }

    /// Everything that was sent was answered.
    fn answered(&mut self) -> Turn {
        match std::mem::replace(&mut self.sent, Part::Nothing) {
            Part::Nothing => Turn::Reading,
            Part::Group(number) => {
                self.sent = Part::Group(number);
                self.executor
                    .sent(self.executor.prepared.further_round_trips());
                match self.executor.prepared.settle() {
                    Ok(()) => self.group_answered(number),
                    Err(wrong) => self.went_wrong(wrong),
                }
            }
            Part::Rollback(After::End) => self.finish(Ended::RolledBack),
            Part::Rollback(After::Again) => self.send_group(0),
            Part::Rollback(After::Failed(failure)) => Turn::Finished(Err(failure)),
        }
    }

    fn group_answered(&mut self, number: usize) -> Turn {
        match self.executor.take(number) {
            Err(wrong) => self.went_wrong(wrong),
            Ok(Next::Group) => self.send_group(number + 1),
            Ok(Next::Done(ended)) => self.finish(ended),
            Ok(Next::RollBack) => self.roll_back(After::End),
        }
    }

    fn finish(&mut self, ended: Ended) -> Turn {
        self.sent = Part::Nothing;
        Turn::Finished(self.executor.end(ended))
    }

    /// The transaction cannot go on: it is rolled back, and begun anew after a conflict.
    #[cold]
    fn went_wrong(&mut self, wrong: TransactionError) -> Turn {
        let is_committing = self.executor.is_committing();
        match self.executor.again(wrong, is_committing) {
            Ok(()) => self.roll_back(After::Again),
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
        let session = self.executor.prepared.session.nonblocking();
        if !session.is_some_and(|session| session.in_transaction()) {
            self.executor.prepared.forget_answers();
            return self.answered();
        }
        self.executor.sent(1);
        match self.executor.prepared.send_rollback() {
            Ok(sent) => self.waits(sent),
            Err(error) => self.broken(error),
        }
    }

    /// The connection is gone, maybe in the middle of a commit.
    #[cold]
    fn broken(&mut self, error: TargetError) -> Turn {
        let is_committing = matches!(self.sent, Part::Group(_)) && self.executor.is_committing();
        self.sent = Part::Nothing;
        let wrong = TransactionError::Target(error);
        Turn::Finished(match self.executor.again(wrong, is_committing) {
            Err(failure) => Err(failure),
            // A connection that broke is no conflict.
            Ok(()) => Err(Failure::Fatal("the connection broke in a conflict".into())),
        })
    }
}

impl Drop for NonblockingExecutor {
    fn drop(&mut self) {
        if matches!(self.sent, Part::Group(_)) && self.executor.is_committing() {
            // Given up in the middle of a commit. A log that cannot be written has been told of before.
            let _ = self.executor.write_down(false);
        }
    }
}

impl load::NonblockingClient for NonblockingExecutor {
    fn descriptor(&self) -> RawFd {
        self.descriptor
    }

    fn begin(&mut self, request: load::Request) -> Turn {
        self.executor.take_up(request.user, request.kind);
        self.send_group(0)
    }

    fn ready(&mut self) -> Turn {
        match self.executor.prepared.exchange(self.is_writing) {
            Ok(None) => self.answered(),
            Ok(Some(sent)) => self.waits(sent),
            Err(error) => self.broken(error),
        }
    }

    fn await_ready(&mut self) -> Option<Turn> {
        Some(match self.executor.prepared.await_answers() {
            Ok(()) => self.answered(),
            Err(error) => self.broken(error),
        })
    }
}
