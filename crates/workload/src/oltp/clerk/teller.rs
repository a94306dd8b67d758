//! A connection with a thread of its own, for engines whose calls block.

use load::{Done, Failure};

use super::{Clerk, Ended, Next, TransactionError};

/// Serves users, waiting for every answer.
pub struct Teller {
    clerk: Clerk,
}

impl Teller {
    pub(super) fn new(clerk: Clerk) -> Self {
        Self { clerk }
    }

    /// Carries out the transaction at hand, again and again while others are in the way.
    fn carry_out(&mut self) -> Result<Done, Failure> {
        loop {
            let wrong = match self.attempt() {
                Ok(ended) => return self.clerk.end(ended),
                Err(wrong) => wrong,
            };
            let is_committing = self.clerk.is_committing();
            let again = self.clerk.again(wrong, is_committing);
            if let Err(fatal @ Failure::Fatal(_)) = again {
                return Err(fatal);
            }
            let rolled_back = self.clerk.desk.session.rollback();
            rolled_back.map_err(|error| {
                TransactionError::Target(error).into_failure(self.clerk.retries)
            })?;
            again?;
        }
    }

    fn attempt(&mut self) -> Result<Ended, TransactionError> {
        // The longest conversation has three groups.
        for number in 0.. {
            let clerk = &mut self.clerk;
            clerk.ask(number);
            let mut calls = 0;
            let transaction = clerk.five.of(clerk.kind);
            let done = clerk.desk.carry_out(transaction, &mut calls);
            clerk.sent(calls);
            done?;
            match clerk.take(number)? {
                Next::Group => {}
                Next::Done(ended) => return Ok(ended),
                Next::RollBack => {
                    clerk.sent(1);
                    let rolled_back = clerk.desk.session.rollback();
                    rolled_back.map_err(TransactionError::Target)?;
                    return Ok(Ended::RolledBack);
                }
            }
        }
        Ok(Ended::Committed)
    }
}

impl load::Teller for Teller {
    fn serve(&mut self, user: u32, kind: u8) -> Result<Done, Failure> {
        self.clerk.take_up(user, kind);
        self.carry_out()
    }
}
