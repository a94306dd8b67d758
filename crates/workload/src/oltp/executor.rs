//! A connection that serves users one after another, whether its answers are waited for or awaited.

mod blocking;
mod nonblocking;
mod prepared;

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use load::{Done, Failure};
use target::{ErrorKind, Session};

pub use blocking::BlockingExecutor;
pub use nonblocking::NonblockingExecutor;

use self::prepared::PreparedSession;
use super::Result;
use super::account::{Account, Ledger};
use super::journal::Journal;
use super::mix::Kind;
use super::statements::Mode;
use super::terminal::Terminals;
use super::transaction::{
    Answers, Delivery, Ended, Group, NewOrder, Next, OrderStatus, Payment, Step, StockLevel,
    Transaction,
};
use crate::transaction_error::TransactionError;

/// Times that a transaction is begun anew because another one was in the way.
const RETRIES_MAX: u32 = 20;

/// What the connections of a run share.
#[derive(Debug, Clone)]
pub struct ExecutorContext {
    /// Engine, as in the names of the library's files.
    pub engine: String,
    /// How transactions reach the database.
    pub mode: Mode,
    /// The users.
    pub terminals: Arc<Terminals>,
    /// Where counts are added up.
    pub ledger: Arc<Ledger>,
    /// The log of acknowledged transactions, where one is kept.
    pub journal: Option<Arc<Journal>>,
}

impl ExecutorContext {
    fn executor(&self, session: Box<dyn Session>) -> Result<TransactionExecutor> {
        Ok(TransactionExecutor {
            prepared: PreparedSession::new(session, &self.engine, self.mode)?,
            context: self.clone(),
            five: Five::default(),
            account: Account::default(),
            kind: Kind::NewOrder,
            retries: 0,
            rows: 0,
        })
    }
}

/// One of each transaction, used again and again.
#[derive(Default)]
pub(super) struct Five {
    new_order: NewOrder,
    payment: Payment,
    order_status: OrderStatus,
    delivery: Delivery,
    stock_level: StockLevel,
}

impl Five {
    pub(super) fn of(&mut self, kind: Kind) -> &mut dyn Transaction {
        match kind {
            Kind::NewOrder => &mut self.new_order,
            Kind::Payment => &mut self.payment,
            Kind::OrderStatus => &mut self.order_status,
            Kind::Delivery => &mut self.delivery,
            Kind::StockLevel => &mut self.stock_level,
        }
    }
}

/// What both ways of serving have in common: the transaction at hand, its requests, its accounts.
struct TransactionExecutor {
    context: ExecutorContext,
    prepared: PreparedSession,
    five: Five,
    account: Account,
    kind: Kind,
    retries: u32,
    rows: u64,
}

impl TransactionExecutor {
    /// Takes a user's transaction in hand.
    fn take_up(&mut self, user: u32, kind: u8) {
        self.kind = Kind::of(kind).unwrap_or(Kind::NewOrder);
        (self.retries, self.rows) = (0, 0);
        let terminals = &self.context.terminals;
        let mut terminal = terminals.user(user);
        let transaction = self.five.of(self.kind);
        transaction.draw(&mut terminal, terminals.world(), now_us());
    }

    /// Puts the group of this number together.
    fn ask(&mut self, number: usize) {
        let group = &mut self.prepared.group;
        group.clear();
        match self.context.mode {
            Mode::Client => self.five.of(self.kind).ask(number, group),
            Mode::Procedure => group.ask(Step::call(self.kind)),
        }
    }

    /// Takes the answers to that group.
    fn take(&mut self, number: usize) -> std::result::Result<Next, TransactionError> {
        let answers = self.prepared.answers();
        self.rows += answers.rows.iter().sum::<u64>();
        let transaction = self.five.of(self.kind);
        match self.context.mode {
            Mode::Client => transaction.take(number, &answers),
            Mode::Procedure => transaction.take_call(&answers),
        }
    }

    fn sent(&mut self, round_trips: u64) {
        self.account.kinds[self.kind as usize].round_trips += round_trips;
    }

    /// The transaction has ended as it should: it is written down, then counted.
    fn end(&mut self, ended: Ended) -> std::result::Result<Done, Failure> {
        if ended == Ended::Committed {
            self.write_down(true)?;
        }
        self.five.of(self.kind).account(&mut self.account);
        let account = &mut self.account.kinds[self.kind as usize];
        account.completed += 1;
        account.rolled_back += u64::from(ended == Ended::RolledBack);
        Ok(Done {
            rows: self.rows,
            retries: self.retries,
            rolled_back: ended == Ended::RolledBack,
        })
    }

    /// Whether it is tried once more after what went wrong; else why not.
    fn again(
        &mut self,
        wrong: TransactionError,
        is_committing: bool,
    ) -> std::result::Result<(), Failure> {
        let account = &mut self.account.kinds[self.kind as usize];
        if wrong.is_conflict() && self.retries < RETRIES_MAX {
            self.retries += 1;
            self.rows = 0;
            account.retries += 1;
            return Ok(());
        }
        account.failed += 1;
        if is_committing && is_lost(&wrong) {
            self.write_down(false)?;
        }
        Err(wrong.into_failure(self.retries))
    }

    fn write_down(&mut self, acknowledged: bool) -> std::result::Result<(), Failure> {
        let Some(journal) = &self.context.journal else {
            return Ok(());
        };
        match self.five.of(self.kind).record() {
            None => Ok(()),
            Some(record) => journal
                .append(&record, acknowledged)
                .map_err(|error| Failure::Fatal(error.to_string())),
        }
    }

    /// Whether the group at hand commits, so that a loss leaves its outcome unknown.
    fn is_committing(&self) -> bool {
        self.prepared.group.commit || self.context.mode == Mode::Procedure
    }
}

impl Drop for TransactionExecutor {
    fn drop(&mut self) {
        self.context.ledger.add(&self.account);
    }
}

/// Whether nobody will ever say what became of it.
fn is_lost(wrong: &TransactionError) -> bool {
    matches!(wrong, TransactionError::Target(error) if error.kind == ErrorKind::Unreachable)
}

fn now_us() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_micros() as i64)
}
