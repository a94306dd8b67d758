//! New-Order: enters an order of 5 to 15 lines (clause 2.4).
//!
//! Two groups. The first changes the stock of each line; the second numbers the order, which locks the district until
//! the commit, and therefore commits: no district stays locked during a round trip to the client. Stock is changed in
//! the order of its key, so that two orders do not deadlock.

use std::fmt::Write;

use engine::Value;
use workload::transaction_error::TransactionError;

use super::step::Step;
use super::{
    Answers, Ended, Group, Name, Next, Opening, StatementRequest, Transaction, cents, effect,
};
use crate::account::Account;
use crate::commit_log::Record;
use crate::initial_rows::{DISTRICTS, ITEMS, ORDER_LINES};
use crate::terminal::{Terminal, World};

const LINES_MAX: usize = *ORDER_LINES.end() as usize;
/// Letters of `s_dist_01` and its like.
const DIST_INFO_BYTES: usize = 24;
/// An item that is in no catalogue.
const UNUSED_ITEM: u32 = ITEMS as u32 + 1;
/// The step that reads warehouse and customer; the lines follow it.
const CUSTOMER: usize = 0;
const FIRST_LINE: usize = 1;

#[derive(Debug, Default)]
pub(crate) struct NewOrder {
    w: u32,
    d: u8,
    c_id: u16,
    now_us: i64,
    count: usize,
    lines: [Line; LINES_MAX],
    /// True if its last line names an unknown item.
    is_mistyped: bool,
    /// The lines as a stored procedure takes them.
    items: String,
    supply_ws: String,
    quantities: String,
    answer: Answer,
}

#[derive(Debug, Default, Clone, Copy)]
struct Line {
    item: u32,
    supply_w: u32,
    quantity: u8,
    amount_cents: i64,
    dist_info: [u8; DIST_INFO_BYTES],
    dist_info_bytes: u8,
}

/// Result that the user sees.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Answer {
    o_id: u32,
    w_tax: i64,
    d_tax: i64,
    discount: i64,
    total_cents: i64,
}

impl NewOrder {
    /// Lines whose items exist.
    fn valid(&self) -> usize {
        self.count - usize::from(self.is_mistyped)
    }

    fn draw_line(&self, terminal: &mut Terminal, world: &World) -> Line {
        let random = &mut terminal.random;
        let item = world.constants.item(random) as u32;
        let is_remote = random.below(100) == 0 && world.warehouses > 1;
        Line {
            item,
            supply_w: if is_remote {
                another(random.range(1, u64::from(world.warehouses) - 1), self.w)
            } else {
                self.w
            },
            quantity: random.range(1, 10) as u8,
            ..Line::default()
        }
    }

    fn write_lists(&mut self) {
        let Self {
            items,
            supply_ws,
            quantities,
            ..
        } = self;
        let lines = &self.lines[..self.count];
        list(items, lines.iter().map(|line| line.item));
        list(supply_ws, lines.iter().map(|line| line.supply_w));
        list(quantities, lines.iter().map(|line| line.quantity.into()));
    }

    fn take_stock(&mut self, answers: &Answers<'_>) -> Result<Next, TransactionError> {
        answers.one(CUSTOMER, "customer of a new order")?;
        self.answer.w_tax = answers.must_int(CUSTOMER, 0, "w_tax")?;
        self.answer.discount = answers.must_int(CUSTOMER, 1, "c_discount")?;
        for line in 0..self.valid() {
            answers.one(FIRST_LINE + line, "stock of an order line")?;
            let price_cents = answers.must_int(FIRST_LINE + line, 0, "i_price")?;
            let dist_info = answers.text(FIRST_LINE + line, 1).as_bytes();
            let line = &mut self.lines[line];
            line.amount_cents = price_cents * i64::from(line.quantity);
            let bytes = dist_info.len().min(DIST_INFO_BYTES);
            line.dist_info[..bytes].copy_from_slice(&dist_info[..bytes]);
            line.dist_info_bytes = bytes as u8;
        }
        if self.is_mistyped && answers.rows(FIRST_LINE + self.valid()) != 0 {
            return Err(effect("an item that does not exist was found".into()));
        }
        Ok(Next::Group)
    }

    fn take_order(&mut self, answers: &Answers<'_>) -> Result<Next, TransactionError> {
        answers.one(0, "district of a new order")?;
        self.answer.o_id = answers.must_int(0, 0, "d_next_o_id")? as u32;
        self.answer.d_tax = answers.must_int(0, 1, "d_tax")?;
        answers.one(1, "insert of an order")?;
        if answers.rows(2) != self.valid() as u64 {
            let rows = answers.rows(2);
            return Err(effect(format!("{rows} order lines were inserted")));
        }
        self.answer.total_cents = self.total_cents();
        Ok(if self.is_mistyped {
            Next::RollBack
        } else {
            Next::Done(Ended::Committed)
        })
    }

    /// Σ ol_amount · (1 − c_discount) · (1 + w_tax + d_tax), rates in units of four decimals.
    fn total_cents(&self) -> i64 {
        const UNIT: i64 = 10_000;
        let lines = &self.lines[..self.valid()];
        let sum: i64 = lines.iter().map(|line| line.amount_cents).sum();
        let Answer {
            w_tax,
            d_tax,
            discount,
            ..
        } = self.answer;
        let exact = sum * (UNIT - discount) * (UNIT + w_tax + d_tax);
        (exact + UNIT * UNIT / 2) / (UNIT * UNIT)
    }
}

/// The `nth` warehouse that is not `home`, from 1.
pub(super) fn another(nth: u64, home: u32) -> u32 {
    let nth = nth as u32;
    if nth < home { nth } else { nth + 1 }
}

/// Writes "[1,2,3]".
fn list(into: &mut String, numbers: impl Iterator<Item = u32>) {
    into.clear();
    for number in numbers {
        into.push(if into.is_empty() { '[' } else { ',' });
        let _ = write!(into, "{number}");
    }
    into.push(']');
}

impl Transaction for NewOrder {
    fn draw(&mut self, terminal: &mut Terminal, world: &World, now_us: i64) {
        self.w = terminal.w;
        self.now_us = now_us;
        self.d = terminal.random.range(1, DISTRICTS) as u8;
        self.c_id = world.constants.customer(&mut terminal.random) as u16;
        let (fewest, most) = (*ORDER_LINES.start(), *ORDER_LINES.end());
        self.count = terminal.random.range(fewest, most) as usize;
        self.is_mistyped = terminal.random.below(100) == 0;
        for line in 0..self.count {
            self.lines[line] = self.draw_line(terminal, world);
        }
        let valid = self.valid();
        if self.is_mistyped {
            self.lines[valid].item = UNUSED_ITEM;
        }
        self.lines[..valid].sort_unstable_by_key(|line| (line.supply_w, line.item));
        self.write_lists();
        self.answer = Answer::default();
    }

    fn ask(&self, number: usize, group: &mut Group) {
        if number == 0 {
            group.begin = Some(Opening::Write);
            group.ask(Step::NewOrderCustomer);
            (0..self.count)
                .for_each(|line| group.ask(StatementRequest::of(Step::NewOrderStock, line)));
        } else {
            group.ask(Step::NewOrderDistrict);
            group.ask(Step::NewOrderOrder);
            group.ask(StatementRequest {
                lines: self.valid() as u8,
                ..Step::NewOrderLines.into()
            });
            group.commit = !self.is_mistyped;
        }
    }

    fn take(&mut self, number: usize, answers: &Answers<'_>) -> Result<Next, TransactionError> {
        match number {
            0 => self.take_stock(answers),
            _ => self.take_order(answers),
        }
    }

    /// The call returns o_id (0: rolled back) and the total in cents.
    fn take_call(&mut self, answers: &Answers<'_>) -> Result<Next, TransactionError> {
        answers.one(0, "procedure of a new order")?;
        self.answer.o_id = answers.must_int(0, 0, "o_id")? as u32;
        self.answer.total_cents = answers.must_int(0, 1, "total")?;
        match (self.answer.o_id == 0, self.is_mistyped) {
            (true, true) => Ok(Next::Done(Ended::RolledBack)),
            (false, false) => Ok(Next::Done(Ended::Committed)),
            (true, false) => Err(effect("a valid order was rolled back".into())),
            (false, true) => Err(effect(
                "an order with an item that does not exist was committed".into(),
            )),
        }
    }

    fn value(&self, name: Name, line: usize) -> Option<Value<'_>> {
        let of = &self.lines[line.min(LINES_MAX - 1)];
        let is_remote = |line: &Line| line.supply_w != self.w;
        Some(match name {
            Name::W => Value::Int(self.w.into()),
            Name::D => Value::Int(self.d.into()),
            Name::CustomerId => Value::Int(self.c_id.into()),
            Name::Now => Value::Moment(self.now_us),
            Name::Lines => Value::Int(self.count as i64),
            Name::AllLocal => {
                Value::Int(i64::from(!self.lines[..self.count].iter().any(is_remote)))
            }
            Name::Number => Value::Int(line as i64 + 1),
            Name::Item => Value::Int(of.item.into()),
            Name::SupplyW => Value::Int(of.supply_w.into()),
            Name::Quantity => Value::Int(of.quantity.into()),
            Name::Remote => Value::Int(is_remote(of).into()),
            Name::LineAmount => cents(of.amount_cents),
            Name::DistInfo => {
                let letters = &of.dist_info[..usize::from(of.dist_info_bytes)];
                Value::Text(std::str::from_utf8(letters).unwrap_or_default())
            }
            Name::Items => Value::Text(&self.items),
            Name::SupplyWs => Value::Text(&self.supply_ws),
            Name::Quantities => Value::Text(&self.quantities),
            _ => return None,
        })
    }

    fn account(&self, account: &mut Account) {
        let lines = &self.lines[..self.count];
        let remote = lines.iter().filter(|line| line.supply_w != self.w).count();
        account
            .inputs
            .new_order(self.count, remote, self.is_mistyped);
        if !self.is_mistyped {
            account.lines_entered += self.count as u64;
        }
    }

    fn record(&self) -> Option<Record> {
        Some(Record::NewOrder {
            w: self.w,
            d: self.d,
            c_id: self.c_id,
            o_id: self.answer.o_id,
        })
    }
}
