//! Order entry as a source of statements: choice, inputs and results of the transactions.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use engine::{Replies, Session, Target, Value};
use load::Failure;
use workload::executor::{
    Answers, Blocking, Ended, Executor, Group, Next, Nonblocking, Opening, Prepared, Source,
    prepare_opening,
};
use workload::transaction_error::TransactionError;

use super::Result;
use super::account::{Account, Ledger};
use super::commit_log::CommitLog;
use super::mix::Kind;
use super::statements::{Mode, Statements};
use super::terminal::Terminals;
use super::transaction::{
    Delivery, NewOrder, OrderStatus, Payment, StatementRequest, Step, StockLevel, Transaction,
};

/// Retries after conflicts.
const RETRIES_MAX: u32 = 20;
/// Steps of the longest group: the customer and fifteen lines of a New-Order.
const STEPS_MAX: usize = 20;

pub type BlockingExecutor = Blocking<OrderEntrySource>;
pub type NonblockingExecutor = Nonblocking<OrderEntrySource>;

/// Data that the connections of a run share.
#[derive(Debug, Clone)]
pub struct ExecutorContext {
    pub engine: String,
    pub mode: Mode,
    pub terminals: Arc<Terminals>,
    /// Total counts.
    pub ledger: Arc<Ledger>,
    /// Log of acknowledged transactions, if the step has one.
    pub commit_log: Option<Arc<CommitLog>>,
}

impl ExecutorContext {
    /// Opens a connection for a thread of its own.
    ///
    /// # Errors
    /// When the target refuses a further session or the statements.
    pub fn blocking(&self, target: &dyn Target) -> Result<BlockingExecutor> {
        Ok(Blocking::new(self.executor(target.open_session()?)?))
    }

    /// Opens a connection for an event loop; `None` if the engine's calls block.
    pub fn nonblocking(&self, target: &dyn Target) -> Result<Option<NonblockingExecutor>> {
        Ok(Nonblocking::new(self.executor(target.open_session()?)?))
    }

    fn executor(&self, mut session: Box<dyn Session>) -> Result<Executor<OrderEntrySource>> {
        let statements = Statements::prepare(session.as_mut(), &self.engine, self.mode)?;
        if self.mode == Mode::Client {
            prepare_opening(session.as_mut(), Opening::Write)?;
        }
        let source = OrderEntrySource {
            context: self.clone(),
            statements,
            five: Five::default(),
            account: Account::default(),
            kind: Kind::NewOrder,
        };
        Ok(Executor::new(source, session, STEPS_MAX))
    }
}

/// One transaction of each kind, reused.
#[derive(Default)]
pub(super) struct Five {
    new_order: NewOrder,
    payment: Payment,
    order_status: OrderStatus,
    delivery: Delivery,
    stock_level: StockLevel,
}

impl Five {
    fn of(&self, kind: Kind) -> &dyn Transaction {
        match kind {
            Kind::NewOrder => &self.new_order,
            Kind::Payment => &self.payment,
            Kind::OrderStatus => &self.order_status,
            Kind::Delivery => &self.delivery,
            Kind::StockLevel => &self.stock_level,
        }
    }

    pub(super) fn of_mut(&mut self, kind: Kind) -> &mut dyn Transaction {
        match kind {
            Kind::NewOrder => &mut self.new_order,
            Kind::Payment => &mut self.payment,
            Kind::OrderStatus => &mut self.order_status,
            Kind::Delivery => &mut self.delivery,
            Kind::StockLevel => &mut self.stock_level,
        }
    }
}

/// Current transaction of one connection, its statements and its counts.
pub struct OrderEntrySource {
    context: ExecutorContext,
    statements: Statements,
    five: Five,
    account: Account,
    kind: Kind,
}

impl OrderEntrySource {
    fn write_down(&mut self, acknowledged: bool) -> std::result::Result<(), Failure> {
        let Some(commit_log) = &self.context.commit_log else {
            return Ok(());
        };
        match self.five.of(self.kind).record() {
            None => Ok(()),
            Some(record) => commit_log
                .append(&record, acknowledged)
                .map_err(|error| Failure::Fatal(error.to_string())),
        }
    }
}

impl Source for OrderEntrySource {
    type Ask = StatementRequest;

    fn take_up(&mut self, request: load::Request) {
        self.kind = Kind::of(request.kind).unwrap_or(Kind::NewOrder);
        let terminals = &self.context.terminals;
        let mut terminal = terminals.user(request.user);
        let transaction = self.five.of_mut(self.kind);
        transaction.draw(&mut terminal, terminals.world(), now_us());
    }

    fn ask(&mut self, number: usize, group: &mut Group<StatementRequest>) {
        match self.context.mode {
            Mode::Client => self.five.of(self.kind).ask(number, group),
            Mode::Procedure => group.ask(Step::call(self.kind)),
        }
    }

    fn row_index(&self, _request: StatementRequest, at: usize) -> usize {
        at
    }

    fn statements(&self, request: StatementRequest) -> usize {
        self.statements.of(request).len()
    }

    fn prepared(&self, request: StatementRequest, statement: usize) -> (Prepared, bool) {
        let all = self.statements.of(request);
        let prepared = all[statement].prepared;
        (prepared, prepared.returns && statement + 1 == all.len())
    }

    fn with_parameters<T>(
        &self,
        request: StatementRequest,
        statement: usize,
        _replies: &Replies,
        work: impl FnOnce(&[Value<'_>]) -> std::result::Result<T, TransactionError>,
    ) -> std::result::Result<T, TransactionError> {
        let transaction = self.five.of(self.kind);
        self.statements.of(request)[statement].with_values(transaction, request.line.into(), work)
    }

    fn take(
        &mut self,
        number: usize,
        answers: &Answers<'_>,
    ) -> std::result::Result<Next, TransactionError> {
        let transaction = self.five.of_mut(self.kind);
        match self.context.mode {
            Mode::Client => transaction.take(number, answers),
            Mode::Procedure => transaction.take_call(answers),
        }
    }

    /// Logged first, then counted.
    fn end(&mut self, ended: Ended, _rows: u64) -> std::result::Result<(), Failure> {
        if ended == Ended::Committed {
            self.write_down(true)?;
        }
        self.five.of(self.kind).account(&mut self.account);
        let account = &mut self.account.kinds[self.kind as usize];
        account.completed += 1;
        account.rolled_back += u64::from(ended == Ended::RolledBack);
        Ok(())
    }

    fn retries_max(&self) -> u32 {
        RETRIES_MAX
    }

    fn tried_again(&mut self) {
        self.account.kinds[self.kind as usize].retries += 1;
    }

    fn failed(&mut self, is_unknown: bool) -> std::result::Result<(), Failure> {
        self.account.kinds[self.kind as usize].failed += 1;
        if is_unknown {
            self.write_down(false)
        } else {
            Ok(())
        }
    }

    fn given_up(&mut self) {
        // A failed write of the log was reported before.
        let _ = self.write_down(false);
    }

    fn waited_for(&mut self, round_trips: u64) {
        self.account.kinds[self.kind as usize].round_trips += round_trips;
    }

    fn commits_by_itself(&self) -> bool {
        self.context.mode == Mode::Procedure
    }

    fn leaves(&mut self, _session: &mut dyn Session) {
        self.context.ledger.add(&self.account);
    }
}

fn now_us() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_micros() as i64)
}
