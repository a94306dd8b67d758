//! The five transactions as conversations: groups of statements that travel together, and the handling of their
//! answers.
//!
//! Each is described once. An [`executor::Executor`] runs it in an event loop, where a group is one round trip, or on a
//! thread of its own, statement by statement; with client SQL, or by one call of a stored procedure.

mod delivery;
mod new_order;
mod order_status;
mod payment;
mod step;
mod stock_level;

use engine::Value;
pub use step::Step;

pub(super) use delivery::Delivery;
pub(super) use new_order::NewOrder;
pub(super) use order_status::OrderStatus;
pub(super) use payment::{Payment, write_mark};
pub(super) use stock_level::StockLevel;

use super::account::Account;
use super::commit_log::Record;
use super::terminal::{Terminal, World};
use workload::executor;
pub(super) use workload::executor::{Answers, Ended, Next, Opening, effect};
use workload::transaction_error::TransactionError;

pub(super) trait Transaction: Send {
    /// Draws its inputs, which a retry reuses; `now_us` is the timestamp that it writes.
    fn draw(&mut self, terminal: &mut Terminal, world: &World, now_us: i64);

    /// Assembles the group of this number, counted from 0.
    fn ask(&self, number: usize, group: &mut Group);

    fn take(&mut self, number: usize, answers: &Answers<'_>) -> Result<Next, TransactionError>;

    /// Takes the single row that the stored procedure returns.
    fn take_call(&mut self, answers: &Answers<'_>) -> Result<Next, TransactionError>;

    /// Value of a parameter; `line` counts lines of an order or districts, from 0.
    fn value(&self, name: Name, line: usize) -> Option<Value<'_>>;

    /// Counts the inputs of a finished transaction.
    fn account(&self, account: &mut Account);

    /// Record of its changes for the log of acknowledged transactions; `None` if it only reads.
    fn record(&self) -> Option<Record>;
}

/// A parameter in the files of the library, as `:name`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Name {
    W,
    D,
    CustomerW,
    CustomerD,
    CustomerId,
    CustomerLast,
    Now,
    Lines,
    AllLocal,
    Number,
    Item,
    SupplyW,
    Quantity,
    Remote,
    LineAmount,
    DistInfo,
    Items,
    SupplyWs,
    Quantities,
    Amount,
    Mark,
    Carrier,
    Order,
    Total,
    Threshold,
}

impl Name {
    const ALL: &[(&str, Name)] = &[
        ("w", Name::W),
        ("d", Name::D),
        ("c_w", Name::CustomerW),
        ("c_d", Name::CustomerD),
        ("c_id", Name::CustomerId),
        ("c_last", Name::CustomerLast),
        ("now", Name::Now),
        ("lines", Name::Lines),
        ("all_local", Name::AllLocal),
        ("number", Name::Number),
        ("item", Name::Item),
        ("supply_w", Name::SupplyW),
        ("quantity", Name::Quantity),
        ("remote", Name::Remote),
        ("line_amount", Name::LineAmount),
        ("dist_info", Name::DistInfo),
        ("items", Name::Items),
        ("supply_ws", Name::SupplyWs),
        ("quantities", Name::Quantities),
        ("amount", Name::Amount),
        ("mark", Name::Mark),
        ("carrier", Name::Carrier),
        ("o_id", Name::Order),
        ("total", Name::Total),
        ("threshold", Name::Threshold),
    ];

    pub(super) fn of(text: &str) -> Option<Self> {
        let found = Self::ALL.iter().find(|(name, _)| *name == text)?;
        Some(found.1)
    }
}

pub(super) type Group = executor::Group<StatementRequest>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatementRequest {
    pub step: Step,
    /// The line, or the district, whose values it takes.
    pub line: u8,
    /// Number of lines that it takes at once.
    pub lines: u8,
}

impl StatementRequest {
    pub fn of(step: Step, line: usize) -> Self {
        Self {
            step,
            line: line as u8,
            lines: 1,
        }
    }
}

impl From<Step> for StatementRequest {
    fn from(step: Step) -> Self {
        Self::of(step, 0)
    }
}

pub(super) fn cents(unscaled: i64) -> Value<'static> {
    Value::Decimal {
        unscaled,
        places: 2,
    }
}

/// Customer, by number or by the number of a last name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Who {
    Id(u16),
    /// By last name: the middle one of the customers with it, by first name.
    Named(LastName),
}

impl Who {
    /// Draws one: by last name in 60 of 100 cases (clauses 2.5.1.2 and 2.6.1.2).
    pub fn draw(terminal: &mut Terminal, world: &World) -> Self {
        let random = &mut terminal.random;
        if random.below(100) < 60 {
            Who::Named(LastName::new(world.constants.last_name(random)))
        } else {
            Who::Id(world.constants.customer(random) as u16)
        }
    }

    pub fn value(&self, name: Name) -> Option<Value<'_>> {
        match (self, name) {
            (Who::Id(id), Name::CustomerId) => Some(Value::Int(i64::from(*id))),
            (Who::Id(_), Name::CustomerLast) | (Who::Named(_), Name::CustomerId) => {
                Some(Value::Null)
            }
            (Who::Named(last), Name::CustomerLast) => Some(Value::Text(last.as_str())),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LastName {
    letters: [u8; super::random::LAST_NAME_MAX],
    length: u8,
}

impl LastName {
    fn new(number: u64) -> Self {
        let mut letters = [0; super::random::LAST_NAME_MAX];
        let length = super::random::put_last_name(number, &mut letters) as u8;
        Self { letters, length }
    }

    fn as_str(&self) -> &str {
        let letters = &self.letters[..usize::from(self.length)];
        std::str::from_utf8(letters).expect("last names are made of ASCII syllables alone")
    }
}
