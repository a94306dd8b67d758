//! A connection with a thread of its own, for engines whose calls block.

use load::{Done, Failure};
use target::Target;

use super::{Ended, ExecutorContext, Next, TransactionError, TransactionExecutor};

/// Serves users, waiting for every answer.
pub struct BlockingExecutor {
    executor: TransactionExecutor,
}

impl ExecutorContext {
    /// Opens a connection for a thread of its own.
    ///
    /// # Errors
    /// As there.
    pub fn blocking(&self, target: &dyn Target) -> crate::oltp::Result<BlockingExecutor> {
        Ok(BlockingExecutor::new(
            self.executor(target.open_session()?)?,
        ))
    }
}

impl BlockingExecutor {
    pub(super) fn new(executor: TransactionExecutor) -> Self {
        Self { executor }
    }

    /// Carries out the transaction at hand, again and again while others are in the way.
    fn carry_out(&mut self) -> Result<Done, Failure> {
        loop {
            let wrong = match self.attempt() {
                Ok(ended) => return self.executor.end(ended),
                Err(wrong) => wrong,
            };
            let is_committing = self.executor.is_committing();
            let again = self.executor.again(wrong, is_committing);
            if let Err(fatal @ Failure::Fatal(_)) = again {
                return Err(fatal);
            }
            let rolled_back = self.executor.prepared.session.rollback();
            rolled_back.map_err(|error| {
                TransactionError::Target(error).into_failure(self.executor.retries)
            })?;
            again?;
        }
    }

    fn attempt(&mut self) -> Result<Ended, TransactionError> {
        // The longest conversation has three groups.
        for number in 0.. {
            let executor = &mut self.executor;
            executor.ask(number);
            let mut calls = 0;
            let transaction = executor.five.of(executor.kind);
            let done = executor.prepared.carry_out(transaction, &mut calls);
            executor.sent(calls);
            done?;
            match executor.take(number)? {
                Next::Group => {}
                Next::Done(ended) => return Ok(ended),
                Next::RollBack => {
                    executor.sent(1);
                    let rolled_back = executor.prepared.session.rollback();
                    rolled_back.map_err(TransactionError::Target)?;
                    return Ok(Ended::RolledBack);
                }
            }
        }
        Ok(Ended::Committed)
    }
}

impl load::BlockingClient for BlockingExecutor {
    fn operate(&mut self, request: load::Request) -> Result<Done, Failure> {
        self.executor.take_up(request.user, request.kind);
        self.carry_out()
    }
}
