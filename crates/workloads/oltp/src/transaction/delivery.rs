//! Delivery: the oldest new order of each district of a warehouse gets a carrier and is charged (clause 2.7).
//!
//! Three groups: the oldest orders are deleted from `new_order`, they and their lines are stamped, the customers are
//! charged. Districts are taken in their order, so that of two deliveries of a warehouse one waits at the first.
//!
//! The specification lets a user continue at once and delivers later. Here the delivery itself is the operation and its
//! response time that of the execution, which is the stricter of the two; the queue is the user's own.

use engine::Value;
use workload::transaction_error::TransactionError;

use super::step::Step;
use super::{
    Answers, Ended, Group, Name, Next, Opening, StatementRequest, Transaction, cents, effect,
};
use crate::account::Account;
use crate::commit_log::Record;
use crate::initial_rows::DISTRICTS;
use crate::terminal::{Terminal, World};

const PLACES: usize = DISTRICTS as usize;

#[derive(Debug, Default)]
pub(crate) struct Delivery {
    w: u32,
    carrier: u8,
    now_us: i64,
    /// Delivered order of each district; 0 if there was none.
    orders: [u32; PLACES],
    customers: [u16; PLACES],
    total_cents: [i64; PLACES],
}

impl Delivery {
    /// Districts with something to deliver, from 0.
    fn delivered(&self) -> impl Iterator<Item = usize> {
        (0..PLACES).filter(|district| self.orders[*district] != 0)
    }

    fn take_oldest(&mut self, answers: &Answers<'_>) -> Result<Next, TransactionError> {
        self.orders = [0; PLACES];
        for district in 0..PLACES {
            if answers.rows(district) > 0 {
                answers.one(district, "oldest new order")?;
                self.orders[district] = answers.must_int(district, 0, "no_o_id")? as u32;
            }
        }
        Ok(Next::Group)
    }

    fn take_stamped(&mut self, answers: &Answers<'_>) -> Result<Next, TransactionError> {
        let mut step = 0;
        for district in 0..PLACES {
            if self.orders[district] == 0 {
                continue;
            }
            answers.one(step, "order to deliver")?;
            self.customers[district] = answers.must_int(step, 0, "o_c_id")? as u16;
            answers.one(step + 1, "lines to deliver")?;
            self.total_cents[district] = answers.must_int(step + 1, 0, "sum of ol_amount")?;
            step += 2;
        }
        Ok(Next::Group)
    }

    fn take_charged(&self, answers: &Answers<'_>) -> Result<Next, TransactionError> {
        for step in 0..self.delivered().count() {
            answers.one(step, "customer of a delivery")?;
        }
        Ok(Next::Done(Ended::Committed))
    }
}

impl Transaction for Delivery {
    fn draw(&mut self, terminal: &mut Terminal, _world: &World, now_us: i64) {
        self.w = terminal.w;
        self.now_us = now_us;
        self.carrier = terminal.random.range(1, 10) as u8;
        self.orders = [0; PLACES];
    }

    fn ask(&self, number: usize, group: &mut Group) {
        match number {
            0 => {
                group.begin = Some(Opening::Write);
                (0..PLACES).for_each(|district| {
                    group.ask(StatementRequest::of(Step::DeliveryOldest, district))
                });
            }
            1 => self.delivered().for_each(|district| {
                group.ask(StatementRequest::of(Step::DeliveryOrder, district));
                group.ask(StatementRequest::of(Step::DeliveryLines, district));
            }),
            _ => {
                let delivered = self.delivered();
                delivered.for_each(|district| {
                    group.ask(StatementRequest::of(Step::DeliveryCustomer, district))
                });
                group.commit = true;
            }
        }
    }

    fn take(&mut self, number: usize, answers: &Answers<'_>) -> Result<Next, TransactionError> {
        match number {
            0 => self.take_oldest(answers),
            1 => self.take_stamped(answers),
            _ => self.take_charged(answers),
        }
    }

    /// The call returns the delivered orders by district, separated by commas, 0 for none.
    fn take_call(&mut self, answers: &Answers<'_>) -> Result<Next, TransactionError> {
        answers.one(0, "procedure of a delivery")?;
        let mut found = answers.text(0, 0).split(',');
        for order in &mut self.orders {
            let text = found.next().unwrap_or_default();
            let parsed = text.trim().parse();
            *order = parsed.map_err(|_| {
                effect(format!(
                    "the procedure returned \"{text}\" instead of an order number"
                ))
            })?;
        }
        Ok(Next::Done(Ended::Committed))
    }

    fn value(&self, name: Name, line: usize) -> Option<Value<'_>> {
        let district = line.min(PLACES - 1);
        Some(match name {
            Name::W => Value::Int(self.w.into()),
            Name::D => Value::Int(district as i64 + 1),
            Name::Carrier => Value::Int(self.carrier.into()),
            Name::Now => Value::Moment(self.now_us),
            Name::Order => Value::Int(self.orders[district].into()),
            Name::CustomerId => Value::Int(self.customers[district].into()),
            Name::Total => cents(self.total_cents[district]),
            _ => return None,
        })
    }

    fn account(&self, account: &mut Account) {
        let delivered = self.delivered().count();
        account.delivered += delivered as u64;
        account.skipped += (PLACES - delivered) as u64;
    }

    fn record(&self) -> Option<Record> {
        Some(Record::Delivery {
            w: self.w,
            carrier: self.carrier,
            orders: self.orders,
        })
    }
}
