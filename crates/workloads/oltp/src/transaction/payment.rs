//! Payment: a customer pays, which warehouse and district sum up (clause 2.5).
//!
//! One group. Customer first, warehouse last: the most contended row is locked for the shortest time, and the common
//! order excludes deadlocks.
//!
//! `h_data` holds a mark of run, user and payment instead of the names of warehouse and district, so that each
//! acknowledged payment can be found.

use std::fmt::Write;

use engine::Value;
use workload::transaction_error::TransactionError;

use super::new_order::another;
use super::step::Step;
use super::{Answers, Ended, Group, Name, Next, Opening, Transaction, Who, cents};
use crate::account::Account;
use crate::commit_log::Record;
use crate::initial_rows::DISTRICTS;
use crate::terminal::{Terminal, World};

/// Range of a payment, in cents.
const AMOUNT_CENTS: std::ops::RangeInclusive<u64> = 100..=500_000;

#[derive(Debug)]
pub(crate) struct Payment {
    w: u32,
    d: u8,
    c_w: u32,
    c_d: u8,
    who: Who,
    amount_cents: i64,
    now_us: i64,
    user: u32,
    sequence: u32,
    mark: String,
    /// The customer who paid, when known.
    c_id: u16,
}

impl Default for Payment {
    fn default() -> Self {
        Self {
            w: 0,
            d: 0,
            c_w: 0,
            c_d: 0,
            who: Who::Id(0),
            amount_cents: 0,
            now_us: 0,
            user: 0,
            sequence: 0,
            mark: String::new(),
            c_id: 0,
        }
    }
}

impl Payment {
    fn take_customer(&mut self, answers: &Answers<'_>) -> Result<(), TransactionError> {
        answers.one(0, "customer of a payment")?;
        self.c_id = answers.must_int(0, 0, "c_id")? as u16;
        Ok(())
    }
}

/// Mark of a payment in `h_data`: 8 digits for the run, 6 for the user, 8 for the payment.
pub(crate) fn write_mark(into: &mut String, run: u32, user: u32, sequence: u32) {
    into.clear();
    let _ = write!(into, "{run:08x}{user:06x}{sequence:08x}");
}

impl Transaction for Payment {
    fn draw(&mut self, terminal: &mut Terminal, world: &World, now_us: i64) {
        self.w = terminal.w;
        self.now_us = now_us;
        self.d = terminal.random.range(1, DISTRICTS) as u8;
        let is_home = terminal.random.below(100) < 85 || world.warehouses < 2;
        (self.c_w, self.c_d) = if is_home {
            (self.w, self.d)
        } else {
            let others = u64::from(world.warehouses) - 1;
            let c_w = another(terminal.random.range(1, others), self.w);
            (c_w, terminal.random.range(1, DISTRICTS) as u8)
        };
        self.who = Who::draw(terminal, world);
        let (least, most) = (*AMOUNT_CENTS.start(), *AMOUNT_CENTS.end());
        self.amount_cents = terminal.random.range(least, most) as i64;
        (self.user, self.sequence) = (terminal.user, terminal.payments);
        terminal.payments = terminal.payments.wrapping_add(1);
        write_mark(&mut self.mark, world.run, self.user, self.sequence);
    }

    fn ask(&self, _number: usize, group: &mut Group) {
        group.begin = Some(Opening::Write);
        group.ask(match self.who {
            Who::Id(_) => Step::PaymentById,
            Who::Named(_) => Step::PaymentByName,
        });
        group.ask(Step::PaymentDistrict);
        group.ask(Step::PaymentWarehouse);
        group.commit = true;
    }

    fn take(&mut self, _number: usize, answers: &Answers<'_>) -> Result<Next, TransactionError> {
        self.take_customer(answers)?;
        answers.one(1, "district of a payment")?;
        answers.one(2, "warehouse of a payment")?;
        Ok(Next::Done(Ended::Committed))
    }

    fn take_call(&mut self, answers: &Answers<'_>) -> Result<Next, TransactionError> {
        self.take_customer(answers)?;
        Ok(Next::Done(Ended::Committed))
    }

    fn value(&self, name: Name, _line: usize) -> Option<Value<'_>> {
        Some(match name {
            Name::W => Value::Int(self.w.into()),
            Name::D => Value::Int(self.d.into()),
            Name::CustomerW => Value::Int(self.c_w.into()),
            Name::CustomerD => Value::Int(self.c_d.into()),
            Name::Now => Value::Moment(self.now_us),
            Name::Amount => cents(self.amount_cents),
            Name::Mark => Value::Text(&self.mark),
            other => return self.who.value(other),
        })
    }

    fn account(&self, account: &mut Account) {
        let is_remote = self.c_w != self.w;
        let is_named = matches!(self.who, Who::Named(_));
        account.inputs.payment(is_remote, is_named);
    }

    fn record(&self) -> Option<Record> {
        Some(Record::Payment {
            c_w: self.c_w,
            c_d: self.c_d,
            c_id: self.c_id,
            amount_cents: self.amount_cents,
            user: self.user,
            sequence: self.sequence,
        })
    }
}
