//! What the transactions of a run did, counted by each connection and added up.

use std::sync::{Mutex, PoisonError};

use super::audit::Inputs;
use super::mix::KINDS;

/// Counts of one connection, or of all. Ramp-up and measurement alike: what is audited is the whole run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Account {
    /// By kind.
    pub kinds: [KindAccount; KINDS],
    /// What was drawn.
    pub inputs: Inputs,
    /// Lines of the orders that were entered, those that were rolled back left out.
    pub lines_entered: u64,
    /// Orders delivered.
    pub delivered: u64,
    /// Districts in which a delivery found nothing to deliver.
    pub skipped: u64,
}

/// Counts of one kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KindAccount {
    /// Transactions that ended as they should, rollbacks on purpose among them.
    pub completed: u64,
    /// Rollbacks on purpose.
    pub rolled_back: u64,
    /// Attempts that were rolled back and begun anew because another transaction was in the way.
    pub retries: u64,
    /// Transactions that failed.
    pub failed: u64,
    /// Times that an answer was waited for, of all attempts.
    pub round_trips: u64,
}

impl KindAccount {
    /// Round trips for each transaction; `None` where there was none.
    pub fn round_trips_mean(&self) -> Option<f64> {
        (self.completed > 0).then(|| self.round_trips as f64 / self.completed as f64)
    }
}

impl Account {
    /// Adds another one.
    pub fn add(&mut self, other: &Account) {
        for (sum, more) in self.kinds.iter_mut().zip(&other.kinds) {
            sum.completed += more.completed;
            sum.rolled_back += more.rolled_back;
            sum.retries += more.retries;
            sum.failed += more.failed;
            sum.round_trips += more.round_trips;
        }
        self.inputs.add(&other.inputs);
        self.lines_entered += other.lines_entered;
        self.delivered += other.delivered;
        self.skipped += other.skipped;
    }

    /// Transactions that ended as they should.
    pub fn completed(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.completed).sum()
    }
}

/// Where connections put their counts when they end.
#[derive(Debug, Default)]
pub struct Ledger(Mutex<Account>);

impl Ledger {
    /// Adds the counts of a connection.
    pub fn add(&self, account: &Account) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .add(account);
    }

    /// The counts of all connections that have ended.
    pub fn total(&self) -> Account {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
