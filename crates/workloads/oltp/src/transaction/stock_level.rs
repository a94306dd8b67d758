//! Stock-Level: number of items of a district's last 20 orders that run short (clause 2.8).
//!
//! One statement. It may read an older state than a serial order would allow; the specification requires committed rows
//! alone.

use engine::Value;
use workload::transaction_error::TransactionError;

use super::step::Step;
use super::{Answers, Ended, Group, Name, Next, Transaction};
use crate::account::Account;
use crate::commit_log::Record;
use crate::terminal::{Terminal, World};

#[derive(Debug, Default)]
pub(crate) struct StockLevel {
    w: u32,
    d: u8,
    threshold: u8,
}

impl StockLevel {
    fn check(&self, answers: &Answers<'_>) -> Result<Next, TransactionError> {
        answers.one(0, "stock level")?;
        answers.must_int(0, 0, "stock level")?;
        Ok(Next::Done(Ended::Committed))
    }
}

impl Transaction for StockLevel {
    fn draw(&mut self, terminal: &mut Terminal, _world: &World, _now_us: i64) {
        self.w = terminal.w;
        self.d = terminal.district;
        self.threshold = terminal.random.range(10, 20) as u8;
    }

    fn ask(&self, _number: usize, group: &mut Group) {
        group.ask(Step::StockLevelCount);
    }

    fn take(&mut self, _number: usize, answers: &Answers<'_>) -> Result<Next, TransactionError> {
        self.check(answers)
    }

    fn take_call(&mut self, answers: &Answers<'_>) -> Result<Next, TransactionError> {
        self.check(answers)
    }

    fn value(&self, name: Name, _line: usize) -> Option<Value<'_>> {
        Some(match name {
            Name::W => Value::Int(self.w.into()),
            Name::D => Value::Int(self.d.into()),
            Name::Threshold => Value::Int(self.threshold.into()),
            _ => return None,
        })
    }

    fn account(&self, _account: &mut Account) {}

    fn record(&self) -> Option<Record> {
        None
    }
}
