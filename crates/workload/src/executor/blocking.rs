//! Execution on a thread of its own, for engines whose calls block.

use load::{Done, Failure};

use super::{Ended, Executor, Next, Opening, Source};
use crate::transaction_error::TransactionError;

pub struct Blocking<S: Source> {
    executor: Executor<S>,
}

impl<S: Source> Blocking<S> {
    pub fn new(executor: Executor<S>) -> Self {
        Self { executor }
    }

    /// Executes the transaction from this group on; after an error, `number` is the group that failed.
    #[inline]
    fn attempt(&mut self, number: &mut usize) -> Result<Ended, TransactionError> {
        loop {
            let executor = &mut self.executor;
            executor.ask(*number);
            let mut calls = 0;
            let done = executor.carry_out(&mut calls);
            executor.source.waited_for(calls);
            done?;
            match executor.take(*number)? {
                Next::Group => *number += 1,
                Next::Done(ended) => return Ok(ended),
                Next::RollBack => {
                    executor.source.waited_for(1);
                    let rolled_back = executor.session.rollback();
                    rolled_back.map_err(TransactionError::Target)?;
                    return Ok(Ended::RolledBack);
                }
            }
        }
    }
}

impl<S: Source> Executor<S> {
    /// Executes the group; `calls` counts the round trips.
    fn carry_out(&mut self, calls: &mut u64) -> Result<(), TransactionError> {
        let Self {
            source,
            session,
            group,
            replies,
            rows,
            ..
        } = self;
        if let Some(opening) = group.begin {
            *calls += 1;
            let begun = match opening {
                Opening::Write => session.begin(),
                Opening::Read => session.begin_read(),
            };
            begun.map_err(TransactionError::Target)?;
        }
        for (at, part) in group.asks.iter().enumerate() {
            let index = source.row_index(*part, at);
            let mut found = 0;
            for number in 0..source.statements(*part) {
                let (prepared, is_stored) = source.prepared(*part, number);
                let statement = prepared.statement;
                // The row is taken out meanwhile, because parameters may come from rows of other statements.
                let slot = replies.first_mut(index).filter(|_| is_stored);
                let mut first = slot.map(std::mem::take);
                *calls += 1;
                let done = source.with_parameters(*part, number, replies, |parameters| {
                    let done = match &mut first {
                        Some(first) => session.fetch_first(statement, parameters, first),
                        None if prepared.returns => {
                            session.fetch(statement, parameters).map(|f| f.rows)
                        }
                        None => session.execute(statement, parameters),
                    };
                    done.map_err(TransactionError::Target)
                });
                if let (Some(first), Some(slot)) = (first, replies.first_mut(index)) {
                    *slot = first;
                }
                found = done?;
            }
            source.check_rows(*part, found)?;
            rows.push(found);
        }
        if group.commit {
            *calls += 1;
            session.commit().map_err(TransactionError::Target)?;
        }
        Ok(())
    }
}

impl<S: Source> load::BlockingClient for Blocking<S> {
    fn operate(&mut self, request: load::Request) -> Result<Done, Failure> {
        self.executor.take_up(request);
        let mut number = 0;
        loop {
            let wrong = match self.attempt(&mut number) {
                Ok(ended) => return self.executor.end(ended),
                Err(wrong) => wrong,
            };
            let again = self.executor.again(wrong, Some(number));
            if let Err(fatal @ Failure::Fatal(_)) = again {
                return Err(fatal);
            }
            let rolled_back = self.executor.session.rollback();
            rolled_back.map_err(|error| {
                TransactionError::Target(error).into_failure(self.executor.retries)
            })?;
            number = again?;
            std::thread::sleep(self.executor.pause());
        }
    }

    fn measurement_begins(&mut self) {
        self.executor.measurement_begins();
    }
}
