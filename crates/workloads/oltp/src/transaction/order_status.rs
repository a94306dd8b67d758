//! Order-Status: a customer's balance and last order with its lines (clause 2.6).
//!
//! One statement reads one state of the database, whatever is entered and delivered meanwhile.

use engine::Value;
use workload::transaction_error::TransactionError;

use super::step::Step;
use super::{Answers, Ended, Group, Name, Next, Transaction, Who, effect};
use crate::account::Account;
use crate::commit_log::Record;
use crate::initial_rows::DISTRICTS;
use crate::terminal::{Terminal, World};

#[derive(Debug)]
pub(crate) struct OrderStatus {
    w: u32,
    d: u8,
    who: Who,
}

impl Default for OrderStatus {
    fn default() -> Self {
        Self {
            w: 0,
            d: 0,
            who: Who::Id(0),
        }
    }
}

impl OrderStatus {
    fn check_lines(&self, found: u64, ol_cnt: i64) -> Result<Next, TransactionError> {
        if ol_cnt > 0 && found == ol_cnt as u64 {
            Ok(Next::Done(Ended::Committed))
        } else {
            Err(effect(format!(
                "the last order has {ol_cnt} order lines, but {found} were returned"
            )))
        }
    }
}

impl Transaction for OrderStatus {
    fn draw(&mut self, terminal: &mut Terminal, world: &World, _now_us: i64) {
        self.w = terminal.w;
        self.d = terminal.random.range(1, DISTRICTS) as u8;
        self.who = Who::draw(terminal, world);
    }

    fn ask(&self, _number: usize, group: &mut Group) {
        group.ask(match self.who {
            Who::Id(_) => Step::OrderStatusById,
            Who::Named(_) => Step::OrderStatusByName,
        });
    }

    /// The first column is o_ol_cnt; a row is a line.
    fn take(&mut self, _number: usize, answers: &Answers<'_>) -> Result<Next, TransactionError> {
        self.check_lines(answers.rows(0), answers.int(0, 0).unwrap_or(0))
    }

    fn take_call(&mut self, answers: &Answers<'_>) -> Result<Next, TransactionError> {
        answers.one(0, "procedure of an order status")?;
        let found = answers.must_int(0, 1, "lines")?;
        self.check_lines(found.unsigned_abs(), answers.int(0, 0).unwrap_or(0))
    }

    fn value(&self, name: Name, _line: usize) -> Option<Value<'_>> {
        Some(match name {
            Name::W => Value::Int(self.w.into()),
            Name::D => Value::Int(self.d.into()),
            other => return self.who.value(other),
        })
    }

    fn account(&self, account: &mut Account) {
        account
            .inputs
            .order_status(matches!(self.who, Who::Named(_)));
    }

    fn record(&self) -> Option<Record> {
        None
    }
}
