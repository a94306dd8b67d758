//! A job on a thread of its own, for engines whose calls block.

use load::{BlockingClient, Done, Failure};

use super::hand::Hand;
use super::plan::Opening;
use super::tally::Tally;
use crate::exercise::Worker;
use crate::transaction_error::TransactionError;

/// Runs the transactions of a script one after another.
pub struct Runner {
    /// Values and statements.
    pub hand: Hand,
    /// The session.
    pub worker: Worker,
    /// What each kind did.
    pub tally: Tally,
}

impl Runner {
    /// Carries out the transaction from statement `from`, which it moves on where each statement is a
    /// transaction of its own.
    fn attempt(&mut self, from: &mut usize) -> Result<u64, TransactionError> {
        let ready = std::sync::Arc::clone(self.hand.ready());
        let transaction = &ready.transactions[self.hand.current()];
        let session = self.worker.session.as_mut();
        match transaction.opening {
            Opening::Autocommit => {}
            Opening::Read => session.begin_read().map_err(TransactionError::Target)?,
            Opening::Write => session.begin().map_err(TransactionError::Target)?,
        }
        let mut rows = 0;
        for number in *from..transaction.statements.len() {
            let kept = !transaction.statements[number].columns.is_empty();
            let done = self.statement(number, kept)?;
            self.hand.check_rows(number, done)?;
            rows += done;
            if transaction.opening == Opening::Autocommit {
                *from = number + 1;
            }
        }
        if transaction.opening != Opening::Autocommit {
            self.worker
                .session
                .commit()
                .map_err(TransactionError::Target)?;
        }
        Ok(rows)
    }

    fn statement(&mut self, number: usize, kept: bool) -> Result<u64, TransactionError> {
        let handle = self.hand.handle(number);
        let session = self.worker.session.as_mut();
        if !kept {
            return self.hand.with_parameters(number, |parameters| {
                let done = match handle.returns {
                    true => session.fetch(handle.statement, parameters).map(|f| f.rows),
                    false => session.execute(handle.statement, parameters),
                };
                done.map_err(TransactionError::Target)
            });
        }
        // The row is taken out meanwhile, because parameters may be those kept by other statements.
        let place = self.hand.replies.first_mut(number);
        let mut first = place.map(std::mem::take).unwrap_or_default();
        let done = self.hand.with_parameters(number, |parameters| {
            let done = session.fetch_first(handle.statement, parameters, &mut first);
            done.map_err(TransactionError::Target)
        });
        if let Some(place) = self.hand.replies.first_mut(number) {
            *place = first;
        }
        done
    }
}

impl BlockingClient for Runner {
    fn operate(&mut self, _request: load::Request) -> Result<Done, Failure> {
        self.hand.choose();
        self.tally.begin();
        let retries_max = self.hand.ready().retries;
        let (mut from, mut retries) = (0, 0);
        loop {
            let wrong = match self.attempt(&mut from) {
                Ok(rows) => {
                    self.tally.end(self.hand.current(), rows);
                    return Ok(Done {
                        rows,
                        retries,
                        ..Done::default()
                    });
                }
                Err(wrong) => wrong,
            };
            let again = wrong.is_conflict() && retries < retries_max;
            let failure = (!again).then(|| wrong.into_failure(retries));
            if let Some(fatal @ Failure::Fatal(_)) = failure {
                return Err(fatal);
            }
            let rolled_back = self.worker.session.rollback();
            rolled_back.map_err(|error| TransactionError::Target(error).into_failure(retries))?;
            match failure {
                Some(failure) => return Err(failure),
                None => retries += 1,
            }
        }
    }

    fn measurement_begins(&mut self) {
        self.worker.measurement_begins();
        self.tally.measurement_begins();
    }
}
